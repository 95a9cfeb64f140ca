//! The options of building rows.

use super::size::{group_size, held_size};
use crate::Result;
use crate::graph::Graph;
use crate::rows::cut::ChunkCut;
use crate::rows::direction::Direction;
use crate::rows::encoding::RowEncoding;
use crate::rows::index::CHUNK_LOG2_MAX;

/// The options of building rows.
#[derive(Debug, Clone, Copy)]
pub struct RowsConfig {
    /// The end of an edge whose row has it.
    pub direction: Direction,
    /// The encoding of neighbours.
    pub encoding: RowEncoding,
    /// Bytes that the build may take, including the table of tiles and buffers for tiles.
    pub memory: u64,
    /// Greatest number of workers. Fewer run if the memory does not hold the largest chunk for
    /// each.
    pub threads: usize,
    /// Limits of chunks.
    pub cut: ChunkCut,
}

impl RowsConfig {
    /// Bytes of [`memory`](Self::memory) that suffice for this graph. Streams the degrees.
    pub fn memory_min(graph: &Graph, direction: Direction) -> Result<u64> {
        let degree_max = u64::from(graph.degree_max(direction)?);
        let cut = ChunkCut::STANDARD;
        let row_max = cut.row_max(graph, degree_max);
        let edges = row_max.max(cut.edges_max.min(graph.edge_count()));
        let sources = graph.vertex_count().min(1 << CHUNK_LOG2_MAX);
        let size = if graph.is_weighted() { group_size::<f32> } else { group_size::<()> };
        Ok(held_size(graph) + size(edges, sources, row_max))
    }
}

/// The name of the task in messages.
pub(super) fn task(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "building rows",
        Direction::Reverse => "building reverse rows",
    }
}
