//! Unfinished files and folders, which vanish unless a rename finishes them.
//!
//! Each lies under a hidden name beside its final place, and is locked while its process lives. It
//! is removed when its owner gives up, or when the process ends early. The leftovers of a killed
//! process are not locked: the next process that writes to the same place removes them. Where the
//! file system has no locks, they stay. A file or folder that nobody means to keep is one that is
//! never finished.
//!
//! The owner of a folder passes a function [`Remove`] that says what may be removed from it, for
//! others may have put files of their own into it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

use crate::disk::hidden_name::{hidden_name, is_hidden_name};
use crate::disk::{Directory, IfTaken};
use crate::error::{Error, Result};
use crate::threads::Cancel;

/// All unfinished files and folders of this process.
static ALL: Mutex<Vec<Arc<Hidden>>> = Mutex::new(Vec::new());
/// How often a folder is emptied while others still create files in it.
const ATTEMPTS: usize = 100;
/// Names to try, if others take each for a leftover before it is locked.
const NAMES_MAX: usize = 100;
/// Time between two attempts at a lock that another process holds.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);
/// How a hidden file or folder is opened: links are not followed, and a pipe of another process
/// does not block.
const HIDDEN: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);

/// Removes an entry of a folder by its name: a file, or a folder that holds only what the owner of
/// such folders puts there. A folder with anything else in it stays.
pub type Remove = fn(&Directory, &OsStr) -> io::Result<()>;

/// A file or folder under a hidden name. Dropping it removes whatever has that name then; renaming
/// it first keeps it.
#[derive(Debug)]
pub struct Unfinished {
    hidden: Arc<Hidden>,
    path: PathBuf,
    /// Its final name.
    place: OsString,
    /// Holds the lock, where the file system has locks.
    _locked: Option<File>,
}

/// A hidden name.
#[derive(Debug)]
struct Hidden {
    folder: Directory,
    name: OsString,
    remove: Remove,
}

impl Hidden {
    /// Removes the entry with this name; tries again while others still create files in it.
    fn remove(&self) -> io::Result<()> {
        let mut removed = (self.remove)(&self.folder, &self.name);
        for _ in 1..ATTEMPTS {
            if removed.is_ok() {
                break;
            }
            removed = (self.remove)(&self.folder, &self.name);
        }
        removed
    }
}

impl Unfinished {
    /// Creates an empty file beside `place`.
    pub fn file(place: &Path) -> Result<Unfinished> {
        let (folder, name) = parted(place)?;
        Unfinished::file_in(&folder, name)
    }

    /// Creates an empty folder beside `place`.
    pub fn folder(place: &Path, remove: Remove) -> Result<Unfinished> {
        let (folder, name) = parted(place)?;
        Unfinished::folder_in(&folder, name, remove)
    }

    /// Creates an empty folder that only this user can enter: folders of other users may lie beside
    /// `place`.
    pub fn private_folder(place: &Path, remove: Remove) -> Result<Unfinished> {
        let (folder, name) = parted(place)?;
        Unfinished::make(&folder, name, remove, |hidden| folder.create_folder(hidden, 0o700))
    }

    /// Creates an empty file whose final name in `folder` is `name`.
    pub fn file_in(folder: &Directory, name: &OsStr) -> Result<Unfinished> {
        Unfinished::make(folder, name, remove_file, |hidden| folder.create_file(hidden).map(drop))
    }

    /// Creates an empty folder whose final name in `folder` is `name`.
    pub fn folder_in(folder: &Directory, name: &OsStr, remove: Remove) -> Result<Unfinished> {
        Unfinished::make(folder, name, remove, |hidden| folder.create_folder(hidden, 0o777))
    }

