//! How large a chunk of rows becomes.

use super::index::CHUNK_EDGES_MAX;
use crate::graph::Graph;
use crate::tiles::WINDOW_LOG2;

/// How large chunks become. A graph has its rows cut in [one way](ChunkCut::STANDARD); another one is for tests, whose
/// graphs are small. Readers take any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkCut {
    /// A chunk of more edges is cut further.
    pub edges_max: u64,
    /// log2 of the targets between which a row may be cut: a piece begins at a multiple.
    pub window_log2: u32,
}

impl ChunkCut {
    /// Up to 2^20 edges, and windows of 2^16 targets: there are 2^16 at the most, and where no edge stands more than
    /// once, none has more edges than a chunk may have.
    pub const STANDARD: ChunkCut =
        ChunkCut { edges_max: CHUNK_EDGES_MAX, window_log2: WINDOW_LOG2 };

    /// Windows of so many vertices.
    pub(super) fn windows(self, vertex_count: u32) -> usize {
        (vertex_count as usize).div_ceil(1 << self.window_log2)
    }

    /// Bounds the edges of one row that are in memory together, of rows of up to `degree_max` edges: only where an
    /// edge stands many times does a window have more than a chunk may have.
    pub(super) fn row_max(self, graph: &Graph, degree_max: u64) -> u64 {
        let window = (1 << self.window_log2) + graph.manifest().duplicates;
        degree_max.min(self.edges_max.max(window))
    }
}
