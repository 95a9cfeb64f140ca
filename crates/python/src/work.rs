//! Work on a thread of its own. Meanwhile the calling thread looks for signals and reports
//! progress, and other Python threads run.

use std::cell::Cell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use pyo3::prelude::*;
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, Progress, ProgressUnit, lock, panic_message, start_in};

use crate::ending::Call;
use crate::failure::{Failure, Result};

/// Time between two looks for a signal, and between two reports of progress.
pub const TICK: Duration = Duration::from_millis(20);

thread_local! {
    /// Whether this thread is in the progress function of a job.
    static IS_IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Calls the progress function of a job.
pub fn in_callback<T>(call: impl FnOnce() -> T) -> T {
    IS_IN_CALLBACK.set(true);
    let told = call();
    IS_IN_CALLBACK.set(false);
    told
}

/// Refuses work in the progress function of a job: it would wait for jobs, which wait for the
/// function.
pub fn check_is_in_no_callback(py: Python<'_>) -> PyResult<()> {
    if IS_IN_CALLBACK.get() {
        let hint = "use the graph after the job, or on another thread";
        let message = "the progress function of a job cannot use a graph, nor wait for jobs";
        return Err(Failure::usage_with(message, hint).exception(py));
    }
    Ok(())
}

/// What work is given: a switch that ends it, and a receiver of its progress.
#[derive(Default)]
pub struct Work {
    /// Set by Ctrl-C and by a callback that raises.
    pub cancel: Cancel,
    /// Remembers how far the work is.
    pub progress: Watch,
}

/// Remembers how far work is, for a thread that asks from time to time.
#[derive(Default)]
pub struct Watch {
    stage: Mutex<Option<Stage>>,
    /// Units of the stage that are done.
    done: AtomicU64,
}

/// A stage of work.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stage {
    name: String,
    total: Option<u64>,
    unit: &'static str,
}

impl Watch {
    fn now(&self) -> Option<(Stage, u64)> {
        let stage = lock(&self.stage).clone();
        stage.map(|stage| (stage, self.done.load(Relaxed)))
    }

    /// Calls `callback` with the stage, if one has begun.
    pub fn report(&self, py: Python<'_>, callback: &Py<PyAny>) -> PyResult<()> {
        if let Some((Stage { name, total, unit }, done)) = self.now() {
            callback.call1(py, (name, done, total, unit))?;
        }
        Ok(())
    }
}

impl Progress for Watch {
    fn begin(&self, stage: &str, total: Option<u64>, unit: ProgressUnit) {
        let unit = match unit {
            ProgressUnit::Bytes => "bytes",
            ProgressUnit::Edges => "edges",
            ProgressUnit::Vertices => "vertices",
            ProgressUnit::Iterations => "iterations",
            ProgressUnit::Jobs => "jobs",
        };
        let mut now = lock(&self.stage);
        self.done.store(0, Relaxed);
        *now = Some(Stage { name: stage.to_owned(), total, unit });
    }

    fn advance(&self, done: u64) {
        self.done.fetch_add(done, Relaxed);
    }

    fn end(&self) {}
}

/// Does `body` on a thread of its own, and returns its result. `callback` is called with the name
/// of the stage, what is done of it, its total or None, and its unit.
///
/// # Errors
/// What `body` returns, as an exception of the package. If a signal handler or the callback raises,
/// that exception, after `body` has ended. `SystemExit` once the interpreter ends.
pub fn work<T: Send>(
    py: Python<'_>,
    callback: Option<Py<PyAny>>,
    body: impl FnOnce(&Work) -> Result<T> + Send,
) -> PyResult<T> {
    check_is_in_no_callback(py)?;
    let work = Work::default();
    let call = Call::begin(py, work.cancel.clone())?;
    let (outcome, raised) = py.detach(|| on_thread(&work, callback.as_ref(), body));
    call.check()?;
    match raised {
        Some(raised) => Err(raised),
        None => outcome.map_err(|failure| failure.exception(py)),
    }
}

/// Does `body` on a thread of its own. Returns its result, and what was raised meanwhile.
fn on_thread<T: Send>(
    work: &Work,
    callback: Option<&Py<PyAny>>,
    body: impl FnOnce(&Work) -> Result<T> + Send,
) -> (Result<T>, Option<PyErr>) {
    std::thread::scope(|scope| {
        let (ending, ended) = channel::<()>();
        let started = start_in(scope, "tegula", move || {
            // Dropped at the end, also by a panic.
            let _ending = ending;
            body(work)
        });
        let thread = match started {
            Ok(thread) => thread,
            Err(error) => {
                let detail = error.to_string();
                return (Err(MachineError::WorkerFailed { detail }.into()), None);
            }
        };
        let mut raised = None;
        while ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if raised.is_none()
                && let Err(error) = Python::attach(|py| look(py, work, callback))
            {
                work.cancel.cancel();
                raised = Some(error);
            }
        }
        let outcome = thread.join();
        if raised.is_none() {
            raised = Python::attach(|py| look(py, work, callback)).err();
        }
        (outcome.unwrap_or_else(|panic| Err(Failure::panic(&panic_message(&*panic)))), raised)
    })
}

/// Runs the handlers of signals that have come, and reports progress.
fn look(py: Python<'_>, work: &Work, callback: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    callback.map_or(Ok(()), |callback| work.progress.report(py, callback))
}
