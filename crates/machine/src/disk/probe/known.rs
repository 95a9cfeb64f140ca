//! The devices that were probed, remembered in a file of the user's.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::Temporary;
use crate::disk::speed::Speed;
use crate::error::{Error, Result};

use super::profile::{DeviceProfile, device_of};

const SCHEMA: &str = "tegula.devices.v1";
const NAME: &str = "devices.json";

/// The profiles of devices, in `$XDG_CACHE_HOME/tegula/devices.json` or
/// `~/.cache/tegula/devices.json`. They can be measured again, so a file that is damaged or of
/// another version counts as none and is replaced.
#[derive(Debug, Clone)]
pub struct KnownDevices {
    path: PathBuf,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Content {
    schema: String,
    devices: BTreeMap<String, DeviceProfile>,
}

impl Content {
    fn empty() -> Content {
        Content { schema: SCHEMA.to_owned(), devices: BTreeMap::new() }
    }
}

impl KnownDevices {
    /// Those of the user; none where the environment names neither a cache nor a home.
    pub fn of_user() -> Option<KnownDevices> {
        let folder = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
        Some(KnownDevices::within(&caches.join("tegula")))
    }

    /// Those that are remembered in a folder, which need not exist.
    pub fn within(folder: &Path) -> KnownDevices {
        KnownDevices { path: folder.join(NAME) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of the device that a file or folder lies on.
    pub fn profile_of(&self, path: &Path) -> Option<DeviceProfile> {
        let device = device_of(path).ok()?;
        self.read().devices.remove(&device)
    }

    /// Remembers a profile, in place of what was known of that device.
    ///
    /// # Errors
    /// Those of writing.
    pub fn keep(&self, profile: &DeviceProfile) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let mut content = self.read();
        content.devices.insert(profile.device.clone(), profile.clone());
        let failed = || Error::io("write", &self.path);
        let text = serde_json::to_string_pretty(&content).map_err(|e| failed()(e.into()))?;
        let temporary = Temporary::file(&self.path)?;
        fs::write(temporary.path(), text + "\n").map_err(failed())?;
        temporary.take_place(true).map_err(failed())
    }

    fn read(&self) -> Content {
        let Ok(bytes) = fs::read(&self.path) else { return Content::empty() };
        match serde_json::from_slice::<Content>(&bytes) {
            Ok(content) if content.schema == SCHEMA => content,
            _ => {
                tracing::info!(path = %self.path.display(), "unreadable; devices count as unknown");
                Content::empty()
            }
        }
    }
}

/// What the device of a file or folder does: as the user's probe of it found, else the defaults.
pub fn speed_of(path: &Path) -> Speed {
    let profile = KnownDevices::of_user().and_then(|known| known.profile_of(path));
    profile.map_or_else(Speed::default, |profile| Speed::of(&profile))
}
