//! Temporary folders, and dropping files from the page cache.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, fadvise};

/// A new, empty folder. Dropping this value removes it with its content.
///
/// It lies under `TEGULA_SCRATCH` if that is set, else in the system's folder for temporary files.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// Makes the folder.
    ///
    /// # Panics
    /// If the folder cannot be made.
    #[expect(clippy::new_without_default, reason = "a folder on disk is no default value")]
    pub fn new() -> Self {
        let parent =
            std::env::var_os("TEGULA_SCRATCH").map_or_else(std::env::temp_dir, PathBuf::from);
        let folder = tempfile::Builder::new().prefix("tegula-").tempdir_in(&parent);
        Self(
            folder.unwrap_or_else(|error| {
                panic!("no scratch folder in {}: {error}", parent.display())
            }),
        )
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of a file or folder in it, which need not exist.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path().join(name)
    }
}

/// Syncs a file and drops its pages from the page cache, so that the next read is cold. Pages that
/// a process has mapped stay.
pub fn drop_page_cache(file: &Path) -> io::Result<()> {
    let file = File::open(file)?;
    file.sync_all()?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scratch_folder_is_removed_with_its_content() {
        let scratch = Scratch::new();
        let file = scratch.join("file");
        std::fs::write(&file, b"text").unwrap();
        drop_page_cache(&file).unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"text");
        drop(scratch);
        assert!(!file.exists());
    }
}
