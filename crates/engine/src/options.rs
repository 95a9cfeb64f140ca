//! What a caller may choose, and what a run reports.

use std::path::Path;
use std::time::Duration;

use tegula_machine::Result;
use tegula_machine::disk::{Backend, Caching, Directory, Pool, Reader, Speed};
use tegula_machine::threads::{Cancel, Progress, Silent};
use tegula_store::graph::Graph;
use tegula_store::rows::RowReader;

use crate::instructions::Instructions;
use crate::process::{Executor, Process};
use crate::workers::Workers;

/// Memory of the process apart from vertex arrays and frames: code, tables, stacks.
pub const PROCESS_OVERHEAD: u64 = 24 << 20;

/// Bytes of the overhead of a process that frames may take besides those of tiles: blocks of ids and
/// degrees, and rows that find no room in their cache.
pub(crate) const BLOCK_FRAMES: u64 = 4 << 20;

/// How a run may use the machine.
pub struct RunOptions<'a> {
    /// Bytes that the whole process may use.
    pub memory: u64,
    /// Worker threads, at least 1. Results do not depend on it.
    pub threads: usize,
    /// Whether iterations go through tiles or along rows. Results do not depend on it.
    pub executor: Executor,
    /// Rows that are open already, and may be shared by several runs; a run takes them as they are and
    /// does not count their memory.
    pub rows: Option<&'a RowReader>,
    /// What the device with the graph does.
    pub speed: Speed,
    /// Instructions for the inner loops. Results do not depend on it.
    pub instructions: Instructions,
    /// Stops the run, within the time of a few tiles.
    pub cancel: Cancel,
    /// Is told about iterations.
    pub progress: &'a dyn Progress,
}

impl RunOptions<'_> {
    /// The workers of a run.
    pub(crate) fn workers(&self) -> Workers<'_> {
        Workers { threads: self.threads, cancel: &self.cancel }
    }
}

impl Default for RunOptions<'_> {
    /// All threads of the machine, and 1 GiB.
    fn default() -> Self {
        RunOptions {
            memory: 1 << 30,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            executor: Executor::Auto,
            rows: None,
            speed: Speed::default(),
            instructions: Instructions::detect(),
            cancel: Cancel::default(),
            progress: &Silent,
        }
    }
}

/// Opens a graph directory for runs under a budget of `memory` bytes. A graph that fits the budget
/// may stay in the page cache for the next run; one that does not is read past it.
///
/// # Errors
/// Those of [`Graph::open`] and of starting the backend.
pub fn open_graph(directory: &Path, memory: u64, backend: Backend) -> Result<Graph> {
    open_graph_in(&Graph::open_directory(directory)?, memory, backend)
}

/// The same of a directory that is open.
///
/// # Errors
/// Those of [`open_graph`].
pub fn open_graph_in(directory: &Directory, memory: u64, backend: Backend) -> Result<Graph> {
    let reader = Reader::open(backend, Pool::new(memory))?;
    let fits = directory.bytes() <= memory / 2;
    let caching = if fits { Caching::PageCache } else { Caching::Direct };
    Graph::open_in(directory, &reader, caching)
}

/// What a run did.
#[derive(Debug, Clone, Default)]
pub struct RunStatistics {
    /// Iterations (supersteps) run.
    pub iterations: u64,
    /// Time of each iteration.
    pub iteration_times: Vec<Duration>,
    /// How the edges of each iteration were reached; that of the first job, where several share scans.
    pub processes: Vec<Process>,
    /// Edges in the tiles that were processed and in the rows that were looked through, over all
    /// iterations.
    pub edges_processed: u64,
    /// Tiles that were passed over, over all iterations, because no job had a use for them.
    pub tiles_skipped: u64,
    /// Bytes that came through the reading door during the run.
    pub bytes_read: u64,
}
