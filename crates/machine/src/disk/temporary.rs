//! Files and folders that vanish unless they are finished.
//!
//! Each lies under a hidden name beside the place where it is to appear, and is locked while its
//! process lives. It is removed when its owner gives up, or when the process ends at once. What a
//! process that was killed has left is not locked: the next one that writes to the same place
//! removes it. Where the file system knows no locks, it stays.
//!
//! What of a folder is its owner's to remove, the owner says, by a function [`Remove`]: others may have put
//! a file of theirs into it.

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

/// All of this process.
static ALL: Mutex<Vec<Arc<Hidden>>> = Mutex::new(Vec::new());
/// How often a folder is emptied in which others still make files.
const ATTEMPTS: usize = 100;
/// Names that are tried, should others take each for a leftover before it is locked.
const NAMES_MAX: usize = 100;
/// Between two looks at a lock that another holds.
const LOCK_INTERVAL: Duration = Duration::from_millis(50);
/// How a hidden file or folder is opened: no link is one, and a pipe of others is not waited for.
const HIDDEN: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);

/// Removes from a folder what has a name: a file, or a folder with what the owner of such folders puts into
/// one. With anything else in it, it stays.
pub type Remove = fn(&Directory, &OsStr) -> io::Result<()>;

/// A file or folder under a hidden name. Dropping it removes whatever has that name then; renaming
/// it makes it last.
#[derive(Debug)]
pub struct Temporary {
    hidden: Arc<Hidden>,
    path: PathBuf,
    /// The name that it is to have.
    place: OsString,
    /// Holds the lock, where the file system knows locks.
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
    /// Removes what has the name, as often as others still make files of its owner's in it.
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

impl Temporary {
    /// An empty file beside `place`.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn file(place: &Path) -> Result<Temporary> {
        let (folder, name) = parted(place)?;
        Temporary::file_in(&folder, name)
    }

    /// An empty folder beside `place`.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn folder(place: &Path, remove: Remove) -> Result<Temporary> {
        let (folder, name) = parted(place)?;
        Temporary::folder_in(&folder, name, remove)
    }

    /// The same, for nobody else's eyes: beside `place` there may be folders of other users.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn private_folder(place: &Path, remove: Remove) -> Result<Temporary> {
        let (folder, name) = parted(place)?;
        Temporary::make(&folder, name, remove, |hidden| folder.create_folder(hidden, 0o700))
    }

    /// An empty file that is to have a name in a folder.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn file_in(folder: &Directory, name: &OsStr) -> Result<Temporary> {
        Temporary::make(folder, name, remove_file, |hidden| folder.create_file(hidden).map(drop))
    }

    /// An empty folder that is to have a name in a folder.
    ///
    /// # Errors
    /// Those of creating it.
    pub fn folder_in(folder: &Directory, name: &OsStr, remove: Remove) -> Result<Temporary> {
        Temporary::make(folder, name, remove, |hidden| folder.create_folder(hidden, 0o777))
    }

    fn make(
        folder: &Directory,
        place: &OsStr,
        remove: Remove,
        make: impl FnMut(&OsStr) -> io::Result<()>,
    ) -> Result<Temporary> {
        remove_leftovers(folder, place, remove);
        // Under the lock, so that none is made behind the back of `remove_all`.
        let mut all = all();
        let made = make_locked(folder, place, remove, make);
        let (locked, name) = made.map_err(bare).map_err(Error::io("create", folder.join(place)))?;
        let path = folder.join(&name);
        let hidden = Arc::new(Hidden { folder: folder.clone(), name, remove });
        all.push(Arc::clone(&hidden));
        Ok(Temporary { hidden, path, place: place.to_owned(), _locked: locked })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder that it lies in, and its hidden name there.
    pub fn hidden(&self) -> (&Directory, &OsStr) {
        (&self.hidden.folder, &self.hidden.name)
    }

    /// Opens it for writing, if it is a file.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn open_file(&self) -> io::Result<File> {
        let (folder, name) = self.hidden();
        folder.open_file(name, OFlags::WRONLY | OFlags::NOFOLLOW)
    }

    /// Opens it, if it is a folder.
    ///
    /// # Errors
    /// Those of opening it.
    pub fn open_folder(&self) -> Result<Directory> {
        let (folder, name) = self.hidden();
        folder.open_folder(name).map_err(Error::io("open", self.path()))
    }

    /// Gives a file its place: from then on it lasts.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] where something has that name, unless it is to be replaced; those of
    /// renaming.
    pub fn take_place(&self, replace: bool) -> io::Result<()> {
        self.take_name(&self.place, replace)
    }

    /// Gives a finished file a name in its folder, and waits until that is safely on disk. Of all who try at
    /// the same time one gets a name, unless they replace what has it.
    ///
    /// # Errors
    /// [`Error::AlreadyExists`], unless it is replaced; those of renaming. The file keeps its hidden name.
    pub fn finish(&self, name: &OsStr, replace: bool) -> Result<()> {
        let folder = &self.hidden.folder;
        let path = folder.join(name);
        match self.take_name(name, replace) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(Error::AlreadyExists { path });
            }
            taken => taken.map_err(bare).map_err(Error::io("create", &path))?,
        }
        match folder.sync() {
            // One may write to it but not read it, as sync would have to.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
            synced => synced.map_err(Error::io("sync", folder.path())),
        }
    }

    fn take_name(&self, place: &OsStr, replace: bool) -> io::Result<()> {
        let (folder, name) = self.hidden();
        let rename = |if_taken| folder.rename(name, (folder, place), if_taken);
        self.at_once(|| {
            if replace {
                return Ok(rename(IfTaken::Replace)?);
            }
            match rename(IfTaken::Fail) {
                // A file system that cannot tell: only for a moment might another one take the name.
                Err(error) if knows_no_flags(error) => match folder.kind_of(place)? {
                    None => Ok(rename(IfTaken::Replace)?),
                    Some(_) => Err(Errno::EXIST.into()),
                },
                renamed => Ok(renamed?),
            }
        })
    }

    /// Does what moves it to its place, or swaps it with what is there: [`Self::remove_all`] comes
    /// before that or behind it.
    pub fn at_once<T>(&self, moving: impl FnOnce() -> T) -> T {
        let _all = all();
        moving()
    }

    /// Removes what has the hidden name now.
    ///
    /// # Errors
    /// Those of removing; [`io::ErrorKind::DirectoryNotEmpty`] where something else is in it, which stays.
    pub fn remove(&self) -> io::Result<()> {
        self.hidden.remove()
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

fn remove_each(all: MutexGuard<'static, Vec<Arc<Hidden>>>) {
    for hidden in &*all {
        let _ = hidden.remove();
    }
    std::mem::forget(all);
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // What cannot be removed is left to the next one.
        let _ = self.remove();
        all().retain(|hidden| !Arc::ptr_eq(hidden, &self.hidden));
    }
}

