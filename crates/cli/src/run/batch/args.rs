//! The options of `tegula run --batch`.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Command, ValueEnum};
use tegula_algorithms::jobs::{CONCURRENT_DEFAULT, Grouping};
use tegula_engine::{Graph, PartOrder, Resources, StretchSize};
use tegula_machine::memory::parse_size;

use crate::args::MachineArgs;
use crate::run::options::CommonArgs;

/// The option that turns `tegula run` into a batch.
const OPTION: &str = "--batch";
/// Bytes of a job that waits: its options, and the paths of its table.
const JOB_SIZE: u64 = 6 << 10;
/// Up to this number, waiting jobs fit in the overhead of any run.
const JOBS_SMALL: usize = 64;
/// The help heading of the options of a batch.
const BATCH: &str = "Batch";

/// Run many jobs on one graph at the same time.
///
/// The jobs share one copy of the graph, and one read of a tile serves all jobs that need it. Each
/// result has the bits of a run of its own. A line of JOBS is a job:
///
/// {"name": "ranks", "algorithm": "pagerank", "options": {"damping": 0.5}}
///
/// Only "algorithm" is required. "options" are those of the command line, with underscores.
/// "format" is the format of the table, parquet unless it is given. "after_seconds" lets a job
/// arrive later. "each": {"source": [1, 2, 3]} makes a job of each value, named NAME-1, NAME-2, ..
#[derive(Debug, Args)]
pub struct BatchArgs {
    /// The jobs, a JSON object in each line; `-` is standard input.
    // A value may be missing, so that `--help` can follow.
    #[arg(long = "batch", value_name = "JOBS", help_heading = BATCH, required = true)]
    #[arg(num_args = 0..=1, default_missing_value = "-")]
    pub jobs: PathBuf,
    /// The graph directory.
    #[arg(value_name = "GRAPH")]
    pub graph: PathBuf,
    /// The folder of the tables, which is created. The table of a job is FOLDER/NAME.parquet.
    #[arg(long, short, value_name = "FOLDER", help_heading = BATCH)]
    #[arg(required_unless_present = "estimate")]
    pub output: Option<PathBuf>,
    /// Replace tables that exist.
    #[arg(long, help_heading = BATCH)]
    pub force: bool,
    /// At most N jobs at a time; others wait, in the order of arrival.
    #[arg(long = "jobs", value_name = "N", default_value_t = CONCURRENT_DEFAULT, help_heading = BATCH)]
    pub jobs_max: NonZeroUsize,
    /// Never run several jobs as one. Without this option, jobs of one algorithm that wait at the
    /// same time become one run if that takes less time.
    #[arg(long, help_heading = BATCH)]
    pub no_fuse: bool,
    /// Estimate the memory and the time of each job and of all, and do not run.
    #[arg(long, help_heading = BATCH)]
    pub estimate: bool,
    /// Which part of a scan is next, for measurements. Results do not depend on it.
    #[arg(long, value_enum, default_value_t, hide = true)]
    pub part_order: PartOrderChoice,
    /// All jobs process this many bytes of tiles, and then the tiles after them. For measurements;
    /// results do not depend on it.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, hide = true)]
    pub stretch_size: Option<u64>,
    /// How the batch uses the machine.
    #[command(flatten)]
    pub machine: MachineArgs,
}

/// Which part of a scan is next.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub enum PartOrderChoice {
    /// Round and round.
    #[default]
    RoundRobin,
    /// The part with the highest priority of GraphM.
    Priority,
}

impl BatchArgs {
    /// Returns the bytes that the runs of `jobs` jobs may take together.
    pub fn memory(&self, jobs: usize) -> u64 {
        let waiting = jobs.saturating_sub(JOBS_SMALL) as u64 * JOB_SIZE;
        self.machine.reading.budget.bytes().saturating_sub(waiting)
    }

    /// Returns what the scheduler of `jobs` jobs may take. A single job may take `alone`.
    pub fn resources(&self, jobs: usize, alone: Resources) -> Resources {
        Resources {
            memory: self.memory(jobs),
            part_order: match self.part_order {
                PartOrderChoice::RoundRobin => PartOrder::RoundRobin,
                PartOrderChoice::Priority => PartOrder::Priority,
            },
            stretch: self.stretch_size.map_or(alone.stretch, StretchSize::Bytes),
            ..alone
        }
    }

    /// Returns how jobs on a graph become groups, given the bytes that all have together.
    pub fn grouping<'g>(&self, graph: &'g Graph, budget: u64) -> Grouping<'g> {
        Grouping { graph, threads: self.machine.threads.count(), budget, may_fuse: !self.no_fuse }
    }

    /// Returns the options that all jobs have in common.
    pub fn common(&self) -> CommonArgs<'_> {
        let BatchArgs { graph, force, estimate, machine, .. } = self;
        CommonArgs { graph, force: *force, estimate: *estimate, machine }
    }
}

/// Whether the words of a command line ask for a batch.
pub fn is_asked_for(words: &[OsString]) -> bool {
    // What follows `--` is no option.
    let mut words = words.iter().skip(1).take_while(|word| *word != "--");
    words.any(|word| word == "run")
        && words.any(|word| {
            word.to_str().and_then(|word| word.strip_prefix(OPTION)).is_some_and(is_end)
        })
}

/// Whether an option may end before this rest of a word.
fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('=')
}

/// Returns the command `run` of a batch, which takes no algorithm.
pub fn command() -> Command {
    BatchArgs::augment_args(Command::new("run"))
        .override_usage("tegula run --batch <JOBS> [OPTIONS] <GRAPH> --output <FOLDER>")
}
