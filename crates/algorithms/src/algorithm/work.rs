//! The work of a run and the time that it takes, for the estimate before the run.
//!
//! The time of a run is modelled as linear in its visits to edges and vertices and in its rounds.
//! An algorithm counts these from its options ([`Work`]); a [`Rate`] says what each of them costs.
//! A visit to an edge costs more if edges take more bytes in the tiles: such edges have ends far
//! from each other, so caches miss more often. `cargo xtask fit-rates` fits the rates to runs on
//! graphs of several kinds and sizes, and writes `rates.json`.
//!
//! Where rounds go on until nothing changes, the estimate takes their number from the fitted runs.
//! It also takes from them the share of the edges that a search visits, and the shares of its
//! arrays and its layout that a run uses.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tegula_engine::Graph;

use crate::error::Result;

/// The work of writing a graph.
pub(super) const WRITING_GRAPH: &str = "writing a graph";

/// Bytes that are read and written for each edge of a graph that is built first from pairs of ids:
/// half of a pair is written and read twice, and a pair of dense ids is written and read.
const BUILDING_BYTES: f64 = 28.0;

/// What is known about the number of iterations before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Iterations {
    /// Nothing.
    Unknown,
    /// They end when little changes, or after this number.
    AtMost(u64),
    /// There are exactly this many, or fewer if nothing changes any more.
    Exactly(u64),
}

impl Iterations {
    /// Returns the iterations of a run that ends when the change is within a tolerance, or after
    /// `most`. With a tolerance of 0, it ends early only if nothing changes at all.
    pub fn until(tolerance: f64, most: u64) -> Iterations {
        if tolerance == 0.0 { Iterations::Exactly(most) } else { Iterations::AtMost(most) }
    }

    /// Returns their number, where it is known.
    pub fn known(self) -> Option<u64> {
        match self {
            Iterations::Exactly(count) => Some(count),
            Iterations::Unknown | Iterations::AtMost(_) => None,
        }
    }
}

/// The visits of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Selects the rate: the name of the algorithm, and an option where that changes the rate.
    pub kind: &'static str,
    /// Passes over the graph.
    pub rounds: f64,
    /// Visits to edges.
    pub edges: f64,
    /// Visits to vertices.
    pub vertices: f64,
    /// The most threads that can share it.
    pub threads_max: usize,
    /// Edges of a graph that is built from the tiles before the first round. The rounds go through
    /// that graph.
    pub built_edges: f64,
}

impl Work {
    /// Returns the work of visiting all vertices and edges in each of these rounds. If their number
    /// is unknown, the fitted runs give it.
    pub fn of_rounds(kind: &'static str, graph: &Graph, rounds: Iterations) -> Work {
        let usual = Rate::of(kind).map_or(1.0, |rate| rate.rounds);
        let rounds = match rounds {
            Iterations::Unknown => usual,
            Iterations::AtMost(most) => usual.min(most as f64),
            Iterations::Exactly(count) => count as f64,
        };
        Work::of(kind, graph, rounds)
    }

    /// Returns the work of visiting all vertices and edges `rounds` times.
    pub fn of(kind: &'static str, graph: &Graph, rounds: f64) -> Work {
        let (edges, vertices) = (graph.edge_count() as f64, graph.vertex_count() as f64);
        Work::of_visits(kind, rounds, rounds * edges, rounds * vertices)
    }

    /// Returns the work of these visits in `rounds` rounds.
    pub fn of_visits(kind: &'static str, rounds: f64, edges: f64, vertices: f64) -> Work {
        Work { kind, rounds, edges, vertices, threads_max: usize::MAX, built_edges: 0.0 }
    }

    /// Returns the same work for one thread, however many there are.
    #[must_use]
    pub fn by_one_thread(self) -> Work {
        Work { threads_max: 1, ..self }
    }

    /// Returns the same work, after a graph of `arcs` edges was built.
    #[must_use]
    pub fn on_redirected(self, arcs: u64) -> Work {
        Work { built_edges: arcs as f64, ..self }
    }

    /// Returns the same work on a graph that is built first, with both directions of every edge.
    #[must_use]
    pub fn on_both_directions(self, graph: &Graph) -> Work {
        Work { edges: 2.0 * self.edges, ..self.on_redirected(2 * graph.edge_count()) }
    }

    /// Returns how many of `threads` threads share it.
    pub fn threads(&self, threads: usize) -> usize {
        threads.min(self.threads_max).max(1)
    }

