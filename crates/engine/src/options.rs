//! What a caller may choose.

use std::path::Path;

use tegula_comm::Comm;
use tegula_machine::disk::Speed;
use tegula_machine::threads::{Cancel, Progress, Silent};
use tegula_store::graph::Graph;
use tegula_store::rows::RowReader;
use tegula_store::{Error, Result};

use crate::checkpoint::Checkpoints;
use crate::instructions::Instructions;
use crate::scheduler::{PartOrder, Reserve, Resources, Scheduler, StretchSize};

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
    /// Stops the run, within the time of a few tiles.
    pub cancel: Cancel,
    /// Receives the progress of iterations.
    pub progress: &'a dyn Progress,
    /// The scheduler on which the run is a job beside others. It then decides memory, threads,
    /// speed and the size of parts.
    pub scheduler: Option<&'a Scheduler<'a>>,
    /// A reserve of the scheduler, for all runs of one caller. A run panics if it is of another one.
    pub reserve: Option<&'a Reserve<'a>>,
    /// Where the arrays of a vertex program lie. Results do not depend on it.
    pub arrays: Arrays,
    /// The folder for arrays on disk. Without it, the directory of the graph takes them, or the
    /// folder of temporary files where the directory cannot be written.
    pub spill_directory: Option<&'a Path>,
    /// Checkpoints to keep and to resume from, for a run of one vertex program.
    pub checkpoints: Option<Checkpoints<'a>>,
    /// The other ranks of a run on a partitioned graph, which must be open
    /// [for ranks](Graph::for_ranks). All ranks run the same algorithm with the same options, apart
    /// from memory, threads and folders. They do one run at a time. If a run fails, the caller must
    /// [abort](Comm::abort), since the others wait. Results do not depend on it.
    pub ranks: Option<&'a dyn Comm>,
    /// Choices that only tests and benchmarks make.
    #[doc(hidden)]
    pub tuning: Tuning,
}

/// Choices that the engine makes well by itself, for tests and benchmarks.
#[derive(Debug, Clone, Copy)]
pub struct Tuning {
    /// Instructions for the inner loops. Results do not depend on it.
    pub instructions: Instructions,
    /// How messages reach further groups of columns while arrays lie on disk. Results do not depend
    /// on it.
    pub messages: Messages,
    /// Whether tiles without an active source or an open target are skipped while arrays lie in
    /// memory. Results do not depend on it.
    pub is_selective: bool,
    /// Edges at which a part of the graph is closed, or `None` for a number that follows from the
    /// graph. One worker processes one part at a time. Sums of floats depend on it.
    pub part_edges: Option<u64>,
    /// Which part of a scan is next. Results do not depend on it.
    pub part_order: PartOrder,
    /// The size of a stretch of tiles. Results do not depend on it.
    pub stretch: StretchSize,
}

impl Default for Tuning {
    fn default() -> Tuning {
        Tuning {
            instructions: Instructions::detect(),
            messages: Messages::default(),
            is_selective: true,
            part_edges: None,
            part_order: PartOrder::default(),
            stretch: StretchSize::default(),
        }
    }
}

/// The processes that a caller allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Executor {
    /// The process that is predicted to be the quickest, in each iteration.
    #[default]
    Auto,
    /// Always tiles. A program that follows edges [other than forward](crate::Program::directions)
    /// seeks anyway.
    Scan,
    /// Always rows. A program whose reduction is not [exact](crate::Reduction::IS_EXACT) scans
    /// anyway.
    Seek,
}

/// How messages reach further groups of columns while arrays lie on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Messages {
    /// In the cheaper way, for each segment and group.
    #[default]
    Auto,
    /// Each group reads all of them again: for tests and benchmarks.
    Reread,
    /// They are sent to the groups whose cells list their sources, if all of these are listed and
    /// memory has room for it: for tests and benchmarks.
    Dispatched,
}

/// Where the arrays of a vertex program over all vertices lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Arrays {
    /// In memory if they fit when the run starts, else on disk.
    #[default]
    Auto,
    /// In memory.
    InMemory,
    /// On disk wherever tiles are scanned, even if memory has room. Runs of several passes choose it
    /// where `Auto` would go to disk, so that no block stays in memory until the next pass. Tests
    /// and benchmarks choose it anywhere.
    OnDisk,
}

impl RunOptions<'_> {
    /// Returns the bytes that the run may use, or all runs of its scheduler together.
    pub fn budget(&self) -> u64 {
        self.scheduler.map_or(self.memory, |scheduler| scheduler.ledger().memory())
    }

    /// Returns what a scheduler for runs with these options may take of the machine.
    pub fn resources(&self) -> Resources {
        let RunOptions { memory, threads, tuning, .. } = *self;
        let Tuning { part_edges, part_order, stretch, .. } = tuning;
        let speed = self.speed.clone();
        Resources { memory, threads, speed, part_edges, part_order, stretch }
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

    /// Refuses work that ranks cannot share.
    ///
    /// # Errors
    /// [`Error::NotOnRanks`] if the run has other ranks.
    pub(crate) fn refuse_ranks(&self, what: &'static str) -> Result<()> {
        match self.ranks {
            Some(_) => Err(Error::NotOnRanks { what }),
            None => Ok(()),
        }
    }

    /// Calls `body` with the scheduler of the options, or with a new one for this call alone.
    ///
    /// # Panics
    /// When the scheduler of the options is for another graph, or the reserve is not of this
    /// scheduler.
    pub fn with_scheduler<R>(&self, graph: &Graph, body: impl FnOnce(&Scheduler<'_>) -> R) -> R {
        match self.scheduler {
            Some(scheduler) => {
                assert!(scheduler.is_of(graph), "a scheduler is for one graph");
                let is_own = |reserve: &Reserve<'_>| scheduler.ledger().has_made(reserve);
                assert!(self.reserve.is_none_or(is_own), "a reserve is for one scheduler");
                body(scheduler)
            }
            None => {
                assert!(self.reserve.is_none(), "a reserve is for one scheduler");
                Scheduler::scope(graph, &self.resources(), body)
            }
        }
    }
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
            cancel: Cancel::default(),
            progress: &Silent,
            scheduler: None,
            reserve: None,
            arrays: Arrays::default(),
            spill_directory: None,
            checkpoints: None,
            ranks: None,
            tuning: Tuning::default(),
        }
    }
}
