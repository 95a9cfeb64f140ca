//! What a program needs if it runs on a graph that is built first. That graph has both directions of
//! every edge of a directed one.
//!
//! The vertices and the grid are known, but not the tiles. So an estimate takes the most that any
//! such tiles need of memory. The size of the tiles on disk is what both directions are expected to
//! take.

use tegula_store::graph::Graph;

use super::arrays_on_disk::{ArraysOnDisk, BuiltFiles};
use super::batch_sizes::BatchSizes;
use super::estimate::Estimate;
use super::overhead::{batch_tables, overhead, tile_tables};
use super::program::{self, arrays_size_of};
use crate::external::wanted::CellLists;
use crate::options::Messages;
use crate::parts::GROUP_SIZE_TARGET;
use crate::program::{Message, Program};

/// The most bytes of a tile: it is closed after the strip with which it gets 256 KiB, and a strip
/// takes less than 512 KiB.
const TILE_SIZE_MAX: u64 = 768 << 10;
/// The most bytes of a tile on average, for each of its edges and for itself.
const EDGE_SIZE_MAX: u64 = 16;
const TILE_HEAD_SIZE_MAX: u64 = 16 << 10;
/// The encoder makes at most one tile for this number of edges, and one for each segment and
/// window: two regions of one window that follow each other have more edges than 2^13 each on
/// average, and a tile that is closed for its size has more than 2^15.
const TILE_EDGES_MIN: u64 = 1 << 12;

/// Bytes on disk of the degrees of a vertex.
const DEGREE_BYTES: u64 = 5;

/// Estimates what a program needs if its graph is built first, with both directions of the edges of
/// a directed graph. As with [`run_anywhere`](crate::run_anywhere), the arrays may lie on disk.
///
/// Building needs at least `building_min` bytes of memory beside the [overhead](overhead()), and
/// `building_files` bytes on disk beside the new graph.
pub fn estimate_both_directions<P: Program>(
    graph: &Graph,
    threads: usize,
    building_min: u64,
    building_files: u64,
) -> Estimate {
    let arcs = 2 * graph.edge_count();
    let batches = BatchSizes::at_most::<P>(graph, arcs);
    let beside = stream_size_max(arcs, threads) + tables_size_max(graph, &batches, arcs);
    let lists = CellLists::of(graph, size_of::<Message<P>>(), Messages::Reread);
    let in_memory = arrays_size_of::<P>(graph, &batches, threads) + beside;
    let tiles = tiles_size_expected(graph);
    let built = BuiltFiles {
        kept: tiles + DEGREE_BYTES * graph.vertex_count(),
        while_building: tiles + building_files,
    };
    let arrays = ArraysOnDisk::with::<P>(graph, batches, lists, threads).with_bytes(beside);
    let missing = building_min.saturating_sub(arrays.least().bytes);
    Estimate {
        vertex_bytes: in_memory.max(building_min),
        // The tiles of the directed graph are read while the other one is built.
        stream_bytes_min: program::estimate::<P>(graph, threads).stream_bytes_min,
        layout_bytes: graph.tile_bytes(),
        overhead_bytes: overhead(graph),
        message_bytes: size_of::<Message<P>>() as u64,
        on_disk: Some(arrays.with_bytes(missing).with_files(built)),
    }
}

/// Returns the bytes that the tiles of both directions are expected to take: twice those of one,
/// and a quarter for edges that lie less close to each other when they are turned.
fn tiles_size_expected(graph: &Graph) -> u64 {
    2 * graph.tile_bytes() / 4 * 5
}

/// Returns the most bytes without which tiles of `arcs` edges cannot be streamed.
fn stream_size_max(arcs: u64, threads: usize) -> u64 {
    let group = GROUP_SIZE_TARGET + TILE_SIZE_MAX;
    let group = group.min(TILE_HEAD_SIZE_MAX + EDGE_SIZE_MAX * arcs);
    // Frames have one of eight sizes per doubling.
    2 * threads as u64 * (group + group / 8)
}

/// Returns the most bytes of the tables of a graph with these batches and `arcs` edges.
fn tables_size_max(graph: &Graph, batches: &BatchSizes, arcs: u64) -> u64 {
    let segments = u64::from(graph.grid().segment_count(graph.vertex_count()));
    let runs = arcs.min(segments.saturating_mul(batches.count));
    let windows = arcs.min(segments.saturating_mul(batches.windows(graph)));
    tile_tables(windows + arcs / TILE_EDGES_MIN, runs)
        + batch_tables(batches.count, graph.vertex_count())
}
