//! What a run found.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use arrow_schema::DataType;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use serde::Serialize;
use serde_json::json;
use tegula_algorithms::algorithm::{self, Request, Weights};
use tegula_algorithms::answer::Answer;
use tegula_algorithms::side_table::TableRead;
use tegula_engine::{Graph, RunStatistics, overhead};

use crate::failure::Result;
use crate::file::Target;
use crate::graph::{Shared, Use};
use crate::hints;
use crate::rows::Batches;
use crate::table::{Collected, Table, schema_capsule};
use crate::work::{Work, work};

/// Seconds of the parts of a run.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RunSeconds {
    open: f64,
    run: f64,
}

impl RunSeconds {
    /// Makes them of what it took to get ready, and to run.
    pub fn of(open: Duration, run: Duration) -> RunSeconds {
        RunSeconds { open: open.as_secs_f64(), run: run.as_secs_f64() }
    }
}

/// Names of columns, whether each holds text, and rows of cells.
type Listed = (Vec<&'static str>, Vec<bool>, Vec<Vec<String>>);

/// What a run found. It keeps the graph open.
#[pyclass(frozen, module = "tegula._internal")]
pub struct Found {
    algorithm: &'static str,
    shared: Arc<Shared>,
    graph: Arc<Graph>,
    answer: Arc<dyn Answer>,
    /// The number of rows.
    rows: u64,
    statistics: RunStatistics,
    seconds: RunSeconds,
    /// The number of jobs that ran as one, with this one.
    jobs: usize,
    warnings: Vec<String>,
}

/// A run that has ended, before its result is made.
pub struct FinishedRun<'r> {
    /// What was run.
    pub request: &'r Request,
    /// What it found.
    pub found: algorithm::Found,
    /// The tables that were read for its options.
    pub tables: &'r [TableRead],
    /// What it took.
    pub seconds: RunSeconds,
    /// The number of jobs that ran as one, 1 for a run of its own.
    pub jobs: usize,
}

impl Found {
    /// Joins what a run found with the graph that has the ids.
    pub fn new(shared: Arc<Shared>, graph: Arc<Graph>, ran: FinishedRun<'_>) -> Found {
        let FinishedRun { request, found: algorithm::Found { answer, statistics }, .. } = ran;
        let weights = match request.weights {
            Weights::Ignored { instead } if graph.is_weighted() => {
                Some(format!("{} passes over the weights of the graph: {instead}", request.name))
            }
            Weights::Ignored { .. } | Weights::Used | Weights::Irrelevant => None,
        };
        let own = answer.warning().map(|warning| hints::with_hints(&warning));
        let warnings = hints::of_tables(ran.tables).into_iter().chain(weights).chain(own).collect();
        Found {
            algorithm: request.name,
            rows: answer.row_count(&graph),
            shared,
            graph,
            answer: Arc::from(answer),
            statistics,
            seconds: ran.seconds,
            jobs: ran.jobs,
            warnings,
        }
    }

