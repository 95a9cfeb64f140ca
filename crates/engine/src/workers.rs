//! Several threads at one piece of work that may fail.

use tegula_machine::Result;
use tegula_machine::threads::{Cancel, for_each_index};

/// The workers of a run.
#[derive(Debug, Clone, Copy)]
pub struct Workers<'r> {
    /// How many there are, the calling thread among them.
    pub threads: usize,
    /// Stops them.
    pub cancel: &'r Cancel,
}

impl Workers<'_> {
    /// Calls `work` with each of `0..count`, each worker with the next number. The first failure, a
    /// panic too, ends it.
    ///
    /// # Errors
    /// The first failure; cancellation.
    pub fn for_each(
        &self,
        count: usize,
        work: &(dyn Fn(usize) -> Result<()> + Sync),
    ) -> Result<()> {
        for_each_index(self.threads, count, self.cancel, work)
    }
}
