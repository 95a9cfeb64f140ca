//! The jobs of one place that have not ended.

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

/// Where jobs are submitted.
pub struct Desk {
    /// Their graph.
    pub shared: Arc<Shared>,
    /// The most jobs at a time.
    pub concurrent: usize,
    /// Whether jobs may become one run.
    pub fuse: bool,
    pub(super) books: Mutex<Books>,
    /// Notified when a job arrives or ends, and when the crew goes.
    pub(super) changed: Condvar,
}

/// What a desk knows.
#[derive(Default)]
pub(super) struct Books {
    /// The jobs that the crew has not taken.
    pub arrived: VecDeque<Arc<Task>>,
    /// The jobs that have not ended, by number.
    pub live: BTreeMap<u64, Arc<Task>>,
    /// Whether no further jobs are taken.
    is_closed: bool,
    /// Whether threads work on the jobs.
    has_crew: bool,
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

impl Desk {
    /// Makes a desk without jobs.
    pub fn new(shared: Arc<Shared>, concurrent: usize, fuse: bool) -> Desk {
        Desk { shared, concurrent, fuse, books: Mutex::default(), changed: Condvar::new() }
    }

    /// Takes a job, and starts a crew if there is none.
    ///
    /// # Errors
    /// [`Failure`] after the desk was closed, and where the system starts no thread.
    pub fn submit(
        self: &Arc<Desk>,
        request: Request,
        progress: Option<Py<PyAny>>,
    ) -> Result<Arc<Task>> {
        self.shared.check_process()?;
        let mut books = lock(&self.books);
        if books.is_closed {
            let hint = "submit jobs within the `with` block";
            return Err(Failure::usage_with("these jobs are over", hint));
        }
        if !books.has_crew {
            let desk = Arc::clone(self);
            let started = start("tegula-jobs", move || desk.work_off());
            started.map_err(|error| MachineError::WorkerFailed { detail: error.to_string() })?;
            books.has_crew = true;
        }
        let task = Arc::new(Task::new(books.totals.jobs, request, progress));
        books.totals.jobs += 1;
        books.arrived.push_back(Arc::clone(&task));
        books.live.insert(task.number, Arc::clone(&task));
        self.changed.notify_all();
        Ok(task)
    }

    /// Takes no further jobs.
    pub fn close(&self) {
        lock(&self.books).is_closed = true;
    }

    /// Cancels a job. Returns whether it had not ended.
    pub fn cancel(&self, task: &Task) -> bool {
        let was_live = task.cancel();
        self.forget(task);
        was_live
    }

    /// Cancels all jobs that have not ended.
    pub fn cancel_all(&self) {
        let live: Vec<Arc<Task>> = lock(&self.books).live.values().cloned().collect();
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
        let mut books = lock(&self.books);
        if books.live.remove(&task.number).is_none() {
            return;
        }
        match task.state() {
            State::Failed => books.totals.failed += 1,
            State::Cancelled => books.totals.cancelled += 1,
            State::Waiting | State::Running | State::Done => {}
        }
        if books.live.is_empty() {
            books.idle.cancel();
        }
        self.changed.notify_all();
    }

    /// Counts bytes that were read, and bytes that jobs shared.
    pub fn count(&self, bytes_read: u64, bytes_saved: u64) {
        let totals = &mut lock(&self.books).totals;
        totals.bytes_read += bytes_read;
        totals.bytes_saved += bytes_saved;
    }

    /// Returns what all jobs did so far, as JSON.
    pub fn statistics(&self) -> String {
        let books = lock(&self.books);
        let Totals { jobs, failed, cancelled, bytes_read, bytes_saved } = books.totals;
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
        let books = lock(&self.books);
        let waited = self.changed.wait_timeout_while(books, most, |books| books.has_crew);
        !waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0.has_crew
    }

    /// Returns a switch that is set when no job is left; `None` if that is so now, and the crew goes.
    pub(super) fn next_round(&self) -> Option<Cancel> {
        let mut books = lock(&self.books);
        if books.live.is_empty() {
            books.arrived.clear();
            books.has_crew = false;
            self.changed.notify_all();
            return None;
        }
        books.idle = Cancel::default();
        Some(books.idle.clone())
    }
}
