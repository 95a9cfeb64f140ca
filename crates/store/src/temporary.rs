//! Files and folders that vanish unless they are finished.
//!
//! Each lies under a hidden name beside the place where it is to appear, and is locked while its
//! process lives. It is removed when its owner gives up, or when the process ends at once. What a
//! process that was killed has left is not locked: the next one that writes to the same place
//! removes it. Where the file system knows no locks, it stays.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;
use tempfile::Builder;

use crate::error::{Error, Result};
use crate::progress::Cancel;

/// All of this process.
static ALL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// How often a folder is emptied in which others still make files.
const ATTEMPTS: usize = 1000;
/// Names that are tried, should others take each for a leftover before it is locked.
const NAMES_MAX: usize = 100;
/// Between two looks at a lock that another holds.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);

/// A file or folder under a hidden name. Dropping it removes whatever has that name then; renaming
/// it makes it last.
#[derive(Debug)]
pub struct Temporary {
    path: PathBuf,
    /// Holds the lock, where the file system knows locks.
    _locked: Option<File>,
}

impl Temporary {
    /// An empty file beside `place`.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn file(place: &Path) -> Result<Temporary> {
        Temporary::make(place, |builder, parent| {
            let made = builder.permissions(Permissions::from_mode(0o666)).tempfile_in(parent)?;
            Ok(made.into_temp_path().keep()?)
        })
    }

    /// An empty folder beside `place`.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn folder(place: &Path) -> Result<Temporary> {
        Temporary::make(place, |builder, parent| {
            let made = builder.permissions(Permissions::from_mode(0o777)).tempdir_in(parent)?;
            Ok(made.keep())
        })
    }

    fn make(
        place: &Path,
        make: impl FnMut(&mut Builder<'_, '_>, &Path) -> io::Result<PathBuf>,
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
        let made = make_locked(&prefix, parent, make);
        let (locked, path) = made.map_err(bare).map_err(Error::io("create", place))?;
        all.push(path.clone());
        Ok(Temporary { path, _locked: locked })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Does what moves it to its place, or swaps it with what is there: [`Self::remove_all`] comes
    /// before that or behind it.
    pub(crate) fn at_once<T>(&self, moving: impl FnOnce() -> T) -> T {
        let _all = all();
        moving()
    }

    /// Gives a finished file the name `place`. With `replace` it takes the place of what has that name;
    /// otherwise, of all who try at the same time, one gets it.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`], unless it is replaced; those of renaming. The file keeps its hidden name.
    pub fn finish(&self, place: &Path, replace: bool) -> Result<()> {
        let rename = if replace { fs::rename } else { rename_new };
        let renamed = self.at_once(|| rename(&self.path, place));
        renamed.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::AlreadyExists { path: place.to_owned() },
            _ => Error::io("create", place)(bare(error)),
        })?;
        match sync_folder(parent(place)) {
            // One may write to it but not read it, as sync would have to.
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::PermissionDenied => {
                Ok(())
            }
            synced => synced,
        }
    }

    /// Removes all of this process, which is to end at once: from here on none can be made, and who
    /// tries waits for the end.
    pub fn remove_all() {
        remove_each(all());
    }

    /// The same for a thread that may be making one: what cannot be removed at once is left to the next
    /// process, as if this one had been killed.
    pub fn remove_all_if_idle() {
        if let Ok(all) = ALL.try_lock() {
            remove_each(all);
        }
    }
}

fn remove_each(all: MutexGuard<'static, Vec<PathBuf>>) {
    for path in &*all {
        let _ = (0..ATTEMPTS).find(|_| remove(path).is_ok());
    }
    std::mem::forget(all);
}

/// Renames a file to a name that must be free.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`]; those of renaming.
pub(crate) fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system that does not know the flag.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rename_claimed(from, to),
        other => Ok(other?),
    }
}

