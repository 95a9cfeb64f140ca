//! Weakly connected components: which vertices reach each other when directions are ignored.
//!
//! Three methods give the same partition:
//!
//! * **union-find** (the default) reads every edge at most once. The parent of a vertex is in its
//!   component and has a smaller dense id; a root is its own parent. An edge links the roots of its
//!   two ends, the greater to the smaller, by compare-and-swap, so any number of threads may work
//!   on it (Rem's algorithm, made concurrent by Patwary, Refsnes, Manne 2012, with the path halving
//!   of Tarjan and van Leeuwen 1984). Links lead only to smaller ids, so the root of a component is
//!   its smallest dense id, in any order of the edges. A tile is skipped without being read if all
//!   its sources and targets are known to be in one component. This is the idea of Afforest
//!   (Sutton, Ben-Nun, Barak 2018), that most edges join what is already joined, applied to tiles.
//!   On R-MAT it saves two thirds of the bytes. Memory: 4 bytes a vertex.
//! * **propagation** sends the smallest id seen so far along the edges until nothing changes. It
//!   reads only tiles with a source that changed, but it needs as many scans as the longest
//!   shortest path has edges. It also needs both directions of every edge, so a directed graph is
//!   mirrored first ([`Redirection`]). Its arrays may lie on disk. Memory: 8 bytes a vertex, or
//!   what `--estimate` says with arrays on disk. With `max_iterations` it stops early: after N
//!   iterations, the label of a vertex is the smallest id within N hops. Then it takes 4 bytes a
//!   vertex more where vertices have an order.
//! * **traversal** visits one component after the other, in a breadth-first order that is nested in
//!   a sequential one over the unvisited vertices (A. Roy et al., University of Cambridge Computer
//!   Laboratory, Technical Report 823, 2012, figure 8). One thread reads every row once and reads
//!   upcoming rows ahead. It needs rows, and both directions of every edge. Memory: 8 bytes a
//!   vertex, and the index of the rows.
//!
//! If memory has no room for the table of the union-find, labels are propagated instead.
//!
//! The definition is that of LDBC Graphalytics. The caller chooses which id names a component.

mod propagation;
mod traversal;
mod within_hops;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{
    Arrays, Estimate, Graph, Number, RunOptions, RunStatistics, ShortId, States, VertexNumber,
    visit_edges_with,
};
use tegula_machine::Error as MachineError;

use crate::algorithm::{
    Abilities, Algorithm, Checkpointing, Column, Description, Edges, Family, Found, HasSmallerRun,
    Iterations, LessMemory, Weights, Work,
};
use crate::answer::{Called, Groups, NoFigures, by_smallest, by_smallest_size};
use crate::error::{Error, Hint, Result, Setting, SettingValue, check_both_directions};
use crate::shared::id_order::with_order_streamed;
use crate::shared::redirected::Redirection;
use crate::shared::union_find::{DisjointSets, UnsettledEdges};

pub use propagation::SmallestId;

/// Options of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct WccOptions {
    /// How components are found.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: Method,
    /// The most iterations of `propagation`. If the last of them changes a label, there is a
    /// warning, and the answer is no partition into components: N iterations find the smallest id
    /// within N hops of each vertex.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub max_iterations: Option<u64>,
}

/// How components are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Method {
    /// At most one pass over the edges. If memory has no room for 4 bytes a vertex, labels are
    /// propagated instead.
    #[default]
    UnionFind,
    /// Label propagation. A directed graph is first written to disk with both directions of every
    /// edge.
    Propagation,
    /// One component after the other along rows, for graphs that were imported as undirected.
    Traversal,
}

/// What the groups of an answer are called.
const COMPONENTS: Called = Called { one: "component", many: "components" };

/// The components of a graph.
#[derive(Debug, Clone)]
pub struct Components<R = Vec<ShortId>> {
    /// By dense id: the smallest dense id of the vertex's component.
    pub roots: R,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}

impl Components {
    /// Number of components.
    pub fn count(&self) -> usize {
        self.roots.iter().enumerate().filter(|(vertex, root)| root.index() == *vertex).count()
    }

    /// Number of vertices of each component, by its root; 0 for vertices that are no root.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = vec![0; self.roots.len()];
        self.roots.iter().for_each(|root| sizes[root.index()] += 1);
        sizes
    }
}

/// Refuses a graph whose components the chosen method cannot find.
///
/// # Errors
/// [`OneDirection`](crate::Error::OneDirection) for traversal on a directed graph.
pub fn check(graph: &Graph, wanted: Method) -> Result<()> {
    match wanted {
        Method::Traversal => {
            let instead = method(&["union-find"]);
            check_both_directions(graph, "traversal", Some(instead))
        }
        Method::UnionFind | Method::Propagation => Ok(()),
    }
}

fn method(names: &'static [&'static str]) -> Setting {
    Setting { option: "method", value: SettingValue::OneOf(names) }
}

