//! What a job may ask of whoever runs it while it advances.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tegula_machine::Result;
use tegula_machine::threads::{Cancel, Workers};

/// For how long a worker may be at one job while others wait: about two parts.
const QUANTUM: Duration = Duration::from_millis(10);

thread_local! {
    /// Since when this worker has been at one thing.
    static STINT: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether this worker works on something else in the middle of a job.
    static IS_STANDING_IN: Cell<bool> = const { Cell::new(false) };
}

/// This worker turns to something else.
pub fn begin_stint() {
    STINT.set(Some(Instant::now()));
}

/// The other jobs.
pub trait Company: Sync {
    /// Whether there are any.
    fn is_there(&self) -> bool;

    /// Works on one of them for a while.
    fn stand_in(&self);
}

/// What a job may ask of whoever runs it.
pub struct JobContext<'c> {
    workers: &'c Workers,
    cancel: &'c Cancel,
    company: &'c dyn Company,
}

impl<'c> JobContext<'c> {
    /// For a job that these workers work on, until it is cancelled.
    pub fn new(
        workers: &'c Workers,
        cancel: &'c Cancel,
        company: &'c dyn Company,
    ) -> JobContext<'c> {
        JobContext { workers, cancel, company }
    }

    /// The workers.
    pub fn workers(&self) -> &'c Workers {
        self.workers
    }

    /// How many workers there are.
    pub fn threads(&self) -> usize {
        self.workers.count()
    }

    /// Stops the job.
    pub fn cancel(&self) -> &'c Cancel {
        self.cancel
    }

    /// Calls `work` with each of `0..count`. Every worker may take part and takes the next number that is left;
    /// between two numbers it lets other jobs have their turn.
    ///
    /// # Errors
    /// The first failure, a panic too; cancellation.
    pub fn for_each(
        &self,
        count: usize,
        work: &(dyn Fn(usize) -> Result<()> + Sync),
    ) -> Result<()> {
        self.workers.for_each(count, self.cancel, &|index| {
            work(index)?;
            self.give_way();
            Ok(())
        })
    }

    /// Whether the job has had its quantum while others wait: it is to [return](crate::job::Advanced::Further)
    /// soon, or to [give way](JobContext::give_way).
    pub fn is_others_turn(&self) -> bool {
        self.company.is_there() && STINT.get().is_none_or(|since| since.elapsed() >= QUANTUM)
    }

    /// Works on another job for a while, where it is others' turn: for jobs that cannot return in between.
    pub fn give_way(&self) {
        if self.is_others_turn() && !IS_STANDING_IN.replace(true) {
            let _standing_in = StandingIn;
            begin_stint();
            self.company.stand_in();
        }
    }
}

/// Ends the work on another job.
struct StandingIn;

impl Drop for StandingIn {
    fn drop(&mut self) {
        IS_STANDING_IN.set(false);
        begin_stint();
    }
}