    fn make(
        folder: &Directory,
        place: &OsStr,
        remove: Remove,
        make: impl FnMut(&OsStr) -> io::Result<()>,
    ) -> Result<Unfinished> {
        remove_leftovers(folder, place, remove);
        // Under the lock, so that `remove_all` misses none.
        let mut all = all();
        let made = make_locked(folder, place, remove, make);
        let (locked, name) = made.map_err(bare).map_err(Error::io("create", folder.join(place)))?;
        let path = folder.join(&name);
        let hidden = Arc::new(Hidden { folder: folder.clone(), name, remove });
        all.push(Arc::clone(&hidden));
        Ok(Unfinished { hidden, path, place: place.to_owned(), _locked: locked })
    }

    /// Returns its present path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its folder and its hidden name there.
    pub fn hidden(&self) -> (&Directory, &OsStr) {
        (&self.hidden.folder, &self.hidden.name)
    }

    /// Opens it for writing, if it is a file.
    pub fn open_file(&self) -> io::Result<File> {
        let (folder, name) = self.hidden();
        folder.open_file(name, OFlags::WRONLY | OFlags::NOFOLLOW)
    }

    /// Opens it, if it is a folder.
    pub fn open_folder(&self) -> Result<Directory> {
        let (folder, name) = self.hidden();
        folder.open_folder(name).map_err(Error::io("open", self.path()))
    }

    /// Gives a file its final name, which makes it last.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] where the name is taken and `replace` is false; errors of
    /// renaming.
    pub fn take_place(&self, replace: bool) -> io::Result<()> {
        self.take_name(&self.place, replace)
    }

    /// Gives a finished file a name in its folder, and waits until that is safely on disk. If
    /// several processes try at the same time without `replace`, one of them gets the name.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`] where the name is taken and `replace` is false; errors of renaming.
    /// The file then keeps its hidden name.
    pub fn finish(&self, name: &OsStr, replace: bool) -> Result<()> {
        let folder = &self.hidden.folder;
        let path = folder.join(name);
        match self.take_name(name, replace) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::AlreadyExists { path });
            }
            taken => taken.map_err(bare).map_err(Error::io("create", &path))?,
        }
        folder.sync_if_readable().map_err(Error::io("sync", folder.path()))
    }

    fn take_name(&self, place: &OsStr, replace: bool) -> io::Result<()> {
        let (folder, name) = self.hidden();
        let rename = |if_taken| folder.rename(name, (folder, place), if_taken);
        self.at_once(|| {
            if replace {
                return Ok(rename(IfTaken::Replace)?);
            }
            match rename(IfTaken::Fail) {
                // This file system cannot rename without replacing. Another process can take the
                // name only in the moment between the check and the rename.
                Err(error) if knows_no_flags(error) => match folder.kind_of(place)? {
                    None => Ok(rename(IfTaken::Replace)?),
                    Some(_) => Err(Errno::EXIST.into()),
                },
                renamed => Ok(renamed?),
            }
        })
    }

    /// Runs `moving`, which moves it to its place or exchanges it with what is there.
    /// [`Self::remove_all`] runs either before or after that.
    pub fn at_once<T>(&self, moving: impl FnOnce() -> T) -> T {
        let _all = all();
        moving()
    }

    /// Removes whatever has the hidden name now.
    ///
    /// # Errors
    /// Errors of removing; [`io::ErrorKind::DirectoryNotEmpty`] where a folder holds something
    /// else, which stays.
    pub fn remove(&self) -> io::Result<()> {
        self.hidden.remove()
    }

    /// Removes all unfinished files and folders of this process, which is about to end. From here on
    /// none can be created: a thread that tries waits for the end.
    pub fn remove_all() {
        remove_each(all());
    }

    /// Like [`remove_all`](Self::remove_all), for a thread that may be creating one itself. What
    /// cannot be removed at once is left to the next process, as if this one had been killed.
    pub fn remove_all_if_idle() {
        if let Ok(all) = ALL.try_lock() {
            remove_each(all);
        }
    }
}

fn remove_each(all: MutexGuard<'static, Vec<Arc<Hidden>>>) {
    for hidden in &*all {
        let _ = hidden.remove();
    }
    std::mem::forget(all);
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // What cannot be removed is left to the next process.
        let _ = self.remove();
        all().retain(|hidden| !Arc::ptr_eq(hidden, &self.hidden));
    }
}

