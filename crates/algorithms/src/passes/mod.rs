//! Algorithms that make several passes over vertices and edges instead of running one program.
//!
//! These are the calls of DFOGraph (Yu et al., PPoPP 2021, section 3). An algorithm has *vertex
//! arrays*, which have names. [`process_vertices`](Passes::process_vertices) visits all vertices.
//! [`process_edges`](Passes::process_edges) lets active vertices *signal* a message, carries it
//! along the edges, forward, in reverse or both, and gives each vertex the reduced messages in its
//! *slot*. Both return sums over all vertices, by which the algorithm decides what is next. Unlike
//! in DFOGraph, a slot gets all messages to a vertex at once, reduced: so results are the same to
//! the bit on any number of threads, within any budget, and on any number of ranks.
//!
//! ```
//! use tegula_algorithms::engine::traverse::Directions;
//! use tegula_algorithms::engine::{RunOptions, Sum, open_graph};
//! use tegula_algorithms::passes::Passes;
//! # use tegula_machine::{disk::Backend, threads::{Cancel, Silent}};
//!
//! # let folder = tegula_testkit::Scratch::new();
//! # let (edges, directory) = (folder.join("edges.txt"), folder.join("edges.tegula"));
//! # std::fs::write(&edges, "1 2\n2 3\n3 1\n3 2\n")?;
//! # let config = tegula_import::ImportConfig::default();
//! # tegula_import::import(&[edges], &directory, &config, &Silent, &Cancel::default())?;
//! // How many ways of two steps lead to each vertex.
//! let options = RunOptions { memory: 512 << 20, ..RunOptions::default() };
//! let graph = open_graph(&directory, options.memory, Backend::Auto)?;
//! let mut passes = Passes::new(&graph, &options);
//! let mut ways = passes.vertex_array("ways", |_| 1u64)?;
//! for _ in 0..2 {
//!     passes.process_edges::<_, Sum<u64>, ()>(
//!         Directions::Forward,
//!         &mut ways,
//!         |_, ways| Some(*ways),
//!         |_, ways, reduced, ()| *ways = reduced,
//!     )?;
//! }
//! assert_eq!(passes.into_states(ways)?.into_vec()?.iter().sum::<u64>(), 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The arrays lie where those of a vertex program would, in memory or on disk. On ranks, each one
//! keeps the values of its own vertices until [`into_states`](Passes::into_states). A pass in
//! reverse needs the edges in the other direction. For a directed graph, they are written to disk
//! before the first such pass, and use the same arrays. Weights do not come along. A pass costs as
//! much as an iteration of a vertex program, and sets up its arrays anew, which takes time in
//! proportion to the number of vertices.

mod arrays;
mod method;
mod programs;

use std::collections::BTreeMap;

use tegula_engine::traverse::Directions;
use tegula_engine::{
    Aggregate, Arrays, Estimate, Executor, Graph, Outcome, Program, Reduction, RunOptions,
    RunStatistics, Start, States, StatesWriter, Value, VertexId, estimate_anywhere, run_anywhere,
};

use crate::error::Result;
use crate::shared::redirected::{Redirection, size_beside};
pub use arrays::VertexArray;
pub use method::Method;
use programs::{EdgePass, VertexPass};

/// A pass over edges, for estimates. They do not depend on the types of `signal` and `slot`.
type AnyEdgePass<S, R> = EdgePass<
    S,
    R,
    (),
    fn(VertexId, &S) -> Option<<R as Reduction>::Message>,
    fn(VertexId, &mut S, <R as Reduction>::Accumulator, &mut ()),
>;

/// The passes of one algorithm, and its arrays. All ranks make the same passes.
pub struct Passes<'p> {
    graph: &'p Graph,
    options: RunOptions<'p>,
    /// Graphs with the edges in other directions, once they are needed.
    redirected: Vec<(Redirection, Graph)>,
    /// Bytes of the arrays in memory, by name.
    in_memory: BTreeMap<String, u64>,
    statistics: RunStatistics,
}

