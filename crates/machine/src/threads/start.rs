//! The one door through which threads start.
//!
//! The system may refuse a thread: a user or a container has a limit. Callers then go on with the threads that
//! they have, and [`shortage`] tells the user.

use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::Mutex;
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use super::locks::lock;
use crate::hint::Diagnostic;

/// The most workers of a process. Each thread takes up to four mappings of memory, of which Linux gives a process
/// 65,530; without one that is free, threads and allocations abort the process.
pub const WORKERS_MAX: usize = 4096;

/// Threads that this process wanted and did not get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortage {
    /// The fewest workers that shared some work; none where only threads that read or write are missing.
    pub workers: Option<WorkerShortage>,
    /// Why there are no more.
    pub why: String,
}

/// Workers that shared some work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerShortage {
    /// How many there were, with the calling thread; at least 1.
    pub started: usize,
    /// How many were wanted.
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

impl From<Shortage> for Diagnostic {
    fn from(shortage: Shortage) -> Diagnostic {
        shortage.to_string().into()
    }
}

/// What is known of the threads of this process.
struct Door {
    /// Threads that were asked for since the last call of [`refuse`].
    asked: usize,
    /// Those of them that tests refuse.
    refused: Range<usize>,
    shortage: Option<Shortage>,
}

static DOOR: Mutex<Door> = Mutex::new(Door { asked: 0, refused: 0..0, shortage: None });

/// Starts a thread. What it returns is lost unless somebody joins it.
///
/// # Errors
/// The refusal of the system, with what may be done about it.
pub fn start<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    pass()
        .and_then(|()| Builder::new().name(name.to_owned()).spawn(body))
        .map_err(|error| refusal(&error))
}

/// Starts a thread that ends with a scope.
///
/// # Errors
/// Those of [`start`].
pub fn start_in<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    body: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    pass()
        .and_then(|()| Builder::new().name(name.to_owned()).spawn_scoped(scope, body))
        .map_err(|error| refusal(&error))
}

/// Makes up `wanted` workers: `callers` are there, and `start_one` starts the thread of another, until one is refused.
/// Returns how many there are.
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

/// How many of the `wanted` workers a process may have, at least 1.
pub fn workers_within_limit(wanted: usize) -> usize {
    if wanted > WORKERS_MAX {
        note_workers(WORKERS_MAX, wanted, &format!("a process has {WORKERS_MAX} at the most"));
    }
    wanted.clamp(1, WORKERS_MAX)
}

/// What this process did with fewer threads than it wanted.
pub fn shortage() -> Option<Shortage> {
    lock(&DOOR).shortage.clone()
}

/// Refuses threads, for tests: of those that are asked for from now on, numbered from 0, the ones in `asked`. Forgets
/// the [`shortage`].
#[doc(hidden)]
pub fn refuse(asked: Range<usize>) {
    *lock(&DOOR) = Door { asked: 0, refused: asked, shortage: None };
}

/// Calls `work` again and again, for tests: with every thread refused in turn that it asks for, alone and with all that
/// come after it. Returns how many threads it asks for. Only one test of a process may do so at a time.
#[doc(hidden)]
pub fn refuse_each(mut work: impl FnMut()) -> usize {
    for first in 0.. {
        for end in [first + 1, usize::MAX] {
            refuse(first..end);
            work();
            let is_disturbed = lock(&DOOR).asked > first;
            refuse(0..0);
            if !is_disturbed {
                return first;
            }
        }
    }
    usize::MAX
}

/// Counts a thread that is asked for.
fn pass() -> io::Result<()> {
    let mut door = lock(&DOOR);
    door.asked += 1;
    match door.refused.contains(&(door.asked - 1)) {
        true => Err(io::ErrorKind::WouldBlock.into()),
        false => Ok(()),
    }
}

/// Notes that a thread was refused, and says what may be done about it.
fn refusal(error: &io::Error) -> io::Error {
    let why = format!(
        "the system starts no more threads ({error}); raise `ulimit -u`, or `pids.max` of the container"
    );
    lock(&DOOR).shortage.get_or_insert_with(|| Shortage { workers: None, why: why.clone() });
    io::Error::new(error.kind(), why)
}

/// Notes that `started` workers, or the calling thread alone, share work that was meant for `wanted`. The fewest are
/// remembered.
pub fn note_workers(started: usize, wanted: usize, why: &dyn fmt::Display) {
    let started = started.max(1);
    let mut door = lock(&DOOR);
    let known = door.shortage.as_ref().and_then(|shortage| shortage.workers);
    if known.is_none_or(|known| started < known.started) {
        let workers = Some(WorkerShortage { started, wanted });
        door.shortage = Some(Shortage { workers, why: why.to_string() });
    }
}
