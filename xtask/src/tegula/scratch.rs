//! A folder for large files that are not needed for long.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Result, target_folder};

/// A folder that is removed with this value, unless it is to be kept.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    is_kept: bool,
}

impl Scratch {
    /// An empty folder `name` below cargo's target folder, or `tegula-NAME` below `TEGULA_SCRATCH`.
    /// What an interrupted run has left there is removed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(name: &str, is_kept: bool) -> Result<Scratch> {
        let folder = match std::env::var_os("TEGULA_SCRATCH") {
            Some(parent) => Path::new(&parent).join(format!("tegula-{name}")),
            None => target_folder()?.join(name),
        };
        remove(&folder)?;
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(Scratch { folder, is_kept })
    }

    /// The path of a file or folder in it.
    pub fn join(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.is_kept {
            // Whoever wants the space back finds the folder where it always is.
            let _ = remove(&self.folder);
        }
    }
}

/// Removes a file or a folder with all it holds, if it is there.
///
/// # Errors
/// When it is there and stays.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
