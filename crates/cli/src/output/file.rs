//! Files that appear under their name only when they are complete.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tegula_store::{Error, Result, Temporary};

/// A file that is written under a temporary name beside its own, or directly where its name stands
/// for a device or a pipe. Dropping it unfinished removes it.
pub struct NewFile {
    path: PathBuf,
    temporary: Option<Temporary>,
    replace: bool,
    out: BufWriter<File>,
    length: u64,
}

impl NewFile {
    /// Begins a file, which may replace another one.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn create(path: &Path, replace: bool) -> Result<NewFile> {
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let temporary = if is_special { None } else { Some(Temporary::file(path)?) };
        let written_to = temporary.as_ref().map_or(path, Temporary::path);
        let file = File::options().write(true).open(written_to);
        let file = file.map_err(Error::io("create", path))?;
        let out = BufWriter::with_capacity(1 << 18, file);
        Ok(NewFile { path: path.to_owned(), temporary, replace, out, length: 0 })
    }

    /// The name that it will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes sure that all is on disk and gives the file its name; returns its length.
    ///
    /// # Errors
    /// Those of writing; [`Error::AlreadyExists`] where there is such a file by now.
    pub fn commit(mut self) -> Result<u64> {
        self.out.flush().map_err(Error::io("write", &self.path))?;
        if let Some(temporary) = &self.temporary {
            self.out.get_ref().sync_all().map_err(Error::io("sync", &self.path))?;
            temporary.take_place(self.replace).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => Error::AlreadyExists { path: self.path.clone() },
                _ => Error::io("create", &self.path)(error),
            })?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_its_name_only_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        let entries = || fs::read_dir(folder.path()).unwrap().count();
        let mut file = NewFile::create(&path, false).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!path.exists());
        drop(file);
        assert_eq!(entries(), 0);
        let mut file = NewFile::create(&path, false).unwrap();
        file.write_all(b"whole").unwrap();
        assert_eq!(file.commit().unwrap(), 5);
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(entries(), 1);
    }

    #[test]
    fn a_file_that_appears_meanwhile_is_replaced_only_where_that_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        for (replace, left) in [(false, "theirs"), (true, "ours")] {
            let mut file = NewFile::create(&path, replace).unwrap();
            file.write_all(b"ours").unwrap();
            fs::write(&path, "theirs").unwrap();
            let committed = file.commit();
            assert!(replace == committed.is_ok(), "{committed:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), left);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn a_device_is_written_to_and_not_replaced() {
        let mut file = NewFile::create(Path::new("/dev/null"), false).unwrap();
        file.write_all(b"nothing").unwrap();
        assert_eq!(file.commit().unwrap(), 7);
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
