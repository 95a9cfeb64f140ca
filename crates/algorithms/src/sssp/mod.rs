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

mod answer;
mod delta_stepping;
mod dijkstra;

use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics, States, VertexId};

use crate::algorithm::{Algorithm, Checkpointing, Edges, Found, Positive, Weights};
use crate::answer::Values;
use crate::error::{Error, Result, Setting, SettingValue};
use crate::original_ids::find_vertex;

use answer::FoundDistances;
pub use delta_stepping::Sssp;

/// Options of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SsspOptions {
    /// The vertex to start from, as the edge list names it.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    pub source: String,
    /// How distances are found. They do not depend on it.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: Method,
    /// Width of the buckets of delta-stepping, of which the nearest is worked on first [default: from the
    /// weights, degrees and memory]. Distances do not depend on it.
    #[cfg_attr(feature = "clap", arg(long, value_name = "WIDTH"))]
    pub delta: Option<Positive>,
}

/// How distances are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Method {
    /// By buckets, all vertices of one together, with all threads.
    #[default]
    DeltaStepping,
    /// Vertex by vertex along rows, each once, with one thread.
    Dijkstra,
}

/// What a search may choose.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SsspConfig {
    /// How distances are found.
    pub method: Method,
    /// Width of a bucket of delta-stepping, above 0; by default it follows from the weights and degrees of
    /// the graph, and from whether its rows stay in memory. No distance depends on it.
    pub delta: Option<f64>,
}

/// The distances from a source.
#[derive(Debug, Clone)]
pub struct Distances<D = Vec<f64>> {
    /// For each dense id the sum of weights; infinite where there is no path.
    pub distances: D,
    /// The width of the buckets, where there were any.
    pub delta: Option<f64>,
    /// What the run did.
    pub statistics: RunStatistics,
}

/// Finds the distance of every vertex from a source, in memory. In an unweighted graph every edge has weight 1.
///
/// # Errors
/// Those of [`tegula_engine::run`], or for Dijkstra those of
/// [`traverse::run`](tegula_engine::traverse::run) and of reading;
/// [`Error::NegativeWeight`] when an edge that was followed has a weight
/// below 0, or none that is a number.
pub fn run(
    graph: &Graph,
    source: VertexId,
    config: SsspConfig,
    options: &RunOptions<'_>,
) -> Result<Distances> {
    let options = &options.with_result_in_memory();
    let Distances { distances, delta, statistics } = run_anywhere(graph, source, config, options)?;
    Ok(Distances { distances: distances.into_vec()?, delta, statistics })
}

/// The same, with the distances on disk where memory has no room for them.
fn run_anywhere(
    graph: &Graph,
    source: VertexId,
    config: SsspConfig,
    options: &RunOptions<'_>,
) -> Result<Distances<States<f64>>> {
    match config.method {
        Method::DeltaStepping => delta_stepping::run(graph, source, config.delta, options),
        Method::Dijkstra => {
            let found = dijkstra::run(graph, source, options)?;
            let distances = States::from(found.distances);
            Ok(Distances { distances, delta: found.delta, statistics: found.statistics })
        }
    }
}

/// What a run by Dijkstra's algorithm needs of memory.
pub fn estimate_dijkstra(graph: &Graph) -> Estimate {
    estimate_rows(graph, RowsWanted::forward(graph.is_weighted()), dijkstra::size(graph))
}

impl Algorithm for SsspOptions {
    const NAME: &'static str = "sssp";
    const SUMMARY: &'static str = "Shortest paths: the smallest sum of weights from a source to each vertex. \
                                   Without weights every edge counts 1";
    const WEIGHTS: Weights = Weights::Used;
    type Files = ();

    fn check(&self) -> Result<()> {
        if self.method == Method::Dijkstra && self.delta.is_some() {
            let of = Setting { option: "method", value: SettingValue::OneOf(&["delta-stepping"]) };
            return Err(Error::IdleOption { option: "delta", of });
        }
        Ok(())
    }

    fn edges(&self) -> Edges {
        match self.method {
            Method::DeltaStepping => Edges::Either { rows_size: tegula_engine::rows_size::<Sssp> },
            Method::Dijkstra => Edges::Rows(Directions::Forward),
        }
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        find_vertex(graph, &self.source).map(drop)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        match self.method {
            Method::DeltaStepping => Ok(tegula_engine::estimate_anywhere::<Sssp>(graph, threads)),
            Method::Dijkstra => Ok(estimate_dijkstra(graph)),
        }
    }

    fn checkpointing(&self) -> Checkpointing {
        match self.method {
            Method::DeltaStepping => Checkpointing::of::<Sssp>(),
            Method::Dijkstra => Checkpointing::Refused { why: "its queue is not kept" },
        }
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let source = find_vertex(graph, &self.source)?;
        let config = SsspConfig { method: self.method, delta: self.delta.map(Positive::get) };
        let found = run_anywhere(graph, source, config, options)?;
        let distances = Values::of(found.distances, graph, &options.cancel)?;
        Ok(Found::new(FoundDistances { distances, delta: found.delta }, found.statistics))
    }
}
