//! What a program needs if it runs on a graph that is built first, from the edges of another one in
//! the other direction or in both.
//!
//! The vertices and the grid are known, but not the tiles. So an estimate takes the most that any
//! such tiles need of memory. The size of the tiles on disk is what they are expected to take.

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

/// A graph that is built from the edges of another one.
#[derive(Debug, Clone, Copy)]
pub struct Redirected {
    /// The most edges that it stores.
    pub arcs: u64,
    /// The least bytes of memory to build it, beside the [overhead](overhead()).
    pub building_min: u64,
    /// Bytes on disk while it is built, beside itself.
    pub building_files: u64,
}

/// Estimates what a program needs if it runs on a graph that is built first from the edges of this
/// one. As with [`run_anywhere`](crate::run_anywhere), the arrays may lie on disk.
pub fn estimate_redirected<P: Program>(
    graph: &Graph,
    threads: usize,
    wanted: Redirected,
) -> Estimate {
    let Redirected { arcs, building_min, building_files } = wanted;
    let batches = BatchSizes::at_most::<P>(graph, arcs);
    let beside = stream_size_max(arcs, threads) + tables_size_max(graph, &batches, arcs);
    let lists = CellLists::of(graph, size_of::<Message<P>>(), Messages::Reread);
    let in_memory = arrays_size_of::<P>(graph, &batches, threads) + beside;
    let tiles = tiles_size_expected(graph, arcs);
    let built = BuiltFiles {
        kept: tiles + DEGREE_BYTES * graph.vertex_count(),
        while_building: tiles + building_files,
    };
    let arrays = ArraysOnDisk::with::<P>(graph, batches, lists, threads).with_bytes(beside);
    // Building ends before there are arrays, so only what it needs beyond them is added.
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

/// Returns the bytes that the tiles of `arcs` edges are expected to take: a quarter more for an
/// edge than the tiles of the graph take, since edges lie less close to each other when they are
/// turned.
pub fn tiles_size_expected(graph: &Graph, arcs: u64) -> u64 {
    // A shard has its share of the tiles.
    let share = arcs as f64 / graph.edge_count().max(1) as f64;
    (share * graph.tile_bytes() as f64 * 1.25) as u64
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
