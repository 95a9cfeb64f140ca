//! How large a chunk of rows becomes.

use super::index::CHUNK_EDGES_MAX;
use crate::graph::Graph;
use crate::tiles::WINDOW_LOG2;

/// Limits of chunks. Graphs use [`ChunkCut::STANDARD`]; tests use smaller limits for their small
/// graphs. Readers accept any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkCut {
    /// A chunk of more edges is cut further.
    pub edges_max: u64,
    /// log2 of a window of targets. A row is cut only between windows.
    pub window_log2: u32,
}

impl ChunkCut {
    /// Up to 2^20 edges, and windows of 2^16 targets. A row has at most 2^16 windows. Without
    /// repeated edges, no window has more edges than a chunk may have.
    pub const STANDARD: ChunkCut =
        ChunkCut { edges_max: CHUNK_EDGES_MAX, window_log2: WINDOW_LOG2 };

    /// Number of windows of `vertex_count` vertices.
    pub(super) fn windows(self, vertex_count: u32) -> usize {
        (vertex_count as usize).div_ceil(1 << self.window_log2)
    }

    /// Upper bound for the edges of one row that are in memory together, in rows of up to
    /// `degree_max` edges. Only repeated edges give a window more than a chunk may have.
    pub(super) fn row_max(self, graph: &Graph, degree_max: u64) -> u64 {
        let window = (1 << self.window_log2) + graph.manifest().duplicates;
        degree_max.min(self.edges_max.max(window))
    }
}
