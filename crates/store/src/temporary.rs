//! Files and folders that vanish unless they are finished.
//!
//! Each lies under a hidden name beside the place where it is to appear, and is locked while its
//! process lives. It is removed when its owner gives up, or when the process ends at once. What a
//! process that was killed has left is not locked: the next one that writes to the same place
//! removes it.

use std::ffi::OsString;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};
use tempfile::Builder;

use crate::error::{Error, Result};

/// All of this process.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// How often a folder is emptied in which others still make files.
const ATTEMPTS: usize = 1000;

/// A file or folder under a hidden name. Dropping it removes whatever has that name then; renaming
/// it makes it last.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// Holds the lock.
    _locked: File,
}

impl Temporary {
    /// An empty file beside `place`.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn file(place: &Path) -> Result<Temporary> {
        Temporary::make(place, |builder, parent| {
            let made = builder.permissions(Permissions::from_mode(0o666)).tempfile_in(parent)?;
            Ok((lock(made.path())?, made.into_temp_path().keep()?))
        })
    }

    /// An empty folder beside `place`.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn folder(place: &Path) -> Result<Temporary> {
        Temporary::make(place, |builder, parent| {
            let made = builder.permissions(Permissions::from_mode(0o777)).tempdir_in(parent)?;
            Ok((lock(made.path())?, made.keep()))
        })
    }

    fn make(
        place: &Path,
        make: impl FnOnce(&mut Builder<'_, '_>, &Path) -> io::Result<(File, PathBuf)>,
    ) -> Result<Temporary> {
        let Some(name) = place.file_name() else {
            let nameless = io::Error::new(io::ErrorKind::InvalidInput, "it has no name of its own");
            return Err(Error::io("create", place)(nameless));
        };
        let mut prefix = OsString::from(".");
        prefix.push(name);
        prefix.push(".unfinished-");
        let parent = parent(place);
        remove_leftovers(parent, &prefix);
        prefix.push(format!("{}-", std::process::id()));
        // Under the lock, so that none is made behind the back of `remove_all`.
        let mut all = all();
        let made = make(Builder::new().prefix(&prefix), parent);
        let (locked, path) = made.map_err(bare).map_err(Error::io("create", place))?;
        all.push(path.clone());
        Ok(Temporary { path, _locked: locked })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes all of this process, which is to end at once: from here on none can be made, and who
    /// tries waits for the end.
    pub fn remove_all() {
        let all = all();
        for path in &*all {
            let _ = (0..ATTEMPTS).find(|_| remove(path).is_ok());
        }
        std::mem::forget(all);
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed is left to the next one.
        let _ = remove(&self.path);
        all().retain(|path| *path != self.path);
    }
}

fn all() -> MutexGuard<'static, Vec<PathBuf>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The folder that something lies in.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn lock(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Removes a file, or a folder with all that is in it, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes what processes that were killed have left. What cannot be removed does no harm.
fn remove_leftovers(parent: &Path, prefix: &OsString) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_one = name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
        if is_one && lock(&entry.path()).is_ok() {
            let _ = remove(&entry.path());
        }
    }
}

/// The error of the operating system, without the temporary name that it comes with.
fn bare(error: io::Error) -> io::Error {
    let source = error.get_ref().and_then(|named| named.source());
    let code = source.and_then(|source| source.downcast_ref::<io::Error>()?.raw_os_error());
    code.map_or(error, io::Error::from_raw_os_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn what_is_dropped_leaves_nothing_and_what_is_renamed_lasts() {
        let folder = tempfile::tempdir().unwrap();
        for make in [Temporary::file, Temporary::folder] {
            drop(make(&folder.path().join("g")).unwrap());
            assert_eq!(count(folder.path()), 0);
            let temporary = make(&folder.path().join("g")).unwrap();
            fs::rename(temporary.path(), folder.path().join("kept")).unwrap();
            drop(temporary);
            assert!(folder.path().join("kept").exists());
            remove(&folder.path().join("kept")).unwrap();
        }
        Temporary::file(&folder.path().join("g/..")).unwrap_err();
        let error = Temporary::file(&folder.path().join("none/g")).unwrap_err();
        assert!(!error.to_string().contains("unfinished"), "{error}");
    }

    #[test]
    fn leftovers_are_removed_and_what_is_in_work_is_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".g.unfinished-1-abc")).unwrap();
        fs::write(folder.path().join(".g.unfinished-1-abc/file"), "text").unwrap();
        fs::write(folder.path().join(".g.unfinished-1-def"), "text").unwrap();
        fs::create_dir(folder.path().join(".h.unfinished-1-abc")).unwrap();
        let first = Temporary::folder(&folder.path().join("g")).unwrap();
        let second = Temporary::file(&folder.path().join("g")).unwrap();
        assert!(first.path().is_dir() && second.path().is_file());
        assert_eq!(count(folder.path()), 3);
    }
}
