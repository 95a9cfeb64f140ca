//! What a job may ask of its scheduler while it advances.

use std::cell::Cell;
use std::time::Instant;

use tegula_machine::Result;
use tegula_machine::threads::Cancel;

use super::Scheduler;
use super::order::QUANTUM;

thread_local! {
    /// Since when this worker has been at one thing.
    static STINT: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether this worker works on something else in the middle of a job.
    static IS_STANDING_IN: Cell<bool> = const { Cell::new(false) };
}

/// This worker turns to something else.
pub(super) fn begin_stint() {
    STINT.set(Some(Instant::now()));
}

/// What a job may ask of its scheduler.
pub struct JobContext<'c> {
    pub(super) scheduler: &'c Scheduler<'c>,
    pub(super) cancel: &'c Cancel,
}

impl JobContext<'_> {
    /// How many workers there are.
    pub fn threads(&self) -> usize {
        self.scheduler.threads()
    }

    /// Stops the job.
    pub fn cancel(&self) -> &Cancel {
        self.cancel
    }

    /// Calls `work` with each of `0..count`, several workers at a time, up to `threads` of which each has the
    /// next number. Where other jobs wait, they have their turns in between.
    ///
    /// # Errors
    /// The first failure, a panic too; cancellation.
    pub fn for_each(
        &self,
        count: usize,
        work: &(dyn Fn(usize) -> Result<()> + Sync),
    ) -> Result<()> {
        self.scheduler.workers.for_each(count, self.cancel, &|index| {
            work(index)?;
            self.give_way();
            Ok(())
        })
    }

    /// Whether the job has had its quantum while others wait: it is to [return](crate::job::Advanced::Further)
    /// soon, or to [give way](JobContext::give_way).
    pub fn is_others_turn(&self) -> bool {
        self.scheduler.has_company()
            && STINT.get().is_none_or(|since| since.elapsed() >= QUANTUM)
            && !IS_STANDING_IN.get()
    }

    /// Works on another job for a while, where it is others' turn: for jobs that cannot return in between.
    pub fn give_way(&self) {
        if self.is_others_turn() {
            IS_STANDING_IN.set(true);
            self.scheduler.stand_in();
            IS_STANDING_IN.set(false);
            begin_stint();
        }
    }
}
