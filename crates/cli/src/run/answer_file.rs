//! Writes an answer: as a table or a graph, or as a file of each rank.

use std::io::{self, IsTerminal};

use tegula_algorithms::answer::{Answer, Table, VertexIds};
use tegula_comm::{Comm, Tag};
use tegula_engine::{Graph, of_comm};
use tegula_machine::threads::Workers;
use tegula_tables::{ROWS_PER_PART, RowWriter, TableFormat};

use super::new_graph;
use super::options::{Destination, RunArgs};
use crate::errors::{Failure, Result};
use crate::graph_file::{self, Parts};
use crate::output::{Target, TextTerminal};
use crate::report;
use crate::session::Session;

/// Rows of a table that a terminal shows.
const TERMINAL_ROWS: usize = 20;
/// For messages about the files of ranks.
const FILES: Tag = Tag(201);

/// Writes an answer; returns the bytes of the file or the graph directory.
pub fn write(
    answer: &dyn Answer,
    graph: &Graph,
    target: Option<&Destination>,
    args: &RunArgs,
    session: &Session,
) -> Result<u64> {
    match target {
        Some(Destination::Graph(path)) => new_graph::write(answer, graph, path, args, session),
        Some(Destination::GraphFile(target)) => {
            // An answer that chooses no vertices has all of them.
            let vertices = answer.vertices().unwrap_or(&VertexIds);
            let parts = Parts { graph, vertices, edges: answer };
            graph_file::write(&parts, target, &args.graph_file, session)
        }
        Some(Destination::Table(target)) => {
            write_table(answer, graph, Some(target), args, session, || Ok(()))
        }
        // Standard output is for the object or the list then.
        None if session.json || args.top.is_some() => Ok(0),
        None => print_table(answer, graph, args, session),
    }
}

/// Writes the rows of the own vertices of this rank. No file gets its name before all ranks have
/// written their rows, and none stays if another rank fails after that. Returns the bytes of the
/// files of all ranks.
///
/// # Errors
/// Failed writes; the failure of another rank.
pub fn write_own_rows(
    answer: &dyn Answer,
    graph: &Graph,
    (target, comm): (&Destination, &dyn Comm),
    args: &RunArgs,
    session: &Session,
) -> Result<u64> {
    let (Some(table), Destination::Table(target)) = (answer.rows_of(graph.own_vertices()), target)
    else {
        let message = "the rows of this answer belong to no rank";
        return Err(Failure::usage_with(message, "write one file: leave out {rank}"));
    };
    let wait_for_all = || Ok(comm.barrier(FILES, &session.cancel).map_err(of_comm)?);
    let own = write_table(&*table, graph, Some(target), args, session, wait_for_all)?;
    let all = comm.all_gather(own.to_le_bytes().to_vec(), FILES, &session.cancel);
    // The file of another rank is not complete.
    let all = all.map_err(of_comm).inspect_err(|_| {
        // A device or a pipe is not removed.
        if target.path().symlink_metadata().is_ok_and(|file| file.is_file()) {
            let _ = std::fs::remove_file(target.path());
        }
    })?;
    let sizes = all.iter().filter_map(|bytes| bytes.first_chunk().copied());
    Ok(sizes.map(u64::from_le_bytes).sum())
}

/// Prints the table: its first rows for a person, all of them for a program.
fn print_table(table: &dyn Table, graph: &Graph, args: &RunArgs, session: &Session) -> Result<u64> {
    let bytes = write_table(table, graph, None, args, session, || Ok(()))?;
    let more = table.row_count(graph).saturating_sub(TERMINAL_ROWS as u64);
    if io::stdout().is_terminal() && more > 0 {
        let more = report::counted(more, "more row", "more rows");
        session.note(&format!("… {more}; -o FILE writes all of them"));
    }
    Ok(bytes)
}

/// Writes a table, to standard output without a target; returns its bytes. `before_end` is called
/// when all rows are written, before the file gets its name.
fn write_table(
    table: &dyn Table,
    graph: &Graph,
    target: Option<&Target>,
    args: &RunArgs,
    session: &Session,
    before_end: impl FnOnce() -> Result<()>,
) -> Result<u64> {
    let (schema, row_count) = (table.schema(graph), table.row_count(graph));
    // At most one thread for each `ROWS_PER_PART` rows, as more would have nothing to do.
    let threads =
        row_count.div_ceil(ROWS_PER_PART as u64).clamp(1, args.machine.threads.count() as u64);
    Workers::scope(threads as usize, |workers| {
        let cancel = &session.cancel;
        let create = |target: &Target| target.create(&schema, row_count, workers, cancel);
        let mut writer: Box<dyn RowWriter + '_> = match target {
            Some(target) => create(target)?,
            None if io::stdout().is_terminal() => {
                Box::new(TextTerminal::preview(&schema, TERMINAL_ROWS)?)
            }
            None => create(&Target::standard_output(TableFormat::Tsv)?)?,
        };
        table.write_rows(graph, &mut *writer, cancel)?;
        before_end()?;
        writer.finish().map_err(Failure::from)
    })
}
