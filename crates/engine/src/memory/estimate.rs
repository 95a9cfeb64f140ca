//! What a run needs, in bytes.

use tegula_machine::threads::Cancel;
use tegula_store::Result;

use super::arrays_on_disk::ArraysOnDisk;
use super::arrays_plan::ArraysPlan;
use crate::scheduler::{Reserve, Scheduler};

/// How much memory a run needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of the workers, and of the arrays over all vertices.
    pub vertex_bytes: u64,
    /// Bytes without which tiles cannot be streamed.
    pub stream_bytes_min: u64,
    /// Bytes of all tiles, or of all rows if only rows are read. With as much memory on top, only
    /// the first iteration reads from the disk.
    pub layout_bytes: u64,
    /// Bytes of code, tables and stacks.
    pub overhead_bytes: u64,
    /// Bytes of the message of a vertex; 0 for work without messages.
    pub message_bytes: u64,
    /// What replaces the arrays if they may lie on disk.
    pub on_disk: Option<ArraysOnDisk>,
}

impl Estimate {
    /// Returns the smallest budget with which the run starts.
    pub fn needed(&self) -> u64 {
        self.vertex_bytes_min() + self.stream_bytes_min + self.overhead_bytes
    }

    /// Returns the smallest budget with which the arrays lie in memory.
    pub fn needed_in_memory(&self) -> u64 {
        self.vertex_bytes.saturating_add(self.stream_bytes_min + self.overhead_bytes)
    }

    /// Waits until the least memory can be reserved. Give the reserve to the runs by
    /// [`RunOptions::reserve`](crate::RunOptions::reserve), and drop it when the answer is written:
    /// until then no other job gets this memory.
    ///
    /// While a caller holds a reserve, all its runs must use it, one at a time, and it must not ask
    /// for another one: it would wait for jobs that may wait for its memory.
    ///
    /// # Errors
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget) if it would not fit even if no job
    /// were there; cancellation.
    pub fn reserve<'s>(
        &self,
        scheduler: &'s Scheduler<'_>,
        cancel: &Cancel,
    ) -> Result<Reserve<'s>> {
        // The ledger counts the overhead once, for all jobs together.
        scheduler.ledger().reserve(self.needed() - self.overhead_bytes, cancel)
    }

    /// Returns the least bytes of the arrays; on disk if they may lie there.
    fn vertex_bytes_min(&self) -> u64 {
        match &self.on_disk {
            None => self.vertex_bytes,
            Some(arrays) if arrays.must_leave_memory() => arrays.least().bytes,
            Some(arrays) => arrays.least().bytes.min(self.vertex_bytes),
        }
    }

    /// Returns how arrays are laid out on disk within a budget of `memory` bytes that they do not
    /// fit.
    pub fn plan_on_disk(&self, memory: u64) -> Option<(&ArraysOnDisk, ArraysPlan)> {
        let others = self.stream_bytes_min + self.overhead_bytes;
        let left = memory.checked_sub(others)?;
        let arrays = self.on_disk.as_ref()?;
        if self.vertex_bytes <= left && !arrays.must_leave_memory() {
            return None;
        }
        Some((arrays, arrays.plan(left, true)?))
    }
}
