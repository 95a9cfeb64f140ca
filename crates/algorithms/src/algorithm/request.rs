//! Algorithms of unknown type: first with their options, then with their files too.

use std::any::Any;
use std::fmt::Debug;
use std::sync::mpsc::Sender;

use serde_json::Value;
use tegula_engine::{Estimate, Graph, RunOptions};

use super::fusing::{Entrance, Left, Member, OpenFusing, Width};
use super::interface::{
    Algorithm, Checkpointing, Edges, Found, LessMemory, ModelFile, SideFiles, Weights,
};
use super::work::{Iterations, Work};
use crate::error::Result;
use crate::side_table::{TableOptions, TableRead, TableSources, Tables};

/// An algorithm with its options.
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
    /// The options in JSON.
    options: Value,
    tables: TableOptions,
    algorithm: Box<dyn WithOptions>,
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
            // Options are plain values, which all have a form in JSON.
            options: serde_json::to_value(&algorithm).unwrap_or_default(),
            tables,
            algorithm: Box::new(algorithm),
        }
    }

    /// Refuses options that make no sense together.
    pub fn check(&self) -> Result<()> {
        self.algorithm.check()
    }

    /// Refuses a graph, or a vertex that an option names, for which it has no answer.
    pub fn check_input(&self, graph: &Graph) -> Result<()> {
        self.algorithm.check_input(graph)
    }

    /// Refuses to follow rows on a graph where only tiles will do.
    pub fn check_rows(&self, graph: &Graph) -> Result<()> {
        self.algorithm.check_rows(graph)
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
        self.algorithm.widths().last().map_or(1, |width| width.lanes)
    }

    /// Returns whether it can be one run with another request on a graph.
    pub fn can_fuse_with(&self, other: &Request, graph: &Graph) -> bool {
        self.algorithm.can_fuse_with(&*other.algorithm, graph)
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

/// An algorithm with its options, after the files that they name were read.
pub struct Prepared<'r> {
    pub(super) request: &'r Request,
    /// The tables that were read for the options.
    pub tables: Vec<TableRead>,
    pub(super) algorithm: Box<dyn WithFiles + 'r>,
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

    /// Returns the bytes that the files hold in memory.
    pub fn files_size(&self) -> u64 {
        self.algorithm.files_size()
    }

    /// Estimates the memory that it needs with `threads` threads, including its files. If edges can
    /// also come from tiles, what rows need is not included: [`Needs`](super::Needs) adds that.
    pub fn estimate(&self, graph: &Graph, threads: usize) -> Result<Estimate> {
        self.algorithm.estimate(graph, threads)
    }

    /// Runs it.
    ///
    /// # Errors
    /// The errors of [`check_input`](Request::check_input) and of the run.
    pub fn run(self, graph: &Graph, options: &RunOptions<'_>) -> Result<Found> {
        self.algorithm.run(graph, options)
    }

    /// Runs several requests as one; returns the result of each, or what is wrong with it alone.
    /// All must be able to [fuse](Request::can_fuse_with) with the first one.
    ///
    /// # Errors
    /// Those of [`Prepared::run`] that concern all of them.
    ///
    /// # Panics
    /// When there is none, or more than [`Request::fused_max`], and when two are of different
    /// algorithms or of one whose runs never fuse.
    pub fn run_fused(
        all: &[&Prepared<'_>],
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Vec<Result<Found>>> {
        all[0].algorithm.run_fused(all, graph, options)
    }

    /// Returns the entrance to a run of this request and others that some may join while it goes
    /// on; `None` if all members of its runs begin together.
    pub fn entrance(&self) -> Option<Entrance> {
        self.algorithm.entrance()
    }

    /// Returns the bytes of the results of `count` members that leave an open run before the
    /// others.
    ///
    /// # Panics
    /// When its runs have no [entrance](Prepared::entrance).
    pub fn left_bytes(&self, count: usize, graph: &Graph) -> u64 {
        self.algorithm.left_bytes(count, graph)
    }

    /// Estimates the memory that it needs to join a run, including its files.
    ///
    /// # Panics
    /// When its runs have no [entrance](Prepared::entrance).
    pub fn estimate_joining(&self, graph: &Graph) -> Estimate {
        self.algorithm.estimate_joining(graph)
    }

    /// Runs several requests as [`Prepared::run_fused`] does, but others may join by `entrance` and
    /// each leaves when it is over. What it has left is sent with its number in `all`. After an
    /// error, some may have left already.
    ///
    /// # Errors
    /// Those of [`Prepared::run`] that concern all of them.
    ///
    /// # Panics
    /// As for [`Prepared::run_fused`], and when its runs have no [entrance](Prepared::entrance).
    pub fn run_open(
        all: &[&Prepared<'_>],
        graph: &Graph,
        options: &RunOptions<'_>,
        entrance: &Entrance,
        left: Sender<(usize, Left)>,
    ) -> Result<()> {
        all[0].algorithm.run_open(all, graph, options, entrance, left)
    }

    /// Joins a run with which it can [fuse](Request::can_fuse_with), and waits for the result.
    /// `None` if the run has no room or ends before; then it must run by itself.
    ///
    /// # Errors
    /// Failed reads, and what is wrong with its options; cancellation.
    ///
    /// # Panics
    /// When its runs have no [entrance](Prepared::entrance).
    pub fn join(
        &self,
        graph: &Graph,
        options: &RunOptions<'_>,
        entrance: &Entrance,
    ) -> Result<Option<Found>> {
        self.algorithm.join(graph, options, entrance)
    }
}

/// An [`Algorithm`] of unknown type.
trait WithOptions: Any + Debug + Send + Sync {
    fn widths(&self) -> &'static [Width];
    fn can_fuse_with(&self, other: &dyn WithOptions, graph: &Graph) -> bool;
    fn check(&self) -> Result<()>;
    fn check_input(&self, graph: &Graph) -> Result<()>;
    fn check_rows(&self, graph: &Graph) -> Result<()>;
    fn read_files<'r>(&'r self, tables: &mut Tables<'_>) -> Result<Box<dyn WithFiles + 'r>>;
}

impl<A: Algorithm + 'static> WithOptions for A {
    fn widths(&self) -> &'static [Width] {
        A::FUSING.map_or(&[], |fusing| fusing.widths)
    }

    fn can_fuse_with(&self, other: &dyn WithOptions, graph: &Graph) -> bool {
        let other: &dyn Any = other;
        match (A::FUSING, other.downcast_ref()) {
            (Some(fusing), Some(other)) => (fusing.can_fuse)(self, other, graph),
            (None, _) | (_, None) => false,
        }
    }

    fn check(&self) -> Result<()> {
        Algorithm::check(self)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        Algorithm::check_input(self, graph)
    }

    fn check_rows(&self, graph: &Graph) -> Result<()> {
        Algorithm::check_rows(self, graph)
    }

    fn read_files<'r>(&'r self, tables: &mut Tables<'_>) -> Result<Box<dyn WithFiles + 'r>> {
        let files = Algorithm::read_files(self, tables)?;
        Ok(Box::new(Ready { algorithm: self, files }))
    }
}

/// An [`Algorithm`] of unknown type with its files.
pub(super) trait WithFiles: Send {
    fn files_size(&self) -> u64;
    fn estimate(&self, graph: &Graph, threads: usize) -> Result<Estimate>;
    fn lists_size(&self, graph: &Graph) -> u64;
    fn less_memory(&self, graph: &Graph, threads: usize) -> Result<Option<LessMemory>>;
    fn found_edges_max(&self, graph: &Graph) -> Option<u64>;
    fn work(&self, graph: &Graph) -> Result<Work>;
    fn work_on_disk(&self, graph: &Graph) -> Result<Option<Work>>;
    fn run(self: Box<Self>, graph: &Graph, options: &RunOptions<'_>) -> Result<Found>;
    fn widths(&self) -> &'static [Width];
    fn further_passes(&self, all: &[&Prepared<'_>]) -> f64;
    fn estimate_fused(
        &self,
        all: &[&Prepared<'_>],
        graph: &Graph,
        threads: usize,
    ) -> Result<Estimate>;
    fn run_fused(
        &self,
        all: &[&Prepared<'_>],
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Vec<Result<Found>>>;
    fn entrance(&self) -> Option<Entrance>;
    fn left_bytes(&self, count: usize, graph: &Graph) -> u64;
    fn estimate_joining(&self, graph: &Graph) -> Estimate;
    fn run_open(
        &self,
        all: &[&Prepared<'_>],
        graph: &Graph,
        options: &RunOptions<'_>,
        entrance: &Entrance,
        left: Sender<(usize, Left)>,
    ) -> Result<()>;
    fn join(
        &self,
        graph: &Graph,
        options: &RunOptions<'_>,
        entrance: &Entrance,
    ) -> Result<Option<Found>>;
    /// Returns the algorithm and its files.
    fn parts(&self) -> (&dyn Any, &dyn Any);
}

struct Ready<'r, A: Algorithm + 'static> {
    algorithm: &'r A,
    files: A::Files,
}

impl<A: Algorithm + 'static> WithFiles for Ready<'_, A> {
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

    fn widths(&self) -> &'static [Width] {
        WithOptions::widths(self.algorithm)
    }

    fn further_passes(&self, all: &[&Prepared<'_>]) -> f64 {
        A::FUSING.map_or(0.0, |fusing| (fusing.further_passes)(&members::<A>(all)))
    }

    fn estimate_fused(
        &self,
        all: &[&Prepared<'_>],
        graph: &Graph,
        threads: usize,
    ) -> Result<Estimate> {
        let fusing = A::FUSING.expect("its runs can fuse");
        (fusing.estimate)(&members::<A>(all), graph, threads)
    }

    fn run_fused(
        &self,
        all: &[&Prepared<'_>],
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<Vec<Result<Found>>> {
        let fusing = A::FUSING.expect("its runs can fuse");
        (fusing.run)(&members::<A>(all), graph, options)
    }

    fn entrance(&self) -> Option<Entrance> {
        Some((A::FUSING?.open?.entrance)())
    }

    fn left_bytes(&self, count: usize, graph: &Graph) -> u64 {
        (open_fusing::<A>().left_bytes)(count, graph)
    }

    fn estimate_joining(&self, graph: &Graph) -> Estimate {
        (open_fusing().estimate_joining)(&(self.algorithm, &self.files), graph)
    }

    fn run_open(
        &self,
        all: &[&Prepared<'_>],
        graph: &Graph,
        options: &RunOptions<'_>,
        entrance: &Entrance,
        left: Sender<(usize, Left)>,
    ) -> Result<()> {
        (open_fusing().run)(&members::<A>(all), graph, options, entrance, left)
    }

    fn join(
        &self,
        graph: &Graph,
        options: &RunOptions<'_>,
        entrance: &Entrance,
    ) -> Result<Option<Found>> {
        (open_fusing().join)(&(self.algorithm, &self.files), graph, options, entrance)
    }

    fn parts(&self) -> (&dyn Any, &dyn Any) {
        (self.algorithm, &self.files)
    }
}

fn open_fusing<A: Algorithm>() -> OpenFusing<A> {
    A::FUSING.and_then(|fusing| fusing.open).expect("its runs can be joined")
}

/// Returns the options and files of runs of one algorithm.
fn members<'p, A: Algorithm + 'static>(all: &[&'p Prepared<'_>]) -> Vec<Member<'p, A>> {
    let member = |prepared: &&'p Prepared<'_>| {
        let (algorithm, files) = prepared.algorithm.parts();
        Some((algorithm.downcast_ref::<A>()?, files.downcast_ref::<A::Files>()?))
    };
    let all: Option<Vec<Member<'p, A>>> = all.iter().map(member).collect();
    all.expect("all are of one algorithm")
}
