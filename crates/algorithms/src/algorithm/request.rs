//! Algorithms whose types are not known: first with their options, then with their files too.

use std::fmt::Debug;
use std::path::Path;

use tegula_engine::{Estimate, Graph, RunOptions};

use super::interface::{Algorithm, Checkpointing, Edges, Found, LessMemory, SideFiles, Weights};
use super::work::Work;
use crate::error::Result;

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

    /// Its name and its options, in one line.
    fn description(&self) -> String;

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

impl<A: Algorithm> Request for A {
    fn name(&self) -> &'static str {
        A::NAME
    }

    fn weights(&self) -> Weights {
        Algorithm::weights(self)
    }

    fn check(&self) -> Result<()> {
        Algorithm::check(self)
    }

    fn model(&self) -> Option<&Path> {
        Algorithm::model(self)
    }

    fn import_model(&self, graph: &Path, options: &RunOptions<'_>) -> Result<()> {
        Algorithm::import_model(self, graph, options)
    }

    fn edges(&self) -> Edges {
        Algorithm::edges(self)
    }

    fn iterations(&self) -> Option<u64> {
        Algorithm::iterations(self).known()
    }

    fn description(&self) -> String {
        // Options are plain values, which JSON has a form for.
        let options = serde_json::to_string(self).unwrap_or_default();
        format!("{} {options}", A::NAME)
    }

    fn finds_graph(&self) -> bool {
        A::FINDS_GRAPH
    }

    fn checkpointing(&self) -> Checkpointing {
        Algorithm::checkpointing(self)
    }

    fn why_in_memory(&self) -> &'static str {
        Algorithm::why_in_memory(self)
    }

    fn prepare<'r>(
        &'r self,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Box<dyn Prepared + 'r>> {
        let files = self.read_files(graph, options)?;
        Ok(Box::new(WithFiles { algorithm: self, files }))
    }
}

struct WithFiles<'r, A: Algorithm> {
    algorithm: &'r A,
    files: A::Files,
}

impl<A: Algorithm> Prepared for WithFiles<'_, A> {
    fn request(&self) -> &dyn Request {
        self.algorithm
    }

    fn files_size(&self) -> u64 {
        self.files.size()
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        self.algorithm.check_input(graph)
    }

    fn estimate(&self, graph: &Graph, threads: usize) -> Result<Estimate> {
        self.algorithm.estimate(graph, &self.files, threads)
    }

    fn lists_size(&self, graph: &Graph) -> u64 {
        self.algorithm.lists_size(graph)
    }

    fn less_memory(&self, graph: &Graph, threads: usize) -> Result<Option<LessMemory>> {
        self.algorithm.less_memory(graph, &self.files, threads)
    }

    fn found_edges_max(&self, graph: &Graph) -> u64 {
        self.algorithm.found_edges_max(graph, &self.files)
    }

    fn work(&self, graph: &Graph) -> Result<Work> {
        self.algorithm.work(graph, &self.files)
    }

    fn run(self: Box<Self>, graph: &Graph, options: &RunOptions<'_>) -> Result<Found> {
        self.algorithm.run(graph, self.files, options)
    }
}
