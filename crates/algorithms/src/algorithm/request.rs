//! Algorithms of unknown type: first with their options, then with their files too.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Deref;

use serde_json::Value;
use tegula_engine::{Estimate, Graph, RunOptions};

use super::fusing::{AnyMember, Fusing};
use super::interface::{
    Algorithm, Checkpointing, Edges, Found, LessMemory, ModelFile, SideFiles, Weights,
};
use super::work::{Iterations, Work};
use crate::error::Result;
use crate::side_table::{TableOptions, TableRead, TableSources, Tables};

/// An algorithm with its options. It also has the methods of [`AnyAlgorithm`].
#[derive(Debug)]
pub struct Request {
    /// Its name.
    pub name: &'static str,
    /// Whether the rows of its answer are the edges of a graph.
    pub finds_graph: bool,
    /// How it treats the weights of edges.
    pub weights: Weights,
    /// Where its edges can come from.
    pub edges: Edges,
    /// Where they can come from on ranks.
    pub edges_on_ranks: Edges,
    /// How many iterations it runs, as far as that is known before the run.
    pub iterations: Iterations,
    /// Whether a run can keep checkpoints and resume from one.
    pub checkpointing: Checkpointing,
    /// Why its arrays over the vertices lie in memory, where its estimate has no other way.
    pub why_in_memory: &'static str,
    /// The file that takes the place of the graph, where an option names one.
    pub model: Option<ModelFile>,
    /// How several runs become one; `None` if they never do.
    pub fusing: Option<Fusing>,
    /// The options in JSON.
    options: Value,
    tables: TableOptions,
    algorithm: Box<dyn AnyAlgorithm>,
}

impl Request {
    pub(super) fn new<A: Algorithm + 'static>(algorithm: A, tables: TableOptions) -> Request {
        Request {
            name: A::NAME,
            finds_graph: A::ABILITIES.found_edges_max.is_some(),
            weights: algorithm.weights(),
            edges: algorithm.edges(),
            edges_on_ranks: algorithm.edges_on_ranks(),
            iterations: algorithm.iterations(),
            checkpointing: algorithm.checkpointing(),
            why_in_memory: algorithm.why_in_memory(),
            model: A::ABILITIES.model.and_then(|model| model(&algorithm)),
            fusing: A::FUSING,
            // Options are plain values, which all have a form in JSON.
            options: serde_json::to_value(&algorithm).unwrap_or_default(),
            tables,
            algorithm: Box::new(algorithm),
        }
    }

    /// Returns where its edges can come from on a graph.
    pub fn edges_on(&self, graph: &Graph) -> Edges {
        if graph.is_for_ranks() { self.edges_on_ranks } else { self.edges }
    }

    /// Whether a run follows rows, because tiles do not suffice.
    pub fn needs_rows(&self, graph: &Graph) -> bool {
        let edges = self.edges_on(graph);
        !matches!(edges, Edges::None) && !edges.can_scan(graph)
    }

    /// Returns the most runs that can be one, with this one; 1 if its runs never fuse.
    pub fn fused_max(&self) -> usize {
        self.fusing.and_then(|fusing| fusing.widths.last()).map_or(1, |width| width.lanes)
    }

    /// Returns whether it can be one run with another request on a graph.
    pub fn can_fuse_with(&self, other: &Request, graph: &Graph) -> bool {
        let [own, others]: [&dyn Any; 2] = [&*self.algorithm, &*other.algorithm];
        let can_fuse = |fusing: Fusing| (fusing.can_fuse)(own, others, graph);
        // Types first: `can_fuse` panics if an algorithm is not its own.
        own.type_id() == others.type_id() && self.fusing.is_some_and(can_fuse)
    }

    /// Reads the files that its options name, once: a file may be a pipe.
    pub fn prepare(
        &self,
        graph: &Graph,
        options: &RunOptions<'_>,
        sources: &dyn TableSources,
    ) -> Result<Prepared<'_>> {
        let mut tables = Tables::new(graph, options, sources, self.tables);
        let algorithm = self.algorithm.read_files(&mut tables)?;
        Ok(Prepared { request: self, tables: tables.into_read(), algorithm })
    }
}

impl Deref for Request {
    type Target = dyn AnyAlgorithm;

    fn deref(&self) -> &Self::Target {
        &*self.algorithm
    }
}

/// A [`Request`] and the files that its options name. It also has the methods of [`AnyPrepared`].
pub struct Prepared<'r> {
    pub(crate) request: &'r Request,
    /// The tables that were read for the options.
    pub tables: Vec<TableRead>,
    algorithm: Box<dyn AnyPrepared + 'r>,
}

