//! The jobs that were submitted to one `Jobs` object and have not ended.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use serde_json::json;
use tegula_algorithms::algorithm::Request;
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, lock, start};

use super::task::{State, Task};
use crate::answer::Found;
use crate::failure::{Failure, Result};
use crate::graph::Shared;

/// The jobs of a `Jobs` object.
pub struct JobList {
    /// Their graph.
    pub shared: Arc<Shared>,
    /// The most jobs at a time.
    pub concurrent: usize,
    /// Whether jobs may become one run.
    pub fuse: bool,
    pub(super) entries: Mutex<Entries>,
    /// Notified when a job arrives or ends, and when the threads go.
    pub(super) changed: Condvar,
}

/// What a list knows of its jobs.
#[derive(Default)]
pub(super) struct Entries {
    /// The jobs that no round has taken.
    pub arrived: VecDeque<Arc<Task>>,
    /// The jobs that have not ended, by number.
    pub live: BTreeMap<u64, Arc<Task>>,
    /// Whether no further jobs are taken.
    is_closed: bool,
    /// Whether threads work on the jobs.
    has_threads: bool,
    /// Set when no job is left.
    idle: Cancel,
    totals: Totals,
}

/// What all jobs did.
#[derive(Debug, Default)]
struct Totals {
    jobs: u64,
    failed: u64,
    cancelled: u64,
    bytes_read: u64,
    bytes_saved: u64,
}

impl JobList {
    /// Makes a list without jobs.
    pub fn new(shared: Arc<Shared>, concurrent: usize, fuse: bool) -> JobList {
        JobList { shared, concurrent, fuse, entries: Mutex::default(), changed: Condvar::new() }
    }

    /// Refuses a fork of the process that opened the graph. A fork must not touch a lock.
    ///
    /// # Errors
    /// The exception, there.
    pub fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        self.shared.check_process().map_err(|failure| failure.exception(py))
    }

    /// Takes a job, and starts threads if there are none.
    ///
    /// # Errors
    /// [`Failure`] after the list was closed, and where the system starts no thread.
    pub fn submit(
        self: &Arc<JobList>,
        request: Request,
        progress: Option<Py<PyAny>>,
    ) -> Result<Arc<Task>> {
        let mut entries = lock(&self.entries);
        if entries.is_closed {
            let hint = "submit jobs within the `with` block";
            return Err(Failure::usage_with("these jobs are over", hint));
        }
        if !entries.has_threads {
            let list = Arc::clone(self);
            let started = start("tegula-jobs", move || list.work_off());
            started.map_err(|error| MachineError::WorkerFailed { detail: error.to_string() })?;
            entries.has_threads = true;
        }
        let task = Arc::new(Task::new(entries.totals.jobs, request, progress));
        entries.totals.jobs += 1;
        entries.arrived.push_back(Arc::clone(&task));
        entries.live.insert(task.number, Arc::clone(&task));
        self.changed.notify_all();
        Ok(task)
    }

    /// Takes no further jobs.
    pub fn close(&self) {
        lock(&self.entries).is_closed = true;
    }

    /// Cancels a job. Returns whether it had not ended.
    pub fn cancel(&self, task: &Task) -> bool {
        let was_live = task.cancel();
        self.forget(task);
        was_live
    }

    /// Cancels all jobs that have not ended.
    pub fn cancel_all(&self) {
        // A list of its own, because `cancel` takes the lock for each job.
        let live: Vec<Arc<Task>> = lock(&self.entries).live.values().cloned().collect();
        for task in live {
            self.cancel(&task);
        }
    }

    /// Ends a job with a result or a failure, unless it has ended.
    pub fn end(&self, task: &Task, outcome: Result<Found>) {
        // Once more, so that the callback knows of all that was done.
        if let Err(failure) = task.report() {
            task.stop(failure);
        }
        task.end(outcome);
        self.forget(task);
    }

    /// Ends a job whose callback has raised an exception.
    pub fn stop(&self, task: &Task, failure: Failure) {
        task.stop(failure);
        self.forget(task);
    }

    /// Counts a job that has ended.
    fn forget(&self, task: &Task) {
        let mut entries = lock(&self.entries);
        // A job may end and be cancelled at the same time, but counts once.
        if entries.live.remove(&task.number).is_none() {
            return;
        }
        match task.state() {
            State::Failed => entries.totals.failed += 1,
            State::Cancelled => entries.totals.cancelled += 1,
            State::Waiting | State::Running | State::Done => {}
        }
        if entries.live.is_empty() {
            entries.idle.cancel();
        }
        self.changed.notify_all();
    }

    /// Counts bytes that were read, and bytes that jobs shared.
    pub fn count(&self, bytes_read: u64, bytes_saved: u64) {
        let totals = &mut lock(&self.entries).totals;
        totals.bytes_read += bytes_read;
        totals.bytes_saved += bytes_saved;
    }

    /// Returns what all jobs did so far, as JSON.
    pub fn statistics(&self) -> String {
        let entries = lock(&self.entries);
        let Totals { jobs, failed, cancelled, bytes_read, bytes_saved } = entries.totals;
        json!({
            "jobs": jobs,
            "failed": failed,
            "cancelled": cancelled,
            "bytes_read": bytes_read,
            "bytes_saved": bytes_saved,
        })
        .to_string()
    }

    /// Waits up to `most` until no thread works on jobs. Returns whether that is so.
    pub fn wait_for_idle(&self, most: Duration) -> bool {
        let entries = lock(&self.entries);
        let waited = self.changed.wait_timeout_while(entries, most, |entries| entries.has_threads);
        !waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0.has_threads
    }

    /// Returns a switch that is set when no job is left; `None` if that is so now, and the threads go.
    pub(super) fn next_round(&self) -> Option<Cancel> {
        let mut entries = lock(&self.entries);
        if entries.live.is_empty() {
            // Jobs that ended before a round took them may be left here.
            entries.arrived.clear();
            entries.has_threads = false;
            self.changed.notify_all();
            return None;
        }
        entries.idle = Cancel::default();
        Some(entries.idle.clone())
    }
}
