//! What a caller may choose, and what a run reports.

use std::num::NonZeroU64;
use std::path::Path;
use std::time::Duration;

use tegula_machine::Result;
use tegula_machine::disk::{Backend, Caching, Directory, Pool, Reader, Speed};
use tegula_machine::threads::{Cancel, Progress, Silent};
use tegula_store::graph::Graph;
use tegula_store::rows::RowReader;

use crate::external::plan::{ArraysOnDisk, ArraysPlan};
use crate::external::wanted::Messages;
use crate::instructions::Instructions;
use crate::iteration_times::TIMES_MAX;
use crate::job::PartStatistics;
use crate::parts::PART_EDGES_TARGET;
use crate::process::ProcessKind;
use crate::process::choice::Executor;
use crate::scheduler::{Resources, Scheduler};

/// How a run may use the machine.
#[derive(Clone)]
pub struct RunOptions<'a> {
    /// Bytes that the whole process may use.
    pub memory: u64,
    /// Worker threads, at least 1. Results do not depend on it.
    pub threads: usize,
    /// Whether iterations go through tiles or along rows. Results do not depend on it.
    pub executor: Executor,
    /// Rows that are already open; several runs may share them. A run uses them as they are and
    /// does not count their memory.
    pub rows: Option<&'a RowReader>,
    /// The same by target, for a directed graph: beside [`rows`](Self::rows), or alone for a run
    /// that follows only in-edges.
    pub reverse: Option<&'a RowReader>,
    /// The speed of the device that holds the graph.
    pub speed: Speed,
    /// Instructions for the inner loops. Results do not depend on it.
    pub instructions: Instructions,
    /// Stops the run, within the time of a few tiles.
    pub cancel: Cancel,
    /// Receives the progress of iterations.
    pub progress: &'a dyn Progress,
    /// The scheduler on which the run is a job beside others. It then decides memory, threads,
    /// speed and the size of parts.
    pub scheduler: Option<&'a Scheduler<'a>>,
    /// Where the arrays of a vertex program lie. Results do not depend on it.
    pub arrays: Arrays,
    /// How messages reach further groups of columns while arrays lie on disk. Results do not depend
    /// on it.
    pub messages: Messages,
    /// The folder for arrays on disk. Without it, the directory of the graph takes them, or the
    /// folder of temporary files where the directory cannot be written.
    pub spill_directory: Option<&'a Path>,
    /// Whether tiles without an active source or an open target are skipped while arrays lie in
    /// memory. Results do not depend on it. Only benchmarks switch this off.
    pub is_selective: bool,
    /// Checkpoints to keep and to resume from, for a run of one vertex program.
    pub checkpoints: Option<Checkpoints<'a>>,
    /// Edges at which a part of the graph is closed; one worker processes one part at a time. Sums
    /// of floats depend on it, so only tests with small graphs and benchmarks change it.
    pub part_edges: u64,
}

/// Where the arrays of a vertex program over all vertices lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrays {
    /// In memory if they fit when the run starts, else on disk.
    #[default]
    Auto,
    /// In memory.
    InMemory,
    /// On disk wherever tiles are scanned, even if memory has room: for tests and benchmarks.
    OnDisk,
}

impl RunOptions<'_> {
    /// Returns the bytes that the run may use, or all runs of its scheduler together.
    pub fn budget(&self) -> u64 {
        self.scheduler.map_or(self.memory, |scheduler| scheduler.ledger().memory())
    }

    /// Returns what a scheduler for runs with these options may take of the machine.
    pub fn resources(&self) -> Resources {
        let RunOptions { memory, threads, part_edges, .. } = *self;
        Resources { memory, threads, speed: self.speed.clone(), part_edges }
    }

    /// Returns the same options for a run whose result is wanted in memory: [`Arrays::Auto`]
    /// becomes [`Arrays::InMemory`].
    #[must_use]
    pub fn with_result_in_memory(&self) -> Self {
        let arrays = match self.arrays {
            Arrays::Auto => Arrays::InMemory,
            chosen => chosen,
        };
        RunOptions { arrays, ..self.clone() }
    }

    /// Calls `body` with the scheduler of the options, or with a new one for this call alone.
    ///
    /// # Panics
    /// When the scheduler of the options is for another graph.
    pub(crate) fn with_scheduler<R>(
        &self,
        graph: &Graph,
        body: impl FnOnce(&Scheduler<'_>) -> Result<R>,
    ) -> Result<R> {
        match self.scheduler {
            Some(scheduler) => {
                assert!(scheduler.is_of(graph), "a scheduler is for one graph");
                body(scheduler)
            }
            None => Scheduler::scope(graph, &self.resources(), body),
        }
    }
}

/// Whether a run keeps checkpoints, and whether it resumes from one.
#[derive(Debug, Clone, Copy)]
pub struct Checkpoints<'a> {
    /// The folder for new checkpoints. It is created if it is missing; the last two checkpoints
    /// stay.
    pub folder: Option<&'a Path>,
    /// A checkpoint is kept before each iteration whose number is a multiple of `every`, except
    /// before the first iteration of this run.
    pub every: NonZeroU64,
    /// The folder of the checkpoint to resume from.
    pub resume: Option<&'a Path>,
    /// The algorithm and its options. A checkpoint of another run is refused.
    pub run: &'a str,
}

impl Default for RunOptions<'_> {
    /// Returns options with all threads of the machine, and 1 GiB.
    fn default() -> Self {
        RunOptions {
            memory: 1 << 30,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            executor: Executor::Auto,
            rows: None,
            reverse: None,
            speed: Speed::default(),
            instructions: Instructions::detect(),
            cancel: Cancel::default(),
            progress: &Silent,
            scheduler: None,
            arrays: Arrays::default(),
            messages: Messages::default(),
            spill_directory: None,
            is_selective: true,
            checkpoints: None,
            part_edges: PART_EDGES_TARGET,
        }
    }
}

