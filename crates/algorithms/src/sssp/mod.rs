//! Shortest paths from one source: the smallest sum of weights along a path to each vertex.
//!
//! `distance[v] = min over edges (u, v) of distance[u] + weight(u, v)`, and 0 at the source. Two methods give
//! the same bits:
//!
//! * **delta-stepping** (the default): each vertex whose distance has become smaller sends it along its
//!   edges, plus the weight of the edge; each target keeps the smallest that it is sent. Distances are cut
//!   into buckets of width delta, and while rows are sought the vertices of the nearest bucket come first
//!   (Meyer, Sanders, *Journal of Algorithms* 2003). A scan of tiles takes all of them at once
//!   (Bellman-Ford). It ends when no distance changes. Any number of threads. Memory: 16 bytes a vertex,
//!   up to 12 more with rows.
//! * **Dijkstra** (*Numerische Mathematik* 1959) visits the vertices by ascending distance, each once, from a
//!   heap whose top tells which rows to read ahead. It needs rows, looks at every edge once, and is for
//!   graphs on which little happens at a time, by one thread. Memory: 33 bytes a vertex, and the index of
//!   the rows.
//!
//! Distances are sums of `f64`, added from the source onwards. Adding is monotone, so the smallest one
//! does not depend on the order of the work: every method, executor, number of threads and delta finds the
//! same bits. The definition is that of LDBC Graphalytics.

mod delta_stepping;
mod dijkstra;

use tegula_engine::traverse::estimate_rows;
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics, VertexId};

use crate::error::Result;

pub use delta_stepping::Sssp;

/// How distances are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// By buckets, all vertices of one together.
    #[default]
    DeltaStepping,
    /// Vertex by vertex, in a graph with rows.
    Dijkstra,
}

/// What a search may choose.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SsspConfig {
    /// How distances are found.
    pub method: Method,
    /// Width of a bucket of delta-stepping, above 0; by default it follows from the weights and degrees of
    /// the graph. No distance depends on it.
    pub delta: Option<f64>,
}

/// The distances from a source.
#[derive(Debug, Clone)]
pub struct Distances {
    /// For each dense id the sum of weights; infinite where there is no path.
    pub distances: Vec<f64>,
    /// The width of the buckets, where there were any.
    pub delta: Option<f64>,
    /// What the run did.
    pub statistics: RunStatistics,
}

/// Finds the distance of every vertex from a source. In an unweighted graph every edge has weight 1.
///
/// # Errors
/// Those of [`tegula_engine::run`], or for Dijkstra those of
/// [`traverse::run`](tegula_engine::traverse::run) and of reading;
/// [`Error::NegativeWeight`](crate::Error::NegativeWeight) when an edge that was followed has a weight
/// below 0, or none that is a number.
pub fn run(
    graph: &Graph,
    source: VertexId,
    config: SsspConfig,
    options: &RunOptions<'_>,
) -> Result<Distances> {
    match config.method {
        Method::DeltaStepping => delta_stepping::run(graph, source, config.delta, options),
        Method::Dijkstra => dijkstra::run(graph, source, options),
    }
}

/// What a run by Dijkstra's algorithm needs of memory.
pub fn estimate_dijkstra(graph: &Graph) -> Estimate {
    estimate_rows(graph, graph.is_weighted(), dijkstra::size(graph))
}
