//! The directory in which a graph comes into being, and how it appears all at once.
//!
//! It lies beside its future place under a hidden name, and is locked while the import runs. So the
//! next import of that name can tell the leftovers of one that was killed from one that still runs.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};

use crate::error::{Error, Result};
use crate::graph::Manifest;

/// A directory that is removed again unless it is committed.
pub(super) struct Unfinished {
    path: PathBuf,
    output: PathBuf,
    replace: bool,
    /// Holds the lock.
    _locked: File,
    committed: bool,
}

impl Unfinished {
    /// Creates the directory beside `output`, which must not exist; with `replace` it may, if it is a
    /// graph or empty.
    pub fn create(output: &Path, replace: bool) -> Result<Unfinished> {
        check_output(output, replace)?;
        let (parent, prefix) = names(output)?;
        fs::create_dir_all(&parent).map_err(Error::io("create", &parent))?;
        remove_leftovers(&parent, &prefix);
        let mut prefix_with_process = prefix;
        prefix_with_process.push(format!("{}-", std::process::id()));
        let made = tempfile::Builder::new()
            .prefix(&prefix_with_process)
            .permissions(fs::Permissions::from_mode(0o777))
            .tempdir_in(&parent);
        let path = made.map_err(Error::io("create a directory in", &parent))?.keep();
        let locked = File::open(&path).map_err(Error::io("open", &path))?;
        flock(&locked, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| Error::io("lock", &path)(error.into()))?;
        Ok(Unfinished {
            path,
            output: output.to_owned(),
            replace,
            _locked: locked,
            committed: false,
        })
    }

    /// Where the files go.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the finished directory its name.
    pub fn commit(mut self) -> Result<()> {
        sync(&self.path)?;
        let replaced = self.rename().map_err(Error::io("create", &self.output))?;
        self.committed = true;
        let parent = self.output.parent().filter(|parent| !parent.as_os_str().is_empty());
        sync(parent.unwrap_or(Path::new(".")))?;
        if replaced {
            // What was there before has taken the hidden name.
            fs::remove_dir_all(&self.path).map_err(Error::io("remove the replaced", &self.path))?;
        }
        Ok(())
    }

    /// Renames, exchanging the two where there is something to be replaced.
    fn rename(&self) -> io::Result<bool> {
        let rename = |flags| renameat_with(CWD, &self.path, CWD, &self.output, flags);
        match rename(RenameFlags::NOREPLACE) {
            Ok(()) => Ok(false),
            Err(rustix::io::Errno::EXIST) if self.replace => {
                Ok(rename(RenameFlags::EXCHANGE).map(|()| true)?)
            }
            // A file system that knows no flags: a plain rename replaces nothing but an empty folder.
            Err(rustix::io::Errno::INVAL) => fs::rename(&self.path, &self.output).map(|()| false),
            Err(error) => Err(error.into()),
        }
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.committed {
            // Whatever stopped the import is the error to be told; the next one tries again.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn check_output(output: &Path, replace: bool) -> Result<()> {
    match fs::symlink_metadata(output) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read", output)(error)),
        Ok(_) if !replace => return Err(Error::AlreadyExists { path: output.to_owned() }),
        Ok(_) => {}
    }
    let is_empty = fs::read_dir(output).is_ok_and(|mut entries| entries.next().is_none());
    if is_empty || !matches!(Manifest::read(output), Err(Error::NotAGraph { .. })) {
        return Ok(());
    }
    let detail =
        "it is not replaced, for it may hold something else; choose another name".to_owned();
    Err(Error::NotAGraph { path: output.to_owned(), detail })
}

/// The parent of the output, and how the names of its unfinished directories begin.
fn names(output: &Path) -> Result<(PathBuf, OsString)> {
    let Some(name) = output.file_name() else {
        let detail = "a graph needs a name of its own".to_owned();
        return Err(Error::NotAGraph { path: output.to_owned(), detail });
    };
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".importing-");
    let parent = output.parent().filter(|parent| !parent.as_os_str().is_empty());
    Ok((parent.unwrap_or(Path::new(".")).to_owned(), prefix))
}

/// Removes what imports that were killed have left. What cannot be removed does no harm.
fn remove_leftovers(parent: &Path, prefix: &OsString) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        if !entry.file_name().as_encoded_bytes().starts_with(prefix.as_encoded_bytes()) {
            continue;
        }
        let is_abandoned = File::open(entry.path()).is_ok_and(|directory| {
            flock(&directory, FlockOperation::NonBlockingLockExclusive).is_ok()
        });
        if is_abandoned {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn sync(directory: &Path) -> Result<()> {
    let opened = File::open(directory).map_err(Error::io("open", directory))?;
    opened.sync_all().map_err(Error::io("sync", directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden_in(folder: &Path) -> usize {
        fs::read_dir(folder)
            .unwrap()
            .filter(|entry| entry.as_ref().unwrap().file_name().as_encoded_bytes()[0] == b'.')
            .count()
    }

    #[test]
    fn nothing_appears_before_the_commit_and_nothing_else_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("deep/g.tegula");
        let unfinished = Unfinished::create(&output, false).unwrap();
        fs::write(unfinished.path().join("file"), "text").unwrap();
        assert!(!output.exists());
        unfinished.commit().unwrap();
        assert_eq!(fs::read_to_string(output.join("file")).unwrap(), "text");
        assert_eq!(hidden_in(output.parent().unwrap()), 0);
        assert!(matches!(Unfinished::create(&output, false), Err(Error::AlreadyExists { .. })));
    }

    #[test]
    fn what_is_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let unfinished = Unfinished::create(&folder.path().join("g"), false).unwrap();
        fs::write(unfinished.path().join("file"), "text").unwrap();
        drop(unfinished);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn leftovers_are_removed_and_running_imports_are_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".g.importing-1-abc")).unwrap();
        fs::create_dir(folder.path().join(".h.importing-1-abc")).unwrap();
        let running = Unfinished::create(&folder.path().join("g"), false).unwrap();
        let second = Unfinished::create(&folder.path().join("g"), false).unwrap();
        assert!(running.path().exists() && second.path().exists());
        assert_eq!(hidden_in(folder.path()), 3);
    }

    #[test]
    fn only_graphs_and_empty_folders_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        fs::create_dir(&output).unwrap();
        Unfinished::create(&output, true).unwrap().commit().unwrap();
        fs::write(output.join("thesis.txt"), "text").unwrap();
        assert!(matches!(Unfinished::create(&output, true), Err(Error::NotAGraph { .. })));
        assert_eq!(fs::read_to_string(output.join("thesis.txt")).unwrap(), "text");
        assert!(Unfinished::create(Path::new("/"), true).is_err());
    }

    #[test]
    fn a_second_import_does_not_replace_the_first() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("g");
        let (first, second) = (
            Unfinished::create(&output, false).unwrap(),
            Unfinished::create(&output, false).unwrap(),
        );
        fs::write(first.path().join("file"), "text").unwrap();
        first.commit().unwrap();
        assert!(second.commit().is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
