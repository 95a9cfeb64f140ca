//! The folder of versions.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::disk::{Directory, MadeFolder, durable};
use crate::error::{Error, Result};

/// The file of the slots.
pub(super) const BLOCKS: &str = "blocks";
/// The prefix of the names of lists; the number of the version follows.
const VERSION: &str = "version-";

/// A folder for versions of blocks. If it was created for them, dropping this value removes it once
/// it is empty.
pub struct VersionFolder {
    directory: Directory,
    /// Versions with a greater number are ignored.
    newest_max: u64,
    /// Removes the folder when dropped. Nothing else uses it.
    _made: Option<MadeFolder>,
}

impl VersionFolder {
    /// Opens a folder that exists.
    pub fn open(path: &Path) -> Result<VersionFolder> {
        let directory = Directory::open(path).map_err(Error::io("open", path))?;
        Ok(VersionFolder { directory, newest_max: u64::MAX, _made: None })
    }

    /// Opens a folder, and creates it if it does not exist.
    pub fn make(path: &Path) -> Result<VersionFolder> {
        let made = MadeFolder::make(path)?;
        // A folder that existed may have been made just before: its name must survive a crash too.
        durable::sync_parent(path).map_err(Error::io("sync", path))?;
        Ok(VersionFolder { _made: made, ..VersionFolder::open(path)? })
    }

    /// Goes back to a version: newer ones are ignored, and removed before the first write.
    #[must_use]
    pub fn up_to(self, number: u64) -> VersionFolder {
        VersionFolder { newest_max: number, ..self }
    }

    /// Returns the greatest number of a version that is not ignored.
    pub(super) fn newest_max(&self) -> u64 {
        self.newest_max
    }

    /// Returns the folder itself.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Returns whether it holds versions, whole or damaged.
    pub fn has_versions(&self) -> Result<bool> {
        Ok(!self.numbers()?.is_empty())
    }

    /// Returns the numbers of the versions in it, ascending.
    pub(super) fn numbers(&self) -> Result<Vec<u64>> {
        let mut numbers: Vec<u64> =
            self.names()?.iter().filter_map(|name| number_of(name)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Returns the name of a file in it that is neither a version nor the file of the slots.
    /// Ignores hidden files, which a killed process may have left.
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

/// Returns the name of the list of a version.
pub(super) fn name_of(number: u64) -> String {
    format!("{VERSION}{number}")
}

/// Returns the number of the version with a name, if a version can have this name.
fn number_of(name: &OsStr) -> Option<u64> {
    let name = name.to_str()?;
    let number = name.strip_prefix(VERSION)?.parse().ok()?;
    // The greatest number would leave none for the next version.
    (name == name_of(number) && number < u64::MAX).then_some(number)
}
