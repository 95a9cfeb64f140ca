//! The one place where threads start.
//!
//! The system may refuse a thread, because users and containers have limits. Callers then go on
//! with the threads they have, and [`shortage`] tells the user.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use super::locks::lock;

/// The most workers of a process. Each thread takes up to four memory mappings, of which Linux
/// gives a process 65,530. When all are in use, a new thread or allocation aborts the process.
pub const WORKERS_MAX: usize = 4096;

/// Reports that this process got fewer threads than it wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortage {
    /// The fewest workers that ever shared work; none where only reading or writing threads are
    /// missing.
    pub workers: Option<WorkerShortage>,
    /// Why there are not more.
    pub why: String,
}

/// Workers that shared work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerShortage {
    /// Workers that worked, including the calling thread; at least 1.
    pub started: usize,
    /// Workers that were wanted.
    pub wanted: usize,
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.workers {
            Some(WorkerShortage { started, wanted }) => {
                write!(f, "only {started} of {wanted} workers were started")?;
            }
            None => write!(f, "not all threads were started")?,
        }
        write!(f, ": {}", self.why)
    }
}

/// What this process knows of its threads.
struct ThreadStarts {
    /// Threads requested since the last call of [`refuse`].
    asked: usize,
    /// The requests that a test refuses.
    refused: Range<usize>,
    shortage: Option<Shortage>,
}

static STARTS: Mutex<ThreadStarts> =
    Mutex::new(ThreadStarts { asked: 0, refused: 0..0, shortage: None });

/// Starts a thread. Its result is lost unless somebody joins the thread.
///
/// # Errors
/// The refusal of the system, with advice.
pub fn start<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    pass()
        .and_then(|()| Builder::new().name(name.to_owned()).spawn(body))
        .map_err(|error| refusal(&error))
}

/// Starts a thread in a scope.
pub fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    pass()
        .and_then(|()| Builder::new().name(name.to_owned()).spawn_scoped(scope, body))
        .map_err(|error| refusal(&error))
}

/// Starts workers until there are `wanted`. The first `callers` exist; `start_one` starts one more
/// thread. Stops at the first refusal, and returns the number of workers.
pub fn start_workers(
    wanted: usize,
    callers: usize,
    mut start_one: impl FnMut() -> io::Result<()>,
) -> usize {
    let mut workers = callers;
    while workers < wanted {
        if let Err(error) = start_one() {
            note_workers(workers, wanted, &error);
            break;
        }
        workers += 1;
    }
    workers
}

/// Returns how many of the `wanted` workers a process may have, at least 1.
pub fn workers_within_limit(wanted: usize) -> usize {
    if wanted > WORKERS_MAX {
        let why = format!("a process may have at most {WORKERS_MAX} workers");
        note_workers(WORKERS_MAX, wanted, &why);
    }
    wanted.clamp(1, WORKERS_MAX)
}

/// Returns what this process had to do with fewer threads than it wanted.
pub fn shortage() -> Option<Shortage> {
    lock(&STARTS).shortage.clone()
}

/// For tests: forgets the [`shortage`], counts thread requests from 0 again, and refuses those in
/// `asked`.
#[doc(hidden)]
pub fn refuse(asked: Range<usize>) {
    *lock(&STARTS) = ThreadStarts { asked: 0, refused: asked, shortage: None };
}

/// For tests: calls `work` repeatedly, each time refusing another one of the threads it asks for,
/// first alone and then with all later ones. Returns how many threads `work` asks for. Only one
/// test of a process may call this at a time.
#[doc(hidden)]
pub fn refuse_each(mut work: impl FnMut()) -> usize {
    for first in 0.. {
        for end in [first + 1, usize::MAX] {
            refuse(first..end);
            work();
            let is_disturbed = lock(&STARTS).asked > first;
            refuse(0..0);
            if !is_disturbed {
                return first;
            }
        }
    }
    usize::MAX
}

/// Counts a request for a thread; fails if a test refuses it.
fn pass() -> io::Result<()> {
    let mut starts = lock(&STARTS);
    starts.asked += 1;
    match starts.refused.contains(&(starts.asked - 1)) {
        true => Err(io::ErrorKind::WouldBlock.into()),
        false => Ok(()),
    }
}

/// Notes that a thread was refused, and adds advice to the error.
fn refusal(error: &io::Error) -> io::Error {
    let why = format!(
        "the system refused to start a thread ({error}); raise `ulimit -u`, or `pids.max` of the container"
    );
    lock(&STARTS).shortage.get_or_insert_with(|| Shortage { workers: None, why: why.clone() });
    io::Error::new(error.kind(), why)
}

/// Notes that `started` workers, at least the calling thread, share work meant for `wanted`. Only
/// the least `started` is kept.
pub fn note_workers(started: usize, wanted: usize, why: &dyn fmt::Display) {
    let started = started.max(1);
    let mut starts = lock(&STARTS);
    let known = starts.shortage.as_ref().and_then(|shortage| shortage.workers);
    if known.is_none_or(|known| started < known.started) {
        let workers = Some(WorkerShortage { started, wanted });
        starts.shortage = Some(Shortage { workers, why: why.to_string() });
    }
}
