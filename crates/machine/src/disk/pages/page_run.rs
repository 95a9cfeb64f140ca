//! Runs of neighbouring pages that one request reads, and that are evicted together.

use std::ops::Range;
use std::sync::{Mutex, OnceLock, TryLockError};

use crate::disk::block_file::BlockFile;
use crate::disk::buffer::Frame;
use crate::disk::pending::Pending;
use crate::error::Result;
use crate::threads::lock;

/// Neighbouring pages of a file, whose read is on its way at first.
pub(super) struct PageRun {
    pub(super) pages: Range<u64>,
    /// The same in bytes; the last page of a file may be shorter.
    pub(super) range: Range<u64>,
    /// Checked bytes.
    frame: OnceLock<Frame>,
    /// The read, until somebody has waited for it.
    pending: Mutex<Option<Pending>>,
}

impl PageRun {
    pub(super) fn new(pages: Range<u64>, range: Range<u64>, pending: Pending) -> PageRun {
        PageRun { pages, range, frame: OnceLock::new(), pending: Mutex::new(Some(pending)) }
    }

    /// Returns the bytes, once somebody has [waited](PageRun::arrive) for them; before that, none.
    pub(super) fn bytes(&self) -> &[u8] {
        self.frame.get().map_or(&[], |frame| &**frame)
    }

    /// Returns whether the read is over, successful or not.
    pub(super) fn is_settled(&self) -> bool {
        if self.frame.get().is_some() {
            return true;
        }
        match self.pending.try_lock() {
            Ok(pending) => pending.as_ref().is_none_or(Pending::is_ready),
            Err(TryLockError::Poisoned(_)) => true,
            // Somebody waits for it.
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Waits for the bytes and checks them, unless that was done before. On an error, the first
    /// caller gets the error and every other one gets `false`.
    pub(super) fn arrive(&self, file: &BlockFile) -> Result<bool> {
        if self.frame.get().is_some() {
            return Ok(true);
        }
        let mut slot = lock(&self.pending);
        // The slot stays locked while the thread that took the read waits and checks.
        let Some(pending) = slot.take() else { return Ok(self.frame.get().is_some()) };
        let frame = pending.wait()?;
        file.check_blocks(self.pages.start, &frame)?;
        Ok(self.frame.set(frame).is_ok())
    }
}
