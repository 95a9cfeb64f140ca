//! Open graphs that Python objects share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

use pyo3::prelude::*;
use tegula_engine::{Graph, RESULT_OVERHEAD, RUN_OVERHEAD, RunOptions, open_graph_in};
use tegula_machine::Bytes;
use tegula_machine::disk::{Backend, Directory, Lease, Speed, speed_of};
use tegula_machine::memory::{MemoryLimit, default_memory, memory_limit, parse_size};
use tegula_machine::threads::{Cancel, lock, workers_within_limit};
use tegula_store::Error;

use crate::failure::{Failure, Result};
use crate::home::Home;
use crate::work::Work;

/// Time between two looks at the switch while work waits for its turn.
const PATIENCE: Duration = Duration::from_millis(20);

/// A number of bytes, or text such as `4GiB`.
#[derive(FromPyObject)]
pub enum Size {
    Bytes(u64),
    Text(String),
}

/// Returns the memory that the user gives, or the default.
///
/// # Errors
/// [`Failure`] for text that is no size, and for more than the process can have.
pub fn memory_of(size: Option<Size>) -> Result<u64> {
    let memory = match size {
        None => return Ok(default_memory()),
        Some(Size::Bytes(bytes)) => bytes,
        Some(Size::Text(text)) => parse_size(&text)
            .map_err(|problem| Failure::usage(format!("memory=\"{text}\": {problem}")))?,
    };
    match memory_limit() {
        Some(MemoryLimit { name, bytes }) if memory > bytes => {
            let [memory, left] = Bytes::told_apart(memory, bytes);
            Err(Failure::over_limit(format!(
                "memory={memory} is more than the {left} that {name} leaves"
            )))
        }
        Some(_) | None => Ok(memory),
    }
}

/// Returns the number of threads that the user gives, or the number of cores.
///
/// # Errors
/// [`Failure`] for less than 1.
pub fn threads_of(threads: Option<i64>) -> Result<usize> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    match threads.map(usize::try_from) {
        None => Ok(workers_within_limit(cores())),
        Some(Ok(count)) if count > 0 => Ok(workers_within_limit(count)),
        Some(_) => Err(Failure::usage("threads must be at least 1")),
    }
}

/// The open graphs of this process.
static OPEN: Mutex<Vec<Weak<Shared>>> = Mutex::new(Vec::new());

/// An open graph and its resources. All that is opened of one directory with the same resources is
/// one such graph.
pub struct Shared {
    /// The graph directory, as it was named first.
    pub path: PathBuf,
    /// Bytes that a run may use.
    pub memory: u64,
    /// The threads of a run.
    pub threads: usize,
    /// The speed of the device that holds it.
    speed: Speed,
    /// The process that opened it.
    home: Home,
    graph: Mutex<Arc<Graph>>,
    /// Bytes of the budget that streams of rows take.
    reserved: AtomicU64,
    /// Whose turn it is to use its memory.
    taken: Mutex<Taken>,
    is_free: Condvar,
}

/// What the memory of a graph is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// A run, or whatever may take all of it.
    Run,
    /// Jobs. They leave room for reading one result at a time.
    Jobs,
    /// Reading a result.
    Result,
}

/// Whose turn it is.
#[derive(Debug, Default)]
struct Taken {
    by_run: bool,
    by_jobs: bool,
    by_result: bool,
}

impl Taken {
    /// Returns whether a turn for this can begin.
    fn leaves(&self, wanted: Use) -> bool {
        let &Taken { by_run, by_jobs, by_result } = self;
        match wanted {
            Use::Run => !(by_run || by_jobs || by_result),
            Use::Jobs => !(by_run || by_jobs),
            Use::Result => !(by_run || by_result),
        }
    }

    fn by(&mut self, turn: Use) -> &mut bool {
        match turn {
            Use::Run => &mut self.by_run,
            Use::Jobs => &mut self.by_jobs,
            Use::Result => &mut self.by_result,
        }
    }
}

/// The turn to use the memory of a graph. It ends when this is dropped.
pub struct Turn<'s> {
    shared: &'s Shared,
    turn: Use,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.shared.taken).by(self.turn) = false;
        self.shared.is_free.notify_all();
    }
}

/// Bytes of the budget of a graph that runs may not take while this lives.
pub struct Reserved {
    shared: Arc<Shared>,
    bytes: u64,
    /// The same bytes of the pool of the graph.
    _lease: Lease,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.shared.reserved.fetch_sub(self.bytes, Relaxed);
    }
}

