//! The folder of versions.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::disk::Directory;
use crate::error::{Error, Result};

/// The file of the slots.
pub(super) const BLOCKS: &str = "blocks";
/// What the names of lists begin with; the number of the version follows.
const VERSION: &str = "version-";

/// A folder for versions of blocks. One that was made for them is removed with this value if it is empty then.
pub struct VersionFolder {
    directory: Directory,
    /// Its drop removes the folder. Nothing else uses it.
    _made: Option<MadeFolder>,
}

/// A folder that this process has made.
struct MadeFolder(PathBuf);

impl Drop for MadeFolder {
    fn drop(&mut self) {
        // This fails where something lies in the folder, which is the reason to keep it.
        let _ = fs::remove_dir(&self.0);
    }
}

impl VersionFolder {
    /// Opens a folder that exists.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be opened.
    pub fn open(path: &Path) -> Result<VersionFolder> {
        let directory = Directory::open(path).map_err(Error::io("open", path))?;
        Ok(VersionFolder { directory, _made: None })
    }

    /// Opens a folder, and makes it where there is none.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be made or opened.
    pub fn make(path: &Path) -> Result<VersionFolder> {
        let made = match fs::create_dir(path) {
            Ok(()) => Some(MadeFolder(path.to_owned())),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => return Err(Error::io("create", path)(error)),
        };
        Ok(VersionFolder { _made: made, ..VersionFolder::open(path)? })
    }

    /// The folder itself.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Whether it holds versions, whole or damaged.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be listed.
    pub fn has_versions(&self) -> Result<bool> {
        Ok(!self.numbers()?.is_empty())
    }

    /// The numbers of the versions in it, ascending.
    pub(super) fn numbers(&self) -> Result<Vec<u64>> {
        let mut numbers: Vec<u64> =
            self.names()?.iter().filter_map(|name| number_of(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// The name of a file in it that is neither a version nor the file of the slots. Hidden files do not count: a
    /// process that was killed may have left them.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be listed.
    pub fn foreign_name(&self) -> Result<Option<OsString>> {
        let is_own = |name: &OsString| {
            name == BLOCKS || number_of(name).is_some() || name.as_bytes().starts_with(b".")
        };
        Ok(self.names()?.into_iter().find(|name| !is_own(name)))
    }

    fn names(&self) -> Result<Vec<OsString>> {
        self.directory.names().map_err(Error::io("look into", self.directory.path()))
    }
}

/// The name of the list of a version.
pub(super) fn name_of(number: u64) -> String {
    format!("{VERSION}{number}")
}

/// The number of the version that has a name, if one could have it.
fn number_of(name: &OsStr) -> Option<u64> {
    let name = name.to_str()?;
    let number = name.strip_prefix(VERSION)?.parse().ok()?;
    // Behind the last number there is none for the next.
    (name == name_of(number) && number < u64::MAX).then_some(number)
}