impl<'p> Passes<'p> {
    /// Begins without arrays. Each pass keeps the budget of the options, or waits for memory if it
    /// is a job of a scheduler. Arrays that a pass does not use count too, unless there is a
    /// scheduler. No checkpoints are kept; see [`save`](Passes::save).
    pub fn new(graph: &'p Graph, options: &RunOptions<'p>) -> Passes<'p> {
        let options = RunOptions { executor: Executor::Scan, checkpoints: None, ..options.clone() };
        let (redirected, in_memory) = (Vec::new(), BTreeMap::new());
        Passes { graph, options, redirected, in_memory, statistics: RunStatistics::default() }
    }

    /// Estimates the memory of a run with one array of `S`, whose messages are reduced by `R` and
    /// go in these directions.
    pub fn estimate<S: Value, R: Reduction>(
        graph: &Graph,
        threads: usize,
        directions: Directions,
    ) -> Estimate {
        match redirection(directions) {
            Some(wanted) => Passes::estimate_along::<S, R>(graph, threads, wanted),
            None => estimate_anywhere::<AnyEdgePass<S, R>>(graph, threads),
        }
    }

    /// Does what [`estimate`](Passes::estimate) does, for messages along chosen edges.
    pub(crate) fn estimate_along<S: Value, R: Reduction>(
        graph: &Graph,
        threads: usize,
        wanted: Redirection,
    ) -> Estimate {
        wanted.estimate::<AnyEdgePass<S, R>>(graph, threads)
    }

    /// Builds the edges for messages in these directions, which the first such pass does otherwise.
    /// Before there are arrays, it takes less memory.
    ///
    /// # Errors
    /// Errors of reading and writing; cancellation; the failure of another rank.
    pub fn prepare(&mut self, directions: Directions) -> Result<()> {
        redirection(directions).map_or(Ok(()), |wanted| self.prepare_along(wanted))
    }

    /// Does what [`prepare`](Passes::prepare) does, for chosen edges.
    pub(crate) fn prepare_along(&mut self, wanted: Redirection) -> Result<()> {
        if wanted.is_needed(self.graph) { self.redirect(wanted).map(drop) } else { Ok(()) }
    }

    /// Makes an array with a value for each vertex.
    ///
    /// # Errors
    /// Errors of writing; cancellation; the failure of another rank.
    pub fn vertex_array<S: Value>(
        &mut self,
        name: &str,
        init: impl Fn(VertexId) -> S + Send + Sync,
    ) -> Result<VertexArray<S>> {
        let pass = VertexPass::new(|vertex, value: &mut S, (): &mut ()| *value = init(vertex));
        let states = self.run_pass(None, Start::from(pass), &[name])?.0;
        Ok(self.array(name, states))
    }

    /// Visits all vertices, with their values. Returns the sums.
    ///
    /// # Errors
    /// Errors of reading and writing; cancellation; a panic of `visit`; the failure of another
    /// rank.
    pub fn process_vertices<S: Value, A: Aggregate>(
        &mut self,
        array: &mut VertexArray<S>,
        visit: impl Fn(VertexId, &mut S, &mut A) + Send + Sync,
    ) -> Result<A> {
        let pass = VertexPass::new(visit);
        Ok(self.run_on(array, None, pass)?.total.unwrap_or_default())
    }

    /// Sends messages along all edges in these directions. A vertex is active if `signal` returns a
    /// message. `slot` gets the reduced messages of each vertex, which are the identity of `R`
    /// where there was no message. Returns the sums of the slots.
    ///
    /// # Errors
    /// Errors of reading and writing; cancellation; a panic of either function; the failure of
    /// another rank.
    pub fn process_edges<S: Value, R: Reduction, A: Aggregate>(
        &mut self,
        directions: Directions,
        array: &mut VertexArray<S>,
        signal: impl Fn(VertexId, &S) -> Option<R::Message> + Send + Sync,
        slot: impl Fn(VertexId, &mut S, R::Accumulator, &mut A) + Send + Sync,
    ) -> Result<A> {
        self.process_edges_along::<S, R, A>(redirection(directions), array, signal, slot)
    }

    /// Does what [`process_edges`](Passes::process_edges) does, along chosen edges; `None` stands
    /// for the edges of the graph.
    pub(crate) fn process_edges_along<S: Value, R: Reduction, A: Aggregate>(
        &mut self,
        wanted: Option<Redirection>,
        array: &mut VertexArray<S>,
        signal: impl Fn(VertexId, &S) -> Option<R::Message> + Send + Sync,
        slot: impl Fn(VertexId, &mut S, R::Accumulator, &mut A) + Send + Sync,
    ) -> Result<A> {
        let pass = EdgePass::<S, R, A, _, _>::new(signal, slot);
        let pass = self.run_on(array, wanted, pass)?;
        match pass.total {
            Some(total) => Ok(total),
            None => {
                // No vertex was active.
                let slot = pass.slot;
                let identity = || R::Accumulator::from(R::IDENTITY);
                self.process_vertices(array, |vertex, value, sums| {
                    slot(vertex, value, identity(), sums);
                })
            }
        }
    }

    /// Returns the values of an array. On ranks, each one gets the values of all.
    ///
    /// # Errors
    /// Errors of reading and writing; the failure of another rank.
    pub fn into_states<S: Value>(&mut self, mut array: VertexArray<S>) -> Result<States<S>> {
        self.in_memory.remove(&array.name);
        let known = array.take();
        if self.options.ranks.is_none() {
            return Ok(known);
        }
        // The pass changes nothing. Ranks exchange all states at its end, because own ones are not
        // enough.
        let pass = VertexPass::new(|_, _: &mut S, (): &mut ()| ());
        let start = Start { program: pass, known: Some(known), is_own_enough: false };
        Ok(self.run_pass(None, start, &[])?.0)
    }

    /// Returns the statistics of all passes so far. An iteration is a pass over edges.
    pub fn statistics(&self) -> &RunStatistics {
        &self.statistics
    }

    /// Runs a program over the values of an array.
    fn run_on<P: Program>(
        &mut self,
        array: &mut VertexArray<P::State>,
        wanted: Option<Redirection>,
        program: P,
    ) -> Result<P> {
        let known = Some(array.take());
        let start = Start { program, known, is_own_enough: true };
        let (states, program) = self.run_pass(wanted, start, &[&array.name])?;
        *array = self.array(&array.name.clone(), states);
        Ok(program)
    }

    /// Runs a program on the graph with these edges, beside all arrays except the named ones.
    fn run_pass<P: Program>(
        &mut self,
        wanted: Option<Redirection>,
        start: Start<P>,
        own: &[&str],
    ) -> Result<(States<P::State>, P)> {
        let others = self.in_memory.iter().filter(|(name, _)| !own.contains(&&***name));
        let held: u64 = others.map(|(_, bytes)| bytes).sum();
        let (graph, threads) = (self.graph, self.options.threads);
        let outcome = match wanted.filter(|wanted| wanted.is_needed(graph)) {
            Some(wanted) => {
                let place = self.redirect(wanted)?;
                let options = self.pass_options(held + self.tables_but(Some(place)));
                let estimate = wanted.estimate::<P>(graph, threads);
                let (start, options) = settle(start, graph, &estimate, options)?;
                wanted.run_on::<P>(graph, &self.redirected[place].1, start, &options)?
            }
            None => {
                let options = self.pass_options(held + self.tables_but(None));
                let estimate = estimate_anywhere::<P>(graph, threads);
                let (start, options) = settle(start, graph, &estimate, options)?;
                run_anywhere(graph, start, &options)?
            }
        };
        let Outcome { states, program, statistics } = outcome;
        self.statistics.add(statistics);
        Ok((states, program))
    }

    /// Returns the options of a pass beside `held` bytes.
    fn pass_options(&self, held: u64) -> RunOptions<'p> {
        let memory = self.options.memory.saturating_sub(held);
        RunOptions { memory, ..self.options.clone() }
    }

    /// Returns the bytes of the graphs that were built, but one.
    fn tables_but(&self, used: Option<usize>) -> u64 {
        let others = self.redirected.iter().enumerate().filter(|(place, _)| Some(*place) != used);
        others.map(|(_, (_, graph))| size_beside(graph)).sum()
    }

    /// Builds the graph with these edges, unless there is one. Returns its place.
    fn redirect(&mut self, wanted: Redirection) -> Result<usize> {
        if let Some(place) = self.redirected.iter().position(|(built, _)| *built == wanted) {
            return Ok(place);
        }
        let held = self.in_memory.values().sum::<u64>() + self.tables_but(None);
        let options = &self.pass_options(held);
        let (graph, moved) = wanted.build_for_passes(self.graph, options)?;
        self.statistics.bytes_read += moved.read;
        self.statistics.bytes_written += moved.written;
        self.redirected.push((wanted, graph));
        Ok(self.redirected.len() - 1)
    }
}