/// Opens a graph directory for runs within a budget of `memory` bytes. A graph of at most half the
/// budget may stay in the page cache for the next run; a larger one is read past it.
pub fn open_graph(directory: &Path, memory: u64, backend: Backend) -> Result<Graph> {
    open_graph_in(&Graph::open_directory(directory)?, memory, backend)
}

/// Does the same for a directory that is already open.
pub fn open_graph_in(directory: &Directory, memory: u64, backend: Backend) -> Result<Graph> {
    let reader = Reader::open(backend, Pool::new(memory))?;
    let fits = directory.bytes() <= memory / 2;
    let caching = if fits { Caching::PageCache } else { Caching::Direct };
    Graph::open_in(directory, &reader, caching)
}

/// How much memory a run needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of the workers, and of the arrays over all vertices.
    pub vertex_bytes: u64,
    /// Bytes without which tiles cannot be streamed.
    pub stream_bytes_min: u64,
    /// Bytes of all tiles, or of all rows if only rows are read. With as much memory on top, only
    /// the first iteration reads from the disk.
    pub layout_bytes: u64,
    /// Bytes of code, tables and stacks.
    pub overhead_bytes: u64,
    /// What replaces the arrays if they may lie on disk.
    pub on_disk: Option<ArraysOnDisk>,
}

impl Estimate {
    /// Returns the smallest budget with which the run starts.
    pub fn needed(&self) -> u64 {
        self.vertex_bytes_min() + self.stream_bytes_min + self.overhead_bytes
    }

    /// Returns the smallest budget with which the arrays lie in memory.
    pub fn needed_in_memory(&self) -> u64 {
        self.vertex_bytes.saturating_add(self.stream_bytes_min + self.overhead_bytes)
    }

    /// Returns the least bytes of the arrays; on disk if they may lie there.
    fn vertex_bytes_min(&self) -> u64 {
        match &self.on_disk {
            None => self.vertex_bytes,
            Some(arrays) if arrays.must_leave_memory() => arrays.least().bytes,
            Some(arrays) => arrays.least().bytes.min(self.vertex_bytes),
        }
    }

    /// Returns how arrays are laid out on disk within a budget of `memory` bytes that they do not
    /// fit.
    pub fn plan_on_disk(&self, memory: u64) -> Option<(&ArraysOnDisk, ArraysPlan)> {
        let others = self.stream_bytes_min + self.overhead_bytes;
        let left = memory.checked_sub(others)?;
        let arrays = self.on_disk.as_ref()?;
        if self.vertex_bytes <= left && !arrays.must_leave_memory() {
            return None;
        }
        Some((arrays, arrays.plan(left, true)?))
    }
}

/// The statistics of a run.
#[derive(Debug, Clone, Default)]
pub struct RunStatistics {
    /// Iterations (supersteps) run.
    pub iterations: u64,
    /// Iterations that were run before the checkpoint from which the run resumed.
    pub iterations_before: u64,
    /// Time of each iteration. These three lists keep the first 2^16 iterations.
    pub iteration_times: Vec<Duration>,
    /// The process of each iteration.
    pub processes: Vec<ProcessKind>,
    /// Predicted seconds of each iteration, uncorrected; none where a scan was the only way.
    pub predicted_seconds: Vec<Option<f64>>,
    /// Edges in the processed tiles and in the rows that were looked through, over all iterations.
    pub edges_processed: u64,
    /// Tiles that the run did not need and skipped, over all iterations.
    pub tiles_skipped: u64,
    /// Bytes read for the run, including reads shared with other jobs.
    pub bytes_read: u64,
    /// Bytes of arrays written to disk because memory had no room for them.
    pub bytes_written: u64,
}

impl RunStatistics {
    /// Makes the run begin at `iteration`.
    pub(crate) fn begin_at(&mut self, iteration: u64) {
        (self.iterations, self.iterations_before) = (iteration, iteration);
    }

    /// Adds the statistics of a run that continued this one for the same answer.
    pub fn add(&mut self, next: RunStatistics) {
        self.iterations += next.iterations;
        self.iterations_before += next.iterations_before;
        self.iteration_times.extend(next.iteration_times);
        self.processes.extend(next.processes);
        self.predicted_seconds.extend(next.predicted_seconds);
        self.iteration_times.truncate(TIMES_MAX);
        self.processes.truncate(TIMES_MAX);
        self.predicted_seconds.truncate(TIMES_MAX);
        self.edges_processed += next.edges_processed;
        self.tiles_skipped += next.tiles_skipped;
        self.bytes_read += next.bytes_read;
        self.bytes_written += next.bytes_written;
    }

    /// Adds an iteration.
    pub(crate) fn add_iteration(
        &mut self,
        process: ProcessKind,
        predicted_seconds: Option<f64>,
        took: Duration,
    ) {
        self.iterations += 1;
        if self.iteration_times.len() == TIMES_MAX {
            return;
        }
        self.iteration_times.push(took);
        self.processes.push(process);
        self.predicted_seconds.push(predicted_seconds);
    }

    /// Adds the statistics of the parts of one scan.
    pub(crate) fn add_scan(&mut self, scanned: &PartStatistics, graph: &Graph) {
        self.edges_processed += scanned.edges;
        self.tiles_skipped += graph.tiles().len() as u64 - scanned.tiles;
        self.bytes_read += scanned.bytes_read;
    }
}
