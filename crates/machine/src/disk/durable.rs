//! The steps that decide what survives a loss of power: syncs, and changes of names.
//!
//! All of them go through here. So a test can look at the disk after each step and work out which
//! earlier changes a crash may have undone, or it can make any step fail ([`fail_at`]). Otherwise,
//! a step costs one or two reads of a thread-local besides its system call.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::fsync;
use rustix::io::{Errno, retry_on_intr};

use super::Directory;

/// Receives each completed step: the file or folder that was synced, or `None` where names were
/// created, changed or removed.
pub type Watcher = Box<dyn FnMut(Option<BorrowedFd<'_>>)>;

thread_local! {
    static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
    /// Steps up to and including the one that fails; 0 for none.
    static STEPS_LEFT: Cell<u64> = const { Cell::new(0) };
}

/// For tests: reports all further steps of this thread to `watcher`, which replaces the one before.
pub fn watch(watcher: Option<Watcher>) {
    WATCHER.set(watcher);
}

/// For tests: makes the `n`-th next step of this thread fail, counted from 1, like a disk error;
/// none where `n` is 0. Returns whether the step set by the previous call has come.
pub fn fail_at(n: u64) -> bool {
    STEPS_LEFT.replace(n) == 0
}

/// Counts a step, and fails if it is the one to fail.
fn try_step() -> Result<(), Errno> {
    let left = STEPS_LEFT.get();
    STEPS_LEFT.set(left.saturating_sub(1));
    if left == 1 { Err(Errno::IO) } else { Ok(()) }
}

fn passed(synced: Option<BorrowedFd<'_>>) {
    WATCHER.with_borrow_mut(|watcher| {
        if let Some(watcher) = watcher {
            watcher(synced);
        }
    });
}

/// Waits until the bytes of a file, or the names in a folder, would survive a loss of power.
pub fn sync(file: impl AsFd) -> io::Result<()> {
    let fd = file.as_fd();
    try_step()?;
    retry_on_intr(|| fsync(fd))?;
    passed(Some(fd));
    Ok(())
}

/// Runs a change of names as a step.
pub fn named<T, E: From<Errno>>(change: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    try_step()?;
    let outcome = change();
    passed(None);
    outcome
}

/// Creates a file, which must not exist.
pub fn create_file(path: &Path) -> io::Result<File> {
    named(|| File::create_new(path))
}

/// Removes a file.
pub fn remove_file(path: &Path) -> io::Result<()> {
    named(|| fs::remove_file(path))
}

/// Creates a folder and its parents where they are missing, and waits until the new names are
/// safely on disk.
pub fn create_folders(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(path);
    let create = || named(|| fs::create_dir(path));
    let created = match create() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folders(parent).and_then(|()| create())
        }
        created => created,
    };
    match created {
        Err(_) if path.is_dir() => return Ok(()),
        created => created?,
    }
    sync_parent(path)
}

/// Waits until the name of a file or a folder is safely on disk.
pub fn sync_parent(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Directory::open(parent.unwrap_or(Path::new(".")))?.sync_if_readable()
}
