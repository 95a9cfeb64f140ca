//! Files that appear under their name only when they are complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tegula_store::{Error, Result};

/// Temporary files of this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files, for a process that ends at once.
pub fn remove_unfinished() {
    unfinished().drain(..).for_each(|path| drop(fs::remove_file(path)));
}

/// A file that is written under a temporary name beside its own, or directly where its name stands
/// for a device or a pipe. Dropping it unfinished removes it.
pub struct NewFile {
    path: PathBuf,
    temporary: Option<PathBuf>,
    out: BufWriter<File>,
    length: u64,
}

impl NewFile {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn create(path: &Path) -> Result<NewFile> {
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let (temporary, file) = if is_special {
            (None, File::options().write(true).open(path))
        } else {
            let temporary = temporary_name(path);
            unfinished().push(temporary.clone());
            let file = File::create(&temporary);
            (Some(temporary), file)
        };
        let file = file.map_err(Error::io("create", path))?;
        let out = BufWriter::with_capacity(1 << 18, file);
        Ok(NewFile { path: path.to_owned(), temporary, out, length: 0 })
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that all is on disk and gives the file its name; returns its length.
    ///
    /// # Errors
    /// Those of writing.
    pub fn commit(mut self) -> Result<u64> {
        self.out.flush().map_err(Error::io("write", &self.path))?;
        if let Some(temporary) = &self.temporary {
            self.out.get_ref().sync_all().map_err(Error::io("sync", &self.path))?;
            fs::rename(temporary, &self.path).map_err(Error::io("create", &self.path))?;
            forget(temporary);
            self.temporary = None;
        }
        Ok(self.length)
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            let _ = fs::remove_file(temporary);
            forget(temporary);
        }
    }
}

fn forget(temporary: &Path) {
    unfinished().retain(|path| path != temporary);
}

fn temporary_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let entries = || fs::read_dir(folder.path()).unwrap().count();
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(entries(), 0);
        let mut file = NewFile::create(&path).unwrap();
        file.write_all(b"whole").unwrap();
        assert_eq!(file.commit().unwrap(), 5);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(entries(), 1);
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let mut file = NewFile::create(Path::new("/dev/null")).unwrap();
        file.write_all(b"nothing").unwrap();
        assert_eq!(file.commit().unwrap(), 7);
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
