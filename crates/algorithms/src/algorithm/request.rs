//! Algorithms whose types are not known: first with their options, then with their files too.

use std::fmt::Debug;
use std::path::Path;

use tegula_engine::{Estimate, Graph, RunOptions};

use super::interface::{Algorithm, Checkpointing, Edges, Found, LessMemory, SideFiles, Weights};
use super::work::Work;
use crate::error::Result;
use crate::side_table::{TableOptions, TableRead, Tables};

/// An algorithm with its options. Each method is that of [`Algorithm`].
pub trait Request: Debug + Send {
    /// Its name.
    fn name(&self) -> &'static str;

    /// What it makes of the weights of edges.
    fn weights(&self) -> Weights;

    /// Refuses options that make no sense together.
    ///
    /// # Errors
    /// What is wrong with them.
    fn check(&self) -> Result<()>;

    /// What takes the place of the graph, where an option names it.
    fn model(&self) -> Option<&Path>;

    /// Imports the graph beneath its model.
    ///
    /// # Errors
    /// Those of reading the model and of [`tegula_import::import`].
    fn import_model(&self, graph: &Path, options: &RunOptions<'_>) -> Result<()>;

    /// Where its edges can come from.
    fn edges(&self) -> Edges;

    /// How many iterations it runs, where that is known before.
    fn iterations(&self) -> Option<u64>;

    /// Whether its rows are the edges of a graph.
    fn finds_graph(&self) -> bool;

    /// Whether a run can keep checkpoints and go on from one.
    fn checkpointing(&self) -> Checkpointing;

    /// Why its arrays over the vertices lie in memory, where its estimate knows no other way.
    fn why_in_memory(&self) -> &'static str;

    /// Reads the files that its options name, once: one may be a pipe.
    ///
    /// # Errors
    /// Those of reading, and of what the files say.
    fn prepare<'r>(
        &'r self,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Box<dyn Prepared + 'r>>;
}

/// An algorithm with its options and what was read of the files that these name.
pub trait Prepared: Send {
    /// What was asked for.
    fn request(&self) -> &dyn Request;

    /// What was read of the tables that options name.
    fn tables(&self) -> &[TableRead];

    /// Its name and its options, in one line: what the result depends on beside the graph. A table is told by its
    /// content, whatever its name.
    fn description(&self) -> String;

    /// Bytes of the files, as they are held.
    fn files_size(&self) -> u64;

    /// Refuses what it has no answer for: a graph, or a vertex that an option names.
    ///
    /// # Errors
    /// What it has no answer for; those of reading.
    fn check_input(&self, graph: &Graph) -> Result<()>;

    /// What it needs of memory with `threads` threads, its files included. What rows need where they are only
    /// one of two ways is not: [`Needs`](super::Needs) adds that.
    ///
    /// # Errors
    /// Those of reading.
    fn estimate(&self, graph: &Graph, threads: usize) -> Result<Estimate>;

    /// Bytes that it takes beside its estimate and what it streams where there are as many.
    fn lists_size(&self, graph: &Graph) -> u64;

    /// Another run that finds the same within less memory, where there is one.
    ///
    /// # Errors
    /// Those of reading.
    fn less_memory(&self, graph: &Graph, threads: usize) -> Result<Option<LessMemory>>;

    /// How many edges its answer has at the most, where these are a graph.
    fn found_edges_max(&self, graph: &Graph) -> u64;

    /// How much it does, for an estimate of its time.
    ///
    /// # Errors
    /// Those of reading.
    fn work(&self, graph: &Graph) -> Result<Work>;

    /// Runs it.
    ///
    /// # Errors
    /// Those of [`check_input`](Prepared::check_input) and of the run.
    fn run(self: Box<Self>, graph: &Graph, options: &RunOptions<'_>) -> Result<Found>;
}

/// An algorithm with its options, and how the tables that these name are read.
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

    fn model(&self) -> Option<&Path> {
        self.algorithm.model()
    }

    fn import_model(&self, graph: &Path, options: &RunOptions<'_>) -> Result<()> {
        self.algorithm.import_model(graph, options)
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
    ) -> Result<Box<dyn Prepared + 'r>> {
        let mut tables = Tables::new(graph, options, self.tables);
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
        // Options are plain values, which JSON has a form for.
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
