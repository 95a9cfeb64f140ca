//! Files that appear under their name only when they are complete.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Unfinished, durable};

use super::error::{Error, Result};
use super::output::{Output, Stream};

/// The number of names that are tried for a result whose own name was taken.
const NAMES_MAX: usize = 1000;

/// A file written under a hidden name beside its own. If it is dropped unfinished, it is removed.
pub struct NewFile {
    out: Stream<File>,
    unfinished: Unfinished,
    replace: bool,
}

impl NewFile {
    /// Begins a file. With `replace` it takes the place of an existing file at the end.
    ///
    /// # Errors
    /// [`Error::Store`] where `path` names a device, a pipe or a folder. Open a device or a pipe
    /// and write to it as a [`Stream`].
    pub fn create(path: &Path, replace: bool) -> Result<NewFile> {
        // A link stays, and the file that it leads to is replaced.
        let path = match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => {
                let source = io::Error::other("it is not a regular file");
                return Err(tegula_store::Error::io("create", path)(source).into());
            }
            Ok(_) => fs::canonicalize(path).map_err(tegula_store::Error::io("read", path))?,
            Err(_) => path.to_owned(),
        };
        let unfinished = Unfinished::file(&path)?;
        let file = File::options().write(true).open(unfinished.path());
        let file = file.map_err(tegula_store::Error::io("create", &path))?;
        Ok(NewFile { out: Stream::new(path, file), unfinished, replace })
    }
}

impl Output for NewFile {
    fn path(&self) -> &Path {
        self.out.path()
    }

    /// Syncs the file to disk and gives it its name.
    fn commit(mut self) -> Result<u64> {
        let path = self.path().to_owned();
        self.out.flush().map_err(tegula_store::Error::io("write", &path))?;
        // Before the file gets its name: a file of that name must be complete even after a loss of
        // power.
        durable::sync(self.out.get_ref()).map_err(tegula_store::Error::io("sync", &path))?;
        match self.unfinished.finish(name_of(&path), self.replace) {
            Err(MachineError::AlreadyExists { path }) => Err(keep(&self.unfinished, path)),
            Err(error) => Err(error.into()),
            // All bytes are written: this only tells their number.
            Ok(()) => self.out.commit(),
        }
    }
}

/// Gives the file another name where its own was taken during the work, which may have taken hours.
fn keep(unfinished: &Unfinished, path: PathBuf) -> Error {
    for number in 1..=NAMES_MAX {
        let kept = numbered(&path, number);
        match unfinished.finish(name_of(&kept), false) {
            Err(MachineError::AlreadyExists { .. }) => {}
            Err(error) => return error.into(),
            Ok(()) => return Error::NameTaken { path, kept },
        }
    }
    MachineError::AlreadyExists { path }.into()
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or_default()
}

/// Returns the name with a number before its endings: `ranks-1.csv.gz`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let name = name_of(path).as_encoded_bytes();
    // A dot in front hides a file, and begins no ending.
    let is_ending = |&(at, &byte): &(usize, &u8)| at > 0 && byte == b'.';
    let stem_end = name.iter().enumerate().find(is_ending).map_or(name.len(), |(at, _)| at);
    let (stem, endings) = name.split_at(stem_end);
    let bytes = [stem, format!("-{number}").as_bytes(), endings].concat();
    path.with_file_name(OsString::from_vec(bytes))
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use tegula_testkit::power_loss::{self, Crash};

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
    fn a_result_whose_name_was_taken_meanwhile_is_kept_under_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv.gz");
        let write = || {
            let mut file = NewFile::create(&path, false).unwrap();
            file.write_all(b"result").unwrap();
            file
        };
        let (first, second, third) = (write(), write(), write());
        assert_eq!(first.commit().unwrap(), 6);
        for (file, name) in [(second, "out-1.csv.gz"), (third, "out-2.csv.gz")] {
            match file.commit() {
                Err(Error::NameTaken { path: taken, kept }) => {
                    assert_eq!((taken, kept), (path.clone(), folder.path().join(name)));
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(fs::read(folder.path().join(name)).unwrap(), b"result");
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
        assert_eq!(numbered(Path::new("a/.b.c"), 7), Path::new("a/.b-7.c"));
        assert_eq!(numbered(Path::new("a.d/b"), 7), Path::new("a.d/b-7"));
    }

    #[test]
    fn a_link_stays_and_its_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("out.csv"), folder.path().join("link.csv"));
        fs::write(&path, "old").unwrap();
        std::os::unix::fs::symlink("out.csv", &link).unwrap();
        let mut file = NewFile::create(&link, true).unwrap();
        file.write_all(b"new").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_result_is_whole_or_not_there_after_a_loss_of_power() {
        for old in [None, Some(b"old".to_vec())] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out.csv");
            old.iter().for_each(|old| fs::write(&path, old).unwrap());
            let trace = power_loss::record(folder.path(), durable::watch, || {
                let mut file = NewFile::create(&path, true).unwrap();
                file.write_all(b"new").unwrap();
                file.commit().unwrap();
            });
            trace.assert_survived_by_each_sync(&|folder, crash| {
                let found = fs::read(folder.join("out.csv")).ok();
                if found.as_deref() == Some(b"new") || (crash == Crash::Within && found == old) {
                    return Ok(());
                }
                Err(format!("the result is {found:?}"))
            });
        }
    }

    #[test]
    fn a_device_is_refused_and_stays() {
        for replace in [false, true] {
            let refused = NewFile::create(Path::new("/dev/null"), replace).err().unwrap();
            assert_eq!(refused.to_string(), "cannot create /dev/null: it is not a regular file");
        }
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