fn all() -> MutexGuard<'static, Vec<Arc<Hidden>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The [`Remove`] of files: a folder with the name stays.
fn remove_file(folder: &Directory, name: &OsStr) -> io::Result<()> {
    folder.remove_file(name)
}

/// Splits a place into its folder and its name there.
///
/// # Errors
/// [`Error::Io`] where the place has no name of its own, or its folder cannot be opened.
pub fn parted(place: &Path) -> Result<(Directory, &OsStr)> {
    let failed = || Error::io("create", place);
    let Some(name) = place.file_name() else {
        let nameless = io::Error::new(io::ErrorKind::InvalidInput, "it has no name of its own");
        return Err(failed()(nameless));
    };
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    Ok((Directory::open(folder).map_err(failed())?, name))
}

/// Returns whether a file system answers like this to a rename with flags that it does not know.
pub fn knows_no_flags(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Creates and locks a file or folder. Until it is locked it looks like a leftover, so another
/// process may lock or remove it. Then the next name is tried.
fn make_locked(
    folder: &Directory,
    place: &OsStr,
    remove: Remove,
    mut make: impl FnMut(&OsStr) -> io::Result<()>,
) -> io::Result<(Option<File>, OsString)> {
    use io::ErrorKind::{AlreadyExists, NotFound, WouldBlock};
    let mut names_left = NAMES_MAX;
    loop {
        let name = hidden_name(place);
        let made = make(&name).and_then(|()| lock(folder, &name, HIDDEN));
        let error = match made {
            Ok(locked) if folder.kind_of(&name)?.is_some() => return Ok((locked, name)),
            Ok(_) => NotFound.into(),
            Err(error) => error,
        };
        if error.kind() != AlreadyExists {
            let _ = remove(folder, &name);
        }
        names_left -= 1;
        let is_taken = matches!(error.kind(), AlreadyExists | NotFound | WouldBlock);
        if !is_taken || names_left == 0 {
            return Err(error);
        }
    }
}

/// Locks a file or folder for as long as the result is held. Returns `None` where the file system
/// has no locks.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] while another process holds the lock; errors of opening.
pub fn lock(folder: &Directory, name: &OsStr, flags: OFlags) -> io::Result<Option<File>> {
    let file = folder.open_file(name, flags)?;
    let is_locked = has_locked(flock(&file, FlockOperation::NonBlockingLockExclusive))?;
    Ok(is_locked.then_some(file))
}

/// Like [`lock`], but waits while another process holds the lock. If the name stands for another
/// file by then, that one is locked.
///
/// # Errors
/// [`Error::Io`]; [`Error::Cancelled`].
pub fn wait_for_lock(folder: &Directory, name: &str, cancel: &Cancel) -> Result<Option<File>> {
    let failed = || Error::io("lock", folder.join(name));
    loop {
        cancel.check()?;
        match lock(folder, name.as_ref(), OFlags::empty()) {
            Ok(Some(file)) if !folder.is_at(name, &file).map_err(failed())? => {}
            // Polled, because a thread that blocks in the system call cannot be cancelled.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOCK_INTERVAL),
            locked => return locked.map_err(failed()),
        }
    }
}

/// Distinguishes a file system without locks from a lock that is refused.
fn has_locked(answer: Result<(), Errno>) -> io::Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        // A network file system answers `BADF` for a file that is open for reading only.
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NOLCK | Errno::BADF) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes the leftovers of killed processes. What cannot be locked or removed does no harm.
fn remove_leftovers(folder: &Directory, place: &OsStr, remove: Remove) {
    for name in folder.names().into_iter().flatten() {
        // The lock is held until the removal, so the owner cannot lock the same file meanwhile.
        if is_hidden_name(&name, place)
            && let Ok(Some(_locked)) = lock(folder, &name, HIDDEN)
        {
            let _ = remove(folder, &name);
        }
    }
}

/// Returns the error of the operating system without the hidden name in its text.
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
mod tests;
