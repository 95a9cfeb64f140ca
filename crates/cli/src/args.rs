//! Options that several commands share.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum};
use tegula_engine::{Graph, RUN_OVERHEAD, open_graph, open_graph_in, overhead};
use tegula_machine::disk::{Backend, Directory, Speed, THREADS_DEFAULT, speed_of};
use tegula_machine::memory::{MemoryLimit, READING_THREADS_MAX, memory_limit};
use tegula_machine::threads::workers_within_limit;
use tegula_store::Error;

use crate::errors::{Failure, Result};

/// The help heading of options about memory, threads and reading.
pub const MACHINE: &str = "Machine";
/// The help heading of the options of every command.
const GENERAL: &str = "General options";

/// Options of every command.
#[derive(Debug, Clone, Copy, Args)]
pub struct Common {
    /// Print one JSON object on standard output, for a failure too.
    #[arg(long, global = true, help_heading = GENERAL)]
    pub json: bool,
    /// Show neither progress nor summaries.
    #[arg(long, short, global = true, help_heading = GENERAL)]
    pub quiet: bool,
    /// Log each step on standard error, with times; twice for more detail.
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = GENERAL)]
    pub verbose: u8,
    /// Print help; -h prints less.
    #[arg(long, short, global = true, action = ArgAction::Help, help_heading = GENERAL)]
    help: Option<bool>,
    /// Print the version.
    #[arg(long, short = 'V', global = true, action = ArgAction::Version, help_heading = GENERAL)]
    version: Option<bool>,
}

/// A graph, and how to read it.
#[derive(Debug, Args)]
pub struct GraphArgs {
    /// The graph directory.
    #[arg(value_name = "GRAPH")]
    pub graph: PathBuf,
    /// How to read it.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

impl GraphArgs {
    /// Opens the graph for the task `what`, which holds `size` bytes.
    ///
    /// # Errors
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget) where the budget has no room for
    /// `size` and the open graph.
    pub fn open(&self, what: &str, size: impl FnOnce(&Graph) -> Result<u64>) -> Result<Graph> {
        let budget = self.reading.budget.bytes();
        // Opened before the budget is checked, since only the graph tells what the task needs.
        let graph = self.reading.open(&self.graph)?;
        let needed = size(&graph)? + overhead(&graph);
        if needed > budget {
            return Err(Error::over_budget(what, needed, budget).into());
        }
        Ok(graph)
    }
}

/// How a graph is read.
#[derive(Debug, Clone, Copy, Args)]
pub struct ReadingArgs {
    /// Memory budget.
    #[command(flatten)]
    pub budget: Budget,
    /// How files are read.
    #[arg(long, value_enum, default_value_t = Io::Auto, help_heading = MACHINE)]
    io: Io,
    /// Random reads in flight, instead of the number that suits the device: for measurements.
    /// Threads read one each.
    #[arg(long, value_name = "N", hide = true)]
    reads_in_flight: Option<NonZeroU32>,
}

impl ReadingArgs {
    /// Opens a graph. Assumes at least [`RUN_OVERHEAD`] bytes, even where the budget is smaller: so
    /// the command can find out what it needs, and refuse the budget with the right numbers.
    ///
    /// # Errors
    /// [`Failure::OverLimit`] where the process can never have the budget.
    pub fn open(&self, graph: &Path) -> Result<Graph> {
        self.budget.check()?;
        Ok(open_graph(graph, self.memory(), self.backend(graph))?)
    }

    /// Opens the same graph once more.
    pub fn open_again(&self, graph: &Directory) -> Result<Graph> {
        Ok(open_graph_in(graph, self.memory(), self.backend(graph.path()))?)
    }

    /// Returns the speed of the device of a file or folder, and the requests to keep in flight
    /// there.
    pub fn speed(&self, path: &Path) -> Speed {
        let mut speed = speed_of(path);
        if let Some(count) = self.reads_in_flight {
            speed.targets.random_requests = count.get();
        }
        speed
    }