impl Prepared<'_> {
    /// Returns its name and options in one line: all that the result depends on beside the graph. A
    /// table appears with its content, not its name.
    pub fn description(&self) -> String {
        let mut options = self.request.options.clone();
        for table in &self.tables {
            options[table.option] = table.content().into();
        }
        format!("{} {options}", self.request.name)
    }

    /// See [`Algorithm::run`].
    pub fn run(self, graph: &Graph, options: &RunOptions<'_>) -> Result<Found> {
        self.algorithm.run(graph, options)
    }

    /// Returns it as a member of a fused run.
    pub fn member(&self) -> AnyMember<'_> {
        AnyMember { options: &*self.request.algorithm, files: self.algorithm.files() }
    }
}

impl<'r> Deref for Prepared<'r> {
    type Target = dyn AnyPrepared + 'r;

    fn deref(&self) -> &Self::Target {
        &*self.algorithm
    }
}

/// An [`Algorithm`] of unknown type.
pub trait AnyAlgorithm: Any + Debug + Send + Sync {
    /// See [`Algorithm::check`].
    fn check(&self) -> Result<()>;
    /// See [`Algorithm::check_input`].
    fn check_input(&self, graph: &Graph) -> Result<()>;
    /// See [`Algorithm::check_rows`].
    fn check_rows(&self, graph: &Graph) -> Result<()>;
    /// See [`Algorithm::read_files`]. [`Request::prepare`] also keeps what `tables` read.
    fn read_files<'r>(&'r self, tables: &mut Tables<'_>) -> Result<Box<dyn AnyPrepared + 'r>>;
}

impl<A: Algorithm + 'static> AnyAlgorithm for A {
    fn check(&self) -> Result<()> {
        Algorithm::check(self)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        Algorithm::check_input(self, graph)
    }

    fn check_rows(&self, graph: &Graph) -> Result<()> {
        Algorithm::check_rows(self, graph)
    }

    fn read_files<'r>(&'r self, tables: &mut Tables<'_>) -> Result<Box<dyn AnyPrepared + 'r>> {
        let files = Algorithm::read_files(self, tables)?;
        Ok(Box::new(Ready { algorithm: self, files }))
    }
}

/// An [`Algorithm`] of unknown type with its files.
pub trait AnyPrepared: Send {
    /// Returns the files.
    fn files(&self) -> &dyn Any;
    /// Returns the bytes that the files hold in memory.
    fn files_size(&self) -> u64;
    /// See [`Algorithm::estimate`]. If edges can also come from tiles, what rows need is not
    /// included: [`Needs`](super::Needs) adds that.
    fn estimate(&self, graph: &Graph, threads: usize) -> Result<Estimate>;
    /// See [`MakesLists::lists_size`](super::MakesLists::lists_size); 0 without this ability.
    fn lists_size(&self, graph: &Graph) -> u64;
    /// See [`HasSmallerRun::less_memory`](super::HasSmallerRun::less_memory).
    fn less_memory(&self, graph: &Graph, threads: usize) -> Result<Option<LessMemory>>;
    /// See [`FindsGraph::found_edges_max`](super::FindsGraph::found_edges_max).
    fn found_edges_max(&self, graph: &Graph) -> Option<u64>;
    /// See [`Algorithm::work`].
    fn work(&self, graph: &Graph) -> Result<Work>;
    /// See [`Algorithm::work_on_disk`].
    fn work_on_disk(&self, graph: &Graph) -> Result<Option<Work>>;
    /// See [`Algorithm::run`].
    fn run(self: Box<Self>, graph: &Graph, options: &RunOptions<'_>) -> Result<Found>;
}

struct Ready<'r, A: Algorithm> {
    algorithm: &'r A,
    files: A::Files,
}

impl<A: Algorithm> AnyPrepared for Ready<'_, A> {
    fn files(&self) -> &dyn Any {
        &self.files
    }

    fn files_size(&self) -> u64 {
        self.files.size()
    }

    fn estimate(&self, graph: &Graph, threads: usize) -> Result<Estimate> {
        self.algorithm.estimate(graph, &self.files, threads)
    }

    fn lists_size(&self, graph: &Graph) -> u64 {
        A::ABILITIES.lists_size.map_or(0, |size| size(self.algorithm, graph))
    }

    fn less_memory(&self, graph: &Graph, threads: usize) -> Result<Option<LessMemory>> {
        let less = A::ABILITIES.less_memory;
        less.map_or(Ok(None), |less| less(self.algorithm, graph, &self.files, threads))
    }

    fn found_edges_max(&self, graph: &Graph) -> Option<u64> {
        A::ABILITIES.found_edges_max.map(|max| max(self.algorithm, graph, &self.files))
    }

    fn work(&self, graph: &Graph) -> Result<Work> {
        self.algorithm.work(graph, &self.files)
    }

    fn work_on_disk(&self, graph: &Graph) -> Result<Option<Work>> {
        self.algorithm.work_on_disk(graph)
    }

    fn run(self: Box<Self>, graph: &Graph, options: &RunOptions<'_>) -> Result<Found> {
        self.algorithm.run(graph, self.files, options)
    }
}
