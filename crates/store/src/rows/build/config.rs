//! How the layout is built, as the caller chooses.

use tegula_machine::Result;

use super::size::{group_size, held_size};
use crate::graph::Graph;
use crate::rows::cut::ChunkCut;
use crate::rows::direction::Direction;
use crate::rows::encoding::RowEncoding;
use crate::rows::index::CHUNK_LOG2_MAX;

/// How the layout is built.
#[derive(Debug, Clone, Copy)]
pub struct RowsConfig {
    /// Which end of an edge its row belongs to.
    pub direction: Direction,
    /// How neighbours are coded.
    pub encoding: RowEncoding,
    /// Bytes that the work may take, the table of tiles and what tiles are read into included.
    pub memory: u64,
    /// Workers at the most: fewer where the memory does not hold the largest piece for each.
    pub threads: usize,
    /// How rows are cut.
    pub cut: ChunkCut,
}

impl RowsConfig {
    /// Bytes of [`memory`](Self::memory) that always suffice for a graph. Streams the degrees.
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

/// What is done, in words.
pub(super) fn task(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "building rows",
        Direction::Reverse => "building reverse rows",
    }
}
