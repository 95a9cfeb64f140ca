//! The options that every algorithm has.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tegula_engine::{Graph, open_graph};

use crate::args::{Reading, Threads};
use crate::errors::{Failure, Result};
use crate::output::Target;

/// The options that every algorithm has.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The graph directory.
    #[arg(value_name = "GRAPH")]
    graph: PathBuf,
    /// Write the table to a file: .parquet, .csv, .tsv or .npy; text also as .gz or .zst
    /// [default: lines with tabs on standard output].
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
    /// Where edges come from: as yet there are only tiles, so both are the same.
    #[arg(long, value_enum, default_value_t = Executor::Auto)]
    executor: Executor,
}

/// Where edges come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Executor {
    /// Whatever is quicker, in each iteration.
    Auto,
    /// All tiles that have a use.
    Scan,
    /// The rows of active vertices: there is no such layout yet.
    #[value(hide = true)]
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

    /// Opens the graph.
    ///
    /// # Errors
    /// Those of opening; [`Failure::Usage`] when it lacks the layout of the executor.
    pub fn open(&self) -> Result<Graph> {
        let graph = open_graph(
            &self.graph,
            self.reading.budget.bytes(),
            self.reading.io.backend(&self.graph),
        )?;
        if self.executor == Executor::Seek {
            let message = format!("{} has no rows layout to seek in", self.graph.display());
            return Err(Failure::usage_with(message, "use --executor scan or auto"));
        }
        Ok(graph)
    }
}
