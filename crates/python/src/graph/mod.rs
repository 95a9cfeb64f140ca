//! Open graphs, and runs on them.

mod facts;
pub mod missing_rows;
mod shared;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;
use tegula_algorithms::algorithm::{Entry, Needs, Request};
use tegula_algorithms::answer::{EdgeTable, NeighbourTable, Table as _};
use tegula_algorithms::{CATALOGUE, find, find_vertex};
use tegula_engine::{RunOptions, overhead};
use tegula_machine::disk::Backend;
use tegula_machine::threads::lock;
use tegula_store::Error;

use crate::answer::{FinishedRun, Found, RunSeconds};
use crate::failure::{Failure, Result};
use crate::given_tables::{GivenStreams, GivenTables};
use crate::home::Home;
use crate::rows::Batches;
use crate::table::{Collected, Table};
use crate::work::{Work, work};
use facts::EstimateFacts;
pub use shared::{Reserved, Shared, Size, Use, memory_of, threads_of};

/// An open graph directory. Its runs come one after the other.
#[pyclass(frozen, module = "tegula._internal")]
pub struct Graph {
    path: PathBuf,
    memory: u64,
    threads: usize,
    home: Home,
    /// None once it is closed.
    shared: Mutex<Option<Arc<Shared>>>,
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
        let shared = work(py, None, |_| Shared::open(&path, memory, threads))?;
        let (memory, threads) = (shared.memory, shared.threads);
        let home = Home::here();
        Ok(Graph { path, memory, threads, home, shared: Mutex::new(Some(shared)) })
    }

    /// Closes it. Results stay. A fork has nothing to close.
    fn close(&self) {
        if self.home.is_here() {
            lock(&self.shared).take();
        }
    }

    /// Whether it is closed. In a fork it always is.
    #[getter]
    fn closed(&self) -> bool {
        !self.home.is_here() || lock(&self.shared).is_none()
    }

    /// Refuses a graph that is closed, or was opened before this process forked.
    pub fn check(&self, py: Python<'_>) -> PyResult<()> {
        self.shared().map(drop).map_err(|failure| failure.exception(py))
    }

    /// The graph directory.
    #[getter]
    fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Bytes that runs may take.
    #[getter]
    fn memory(&self) -> u64 {
        self.memory
    }

    /// The threads of a run.
    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }

    /// Returns what the graph holds, as JSON.
    fn info(&self, py: Python<'_>) -> PyResult<String> {
        self.work(py, None, |shared, work| {
            let _turn = shared.turn(Use::Run, &work.cancel)?;
            facts::info(&shared.graph(), &work.cancel)
        })
    }

    /// Reads every byte and checks it. Returns figures of what was checked, as JSON.
    #[pyo3(signature = (progress=None))]
    fn verify(&self, py: Python<'_>, progress: Option<Py<PyAny>>) -> PyResult<String> {
        self.work(py, progress, |shared, work| verify(shared, work))
    }

    /// Returns the edges, in the order in which they are stored.
    fn edges(&self, py: Python<'_>) -> PyResult<Batches> {
        self.work(py, None, edges)
    }

    /// Runs an algorithm, with its options as a JSON object. Where an option is given a short table
    /// in memory, `tables` has it under the name of the option, and the JSON has that name in its
    /// place.
    #[pyo3(signature = (algorithm, options, tables, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        algorithm: &str,
        options: &str,
        tables: Bound<'_, PyDict>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Found> {
        // Objects of Python stay on this thread, but streams of them may go to the one that works.
        let tables = GivenStreams::of(&tables).map_err(|failure| failure.exception(py))?;
        self.work(py, progress, |shared, work| {
            let request = request(algorithm, options)?;
            // Read before `run` takes its turn, since code of Python may want the graph too.
            run(shared, &request, &tables.read(&work.cancel)?, work)
        })
    }

    /// Estimates what such a run needs, as JSON.
    fn estimate(
        &self,
        py: Python<'_>,
        algorithm: &str,
        options: &str,
        tables: Bound<'_, PyDict>,
    ) -> PyResult<String> {
        let tables = GivenStreams::of(&tables).map_err(|failure| failure.exception(py))?;
        self.work(py, None, |shared, work| {
            let request = request(algorithm, options)?;
            estimate(shared, &request, &tables.read(&work.cancel)?, work)
        })
    }

    /// Returns a table with a row for each edge that leaves one of these vertices.
    fn neighbours(&self, py: Python<'_>, vertices: Vec<String>) -> PyResult<Table> {
        self.work(py, None, |shared, work| neighbours(shared, &vertices, work))
    }
}