impl Shared {
    /// Opens a graph directory, unless it is open.
    pub fn open(path: &Path, memory: Option<Size>, threads: Option<i64>) -> Result<Arc<Shared>> {
        let (memory, threads) = (memory_of(memory)?, threads_of(threads)?);
        let directory = Graph::open_directory(path)?;
        if let Some(open) = Shared::find(&mut lock(&OPEN), &directory, memory, threads) {
            return Ok(open);
        }
        let graph = opened(&directory, memory)?;
        let shared = Arc::new(Shared {
            speed: speed_of(graph.directory()),
            path: path.to_owned(),
            memory,
            threads,
            home: Home::here(),
            graph: Mutex::new(Arc::new(graph)),
            reserved: AtomicU64::new(0),
            taken: Mutex::default(),
            is_free: Condvar::new(),
        });
        let mut all = lock(&OPEN);
        // Another thread may have opened it meanwhile.
        if let Some(open) = Shared::find(&mut all, &directory, memory, threads) {
            return Ok(open);
        }
        all.push(Arc::downgrade(&shared));
        Ok(shared)
    }

    /// Returns the open graph of a directory, and forgets those that are closed. A fork opens its
    /// own.
    fn find(
        all: &mut Vec<Weak<Shared>>,
        directory: &Directory,
        memory: u64,
        threads: usize,
    ) -> Option<Arc<Shared>> {
        all.retain(|shared| shared.strong_count() > 0);
        all.iter().filter_map(Weak::upgrade).find(|shared| {
            (shared.memory, shared.threads) == (memory, threads)
                && shared.home.is_here()
                && shared.graph().opened_directory().is_same(directory)
        })
    }

    /// Opens the same directory once more, with a pool of the same size.
    pub fn open_again(&self, directory: &Directory) -> Result<Graph> {
        opened(directory, self.memory)
    }

    fn held(&self) -> MutexGuard<'_, Arc<Graph>> {
        lock(&self.graph)
    }

    /// Returns the open graph.
    pub fn graph(&self) -> Arc<Graph> {
        Arc::clone(&self.held())
    }

    /// Puts a graph with more rows in the place of the open one.
    pub fn replace(&self, graph: Arc<Graph>) {
        *self.held() = graph;
    }

    /// Takes the bytes of a stream from the budget of runs. `bytes` includes the overhead of a run;
    /// its part for code does not count, because the process has its code once. The caller must have
    /// a [turn](Self::turn).
    ///
    /// # Errors
    /// [`OverBudget`](tegula_machine::Error::OverBudget), naming `what`, if they are not left.
    pub fn reserve(self: &Arc<Shared>, what: &str, bytes: u64) -> Result<Reserved> {
        let bytes = bytes - (RUN_OVERHEAD - RESULT_OVERHEAD);
        // Nobody else reserves memory meanwhile: the caller has the turn.
        let taken = self.reserved.load(Relaxed);
        if bytes + taken > self.memory {
            return Err(Error::over_budget(what, bytes + taken, self.memory).into());
        }
        let lease = self.graph().reader().pool().lease(what, bytes)?;
        self.reserved.fetch_add(bytes, Relaxed);
        Ok(Reserved { shared: Arc::clone(self), bytes, _lease: lease })
    }

    /// Refuses a fork of the process that opened it.
    ///
    /// # Errors
    /// [`Failure`] there.
    pub fn check_process(&self) -> Result<()> {
        self.home.check(self.path.display())
    }

    /// Waits for the turn to use its memory.
    ///
    /// # Errors
    /// [`Cancelled`](tegula_machine::Error::Cancelled); [`Failure`] in a fork of the process that
    /// opened it.
    pub fn turn(&self, turn: Use, cancel: &Cancel) -> Result<Turn<'_>> {
        self.check_process()?;
        let mut taken = lock(&self.taken);
        while !taken.leaves(turn) {
            cancel.check()?;
            let waited = self.is_free.wait_timeout(taken, PATIENCE);
            taken = waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0;
        }
        *taken.by(turn) = true;
        Ok(Turn { shared: self, turn })
    }

    /// Returns the options of a run.
    pub fn options<'r>(&self, work: &'r Work) -> RunOptions<'r> {
        RunOptions {
            memory: self.memory - self.reserved.load(Relaxed),
            threads: self.threads,
            speed: self.speed.clone(),
            cancel: work.cancel.clone(),
            progress: &work.progress,
            ..RunOptions::default()
        }
    }
}

/// Opens a graph within a budget. It may be smaller than that of any run, so that a run can tell
/// what it needs.
fn opened(directory: &Directory, memory: u64) -> Result<Graph> {
    Ok(open_graph_in(directory, memory.max(RUN_OVERHEAD), Backend::Auto)?)
}