    /// Works on the result.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        body: impl FnOnce(&Work) -> Result<T> + Send,
    ) -> PyResult<T> {
        self.shared.check_process().map_err(|failure| failure.exception(py))?;
        work(py, None, body)
    }

    /// Reads of the graph when it is its turn, and frees the memory for that.
    fn on_turn<T>(&self, work: &Work, read: impl FnOnce() -> Result<T>) -> Result<T> {
        let _turn = self.shared.turn(Use::Result, &work.cancel)?;
        let outcome = read();
        self.graph.reader().pool().trim();
        outcome
    }

    fn collected(&self, work: &Work) -> Result<Table> {
        self.on_turn(work, || {
            let mut rows = Collected::new(self.answer.schema(&self.graph));
            self.answer.write_rows(&self.graph, &mut rows, &work.cancel)?;
            Ok(rows.into_table())
        })
    }

    /// Starts to read the rows. Runs have `1 / STREAM_SHARE` of their budget less meanwhile: what
    /// rows take while ids are looked up. The result itself is no part of the budget.
    fn streamed(&self, work: &Work) -> Result<Batches> {
        const STREAM_SHARE: u64 = 8;
        let (shared, answer) = (&self.shared, Arc::clone(&self.answer));
        // The turn ends with the start, because the rows have reserved memory of their own.
        let _turn = shared.turn(Use::Run, &work.cancel)?;
        let size = overhead(&self.graph) + shared.memory / STREAM_SHARE;
        let reserved = shared.reserve("the rows of the result", size)?;
        let graph = shared.open_again(self.graph.opened_directory())?;
        Batches::start(answer.schema(&graph), graph, reserved, move |graph, out, cancel| {
            Ok(answer.write_rows(graph, out, cancel)?)
        })
    }

    fn summed_up(&self, top: usize, work: &Work) -> Result<String> {
        let summary = || Ok(self.answer.summary(&self.graph, top, &work.cancel)?);
        let summary = self.on_turn(work, summary)?;
        Ok(serde_json::to_string(&*summary).unwrap_or_default())
    }

    /// Returns the list of a summary: the names of its columns, whether each holds text, and rows.
    fn listed(&self, count: usize, work: &Work) -> Result<Listed> {
        let schema = self.answer.schema(&self.graph);
        let summary = || Ok(self.answer.summary(&self.graph, count, &work.cancel)?);
        let list = self.on_turn(work, summary)?.list();
        // A list may have two columns of vertices, such as "hub vertex".
        let kind = |name: &str| name.rsplit(' ').next().unwrap_or_default().to_owned();
        let holds_text = |name: &str| {
            let field = schema.field_with_name(name);
            let field = field.or_else(|_| schema.field_with_name(&kind(name)));
            field.is_ok_and(|field| *field.data_type() == DataType::LargeUtf8)
        };
        let are_text = list.header.iter().map(|name| holds_text(name)).collect();
        Ok((list.header, are_text, list.rows.into_iter().take(count).collect()))
    }

    fn written(&self, target: &Target<'_>, work: &Work) -> Result<u64> {
        let _turn = self.shared.turn(Use::Result, &work.cancel)?;
        let answer = &self.answer;
        let (schema, row_count) = (answer.schema(&self.graph), answer.row_count(&self.graph));
        target.write(&schema, row_count, self.shared.threads, |rows| {
            Ok(answer.write_rows(&self.graph, rows, &work.cancel)?)
        })
    }
}

#[pymethods]
impl Found {
    /// The name of the algorithm.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    /// Where the result falls short of what may have been expected.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.rows as usize
    }

    /// Reads the table into memory.
    fn table(&self, py: Python<'_>) -> PyResult<Table> {
        self.work(py, |work| self.collected(work))
    }

    /// Reads the table a batch at a time.
    fn batches(&self, py: Python<'_>) -> PyResult<Batches> {
        self.work(py, |work| self.streamed(work))
    }

    /// The schema of the table, as the Arrow PyCapsule interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.answer.schema(&self.graph))
    }

    /// Sums up the result, as JSON; `top` has up to that many entries.
    fn summary(&self, py: Python<'_>, top: usize) -> PyResult<String> {
        self.work(py, |work| self.summed_up(top, work))
    }

    /// Returns the first or greatest entries as people are shown them: the names of the columns,
    /// whether each holds text, and the cells of each row.
    fn list(&self, py: Python<'_>, count: usize) -> PyResult<Listed> {
        self.work(py, |work| self.listed(count, work))
    }

    /// What the run did, as JSON, with the names that `--json` prints.
    fn statistics(&self) -> String {
        let statistics = &self.statistics;
        let seconds =
            |times: &[Duration]| -> Vec<f64> { times.iter().map(Duration::as_secs_f64).collect() };
        let processes: Vec<&str> =
            statistics.processes.iter().map(|process| process.name()).collect();
        json!({
            "algorithm": self.algorithm,
            "vertices": self.graph.vertex_count(),
            "edges": self.graph.edge_count(),
            "iterations": statistics.iterations,
            "seconds": self.seconds,
            "iteration_seconds": seconds(&statistics.iteration_times),
            "processes": processes,
            "edges_processed": statistics.edges_processed,
            "tiles_skipped": statistics.tiles_skipped,
            "bytes_read": statistics.bytes_read,
            "bytes_shared": statistics.bytes_shared,
            "bytes_written": statistics.bytes_written,
            "memory_bytes": self.shared.memory,
            "threads": self.shared.threads,
            "jobs": self.jobs,
        })
        .to_string()
    }

    /// Writes the table to a file, in the format that its ending tells unless one is given. Returns
    /// its bytes.
    #[pyo3(signature = (path, format=None, replace=false))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        replace: bool,
    ) -> PyResult<u64> {
        self.work(py, |work| self.written(&Target::new(&path, format, replace)?, work))
    }
}