/// Takes the name with an empty file, which one of all who try can make, and renames over that.
fn rename_claimed(from: &Path, to: &Path) -> io::Result<()> {
    File::create_new(to)?;
    fs::rename(from, to).inspect_err(|_| drop(fs::remove_file(to)))
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

/// Waits until the names in a folder are safely on disk.
///
/// # Errors
/// Those of opening and syncing it.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    let opened = File::open(folder).map_err(Error::io("open", folder))?;
    opened.sync_all().map_err(Error::io("sync", folder))
}

/// Makes one and locks it. Until it is locked it looks like a leftover, so another process may lock or
/// remove it: then a further name is tried.
fn make_locked(
    prefix: &OsStr,
    parent: &Path,
    mut make: impl FnMut(&mut Builder<'_, '_>, &Path) -> io::Result<PathBuf>,
) -> io::Result<(Option<File>, PathBuf)> {
    let mut names_left = NAMES_MAX;
    loop {
        let path = make(Builder::new().prefix(prefix), parent)?;
        let error = match lock(&path) {
            Ok(locked) if path.try_exists()? => return Ok((locked, path)),
            Ok(_) => io::ErrorKind::NotFound.into(),
            Err(error) => error,
        };
        let _ = remove(&path);
        names_left -= 1;
        let is_taken = matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::NotFound);
        if !is_taken || names_left == 0 {
            return Err(error);
        }
    }
}

/// Locks a file or folder for as long as the result is held; none where the file system has no locks.
pub(crate) fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    let is_locked = has_locked(flock(&file, FlockOperation::NonBlockingLockExclusive))?;
    Ok(is_locked.then_some(file))
}

/// The same, once whoever holds the lock has let go of it.
///
/// # Errors
/// Those of locking; [`Error::Cancelled`].
pub(crate) fn wait_for_lock(path: &Path, cancel: &Cancel) -> Result<Option<File>> {
    loop {
        cancel.check()?;
        match lock(path) {
            // Looked at again and again: who waits within the call cannot be cancelled.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOCK_INTERVAL),
            locked => return locked.map_err(Error::io("lock", path)),
        }
    }
}

/// Tells a file system that has no locks from a lock that is refused.
fn has_locked(answer: Result<(), Errno>) -> io::Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        // The last one is what a network file system says to a file that is open for reading.
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK | Errno::BADF) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes a file, or a folder with all that is in it, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes what processes that were killed have left. What cannot be locked or removed does no harm.
fn remove_leftovers(parent: &Path, prefix: &OsStr) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_one = name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes());
        // The lock is held until it is removed, so its owner does not take it for its own meanwhile.
        if is_one && let Ok(Some(_locked)) = lock(&entry.path()) {
            let _ = remove(&entry.path());
        }
    }
}

