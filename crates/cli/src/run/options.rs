//! The options that every algorithm has.

use std::io::ErrorKind;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tegula_engine::{Error, Executor, Graph, PROCESS_OVERHEAD, open_graph};
use tegula_store::rows::{self, RowEncoding, RowsConfig};

use crate::args::{Reading, Threads};
use crate::errors::{Failure, Result};
use crate::output::Target;
use crate::session::Session;

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

/// Whether a folder may not be written to or has no room.
fn is_refused(kind: ErrorKind) -> bool {
    use ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(kind, PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
}

impl RunArgs {
    /// The file that the table goes to.
    ///
    /// # Errors
    /// [`Failure::Usage`]; an existing file is refused.
    pub fn target(&self) -> Result<Option<Target>> {
        self.output.as_deref().map(|path| Target::of(path, self.force)).transpose()
    }

    /// The graph with the layout `rows`, which is built while `files_size` bytes of files are held. Whether
    /// the algorithm could do without is for the user to know where that fails.
    ///
    /// # Errors
    /// Those of building; [`tegula_store::Error::OverBudget`]; [`Failure::RowsNotAdded`].
    pub fn build_rows(
        &self,
        graph: Graph,
        can_scan: bool,
        files_size: u64,
        session: &Session,
    ) -> Result<Graph> {
        session.note("The graph has no rows yet; they are built once.");
        let budget = self.reading.budget.bytes();
        let held = PROCESS_OVERHEAD + budget / 4 + files_size;
        let config = RowsConfig {
            encoding: RowEncoding::default(),
            memory: budget.saturating_sub(held),
            threads: self.threads.count(),
        };
        drop(graph);
        let backend = self.reading.io.backend(&self.graph);
        let graph = open_graph(&self.graph, budget / 4, backend)?;
        match rows::build(&graph, &config, session.progress(), &session.cancel) {
            Ok(_) => self.reading.open(&self.graph),
            Err(Error::Io { source, .. }) if is_refused(source.kind()) => {
                let instead = if can_scan { ", or run with --executor scan" } else { "" };
                let help = format!("import the graph with --layouts tiles,rows{instead}");
                Err(Failure::RowsNotAdded { graph: self.graph.clone(), source, help })
            }
            Err(error) => Err(error.into()),
        }
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