/// Finds the components, in memory.
///
/// # Errors
/// [`OneDirection`](crate::Error::OneDirection) for traversal on a directed graph;
/// [`TooManyVertices`](crate::Error::TooManyVertices) for a graph without [short](ShortId) ids.
pub fn run(graph: &Graph, wanted: Method, options: &RunOptions<'_>) -> Result<Components> {
    check(graph, wanted)?;
    if !graph.has_short_ids() {
        return Err(Error::TooManyVertices {
            what: "this run",
            vertices: graph.vertex_count(),
            instead: None,
            graph: graph.directory().to_owned(),
        });
    }
    let options = &options.with_result_in_memory();
    let Components { roots, statistics } = run_short(graph, wanted, options)?;
    Ok(Components { roots: roots.into_vec()?.into_iter().map(ShortId).collect(), statistics })
}

/// Finds the components of a graph with short ids. Propagation keeps its roots on disk where they
/// do not fit in memory.
fn run_short(
    graph: &Graph,
    wanted: Method,
    options: &RunOptions<'_>,
) -> Result<Components<States<u32>>> {
    match wanted {
        Method::UnionFind => match unite(graph, options) {
            // Other jobs may hold the memory that the whole budget would have.
            Err(Error::Run(tegula_engine::Error::Machine(MachineError::OverBudget { .. })))
                if options.scheduler.is_some() && options.arrays == Arrays::Auto =>
            {
                propagate(graph, options)
            }
            found => found,
        },
        Method::Propagation => propagate(graph, options),
        Method::Traversal => {
            let Components { roots, statistics } = traversal::run(graph, options)?;
            Ok(Components { roots: ids(roots).into(), statistics })
        }
    }
}

/// Finds the components by union-find.
fn unite(graph: &Graph, options: &RunOptions<'_>) -> Result<Components<States<u32>>> {
    let count = graph.short_vertex_count()?;
    let edges = || UnsettledEdges::new(DisjointSets::new(count), |_, _| ());
    let (edges, statistics) = visit_edges_with(graph, edges, size(graph), options)?;
    Ok(Components { roots: ids(edges.into_sets().into_roots()).into(), statistics })
}

/// Returns roots as numbers, in the same allocation.
fn ids(roots: Vec<ShortId>) -> Vec<u32> {
    roots.into_iter().map(|root| root.0).collect()
}