/// The error of the operating system, without the temporary name that it comes with.
fn bare(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => Errno::NOENT.into(),
        io::ErrorKind::PermissionDenied => Errno::ACCESS.into(),
        io::ErrorKind::ReadOnlyFilesystem => Errno::ROFS.into(),
        io::ErrorKind::StorageFull => Errno::NOSPC.into(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

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
    fn of_many_who_finish_a_file_at_once_one_gets_the_name() {
        let folder = tempfile::tempdir().unwrap();
        for rename in [rename_new, rename_claimed] {
            let place = folder.path().join("g");
            let ways: Vec<PathBuf> = (0..8).map(|i| folder.path().join(i.to_string())).collect();
            ways.iter().for_each(|way| fs::write(way, "text").unwrap());
            let renamed = thread::scope(|scope| {
                let place = &place;
                let tries: Vec<_> =
                    ways.iter().map(|way| scope.spawn(move || rename(way, place))).collect();
                tries.into_iter().map(|tried| tried.join().unwrap()).collect::<Vec<_>>()
            });
            for (way, renamed) in ways.iter().zip(&renamed) {
                assert_eq!(way.exists(), renamed.is_err());
                let kind = renamed.as_ref().err().map(io::Error::kind);
                assert!(matches!(kind, None | Some(io::ErrorKind::AlreadyExists)), "{kind:?}");
            }
            assert_eq!(renamed.iter().filter(|renamed| renamed.is_ok()).count(), 1);
            assert_eq!(fs::read_to_string(&place).unwrap(), "text");
            fs::remove_file(&place).unwrap();
        }
    }

    #[test]
    fn a_finished_file_replaces_only_what_it_is_asked_to() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("g");
        let temporary = Temporary::file(&place).unwrap();
        fs::write(temporary.path(), "new").unwrap();
        fs::write(&place, "old").unwrap();
        let refused = temporary.finish(&place, false);
        assert!(matches!(refused, Err(Error::AlreadyExists { path }) if path == place));
        assert_eq!(fs::read_to_string(&place).unwrap(), "old");
        temporary.finish(&place, true).unwrap();
        drop(temporary);
        assert_eq!(fs::read_to_string(&place).unwrap(), "new");
        assert_eq!(count(folder.path()), 1);
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

    /// Makes files, the first of which is done away with by others before it is locked.
    fn made_in_spite_of(folder: &Path, meddle: impl Fn(&Path)) -> PathBuf {
        let mut first = None;
        let (locked, path) =
            make_locked(OsStr::new(".g.unfinished-"), folder, |builder, parent| {
                let made = builder.tempfile_in(parent)?.into_temp_path().keep()?;
                if first.is_none() {
                    meddle(&made);
                    first = Some(made.clone());
                }
                Ok(made)
            })
            .unwrap();
        assert!(locked.is_some() && path.is_file());
        assert!(first.is_some_and(|first| first != path && !first.exists()));
        path
    }

    #[test]
    fn one_that_others_take_for_a_leftover_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        made_in_spite_of(folder.path(), |made| fs::remove_file(made).unwrap());
        let others = std::cell::Cell::new(None);
        made_in_spite_of(folder.path(), |made| others.set(lock(made).unwrap()));
        assert!(others.take().is_some());
        assert_eq!(count(folder.path()), 2);
    }

    #[test]
    fn all_are_made_while_another_removes_leftovers() {
        let folder = tempfile::tempdir().unwrap();
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    remove_leftovers(folder.path(), OsStr::new(".g.unfinished-"));
                }
            });
            for number in 0..2000 {
                let make = if number % 2 == 0 { Temporary::folder } else { Temporary::file };
                let made = make(&folder.path().join("g")).map(|made| made.path().exists());
                is_done.store(number == 1999 || !matches!(made, Ok(true)), Ordering::Relaxed);
                assert!(made.unwrap());
            }
        });
    }

    #[test]
    fn whoever_waits_for_a_lock_gets_it_or_is_cancelled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g");
        fs::write(&path, "text").unwrap();
        let wait = |cancel: &Cancel| wait_for_lock(&path, cancel);
        let cancel = Cancel::default();
        let held = wait(&cancel).unwrap();
        assert!(held.is_some());
        thread::scope(|scope| {
            let waiting = scope.spawn(|| wait(&Cancel::default()));
            let cancelled = scope.spawn(|| wait(&cancel));
            cancel.cancel();
            assert!(matches!(cancelled.join().unwrap(), Err(Error::Cancelled)));
            assert!(!waiting.is_finished());
            drop(held);
            assert!(waiting.join().unwrap().unwrap().is_some());
        });
    }

    #[test]
    fn a_file_system_without_locks_is_told_from_a_lock_that_is_refused() {
        assert!(has_locked(Ok(())).unwrap());
        for error in [Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS, Errno::NOLCK] {
            assert!(!has_locked(Err(error)).unwrap(), "{error}");
        }
        assert_eq!(has_locked(Err(Errno::AGAIN)).unwrap_err().kind(), io::ErrorKind::WouldBlock);
    }
}
