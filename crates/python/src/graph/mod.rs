//! Open graphs, and runs on them.

mod facts;
pub mod missing_rows;
mod shared;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use pyo3::prelude::*;
use serde_json::Value;
use tegula_algorithms::algorithm::{Entry, Needs, Request};
use tegula_algorithms::answer::NeighbourTable;
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{CATALOGUE, find, find_vertex};
use tegula_engine::{RunOptions, overhead};
use tegula_store::Error;

use crate::answer::{Found, Ran, RunSeconds};
use crate::failure::{Failure, Result};
use crate::table::{Collected, Table};
use crate::work::{Work, work};
use facts::EstimateFacts;
pub use shared::{Shared, Size, Use, memory_of, threads_of};

/// An open graph directory. Its runs come one after the other.
#[pyclass(frozen, module = "tegula._internal")]
pub struct Graph {
    /// It, for all that use it.
    pub shared: Arc<Shared>,
}

#[pymethods]
impl Graph {
    /// Opens a graph directory. Its runs take up to `memory` bytes, by default half of what the
    /// machine has, and `threads` threads, by default one for each core.
    #[new]
    #[pyo3(signature = (path, memory=None, threads=None))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        memory: Option<Size>,
        threads: Option<i64>,
    ) -> PyResult<Graph> {
        let shared = work(py, None, |_| Shared::open(path, memory, threads).map(Arc::new))?;
        Ok(Graph { shared })
    }

    /// Closes it. Results stay.
    fn close(&self) {
        self.shared.close();
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// The graph directory.
    #[getter]
    fn path(&self) -> PathBuf {
        self.shared.path.clone()
    }

    /// Bytes that runs may take.
    #[getter]
    fn memory(&self) -> u64 {
        self.shared.memory
    }

    /// The threads of a run.
    #[getter]
    fn threads(&self) -> usize {
        self.shared.threads
    }

    /// Returns what the graph holds, as JSON.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        let shared = &self.shared;
        work(py, None, |work| {
            let _turn = shared.turn(Use::Run, &work.cancel)?;
            let graph = shared.graph()?;
            facts::info(&graph, &work.cancel)
        })
    }

    /// Runs an algorithm, with its options as a JSON object.
    #[pyo3(signature = (algorithm, options, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        algorithm: &str,
        options: &str,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Found> {
        work(py, progress, |work| run(&self.shared, &request(algorithm, options)?, work))
    }

    /// Estimates what such a run needs, as JSON.
    fn estimate(&self, py: Python<'_>, algorithm: &str, options: &str) -> PyResult<String> {
        work(py, None, |work| estimate(&self.shared, &request(algorithm, options)?, work))
    }

    /// Returns a table with a row for each edge that leaves one of these vertices.
    fn neighbours(&self, py: Python<'_>, vertices: Vec<String>) -> PyResult<Table> {
        work(py, None, |work| neighbours(&self.shared, &vertices, work))
    }
}

/// Returns an algorithm with its options.
pub fn request(algorithm: &str, options: &str) -> Result<Request> {
    let entry = find(algorithm).or_else(|| find(&algorithm.replace('_', "-")));
    let Some(entry) = entry else {
        let names: Vec<&str> = CATALOGUE.iter().map(|entry| entry.name).collect();
        let hint = format!("choose one of {}", names.join(", "));
        return Err(Failure::usage_with(format!("there is no algorithm `{algorithm}`"), &hint));
    };
    let options: Value = serde_json::from_str(options)
        .map_err(|error| Failure::usage(format!("options of {algorithm}: {error}")))?;
    checked(entry, options)
}

/// Makes the request, unless the options ask for what a graph cannot do.
fn checked(entry: &Entry, options: Value) -> Result<Request> {
    let request = entry.request(options)?;
    if request.model.is_some() {
        let message = format!("{} on a graph takes no model", entry.name);
        let hint = "run it with `tegula run belief-propagation --model FILE`";
        return Err(Failure::usage_with(message, hint));
    }
    request.check()?;
    Ok(request)
}

/// Runs an algorithm.
fn run(shared: &Arc<Shared>, request: &Request, work: &Work) -> Result<Found> {
    let _turn = shared.turn(Use::Run, &work.cancel)?;
    let opened = Instant::now();
    let mut graph = shared.graph()?;
    let options = shared.options(work);
    let prepared = request.prepare(&graph, &options, &LocalPaths)?;
    let needs = Needs::of(&prepared, &graph, options.threads, request.needs_rows(&graph))?;
    needs.check("the run", options.memory)?;
    if needs.build_bytes.is_some() {
        request.check_input(&graph)?;
        graph = missing_rows::build(shared, request.edges, prepared.files_size(), work)?;
    }
    let open = opened.elapsed();
    let tables = prepared.tables.clone();
    let started = Instant::now();
    let found = prepared.run(&graph, &options).map_err(|error| of_whole(error, shared.memory))?;
    let seconds = RunSeconds::of(open, started.elapsed());
    graph.reader().pool().trim();
    let ran = Ran { request, found, tables: &tables, seconds, jobs: 1 };
    Ok(Found::new(Arc::clone(shared), graph, ran))
}

/// Returns why a run failed, with the figures of the whole budget.
pub fn of_whole(error: tegula_algorithms::Error, memory: u64) -> Failure {
    match error {
        tegula_algorithms::Error::Run(error) => error.of_whole(memory).into(),
        other => other.into(),
    }
}

/// Estimates what a run needs, as JSON.
fn estimate(shared: &Shared, request: &Request, work: &Work) -> Result<String> {
    let _turn = shared.turn(Use::Run, &work.cancel)?;
    let graph = shared.graph()?;
    let memory = shared.memory;
    // More memory than the budget, so that it can tell what a run needs beyond it.
    let options = RunOptions {
        memory: memory.max(tegula_machine::memory::default_memory()),
        ..shared.options(work)
    };
    let prepared = request.prepare(&graph, &options, &LocalPaths)?;
    let needs = Needs::of(&prepared, &graph, options.threads, request.needs_rows(&graph))?;
    if needs.needed() <= memory {
        request.check_input(&graph)?;
    }
    let facts = EstimateFacts::of(&needs, request.name, shared, &options.speed);
    Ok(facts::json(&facts))
}

/// Reads the neighbours of vertices.
fn neighbours(shared: &Shared, vertices: &[String], work: &Work) -> Result<Table> {
    let _turn = shared.turn(Use::Run, &work.cancel)?;
    let graph = shared.graph()?;
    let options = shared.options(work);
    let needed = overhead(&graph) + NeighbourTable::size_min(&graph, options.threads)?;
    if needed > options.memory {
        return Err(Error::over_budget("the neighbours", needed, options.memory).into());
    }
    let ids = vertices.iter().map(|id| find_vertex(&graph, id));
    let ids = ids.collect::<std::result::Result<Vec<_>, _>>()?;
    let table = NeighbourTable::of(&graph, ids, &options)?;
    let mut rows = Collected::new(table.schema(&graph));
    table.write_rows(&graph, &options, &mut rows)?;
    graph.reader().pool().trim();
    Ok(rows.into_table())
}