/// Decides where the arrays of a pass lie, and brings known values there. On disk no blocks are
/// held in memory, for they would stay there until the next pass.
fn settle<'r, P: Program>(
    start: Start<P>,
    graph: &Graph,
    estimate: &Estimate,
    options: RunOptions<'r>,
) -> Result<(Start<P>, RunOptions<'r>)> {
    let arrays = match options.arrays {
        Arrays::Auto if estimate.plan_on_disk(options.budget()).is_some() => Arrays::OnDisk,
        chosen => chosen,
    };
    let options = RunOptions { arrays, ..options };
    let known = match start.known {
        Some(known) if arrays == Arrays::OnDisk => Some(on_disk(known, graph, &options)?),
        known => known,
    };
    Ok((Start { known, ..start }, options))
}

/// Brings values to disk, unless they are there.
fn on_disk<S: Value>(
    values: States<S>,
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<States<S>> {
    let Some(in_memory) = values.in_memory() else { return Ok(values) };
    let mut writer = StatesWriter::for_run(graph, options)?;
    writer.write(in_memory)?;
    Ok(writer.finish()?)
}

/// Returns which other edges messages in these directions need, if the graph is directed.
fn redirection(directions: Directions) -> Option<Redirection> {
    match directions {
        Directions::Forward => None,
        Directions::Reverse => Some(Redirection::REVERSED),
        Directions::Both => Some(Redirection { drops_loops: false, ..Redirection::MIRRORED }),
    }
}
