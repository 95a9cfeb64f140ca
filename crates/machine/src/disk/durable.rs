//! The steps that decide what a loss of power leaves: waiting for the disk, and changing names.
//!
//! All of them go through here, so that a test can look at the disk after each, and work out which of the changes so
//! far a crash may have undone, or have any of them fail ([`fail_at`]). Where nobody does, a step costs a look at a
//! thread-local or two beside its call of the system.

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::fsync;
use rustix::io::{Errno, retry_on_intr};

use super::Directory;

/// Is told of each step that was done: of the file or folder that was synced, or of nothing where names were
/// made, changed or removed.
pub type Watcher = Box<dyn FnMut(Option<BorrowedFd<'_>>)>;

thread_local! {
    static WATCHER: RefCell<Option<Watcher>> = const { RefCell::new(None) };
    /// Steps up to the one that fails; 0 for none.
    static STEPS_LEFT: Cell<u64> = const { Cell::new(0) };
}

/// Tells a watcher of all further steps that this thread takes, in the place of the one before.
/// It is for tests.
pub fn watch(watcher: Option<Watcher>) {
    WATCHER.set(watcher);
}

/// Has the `n`-th step from now on fail that this thread takes, counted from 1, as a disk does that errs; none where
/// `n` is 0. Tells whether the step that was to fail before has come. It is for tests.
pub fn fail_at(n: u64) -> bool {
    STEPS_LEFT.replace(n) == 0
}

/// Whether a step may be taken.
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

/// Waits until what was written to a file, or the names in a folder, would survive a loss of power.
///
/// # Errors
/// Those of the operating system.
pub fn sync(file: impl AsFd) -> io::Result<()> {
    let fd = file.as_fd();
    try_step()?;
    retry_on_intr(|| fsync(fd))?;
    passed(Some(fd));
    Ok(())
}

/// Does what changes names.
///
/// # Errors
/// Its own.
pub fn named<T, E: From<Errno>>(change: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    try_step()?;
    let outcome = change();
    passed(None);
    outcome
}

/// Creates a file, which must not exist.
///
/// # Errors
/// Those of the operating system.
pub fn create_file(path: &Path) -> io::Result<File> {
    named(|| File::create_new(path))
}

/// Removes a file.
///
/// # Errors
/// Those of the operating system.
pub fn remove_file(path: &Path) -> io::Result<()> {
    named(|| fs::remove_file(path))
}

/// Creates a folder if it is missing, with those that it lies in, and waits until the names of those that
/// it creates are safely on disk.
///
/// # Errors
/// Those of the operating system.
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
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    Directory::open(parent)?.sync_if_readable()
}
