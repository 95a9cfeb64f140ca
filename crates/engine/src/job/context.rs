//! The interface of an advancing job to the worker that runs it.

use std::cell::Cell;
use std::time::{Duration, Instant};

use tegula_machine::threads::{Cancel, Workers};
use tegula_store::Result;

/// Time after which a worker looks for another job, while it is at one job or one part.
const QUANTUM: Duration = Duration::from_millis(10);

thread_local! {
    /// When this worker began its current task.
    static STINT: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether this worker works on another job in the middle of a job or a part.
    static IS_STANDING_IN: Cell<bool> = const { Cell::new(false) };
}

/// Notes that this worker turns to another task.
pub fn begin_stint() {
    STINT.set(Some(Instant::now()));
}

/// Returns whether this worker has spent a quantum on its current task.
fn is_stint_over() -> bool {
    STINT.get().is_none_or(|since| since.elapsed() >= QUANTUM)
}

/// Calls `work`, which advances another job, if this worker has spent a quantum on its task. It
/// does not nest.
pub fn stand_in(work: impl FnOnce()) {
    if is_stint_over() && !IS_STANDING_IN.replace(true) {
        // Dropped even if `work` panics: the worker has other jobs.
        let _standing_in = StandingIn;
        // The other job gets a quantum of its own.
        begin_stint();
        work();
    }
}

/// The other jobs.
pub trait OtherJobs: Sync {
    /// Returns whether there are any.
    fn is_there(&self) -> bool;

    /// Works on one of them for a while.
    fn stand_in(&self);
}

/// What an advancing job may ask of the worker that runs it.
pub struct JobContext<'c> {
    workers: &'c Workers,
    cancel: &'c Cancel,
    other_jobs: &'c dyn OtherJobs,
}

impl<'c> JobContext<'c> {
    /// Makes the context of a job that runs on `workers` until it is cancelled.
    pub fn new(
        workers: &'c Workers,
        cancel: &'c Cancel,
        other_jobs: &'c dyn OtherJobs,
    ) -> JobContext<'c> {
        JobContext { workers, cancel, other_jobs }
    }

    /// Returns the workers.
    pub fn workers(&self) -> &'c Workers {
        self.workers
    }

    /// Returns the number of workers.
    pub fn threads(&self) -> usize {
        self.workers.count()
    }

    /// Returns what cancels the job.
    pub fn cancel(&self) -> &'c Cancel {
        self.cancel
    }

    /// Calls `work` with each of `0..count`. Every worker may take part and takes the next free
    /// number. Between two numbers, a worker lets other jobs have their turn.
    ///
    /// # Errors
    /// The first failure, including a panic; cancellation.
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

    /// Returns whether the job has used up its quantum while others wait. If so, it should soon
    /// [return](crate::job::Advanced::Further) or [give way](JobContext::give_way).
    pub fn is_others_turn(&self) -> bool {
        self.other_jobs.is_there() && is_stint_over()
    }

    /// Works on another job for a while if it is others' turn. For jobs that cannot return in
    /// between.
    pub fn give_way(&self) {
        if self.other_jobs.is_there() {
            stand_in(|| self.other_jobs.stand_in());
        }
    }
}

/// Ends the work on another job when it is dropped.
struct StandingIn;

impl Drop for StandingIn {
    fn drop(&mut self) {
        IS_STANDING_IN.set(false);
        // The time of the other job does not count for this one.
        begin_stint();
    }
}
