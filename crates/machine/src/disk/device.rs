//! The interface of all backends.

use std::io;

use crate::error::Result;
use crate::threads::start;

use super::file::{Caching, Location, OpenFile};
use super::task::Task;

/// A backend: opens, reads and writes files.
///
/// A dropped task tells its waiter. So a device never needs to clean up, except that it must
/// [leak](Task::leak) tasks whose memory the kernel may still write to.
pub(super) trait Device: Send + Sync {
    /// Opens a file.
    fn open(&self, location: &Location<'_>, caching: Caching) -> Result<OpenFile> {
        OpenFile::on_disk(location, caching)
    }

    /// Writes all bytes to a file that is open for writing, and returns when that is done.
    fn write(&self, file: &OpenFile, bytes: &[u8], offset: u64) -> io::Result<()> {
        file.write_at(bytes, offset)
    }

    /// Takes a task, returns soon, and ensures that the task is done.
    fn submit(&self, task: Task);
}

/// Starts a thread that ends by itself once its device is gone. It is not joined: the last
/// handle of a device may be dropped on that very thread.
pub(super) fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    start(name, body).map(drop)
}
