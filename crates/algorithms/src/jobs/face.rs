//! What a face does for its jobs, and what it gets from them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use tegula_engine::RunOptions;
use tegula_machine::threads::{Cancel, Progress, panic_message};

use crate::algorithm::{Found, Request};
use crate::error::{Error, Result};
use crate::side_table::{TableRead, TableSources};

/// A job, as a face knows it.
pub trait Job: Sync {
    /// The algorithm and its options.
    fn request(&self) -> &Request;

    /// Finds the tables that its options name.
    fn table_sources(&self) -> &dyn TableSources;

    /// When it arrives, after the start.
    fn after(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether nobody wants its result any more, so that it need not begin.
    fn is_withdrawn(&self) -> bool {
        false
    }
}

/// What a face does for its jobs, which live for `'b`.
pub trait Face<'b>: Sync {
    /// Its jobs.
    type Job: Job + 'b;

    /// Returns the jobs that have come since the last call, in the order of arrival.
    fn come(&self) -> Vec<&'b Self::Job>;

    /// Whether further jobs may come.
    fn may_come(&self) -> bool;

    /// Waits up to `most`; may return as soon as a job comes or no further one may come.
    fn wait(&self, most: Duration);

    /// Whether all jobs are to end.
    fn is_cancelled(&self) -> bool;

    /// Returns a receiver of the progress of a job.
    fn progress<'f>(&'f self, job: &'f Self::Job) -> Box<dyn JobProgress + 'f>;

    /// Returns the options of a run of a job. The scheduler decides about memory.
    fn options<'f>(&'f self, job: &'f Self::Job, progress: &'f dyn Progress) -> RunOptions<'f>;

    /// Notes that jobs begin to run, as one if there are several. Returns the switch that ends their
    /// run.
    fn begin(&self, jobs: &[&'b Self::Job]) -> Cancel;

    /// Takes the results of jobs that ran as one or alone, or what is wrong with each.
    fn deliver(&self, ended: Vec<(Ended<'b, Self::Job>, Result<Found>)>);

    /// Takes what is wrong with jobs, the same for all.
    fn fail(&self, jobs: &[&'b Self::Job], fault: Fault);
}

/// Receives the progress of a job, and what it waits for.
pub trait JobProgress: Progress {
    /// The job waits.
    fn wait_for(&self, what: Wanted);
}

/// What a job waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Memory for its run.
    Memory,
    /// The face, which takes results.
    Delivery,
}

/// A job whose run has ended.
pub struct Ended<'b, J> {
    /// The job.
    pub job: &'b J,
    /// The tables that were read for its options.
    pub tables: Vec<TableRead>,
    /// The jobs that ran as one with it.
    pub fused_with: Vec<&'b J>,
    /// How long it waited since its arrival.
    pub queued: Duration,
    /// How long it ran.
    pub ran: Duration,
}

/// Why a job has no result.
#[derive(Debug)]
pub enum Fault {
    /// Something is wrong with it, or with the graph or the machine.
    Refused(Error),
    /// It panicked, with this message.
    Panicked(String),
}

impl<E: Into<Error>> From<E> for Fault {
    fn from(error: E) -> Fault {
        Fault::Refused(error.into())
    }
}

/// Calls `body`, and turns a panic into a fault.
pub(super) fn guarded<T>(body: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    // Nothing that a panic may have left half done is used afterwards.
    let done = catch_unwind(AssertUnwindSafe(body));
    done.unwrap_or_else(|panic| Err(Fault::Panicked(panic_message(&*panic))))
}
