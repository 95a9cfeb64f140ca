//! A job: what it runs, and how far it is.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use tegula_algorithms::algorithm::Request;
use tegula_algorithms::jobs::Job;
use tegula_algorithms::side_table::{LocalPaths, TableSources};
use tegula_machine::threads::{Cancel, lock};

use crate::answer::Found;
use crate::ending::attached;
use crate::failure::{Failure, Result};
use crate::work::{Work, in_callback};

/// A job.
pub struct Task {
    /// The number of jobs before it.
    pub number: u64,
    /// The algorithm and its options.
    pub request: Request,
    /// Ends it while it waits or runs alone, and remembers its progress.
    pub work: Work,
    /// Called with its progress.
    progress: Option<Py<PyAny>>,
    life: Mutex<Life>,
    ended: Condvar,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It waits for memory, or for one of the jobs that run.
    Waiting,
    /// It runs.
    Running,
    /// It has a result.
    Done,
    /// It failed.
    Failed,
    /// It was cancelled before it had a result.
    Cancelled,
}

impl State {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            State::Waiting => "waiting",
            State::Running => "running",
            State::Done => "done",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
        }
    }

    /// Whether it has ended.
    pub fn is_end(self) -> bool {
        match self {
            State::Waiting | State::Running => false,
            State::Done | State::Failed | State::Cancelled => true,
        }
    }
}

/// The life of a job.
struct Life {
    state: State,
    /// Its run, which it may have with others.
    run: Option<Arc<Run>>,
    /// What it found, or why it failed, until somebody takes it.
    outcome: Option<Result<Found>>,
    /// Called at its end.
    callbacks: Vec<Py<PyAny>>,
}

/// A run of one job or several.
pub struct Run {
    /// The jobs that have not ended.
    left: AtomicUsize,
    cancel: Cancel,
}

impl Run {
    /// Makes a run of `count` jobs.
    fn new(count: usize, cancel: Cancel) -> Run {
        Run { left: AtomicUsize::new(count), cancel }
    }

    /// Notes that a job has ended. Returns whether it was the last one.
    fn leave(&self) -> bool {
        self.left.fetch_sub(1, Ordering::Relaxed) == 1
    }
}

/// Notes that jobs begin to run as one, or one alone. Returns the switch that ends their run. It is
/// set when all have been cancelled.
pub fn begin(tasks: &[&Task]) -> Cancel {
    let cancel = match tasks {
        [task] => task.work.cancel.clone(),
        _ => Cancel::default(),
    };
    let run = Arc::new(Run::new(tasks.len(), cancel.clone()));
    for task in tasks {
        let mut life = lock(&task.life);
        if life.state.is_end() {
            // The job was cancelled before its run began, so the run does not count it.
            if run.leave() {
                cancel.cancel();
            }
        } else {
            life.state = State::Running;
            life.run = Some(Arc::clone(&run));
        }
    }
    cancel
}

impl Job for Task {
    fn request(&self) -> &Request {
        &self.request
    }

    fn table_sources(&self) -> &dyn TableSources {
        &LocalPaths
    }

    fn is_withdrawn(&self) -> bool {
        self.state().is_end()
    }
}

impl Task {
    /// Makes a job that waits.
    pub fn new(number: u64, request: Request, progress: Option<Py<PyAny>>) -> Task {
        let life = Life { state: State::Waiting, run: None, outcome: None, callbacks: Vec::new() };
        Task {
            number,
            request,
            work: Work::default(),
            progress,
            life: Mutex::new(life),
            ended: Condvar::new(),
        }
    }

    /// Returns how far it is.
    pub fn state(&self) -> State {
        lock(&self.life).state
    }

    /// Ends it with a result or a failure, unless it has ended. Returns whether it had not.
    pub fn end(&self, outcome: Result<Found>) -> bool {
        let state = if outcome.is_ok() { State::Done } else { State::Failed };
        self.end_as(state, outcome, false)
    }

    /// Cancels it, unless it has ended. Returns whether it had not.
    pub fn cancel(&self) -> bool {
        self.end_as(State::Cancelled, Err(Failure::cancelled_job()), true)
    }

    /// Ends it with a failure, and its run if no other job needs it.
    pub fn stop(&self, failure: Failure) -> bool {
        self.end_as(State::Failed, Err(failure), true)
    }

    fn end_as(&self, state: State, outcome: Result<Found>, stops: bool) -> bool {
        let mut life = lock(&self.life);
        if life.state.is_end() {
            return false;
        }
        let was_last = life.run.take().is_none_or(|run| {
            let was_last = run.leave();
            if was_last && stops {
                run.cancel.cancel();
            }
            was_last
        });
        if was_last && stops {
            self.work.cancel.cancel();
        }
        life.state = state;
        life.outcome = Some(outcome);
        let callbacks = std::mem::take(&mut life.callbacks);
        // Callbacks may ask for the state of the job.
        drop(life);
        self.ended.notify_all();
        if !callbacks.is_empty() {
            // Nobody waits any more once the interpreter ends.
            attached(|py| {
                for callback in callbacks {
                    if let Err(error) = callback.call0(py) {
                        error.write_unraisable(py, None);
                    }
                }
            });
        }
        true
    }

    /// Waits up to `most` until it has ended. Returns whether it has.
    pub fn wait(&self, most: Duration) -> bool {
        let life = lock(&self.life);
        let waited = self.ended.wait_timeout_while(life, most, |life| !life.state.is_end());
        let life = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        life.state.is_end()
    }

    /// Takes the outcome of a job that has ended.
    pub fn take_outcome(&self) -> Result<Found> {
        let outcome = lock(&self.life).outcome.take();
        outcome.unwrap_or_else(|| Err(Failure::usage("the job has not ended")))
    }

    /// Adds a callback for its end; gives it back if it has ended.
    pub fn add_callback(&self, callback: Py<PyAny>) -> Option<Py<PyAny>> {
        let mut life = lock(&self.life);
        if life.state.is_end() {
            return Some(callback);
        }
        life.callbacks.push(callback);
        None
    }

    /// Reports its progress, if anybody wants to know while it runs.
    ///
    /// # Errors
    /// What the callback raises.
    pub fn report(&self) -> Result<()> {
        match &self.progress {
            Some(callback) if self.state() == State::Running => {
                let report = |py: Python<'_>| self.work.progress.report(py, callback);
                Ok(in_callback(|| attached(report)).unwrap_or(Ok(()))?)
            }
            Some(_) | None => Ok(()),
        }
    }
}