/// Propagates labels, on disk where they do not fit in memory.
fn propagate<N: VertexNumber + Number>(
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<Components<States<N>>> {
    let outcome = Redirection::MIRRORED.run(graph, SmallestId::<N>::default(), options)?;
    Ok(Components { roots: outcome.states, statistics: outcome.statistics })
}

/// Names the components, for a table.
fn named<N: VertexNumber + Number>(
    graph: &Graph,
    found: Components<States<N>>,
    options: &RunOptions<'_>,
) -> Result<Found> {
    // Names need memory of their own, and no tiles.
    graph.reader().pool().trim();
    let names = by_smallest(graph, found.roots, &options.cancel)?;
    let figures = NoFigures {};
    let components = Groups { called: COMPONENTS, names, figures, memory: options.memory };
    Ok(Found::new(components, found.statistics))
}

/// Memory that a run by traversal needs.
pub fn estimate_traversal(graph: &Graph) -> Estimate {
    estimate_rows(graph, RowsWanted::forward(false), traversal::size(graph))
}

/// Memory that a run by union-find needs, without the names of the components.
pub(crate) fn estimate_union_find(graph: &Graph, threads: usize) -> Estimate {
    let estimate = tegula_engine::estimate::<SmallestId>(graph, threads);
    Estimate { vertex_bytes: size(graph), ..estimate }
}

/// Memory that a run by propagation needs.
fn estimate_propagation(graph: &Graph, threads: usize) -> Estimate {
    match graph.has_short_ids() {
        true => Redirection::MIRRORED.estimate::<SmallestId>(graph, threads),
        false => Redirection::MIRRORED.estimate::<SmallestId<u64>>(graph, threads),
    }
}

/// Bytes that the union-find holds.
pub fn size(graph: &Graph) -> u64 {
    UnsettledEdges::<fn(ShortId, ShortId)>::size(graph.vertex_count())
}

impl Algorithm for WccOptions {
    const NAME: &'static str = "wcc";
    const DESCRIPTION: Description = Description {
        family: Family::Components,
        summary: "Weakly connected components: the smallest vertex in the component of each",
        columns: &[
            Column::VERTEX,
            Column::id("component", "the vertex of its component with the smallest id"),
        ],
        memory: "4 bytes a vertex; less with labels on disk",
        source: Some(
            "Patwary, Refsnes, Manne, Multi-core Spanning Forest Algorithms using the Disjoint-set \
                Data Structure, IPDPS 2012",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    const ABILITIES: Abilities<Self> = Abilities::NONE.has_smaller_run();
    type Files = ();

    fn check(&self) -> Result<()> {
        if self.max_iterations.is_some() && self.method != Method::Propagation {
            return Err(Error::IdleOption {
                option: "max_iterations",
                of: method(&["propagation"]),
            });
        }
        Ok(())
    }

    fn iterations(&self) -> Iterations {
        self.max_iterations.map_or(Iterations::Unknown, Iterations::AtMost)
    }

    fn edges(&self) -> Edges {
        match self.method {
            Method::UnionFind => Edges::Tiles {
                why: "union-find looks at each edge once",
                instead: Some(Setting {
                    option: "method",
                    value: SettingValue::OneOf(&["propagation", "traversal"]),
                }),
            },
            Method::Propagation => {
                let rows_size = tegula_engine::rows_size::<SmallestId>;
                Edges::Either { directions: Directions::Forward, rows_size }
            }
            Method::Traversal => Edges::Rows(Directions::Forward),
        }
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let estimate = match self.method_on(graph) {
            Method::UnionFind => Estimate {
                vertex_bytes: size(graph) + by_smallest_size(graph),
                on_disk: estimate_propagation(graph, threads).on_disk,
                ..estimate_union_find(graph, threads)
            },
            Method::Propagation if self.max_iterations.is_some() => {
                within_hops::estimate(graph, threads)?
            }
            // Its messages take more memory than the names, and are freed before components are
            // named.
            Method::Propagation => estimate_propagation(graph, threads),
            // Its queue takes more memory than the names, and is freed before components are named.
            Method::Traversal => estimate_traversal(graph),
        };
        with_order_streamed(estimate, graph)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        check(graph, self.method)?;
        if self.max_iterations.is_some() { within_hops::check(graph) } else { Ok(()) }
    }

    fn check_rows(&self, graph: &Graph) -> Result<()> {
        match self.method {
            Method::Propagation => {
                let instead = method(&["union-find"]);
                check_both_directions(graph, "propagation along rows", Some(instead))
            }
            Method::UnionFind | Method::Traversal => Ok(()),
        }
    }

    fn checkpointing(&self) -> Checkpointing {
        match self.method {
            Method::Propagation => Checkpointing::of::<SmallestId>(),
            Method::UnionFind => Checkpointing::Refused { why: "it looks at each edge once" },
            Method::Traversal => Checkpointing::Refused { why: "its queue is not kept" },
        }
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        Ok(match self.method_on(graph) {
            Method::UnionFind => Work::of_rounds(Self::NAME, graph, Algorithm::iterations(self)),
            Method::Propagation => self.work_of_propagation(graph),
            Method::Traversal => {
                let kind = "wcc, traversal";
                Work::of_rounds(kind, graph, Algorithm::iterations(self)).by_one_thread()
            }
        })
    }

    fn work_on_disk(&self, graph: &Graph) -> Result<Option<Work>> {
        let is_other = self.method_on(graph) == Method::UnionFind;
        Ok(is_other.then(|| self.work_of_propagation(graph)))
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        self.check_input(graph)?;
        match (self.method_within(graph, options)?, self.max_iterations) {
            (Method::Propagation, Some(most)) => match graph.has_short_ids() {
                true => within_hops::run::<u32>(graph, most, options),
                false => within_hops::run::<u64>(graph, most, options),
            },
            (Method::Propagation, None) if !graph.has_short_ids() => {
                named(graph, propagate::<u64>(graph, options)?, options)
            }
            (method, _) => named(graph, run_short(graph, method, options)?, options),
        }
    }
}

impl WccOptions {
    /// Returns the method for a graph. Ranks cannot share a union-find. Labels that are propagated
    /// give the same answer.
    fn method_on(&self, graph: &Graph) -> Method {
        let is_shared = graph.is_for_ranks() && self.method == Method::UnionFind;
        if is_shared { Method::Propagation } else { self.method }
    }

    /// Returns the method for a graph and the budget of a run, as the estimate says.
    fn method_within(&self, graph: &Graph, options: &RunOptions<'_>) -> Result<Method> {
        let method = self.method_on(graph);
        if method != Method::UnionFind {
            return Ok(method);
        }
        let is_on_disk = match options.arrays {
            Arrays::InMemory => false,
            Arrays::OnDisk => true,
            Arrays::Auto => {
                let estimate = self.estimate(graph, &(), options.threads)?;
                estimate.plan_on_disk(options.budget()).is_some()
            }
        };
        Ok(if is_on_disk { Method::Propagation } else { Method::UnionFind })
    }

    fn work_of_propagation(&self, graph: &Graph) -> Work {
        let work = Work::of_rounds("wcc, propagation", graph, Algorithm::iterations(self));
        if Redirection::MIRRORED.is_needed(graph) { work.on_both_directions(graph) } else { work }
    }
}

impl HasSmallerRun for WccOptions {
    fn less_memory(&self, graph: &Graph, files: &(), threads: usize) -> Result<Option<LessMemory>> {
        if self.method != Method::Traversal {
            return Ok(None);
        }
        let propagation = WccOptions { method: Method::Propagation, max_iterations: None };
        let needed = propagation.estimate(graph, files, threads)?.needed();
        let hint = Hint::set([method(&["propagation"])]);
        Ok(Some(LessMemory { needed, hint }))
    }
}
