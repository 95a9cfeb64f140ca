//! Folders that a run makes for its files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tegula_machine::Error as MachineError;
use tegula_machine::disk::durable;
use tegula_tables::{check_is_in_no_graph, check_parent};

use crate::errors::Result;

/// A folder that was made for the files of a run. It is removed at the end if it is empty then.
pub struct MadeFolder(PathBuf);

impl Drop for MadeFolder {
    fn drop(&mut self) {
        // This fails where a file has been kept, and then the folder has to stay.
        let _ = fs::remove_dir(&self.0);
    }
}

/// Makes a folder; `None` if it exists. Another process may make it at the same time.
///
/// # Errors
/// Where the folder would lie in a graph directory, or cannot be created.
pub fn make(path: &Path) -> Result<Option<MadeFolder>> {
    check_is_in_no_graph(path)?;
    check_parent(path)?;
    match fs::create_dir(path) {
        Ok(()) => {
            let made = MadeFolder(path.to_owned());
            durable::sync_parent(path).map_err(MachineError::io("sync", path))?;
            Ok(Some(made))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
        Err(error) => Err(MachineError::io("create", path)(error).into()),
    }
}
