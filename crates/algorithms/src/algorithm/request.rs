//! Algorithms of unknown type: first with their options, then with their files too.

use std::fmt::Debug;
use std::path::Path;

use tegula_engine::{Estimate, Graph, RunOptions};

use super::interface::{Algorithm, Checkpointing, Edges, Found, LessMemory, SideFiles, Weights};
use super::work::Work;
use crate::error::Result;
use crate::side_table::{TableOptions, TableRead, TableSource, TableSources, Tables};

/// An algorithm with its options. Each method does what it does in [`Algorithm`].
pub trait Request: Debug + Send {
    /// Returns its name.
    fn name(&self) -> &'static str;

    /// Returns how it treats the weights of edges.
    fn weights(&self) -> Weights;

    /// Refuses options that make no sense together.
    fn check(&self) -> Result<()>;

    /// Returns the file that takes the place of the graph, where an option names one.
    fn model(&self) -> Option<&TableSource>;

    /// Imports the graph of its model.
    fn import_model(
        &self,
        graph: &Path,
        options: &RunOptions<'_>,
        sources: &dyn TableSources,
    ) -> Result<()>;

    /// Returns where its edges can come from.
    fn edges(&self) -> Edges;

    /// Returns how many iterations it runs, if that is known before the run.
    fn iterations(&self) -> Option<u64>;

    /// Returns whether its rows are the edges of a graph.
    fn finds_graph(&self) -> bool;

    /// Returns whether a run can keep checkpoints and resume from one.
    fn checkpointing(&self) -> Checkpointing;

    /// Says why its arrays over the vertices lie in memory, where its estimate has no other way.
    fn why_in_memory(&self) -> &'static str;

    /// Reads the files that its options name, once: a file may be a pipe.
    fn prepare<'r>(
        &'r self,
        graph: &Graph,
        options: &RunOptions<'_>,
        sources: &dyn TableSources,
    ) -> Result<Box<dyn Prepared + 'r>>;
}

/// An algorithm with its options, after the files that they name were read.
pub trait Prepared: Send {
    /// Returns the request.
    fn request(&self) -> &dyn Request;

    /// Returns the tables that were read for the options.
    fn tables(&self) -> &[TableRead];

    /// Returns its name and options in one line: all that the result depends on beside the graph. A
    /// table appears with its content, not its name.
    fn description(&self) -> String;

    /// Returns the bytes that the files hold in memory.
    fn files_size(&self) -> u64;

    /// Refuses a graph, or a vertex that an option names, for which it has no answer.
    fn check_input(&self, graph: &Graph) -> Result<()>;

    /// Estimates the memory that it needs with `threads` threads, including its files. If edges can
    /// also come from tiles, what rows need is not included: [`Needs`](super::Needs) adds that.
    fn estimate(&self, graph: &Graph, threads: usize) -> Result<Estimate>;

    /// Returns the bytes of lists that are made only where there is room.
    fn lists_size(&self, graph: &Graph) -> u64;

    /// Returns another run with the same result in less memory, where there is one.
    fn less_memory(&self, graph: &Graph, threads: usize) -> Result<Option<LessMemory>>;

    /// Returns the most edges that its answer can have, where this is a graph.
    fn found_edges_max(&self, graph: &Graph) -> u64;

    /// Returns its work, for an estimate of its time.
    fn work(&self, graph: &Graph) -> Result<Work>;

    /// Runs it.
    ///
    /// # Errors
    /// The errors of [`check_input`](Prepared::check_input) and of the run.
    fn run(self: Box<Self>, graph: &Graph, options: &RunOptions<'_>) -> Result<Found>;
}

/// An algorithm with its options, and the options for reading tables.
#[derive(Debug)]
pub(super) struct Asked<A> {
    pub algorithm: A,
    pub tables: TableOptions,
}

impl<A: Algorithm> Request for Asked<A> {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn weights(&self) -> Weights {
        self.algorithm.weights()
    }

    fn check(&self) -> Result<()> {
        self.algorithm.check()
    }

    fn model(&self) -> Option<&TableSource> {
        self.algorithm.model()
    }

    fn import_model(
        &self,
        graph: &Path,
        options: &RunOptions<'_>,
        sources: &dyn TableSources,
    ) -> Result<()> {
        self.algorithm.import_model(graph, options, sources)
    }

    fn edges(&self) -> Edges {
        self.algorithm.edges()
    }

    fn iterations(&self) -> Option<u64> {
        self.algorithm.iterations().known()
    }

    fn finds_graph(&self) -> bool {
        A::FINDS_GRAPH
    }

    fn checkpointing(&self) -> Checkpointing {
        self.algorithm.checkpointing()
    }

    fn why_in_memory(&self) -> &'static str {
        self.algorithm.why_in_memory()
    }

    fn prepare<'r>(
        &'r self,
        graph: &Graph,
        options: &RunOptions<'_>,
        sources: &dyn TableSources,
    ) -> Result<Box<dyn Prepared + 'r>> {
        let mut tables = Tables::new(graph, options, sources, self.tables);
        let files = self.algorithm.read_files(&mut tables)?;
        Ok(Box::new(WithFiles { asked: self, files, tables: tables.into_read() }))
    }
}

struct WithFiles<'r, A: Algorithm> {
    asked: &'r Asked<A>,
    files: A::Files,
    tables: Vec<TableRead>,
}

impl<A: Algorithm> Prepared for WithFiles<'_, A> {
    fn request(&self) -> &dyn Request {
        self.asked
    }

    fn tables(&self) -> &[TableRead] {
        &self.tables
    }

    fn description(&self) -> String {
        // Options are plain values, which all have a form in JSON.
        let mut options = serde_json::to_value(&self.asked.algorithm).unwrap_or_default();
        for table in &self.tables {
            options[table.option] = table.content().into();
        }
        format!("{} {options}", A::NAME)
    }

    fn files_size(&self) -> u64 {
        self.files.size()
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        self.asked.algorithm.check_input(graph)
    }

    fn estimate(&self, graph: &Graph, threads: usize) -> Result<Estimate> {
        self.asked.algorithm.estimate(graph, &self.files, threads)
    }

    fn lists_size(&self, graph: &Graph) -> u64 {
        self.asked.algorithm.lists_size(graph)
    }

    fn less_memory(&self, graph: &Graph, threads: usize) -> Result<Option<LessMemory>> {
        self.asked.algorithm.less_memory(graph, &self.files, threads)
    }

    fn found_edges_max(&self, graph: &Graph) -> u64 {
        self.asked.algorithm.found_edges_max(graph, &self.files)
    }

    fn work(&self, graph: &Graph) -> Result<Work> {
        self.asked.algorithm.work(graph, &self.files)
    }

    fn run(self: Box<Self>, graph: &Graph, options: &RunOptions<'_>) -> Result<Found> {
        self.asked.algorithm.run(graph, self.files, options)
    }
}
