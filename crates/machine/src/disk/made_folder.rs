//! Folders that are made for files, and removed again if nothing stays in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// A folder that this process made. It is removed at the end if it is empty then.
pub struct MadeFolder(PathBuf);

impl MadeFolder {
    /// Makes a folder; `None` if it exists. Another process may make it at the same time. Its name
    /// is not safely on disk yet.
    pub fn make(path: &Path) -> Result<Option<MadeFolder>> {
        match fs::create_dir(path) {
            Ok(()) => Ok(Some(MadeFolder(path.to_owned()))),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(Error::io("create", path)(error)),
        }
    }
}

impl Drop for MadeFolder {
    fn drop(&mut self) {
        // This fails where a file has been kept, and then the folder has to stay.
        let _ = fs::remove_dir(&self.0);
    }
}