fn all() -> MutexGuard<'static, Vec<Arc<Hidden>>> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How files are removed: a folder that has the name stays.
fn remove_file(folder: &Directory, name: &OsStr) -> io::Result<()> {
    folder.remove_file(name)
}

/// The folder that a place lies in, and its name there.
///
/// # Errors
/// Where the place has no name of its own, or its folder cannot be opened.
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

/// Whether this is the answer of a file system to a rename that is more than a plain one.
pub fn knows_no_flags(error: Errno) -> bool {
    matches!(error, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}

/// Makes one and locks it. Until it is locked it looks like a leftover, so another process may lock or
/// remove it: then a further name is tried.
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

/// Locks a file or folder for as long as the result is held; none where the file system has no locks.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] while another holds the lock; those of opening it.
pub fn lock(folder: &Directory, name: &OsStr, flags: OFlags) -> io::Result<Option<File>> {
    let file = folder.open_file(name, flags)?;
    let is_locked = has_locked(flock(&file, FlockOperation::NonBlockingLockExclusive))?;
    Ok(is_locked.then_some(file))
}

/// The same, once whoever holds the lock has let go of it. Where the name stands for another file by
/// then, that one is locked.
///
/// # Errors
/// Those of locking; [`Error::Cancelled`].
pub fn wait_for_lock(folder: &Directory, name: &str, cancel: &Cancel) -> Result<Option<File>> {
    let failed = || Error::io("lock", folder.join(name));
    loop {
        cancel.check()?;
        match lock(folder, name.as_ref(), OFlags::empty()) {
            Ok(Some(file)) if !folder.is_at(name, &file).map_err(failed())? => {}
            // Looked at again and again: who waits within the call cannot be cancelled.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::sleep(LOCK_INTERVAL),
            locked => return locked.map_err(failed()),
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

/// Removes what processes that were killed have left. What cannot be locked or removed does no harm.
fn remove_leftovers(folder: &Directory, place: &OsStr, remove: Remove) {
    for name in folder.names().into_iter().flatten() {
        // The lock is held until it is removed, so its owner does not take it for its own meanwhile.
        if is_hidden_name(&name, place)
            && let Ok(Some(_locked)) = lock(folder, &name, HIDDEN)
        {
            let _ = remove(folder, &name);
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
mod tests;
