//! Builds rows for a run that needs them where the graph has none.

use std::io::ErrorKind;
use std::sync::Arc;

use tegula_algorithms::algorithm::{Edges, rows_size_expected};
use tegula_engine::{Error, Graph, RUN_OVERHEAD};
use tegula_machine::{Bytes, Error as MachineError};
use tegula_store::rows::{self, ChunkCut, Direction, RowEncoding, RowsConfig};

use super::shared::Shared;
use crate::failure::{Failure, Result};
use crate::work::Work;

/// Returns the same graph with the rows that `edges` follows, and keeps it open. They are built into
/// the graph for good, or among the temporary files if its directory cannot be written to.
/// Meanwhile `files_size` bytes of files are held in memory.
///
/// # Errors
/// [`Failure`] where the budget is too small for it, or no folder takes the rows.
pub fn build(shared: &Shared, edges: Edges, files_size: u64, work: &Work) -> Result<Arc<Graph>> {
    let directory = shared.graph().opened_directory().clone();
    let mut graph = shared.open_again(&directory)?;
    let missing: Vec<Direction> = edges.directions().missing(&graph).collect();
    for direction in missing {
        let config = RowsConfig {
            direction,
            // The run waits for the rows, and searching for rows to copy from takes several times
            // longer.
            encoding: RowEncoding::Gap,
            memory: shared.options(work).memory.saturating_sub(RUN_OVERHEAD + files_size),
            threads: shared.threads,
            cut: ChunkCut::STANDARD,
        };
        match rows::build(&graph, &config, &work.progress, &work.cancel) {
            Ok(_) => graph = shared.open_again(&directory)?,
            Err(Error::Machine(MachineError::Io { source, .. })) if is_closed(source.kind()) => {
                build_aside(&mut graph, &config, work)?;
            }
            Err(error) => return Err(error.of_whole(shared.memory).into()),
        }
    }
    let graph = Arc::new(graph);
    shared.replace(Arc::clone(&graph));
    Ok(graph)
}

/// Adds rows among the temporary files, which are removed with the open graph.
fn build_aside(graph: &mut Graph, config: &RowsConfig, work: &Work) -> Result<()> {
    let folder = std::env::temp_dir();
    let built = rows::build_aside(graph, &folder, config, &work.progress, &work.cancel);
    let aside = built.map_err(|error| match error {
        Error::Machine(MachineError::Io { source, .. })
            if is_closed(source.kind()) || is_full(source.kind()) =>
        {
            let size = Bytes(rows_size_expected(graph));
            let message = format!("cannot add rows to {}: {source}", folder.display());
            let hint = format!("they take about {size}: name another folder as $TMPDIR");
            Failure::rows_not_added(message, &hint)
        }
        error => error.into(),
    })?;
    Ok(graph.add_rows(aside)?)
}

/// Whether the error says that a folder may not be written to.
fn is_closed(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
}

/// Whether the error says that a folder has no room.
fn is_full(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::QuotaExceeded | ErrorKind::StorageFull)
}
