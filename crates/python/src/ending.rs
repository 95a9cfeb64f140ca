//! The end of the interpreter, which has to wait for the calls of other threads.
//!
//! Python ends or hangs a thread that comes back after that end. If it ends a thread with frames of
//! Rust beneath, that aborts the process. So a call is counted while it is outside of Python, and
//! while it calls Python from Rust. At the end, calls are cancelled, and new ones are refused.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};
use std::thread::{self, ThreadId};
use std::time::Duration;

use pyo3::exceptions::PySystemExit;
use pyo3::prelude::*;
use tegula_machine::threads::{Cancel, lock};

use crate::home::Home;

/// The longest time for which the end of the interpreter waits. Cancelled calls take less, unless
/// a function of the user takes longer.
const PATIENCE: Duration = Duration::from_secs(5);

/// The calls that have not ended.
struct Calls {
    /// The process that they are of.
    home: Option<Home>,
    /// The thread that ends the interpreter. It may make calls until the very end.
    ended_by: Option<ThreadId>,
    begun: u64,
    /// The switch of each call, by its number.
    running: BTreeMap<u64, Cancel>,
}

static CALLS: Mutex<Calls> = Mutex::new(Calls::of(None));
static CALL_ENDED: Condvar = Condvar::new();

impl Calls {
    const fn of(home: Option<Home>) -> Calls {
        Calls { home, ended_by: None, begun: 0, running: BTreeMap::new() }
    }

    /// Forgets the calls of the process that this one was forked from.
    fn of_here(&mut self) -> &mut Calls {
        if !self.home.is_some_and(Home::is_here) {
            *self = Calls::of(Some(Home::here()));
        }
        self
    }
}

/// A call that the end of the interpreter waits for. It begins and ends while the thread is attached
/// to Python. So only a fork during `end_calls` can find the lock taken.
pub struct Call {
    number: u64,
}

impl Call {
    /// Begins a call, which `cancel` ends.
    ///
    /// # Errors
    /// `SystemExit`, which ends a thread without a word, while the interpreter ends.
    pub fn begin(_py: Python<'_>, cancel: Cancel) -> PyResult<Call> {
        let mut calls = lock(&CALLS);
        let calls = calls.of_here();
        if calls.ended_by.is_some_and(|thread| thread != thread::current().id()) {
            return Err(interpreter_ends());
        }
        let number = calls.begun;
        calls.begun += 1;
        calls.running.insert(number, cancel);
        Ok(Call { number })
    }

    /// Refuses to go on once the interpreter ends.
    ///
    /// # Errors
    /// `SystemExit`.
    pub fn check(&self) -> PyResult<()> {
        match lock(&CALLS).ended_by {
            Some(thread) if thread != thread::current().id() => Err(interpreter_ends()),
            Some(_) | None => Ok(()),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        lock(&CALLS).running.remove(&self.number);
        CALL_ENDED.notify_all();
    }
}

fn interpreter_ends() -> PyErr {
    PySystemExit::new_err("the interpreter ends")
}

/// Does `body`, which takes a moment, while other threads of Python run.
///
/// # Errors
/// `SystemExit` while the interpreter ends.
pub fn detached<T: Send>(py: Python<'_>, body: impl FnOnce() -> T + Send) -> PyResult<T> {
    let call = Call::begin(py, Cancel::default())?;
    let outcome = py.detach(body);
    drop(call);
    Ok(outcome)
}

/// Calls Python on a thread of Rust. Returns `None` once the interpreter ends.
pub fn attached<T>(body: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let attached = Python::try_attach(|py| {
        let _call = Call::begin(py, Cancel::default()).ok()?;
        Some(body(py))
    });
    attached.flatten()
}

/// Cancels all calls of other threads, refuses new ones, and waits for the end of those.
#[pyfunction]
pub fn end_calls(py: Python<'_>) {
    let mut calls = lock(&CALLS);
    let here = calls.of_here();
    here.ended_by = Some(thread::current().id());
    here.running.values().for_each(Cancel::cancel);
    // A call that ends takes this lock while it is attached to Python, so this thread lets go of
    // both.
    drop(calls);
    py.detach(|| {
        let has_calls = |calls: &mut Calls| !calls.running.is_empty();
        drop(CALL_ENDED.wait_timeout_while(lock(&CALLS), PATIENCE, has_calls));
    });
}
