//! The memory that a build takes.

use crate::graph::{Graph, PASS_READ_SIZE, PASS_READS_AHEAD};
use crate::rows::encoding::RowEncoder;
use crate::rows::index::{CHUNK_EDGES_MAX, CHUNK_LOG2_MAX};
use crate::rows::opened::Rows;

/// Bytes of the frames of a worker, in flight and in use.
pub(super) const FRAMES_SIZE: u64 = PASS_READS_AHEAD as u64 * 2 * PASS_READ_SIZE;

/// Bytes that a build holds throughout: degrees, the table of tiles, the index.
pub(super) fn held_size(graph: &Graph) -> u64 {
    let degrees = 4 * graph.vertex_count();
    degrees + size_of_val(graph.tiles()) as u64 + Rows::size_expected(graph)
}

/// Bytes of a worker for a group with `edges` edges and `sources` sources, of which no row has more
/// than `row_max` edges.
pub(super) fn group_size<W>(edges: u64, sources: u64, row_max: u64) -> u64 {
    // Edges in place; then weights and bits once more while they are encoded.
    let edge_size = (size_of::<(u32, W)>() + size_of::<W>() + 2) as u64;
    // Sorting a row, or buffering its codes, takes up to 12 bytes an edge.
    let row_size = row_max * 12;
    // Chunks are encoded one by one.
    let chunk_edges = edges.min(CHUNK_EDGES_MAX.max(row_max));
    let encoder_size = RowEncoder::size_max(chunk_edges, sources.min(1 << CHUNK_LOG2_MAX));
    edges * edge_size + row_size + encoder_size + sources * 28 + FRAMES_SIZE
}
