//! How much a run does, and how long that takes: for its estimate, before it starts.
//!
//! The time of a run is taken to be linear in the visits to edges and vertices and in its rounds, which an algorithm
//! counts from its options ([`Work`]). What a visit costs is a [`Rate`]: that of an edge grows with the bytes that edges
//! take in the tiles, since these tell how far from each other the ends are, and so how often caches miss. Rates are
//! fitted to runs on graphs of several kinds and sizes by `cargo xtask fit-rates`, which writes `rates.json`. Where
//! rounds go on until nothing changes, their number is what it was on those graphs; so is what part of the edges they
//! visit, as in searches, and what part of its arrays and of its layout a run comes to use.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tegula_engine::Graph;

use super::interface::Iterations;
use crate::error::Result;

/// Visits of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// By which rate it goes: the name of the algorithm, with an option that makes another one of it.
    pub kind: &'static str,
    /// Times that it goes through the graph.
    pub rounds: f64,
    /// Visits to edges.
    pub edges: f64,
    /// Visits to vertices.
    pub vertices: f64,
    /// Threads that can share it.
    pub threads_max: usize,
}

impl Work {
    /// That of visiting all vertices and edges as often as is told, or as usual graphs take.
    pub fn of_rounds(kind: &'static str, graph: &Graph, rounds: Iterations) -> Work {
        let usual = Rate::of(kind).map_or(1.0, |rate| rate.rounds);
        let rounds = match rounds {
            Iterations::Unknown => usual,
            Iterations::AtMost(most) => usual.min(most as f64),
            Iterations::Exactly(count) => count as f64,
        };
        Work::of(kind, graph, rounds)
    }

    /// That of visiting all vertices and edges so many times.
    pub fn of(kind: &'static str, graph: &Graph, rounds: f64) -> Work {
        let (edges, vertices) = (graph.edge_count() as f64, graph.vertex_count() as f64);
        Work::of_visits(kind, rounds, rounds * edges, rounds * vertices)
    }

    /// That of so many visits, in so many rounds.
    pub fn of_visits(kind: &'static str, rounds: f64, edges: f64, vertices: f64) -> Work {
        Work { kind, rounds, edges, vertices, threads_max: usize::MAX }
    }

    /// The same done by one thread, whatever others there are.
    #[must_use]
    pub fn by_one_thread(self) -> Work {
        Work { threads_max: 1, ..self }
    }

    /// How many of some threads share it.
    pub fn threads(&self, threads: usize) -> usize {
        threads.min(self.threads_max).max(1)
    }

    /// Seconds that `threads` workers need for it on a graph whose edges take [so many bytes](edge_bytes), all in memory;
    /// none where nothing is known of its kind.
    pub fn seconds(&self, edge_bytes: f64, threads: usize) -> Option<f64> {
        let rate = Rate::of(self.kind)?;
        let of_edge = rate.edge_seconds + edge_bytes * rate.byte_seconds;
        let alone = self.edges * of_edge
            + self.vertices * rate.vertex_seconds
            + self.rounds * rate.round_seconds;
        Some(alone / self.threads(threads) as f64)
    }

    /// Bytes that are in memory at the peak beside what was there when the run began, of arrays and a layout of so many
    /// bytes, where there is room for all. `has_rows` where the run might open rows beside tiles.
    pub fn bytes_held(&self, arrays: u64, layout: u64, has_rows: bool) -> f64 {
        let (arrays, layout) = (arrays as f64, layout as f64);
        Rate::of(self.kind).map_or(arrays + layout, |rate| {
            // Without rows nothing is read beside the layout.
            let layout_held = if has_rows { rate.layout_held } else { rate.layout_held.min(1.0) };
            rate.fixed_bytes + arrays * rate.arrays_held + layout * layout_held
        })
    }

    /// Bytes of a layout that it reads where memory holds a part of it.
    pub fn bytes_read(&self, layout_bytes: u64, held_bytes: u64) -> f64 {
        let missing = layout_bytes.saturating_sub(held_bytes) as f64;
        let passes = self.rounds * Rate::of(self.kind).map_or(1.0, |rate| rate.passes);
        layout_bytes as f64 * passes.min(1.0) + missing * (passes - 1.0).max(0.0)
    }
}

/// What some function of their degrees, out of a vertex and into it, adds up to over all vertices.
///
/// # Errors
/// Those of reading.
pub(crate) fn degree_sum(graph: &Graph, of: impl Fn(f64) -> f64) -> Result<f64> {
    let mut sum = 0.0;
    let is_undirected = graph.manifest().undirected;
    graph.for_each_degrees(|_, out, into| {
        let degrees = out.iter().zip(into).map(|(&out, &into)| match is_undirected {
            true => f64::from(out),
            false => f64::from(out) + f64::from(into),
        });
        sum += degrees.map(&of).sum::<f64>();
        Ok(())
    })?;
    Ok(sum)
}

/// Bytes that an edge of a graph takes in its tiles, on average, without weights.
pub fn edge_bytes(graph: &Graph) -> f64 {
    graph.tile_bytes() as f64 / graph.edge_count().max(1) as f64
}

/// What a visit costs one worker, and how much of what there is comes to be used.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// The kind of [`Work`].
    pub kind: String,
    /// Of an edge, however near its ends are.
    pub edge_seconds: f64,
    /// What it costs more for each byte that [edges take](edge_bytes).
    pub byte_seconds: f64,
    /// Of a vertex.
    pub vertex_seconds: f64,
    /// Of a round, whatever the graph.
    pub round_seconds: f64,
    /// Rounds that usual graphs take, where that is not told.
    pub rounds: f64,
    /// Times that a round reads the edges, where memory holds few of them.
    pub passes: f64,
    /// Bytes that are in memory at the peak whatever the graph, as code is mapped when it runs.
    pub fixed_bytes: f64,
    /// Share of the arrays that is in memory at the peak, where there is room for all.
    pub arrays_held: f64,
    /// The same of the layout. One that is read beside that of the estimate is a share of it, too.
    pub layout_held: f64,
}

/// All that were fitted.
static RATES: LazyLock<Vec<Rate>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("rates.json"))
        .expect("a file of this crate, which tests read")
});

impl Rate {
    /// That of a kind of work.
    pub fn of(kind: &str) -> Option<&'static Rate> {
        RATES.iter().find(|rate| rate.kind == kind)
    }
}
