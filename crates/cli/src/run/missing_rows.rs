//! Builds rows for a run that needs them where the graph has none.

use std::io::ErrorKind;
use std::path::Path;

use tegula_algorithms::algorithm::{Edges, rows_size_expected};
use tegula_engine::{Error, Graph, RUN_OVERHEAD};
use tegula_machine::{Bytes, Error as MachineError};
use tegula_store::rows::{self, ChunkCut, Direction, RowEncoding, RowsAside, RowsConfig};

use super::options::RunArgs;
use crate::errors::{Failure, Result};
use crate::session::Session;

/// Returns the same graph with the rows that `edges` follows. They are built into the graph for
/// good. If `--spill-directory` is given or the graph's directory cannot be written to, they are
/// built into a folder for temporary files, for this run alone. Meanwhile `files_size` bytes of
/// files are held in memory. Where building fails, the help says whether the algorithm can do
/// without rows.
///
/// # Errors
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget); [`Failure::RowsNotAdded`] where a
/// folder takes no more files.
pub fn build(
    mut graph: Graph,
    edges: Edges,
    args: &RunArgs,
    files_size: u64,
    session: &Session,
) -> Result<Graph> {
    // Collected, because the loop replaces the graph.
    let missing: Vec<Direction> = edges.directions().missing(&graph).collect();
    let directory = graph.opened_directory().clone();
    let instead = if edges.can_scan(&graph) { ", or run with --executor scan" } else { "" };
    for direction in missing {
        let built = build_one(&graph, direction, args, instead, files_size, session);
        match built.map_err(|failure| failure.of_whole(args.machine.reading.budget.bytes()))? {
            // The directory knows nothing of these: a graph that is opened again has not got them.
            Some(aside) => graph.add_rows(aside)?,
            None => {
                // Closed first, so that the tables of the graph are not in memory twice.
                drop(graph);
                graph = args.machine.reading.open_again(&directory)?;
            }
        }
    }
    Ok(graph)
}

/// Builds the rows of a direction: into the graph, or aside for this run.
fn build_one(
    graph: &Graph,
    direction: Direction,
    args: &RunArgs,
    instead: &'static str,
    files_size: u64,
    session: &Session,
) -> Result<Option<RowsAside>> {
    let config = RowsConfig {
        direction,
        // The run waits for the rows, and searching for rows to copy from takes several times
        // longer.
        encoding: RowEncoding::Gap,
        memory: args.machine.reading.budget.bytes().saturating_sub(RUN_OVERHEAD + files_size),
        threads: args.machine.threads.count(),
        cut: ChunkCut::STANDARD,
    };
    let build = Build { graph, config, instead, session };
    match &args.machine.spill_directory {
        Some(folder) => {
            let rows = said_of(direction);
            session.note(&format!("The graph has no {rows}; {}.", built_in(folder, direction)));
            build.aside(folder).map(Some)
        }
        None => build.build_into_graph_or_aside(),
    }
}

/// A build of rows.
struct Build<'a> {
    graph: &'a Graph,
    config: RowsConfig,
    /// What else the user could do.
    instead: &'static str,
    session: &'a Session,
}

impl Build<'_> {
    /// Builds rows into the graph, or aside if its directory cannot be written to.
    fn build_into_graph_or_aside(&self) -> Result<Option<RowsAside>> {
        let Build { graph, config, instead, session } = self;
        let rows = said_of(config.direction);
        session.note(&format!("The graph has no {rows} yet; they are built once."));
        match rows::build(graph, config, session.progress(), &session.cancel) {
            Ok(_) => Ok(None),
            Err(Error::Machine(MachineError::Io { source, .. })) if is_closed(source.kind()) => {
                let folder = std::env::temp_dir();
                let done = built_in(&folder, config.direction);
                session.note(&format!("The graph's directory is not writable ({source}): {done}."));
                Ok(Some(self.aside(&folder)?))
            }
            Err(error) => {
                let layouts = layouts(config.direction);
                let help = format!(
                    "import the graph with --layouts {layouts}, or name another folder with \
                     --spill-directory{instead}"
                );
                Err(not_added(error, graph.directory(), help))
            }
        }
    }

    /// Builds rows in a folder for temporary files.
    fn aside(&self, folder: &Path) -> Result<RowsAside> {
        let Build { graph, config, instead, session } = self;
        let built = rows::build_aside(graph, folder, config, session.progress(), &session.cancel);
        built.map_err(|error| {
            let size = Bytes(rows_size_expected(graph));
            let help =
                format!("they take about {size}: name a folder with --spill-directory{instead}");
            not_added(error, folder, help)
        })
    }
}

/// Returns what a user calls rows of a direction.
fn said_of(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "rows",
        Direction::Reverse => "rows by target",
    }
}

/// The layouts of a graph with rows of a direction.
fn layouts(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "tiles,rows",
        Direction::Reverse => "tiles,rows,reverse",
    }
}

/// Says where rows are built that the graph does not keep.
fn built_in(folder: &Path, direction: Direction) -> String {
    let (folder, layouts) = (folder.display(), layouts(direction));
    format!(
        "they are built in {folder} for this run; to keep them, import with --layouts {layouts}"
    )
}

/// Returns the failure of building rows in a folder.
fn not_added(error: Error, folder: &Path, help: String) -> Failure {
    match error {
        Error::Machine(MachineError::Io { source, .. })
            if is_closed(source.kind()) || is_full(source.kind()) =>
        {
            Failure::RowsNotAdded { folder: folder.to_owned(), source, help }
        }
        error => error.into(),
    }
}

/// Whether the error says that a folder may not be written to.
fn is_closed(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Whether the error says that a folder has no room.
fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::QuotaExceeded | ErrorKind::StorageFull)
}