    /// Returns the seconds for `threads` workers on a graph in memory, whose edges take
    /// [`edge_bytes`] each, with the graph that is built first; `None` for an unknown kind.
    pub fn seconds(&self, edge_bytes: f64, threads: usize) -> Option<f64> {
        let rate = Rate::of(self.kind)?;
        let built = match self.built_edges > 0.0 {
            true => self.built_edges * Rate::of(WRITING_GRAPH)?.of_edge(edge_bytes),
            false => 0.0,
        };
        let alone = built
            + self.edges * rate.of_edge(edge_bytes)
            + self.vertices * rate.vertex_seconds
            + self.rounds * rate.round_seconds;
        Some(alone / self.threads(threads) as f64)
    }

    /// Returns the bytes in memory at the peak beside those at the start of the run, if there is
    /// room for all. `arrays` and `layout` are sizes in bytes; `has_rows` says that the run might
    /// open rows beside tiles.
    pub fn bytes_held(&self, arrays: u64, layout: u64, has_rows: bool) -> f64 {
        let (arrays, layout) = (arrays as f64, layout as f64);
        Rate::of(self.kind).map_or(arrays + layout, |rate| {
            // Without rows nothing is read beside the layout.
            let layout_held = if has_rows { rate.layout_held } else { rate.layout_held.min(1.0) };
            rate.fixed_bytes + arrays * rate.arrays_held + layout * layout_held
        })
    }

    /// Returns the bytes that its rounds go through, where a layout takes `layout_bytes`.
    pub fn streamed_bytes(&self, layout_bytes: u64) -> u64 {
        if self.built_edges > 0.0 { 2 * layout_bytes } else { layout_bytes }
    }

    /// Returns the bytes of a layout that it reads, where memory holds `held_bytes` of what its
    /// rounds go through. Includes the bytes that are moved to build a graph first.
    pub fn bytes_moved(&self, layout_bytes: u64, held_bytes: u64) -> f64 {
        let building = match self.built_edges > 0.0 {
            true => layout_bytes as f64 + BUILDING_BYTES * self.built_edges,
            false => 0.0,
        };
        building + self.bytes_read(self.streamed_bytes(layout_bytes), held_bytes)
    }

    fn bytes_read(&self, layout_bytes: u64, held_bytes: u64) -> f64 {
        let missing = layout_bytes.saturating_sub(held_bytes) as f64;
        // The first pass finds nothing in memory, so the bytes that memory holds are read once.
        let passes = self.rounds * Rate::of(self.kind).map_or(1.0, |rate| rate.passes);
        layout_bytes as f64 * passes.min(1.0) + missing * (passes - 1.0).max(0.0)
    }
}

/// Sums `of` over the degrees of all vertices. A degree counts edges out of a vertex and into it.
pub(crate) fn degree_sum(graph: &Graph, of: impl Fn(f64) -> f64) -> Result<f64> {
    let mut sum = 0.0;
    let is_undirected = graph.manifest().undirected;
    graph.for_each_degrees(|_, out, into| {
        // In an undirected graph, both degrees count the same edges.
        let degrees = out.iter().zip(into).map(|(&out, &into)| match is_undirected {
            true => f64::from(out),
            false => f64::from(out) + f64::from(into),
        });
        sum += degrees.map(&of).sum::<f64>();
        Ok(())
    })?;
    Ok(sum)
}

/// Returns the bytes that an edge takes in the tiles, on average, without weights.
pub fn edge_bytes(graph: &Graph) -> f64 {
    graph.tile_bytes() as f64 / graph.edge_count().max(1) as f64
}

/// What a visit costs one worker, and the shares of arrays and layout that a run uses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The kind of [`Work`].
    pub kind: String,
    /// Seconds for an edge, however near its ends are.
    pub edge_seconds: f64,
    /// Further seconds for an edge, per byte that [it takes](edge_bytes).
    pub byte_seconds: f64,
    /// Seconds for a vertex.
    pub vertex_seconds: f64,
    /// Seconds for a round, on any graph.
    pub round_seconds: f64,
    /// Rounds on the fitted graphs, for runs that do not know their number.
    pub rounds: f64,
    /// Passes over the edges in a round, where memory holds few edges.
    pub passes: f64,
    /// Bytes in memory at the peak on any graph, such as code that is mapped when it runs.
    pub fixed_bytes: f64,
    /// Share of the arrays in memory at the peak, if there is room for all.
    pub arrays_held: f64,
    /// The same share of the layout. It includes a layout that is read beside that of the estimate.
    pub layout_held: f64,
}

/// All fitted rates.
static RATES: LazyLock<Vec<Rate>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("rates.json"))
        .expect("a file of this crate, which tests read")
});

impl Rate {
    /// Returns the seconds for an edge that takes [`edge_bytes`].
    fn of_edge(&self, edge_bytes: f64) -> f64 {
        self.edge_seconds + edge_bytes * self.byte_seconds
    }

    /// Returns the rate of a kind of work.
    pub fn of(kind: &str) -> Option<&'static Rate> {
        RATES.iter().find(|rate| rate.kind == kind)
    }
}