impl Graph {
    /// Returns the open graph.
    ///
    /// # Errors
    /// [`Failure`] if it is closed, and in a fork.
    pub fn shared(&self) -> Result<Arc<Shared>> {
        self.home.check(self.path.display())?;
        lock(&self.shared).clone().ok_or_else(|| {
            let message = format!("{} is closed", self.path.display());
            Failure::usage_with(message, "open it again with tegula.open()")
        })
    }

    /// Works on the open graph.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        progress: Option<Py<PyAny>>,
        body: impl FnOnce(&Arc<Shared>, &Work) -> Result<T> + Send,
    ) -> PyResult<T> {
        let shared = self.shared().map_err(|failure| failure.exception(py))?;
        work(py, progress, |work| body(&shared, work))
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
fn run(shared: &Arc<Shared>, request: &Request, given: &GivenTables, work: &Work) -> Result<Found> {
    let _turn = shared.turn(Use::Run, &work.cancel)?;
    let opened = Instant::now();
    let mut graph = shared.graph();
    let options = shared.options(work);
    let prepared = request.prepare(&graph, &options, given)?;
    let needs = Needs::of(&prepared, &graph, options.threads, request.needs_rows(&graph))?;
    needs.check("the run", options.memory).map_err(|error| of_whole(error, shared.memory))?;
    if needs.build_bytes.is_some() {
        // Now, because building rows may take long.
        request.check_input(&graph)?;
        graph = missing_rows::build(shared, request.edges, prepared.files_size(), work)?;
    }
    let open = opened.elapsed();
    // A copy, because the run consumes what is prepared.
    let tables = prepared.tables.clone();
    let started = Instant::now();
    let found = prepared.run(&graph, &options).map_err(|error| of_whole(error, shared.memory))?;
    let seconds = RunSeconds::of(open, started.elapsed());
    graph.reader().pool().trim();
    let ran = FinishedRun { request, found, tables: &tables, seconds, jobs: 1 };
    Ok(Found::new(Arc::clone(shared), graph, ran))
}

/// Gives an error the figures of the whole budget, of which streams take some.
pub fn of_whole(error: tegula_algorithms::Error, memory: u64) -> Failure {
    match error {
        tegula_algorithms::Error::Run(error) => error.of_whole(memory).into(),
        other => other.into(),
    }
}

/// Estimates what a run needs, as JSON.
fn estimate(
    shared: &Shared,
    request: &Request,
    given: &GivenTables,
    work: &Work,
) -> Result<String> {
    let _turn = shared.turn(Use::Run, &work.cancel)?;
    let graph = shared.graph();
    let memory = shared.memory;
    // More memory than the budget, so that it can tell what a run needs beyond it.
    let options = RunOptions {
        memory: memory.max(tegula_machine::memory::default_memory()),
        ..shared.options(work)
    };
    let prepared = request.prepare(&graph, &options, given)?;
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
    let graph = shared.graph();
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

/// Reads every byte of a graph and checks it. Returns figures of what was checked, as JSON.
fn verify(shared: &Shared, work: &Work) -> Result<String> {
    let _turn = shared.turn(Use::Run, &work.cancel)?;
    let graph = shared.graph();
    let (needed, memory) = (overhead(&graph) + graph.verify_size(), shared.options(work).memory);
    if needed > memory {
        return Err(Error::over_budget("the check", needed, memory).into());
    }
    let started = Instant::now();
    let checked = graph.verify(&work.progress, &work.cancel)?;
    Ok(facts::json(&facts::CheckedFacts::of(&checked, started.elapsed())))
}

/// Starts to read the edges.
fn edges(shared: &Arc<Shared>, work: &Work) -> Result<Batches> {
    let _turn = shared.turn(Use::Run, &work.cancel)?;
    let graph = shared.graph();
    let memory = shared.memory;
    let size = overhead(&graph) + EdgeTable::size(&graph, memory)?;
    let reserved = shared.reserve("the edges", size)?;
    let graph = tegula_engine::open_graph_in(graph.opened_directory(), size, Backend::Auto)?;
    let table = EdgeTable::new(&graph, memory, &work.cancel)?;
    Batches::start(table.schema(&graph), graph, reserved, move |graph, out, cancel| {
        Ok(table.write_rows(graph, out, cancel)?)
    })
}
