//! The profiles of probed devices, kept in a file of the user.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::Unfinished;
use crate::disk::speed::Speed;
use crate::error::{Error, Result};

use super::profile::{DeviceProfile, device_of};

const SCHEMA: &str = "tegula.devices.v1";
const NAME: &str = "devices.json";

/// The profiles of devices, in `$XDG_CACHE_HOME/tegula/devices.json` or
/// `~/.cache/tegula/devices.json`. They can be measured again, so a damaged file, or one of another
/// version, is ignored and replaced.
#[derive(Debug, Clone)]
pub struct KnownDevices {
    path: PathBuf,
}

/// The content of the file.
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
    /// Returns the devices known to the user; `None` where the environment names neither a cache
    /// nor a home.
    pub fn of_user() -> Option<KnownDevices> {
        let folder = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let caches = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
        Some(KnownDevices::in_folder(&caches.join("tegula")))
    }

    /// Returns the devices remembered in a folder, which need not exist.
    pub fn in_folder(folder: &Path) -> KnownDevices {
        KnownDevices { path: folder.join(NAME) }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the profile of the device that a file or folder lies on.
    pub fn profile_of(&self, path: &Path) -> Option<DeviceProfile> {
        let device = device_of(path).ok()?;
        self.read().devices.remove(&device)
    }

    /// Remembers a profile, replacing the earlier profile of the device.
    pub fn keep(&self, profile: &DeviceProfile) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let mut content = self.read();
        content.devices.insert(profile.device.clone(), profile.clone());
        let failed = || Error::io("write", &self.path);
        let text = serde_json::to_string_pretty(&content).map_err(|e| failed()(e.into()))?;
        let unfinished = Unfinished::file(&self.path)?;
        fs::write(unfinished.path(), text + "\n").map_err(failed())?;
        unfinished.take_place(true).map_err(failed())
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

/// Returns the speed of the device of a file or folder, as the user's probe measured it, or else
/// the default.
pub fn speed_of(path: &Path) -> Speed {
    let profile = KnownDevices::of_user().and_then(|known| known.profile_of(path));
    profile.map_or_else(Speed::default, |profile| Speed::of(&profile))
}
