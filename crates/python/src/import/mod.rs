//! Edge lists and tables that become graph directories.

mod edges;
mod settings;

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyIterator;
use serde_json::json;
use tegula_import::{ImportReport, import};
use tegula_store::commit::check_output;
use tegula_tables::{check_is_in_no_graph, parent};

use crate::graph::{Size, memory_of, threads_of};
use crate::hints;
use crate::stream::Tables;
use crate::work::work;
use edges::EdgeColumns;
use settings::Settings;

/// Imports files, or the files of folders, as one graph into the new directory `output`. Returns
/// the report, as JSON. `settings` is a JSON object with the options of an import.
#[pyfunction]
#[pyo3(signature = (paths, output, settings, memory=None, threads=None, progress=None))]
pub fn read(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    output: PathBuf,
    settings: &str,
    memory: Option<Size>,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    work(py, progress, |work| {
        let config = Settings::parse(settings)?.config(memory_of(memory)?, threads_of(threads)?)?;
        check_is_in_no_graph(parent(&output))?;
        let report = import(&paths, &output, &config, &work.progress, &work.cancel)?;
        Ok(to_json(&report, None))
    })
}

/// Imports the edges in the tables that an iterator yields, as `read` imports files. The columns
/// are given by names or by positions from 0; by default they are found by their names, as the
/// columns of a file are. `are_held` says whether all tables are in memory and can be read again.
#[pyfunction]
#[pyo3(signature = (tables, are_held, output, settings, columns, memory=None, threads=None, progress=None))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
pub fn from_tables(
    py: Python<'_>,
    tables: Bound<'_, PyIterator>,
    are_held: bool,
    output: PathBuf,
    settings: &str,
    columns: EdgeColumns,
    memory: Option<Size>,
    threads: Option<i64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let tables = Tables::new(tables.unbind());
    work(py, progress, |work| {
        let config = Settings::parse(settings)?.config(memory_of(memory)?, threads_of(threads)?)?;
        check_is_in_no_graph(parent(&output))?;
        // Before the first table of a stream is asked for.
        check_output(&output, config.force)?;
        let (report, remark) = edges::import(tables, columns, are_held, &output, &config, work)?;
        Ok(to_json(&report, remark))
    })
}

/// Returns the report as JSON, with a further `remark` among its warnings.
fn to_json(report: &ImportReport, remark: Option<String>) -> String {
    let warnings: Vec<String> =
        report.warnings.iter().map(hints::with_hints).chain(remark).collect();
    json!({
        "vertices": report.vertices,
        "edges": report.edges,
        "bytes": report.files.iter().map(|file| file.bytes).sum::<u64>(),
        "order": report.order.name,
        "ids": report.ids,
        "undirected": report.undirected,
        "weighted": report.weighted,
        "both_ways_share": report.both_ways_share,
        "loops": report.loops,
        "duplicates": report.duplicates,
        "dropped_loops": report.dropped_loops,
        "dropped_duplicates": report.dropped_duplicates,
        "skipped_rows": report.bad_rows,
        "warnings": warnings,
    })
    .to_string()
}
