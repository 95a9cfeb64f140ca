//! Writes an answer whose rows are edges to a graph directory.

use std::fs;
use std::io;
use std::path::Path;

use tegula_algorithms::answer::{Answer, Table};
use tegula_engine::{Graph, RUN_OVERHEAD, overhead};
use tegula_import::input::{Format, IdKind, InputOptions, Vertices};
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Directory, Unfinished};
use tegula_machine::threads::Workers;
use tegula_store::graph::IdType;
use tegula_tables::TableFormat;

use super::options::RunArgs;
use crate::errors::{Failure, Result};
use crate::output::{Format as ResultFormat, Target};
use crate::session::Session;

/// The least budget for writing: the minimum of an import, plus the open graph and its selection.
pub fn memory_min(graph: &Graph) -> u64 {
    held(graph) + ImportConfig::MEMORY_MIN
}

/// Bytes held meanwhile: the open graph, and the data that selects the edges.
fn held(graph: &Graph) -> u64 {
    overhead(graph) - RUN_OVERHEAD + 5 * graph.vertex_count()
}

/// Imports the edges and vertices of `answer`, by way of two tables in a folder beside the new
/// graph, or in `--spill-directory`. Returns the bytes of the graph directory. The budget must be
/// at least [`memory_min`].
pub fn write(
    answer: &dyn Answer,
    graph: &Graph,
    path: &Path,
    args: &RunArgs,
    session: &Session,
) -> Result<u64> {
    let memory = args.machine.reading.budget.bytes() - held(graph);
    let name = "tegula-tables";
    let place = match &args.machine.spill_directory {
        Some(folder) => folder.join(name),
        None => path.with_file_name(name),
    };
    let folder = Unfinished::private_folder(&place, remove)?;
    let [edges, vertices] =
        ["edges.parquet", "vertices.parquet"].map(|name| folder.path().join(name));
    write_table(answer, graph, &edges, args, session)?;
    let mut listed = None;
    if let Some(table) = answer.vertices() {
        write_table(table, graph, &vertices, args, session)?;
        listed = Some(Vertices::Listed(vertices));
    }
    let ids = match graph.manifest().ids {
        IdType::Range | IdType::Integer => IdKind::Integer,
        IdType::String => IdKind::String,
    };
    let weighted = graph.is_weighted();
    let config = ImportConfig {
        input: InputOptions { format: Format::Parquet, ids, weighted, ..InputOptions::default() },
        undirected: graph.manifest().undirected,
        // An empty selection is an answer, and no mistake.
        allow_empty: true,
        vertices: listed,
        memory,
        threads: args.machine.threads.count(),
        force: args.force,
        spill_directory: args.machine.spill_directory.clone(),
        ..ImportConfig::default()
    };
    let report = import(&[edges], path, &config, session.progress(), &session.cancel)?;
    Ok(report.files.iter().map(|file| file.bytes).sum())
}

fn write_table(
    table: &(impl Table + ?Sized),
    graph: &Graph,
    path: &Path,
    args: &RunArgs,
    session: &Session,
) -> Result<()> {
    let target = Target::of(path, Some(ResultFormat::Table(TableFormat::Parquet)), false)?;
    let (schema, rows) = (table.schema(graph), table.row_count(graph));
    Workers::scope(args.machine.threads.count(), |workers| {
        let mut out = target.create(&schema, rows, workers, &session.cancel)?;
        table.write_rows(graph, &mut *out, &session.cancel)?;
        out.finish().map_err(Failure::from)
    })?;
    Ok(())
}

/// Removes a folder of tables.
fn remove(folder: &Directory, name: &std::ffi::OsStr) -> io::Result<()> {
    fs::remove_dir_all(folder.join(name))
}
