//! A folder for large temporary files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Result, target_folder};

/// A folder that is removed when this is dropped, unless it is to be kept.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    is_kept: bool,
}

impl Scratch {
    /// Makes an empty folder `name` in cargo's target folder, or `tegula-NAME` in the folder that
    /// `TEGULA_SCRATCH` names. Files of an interrupted run are removed.
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
            // If this fails, the next run removes the folder, which has always the same path.
            let _ = remove(&self.folder);
        }
    }
}

/// Removes a file, or a folder with everything in it, if it exists.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
