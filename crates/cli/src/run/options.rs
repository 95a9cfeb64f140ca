//! The options that every algorithm has.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tegula_engine::Executor;

use crate::args::{Reading, Threads};
use crate::errors::Result;
use crate::output::Target;

/// The options that every algorithm has.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The graph directory.
    #[arg(value_name = "GRAPH")]
    pub graph: PathBuf,
    /// Write the table to a file: .parquet, .csv, .tsv or .npy; text also as .gz or .zst
    /// [default: lines with tabs on standard output, or no table with --json or --top].
    #[arg(long, short, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Replace the output if it exists.
    #[arg(long)]
    force: bool,
    /// Print only the K first: vertices with the greatest value, levels, largest components. A file
    /// (-o) has all rows nevertheless.
    #[arg(long, value_name = "K")]
    pub top: Option<usize>,
    /// Say what the run needs of memory, and do not run; exit with 4 if that does not fit.
    #[arg(long)]
    pub estimate: bool,
    /// How the graph is read.
    #[command(flatten)]
    pub reading: Reading,
    /// Who works.
    #[command(flatten)]
    pub threads: Threads,
    /// Build rows that the graph lacks in this folder, for this run alone [default: in the graph, for good;
    /// in $TMPDIR where its directory cannot be written to].
    #[arg(long, value_name = "FOLDER")]
    pub spill_directory: Option<PathBuf>,
    /// Where edges come from. Results do not depend on it.
    #[arg(long, value_enum, default_value_t = ExecutorChoice::Auto)]
    executor: ExecutorChoice,
}

/// Where edges come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExecutorChoice {
    /// Whatever is predicted to be quicker, in each iteration.
    Auto,
    /// All tiles that have a use.
    Scan,
    /// The rows of active vertices, where the algorithm allows for that.
    Seek,
}

impl RunArgs {
    /// The file that the table goes to.
    ///
    /// # Errors
    /// [`Failure::Usage`]; an existing file is refused.
    pub fn target(&self) -> Result<Option<Target>> {
        self.output.as_deref().map(|path| Target::of(path, self.force)).transpose()
    }

    /// What may bring the edges.
    pub fn executor(&self) -> Executor {
        match self.executor {
            ExecutorChoice::Auto => Executor::Auto,
            ExecutorChoice::Scan => Executor::Scan,
            ExecutorChoice::Seek => Executor::Seek,
        }
    }
}