    /// Returns the backend that reads a file or folder. A thread has one read in flight. So there
    /// is one thread for each random read that the device wants in flight, up to
    /// `READING_THREADS_MAX`.
    fn backend(&self, path: &Path) -> Backend {
        match self.io {
            Io::Auto => Backend::Auto,
            Io::Uring => Backend::Uring,
            Io::Threads => {
                let wanted = self.speed(path).targets.random_requests.min(READING_THREADS_MAX);
                Backend::Threads(NonZeroUsize::new(wanted as usize).unwrap_or(THREADS_DEFAULT))
            }
        }
    }

    fn memory(&self) -> u64 {
        self.budget.bytes().max(RUN_OVERHEAD)
    }
}

/// How a run or a batch uses the machine.
#[derive(Debug, Clone, Args)]
pub struct MachineArgs {
    /// How the graph is read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// The worker threads.
    #[command(flatten)]
    pub threads: Threads,
    /// Folder for rows that the graph lacks, built for this run alone, and for arrays that do not
    /// fit in memory [default: in the graph, rows for good; in $TMPDIR where its directory cannot
    /// be written to].
    #[arg(long, value_name = "FOLDER", help_heading = MACHINE)]
    pub spill_directory: Option<PathBuf>,
}

/// The memory budget.
#[derive(Debug, Clone, Copy, Args)]
pub struct Budget {
    /// Memory for the whole process, e.g. 512MiB or 4GB [default: half of what the machine has, or
    /// of what the limits of the process leave it].
    #[arg(long, value_name = "SIZE", value_parser = tegula_machine::memory::parse_size)]
    #[arg(help_heading = MACHINE)]
    memory: Option<u64>,
}

impl Budget {
    /// Refuses a budget that this process can never have.
    ///
    /// # Errors
    /// [`Failure::OverLimit`].
    pub fn check(self) -> Result<()> {
        let (what, memory) = match self.memory {
            Some(memory) => ("--memory", memory),
            // The default follows from the limit, so only the minimum can be above it.
            None => ("every command's minimum of", RUN_OVERHEAD),
        };
        match memory_limit() {
            Some(MemoryLimit { name, bytes }) if memory > bytes => {
                Err(Failure::OverLimit { what, memory, left: bytes, limit: name })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the budget of one of several ranks in this process: the given one, or else its share
    /// of the default.
    pub fn shared_by(self, ranks: usize) -> Budget {
        // A given budget is that of each rank, as the help of `--ranks` says.
        Budget { memory: Some(self.memory.unwrap_or(self.bytes() / ranks as u64)) }
    }

    /// Bytes that the process may use.
    pub fn bytes(self) -> u64 {
        self.memory.unwrap_or_else(tegula_machine::memory::default_memory)
    }
}

/// The worker threads.
#[derive(Debug, Clone, Copy, Args)]
pub struct Threads {
    /// Worker threads [default: one per core]. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = threads, help_heading = MACHINE)]
    threads: Option<NonZeroUsize>,
}

/// The most ranks of a run.
const RANKS_MAX: u32 = 1 << 12;

/// Parses a number of ranks.
pub fn ranks(text: &str) -> std::result::Result<NonZeroU32, String> {
    let parsed = text.parse().ok().filter(|ranks: &NonZeroU32| ranks.get() <= RANKS_MAX);
    parsed.ok_or_else(|| format!("it must be a whole number from 1 to {RANKS_MAX}"))
}

/// Parses a number of threads.
fn threads(text: &str) -> std::result::Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "it must be a whole number of at least 1".to_owned())
}

impl Threads {
    /// Returns the threads of one of several ranks in this process: the given number, or else its
    /// share of the cores.
    pub fn shared_by(self, ranks: usize) -> Threads {
        let share = NonZeroUsize::new(self.count() / ranks).unwrap_or(NonZeroUsize::MIN);
        Threads { threads: Some(self.threads.unwrap_or(share)) }
    }

    /// Returns the number of workers, at most the limit of a process.
    pub fn count(self) -> usize {
        let given = self.threads.map(NonZeroUsize::get);
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        workers_within_limit(given.unwrap_or_else(cores))
    }
}

/// How files are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Io {
    /// io_uring where the system has it, else threads.
    Auto,
    /// io_uring.
    Uring,
    /// Threads that read one request each.
    Threads,
}
