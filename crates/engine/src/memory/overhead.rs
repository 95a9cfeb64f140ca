//! Memory of a run beside arrays and tiles.

use std::sync::Arc;

use tegula_machine::disk::Lease;
use tegula_store::Result;
use tegula_store::graph::Graph;

/// Bytes of code in memory, with the pages that the system reads around it. With debug assertions
/// there is more code.
const CODE: u64 = if cfg!(debug_assertions) { 23 << 20 } else { 18 << 20 };

/// Bytes of the overhead that only the writing of a result needs. A run that gives its arrays back
/// before it writes may use these bytes until then.
pub const RESULT_OVERHEAD: u64 = 12 << 20;

/// Memory of a run apart from vertex arrays and frames: code, tables, stacks, a chunk of ids.
pub const RUN_OVERHEAD: u64 = CODE + RESULT_OVERHEAD;

/// Bytes of the overhead for frames that hold no tiles: blocks of ids and degrees, and rows
/// for which their cache has no room.
pub const BLOCK_FRAMES: u64 = 4 << 20;

/// Bytes of tables for each tile, and for each run of tiles of one batch in one cell, which is read
/// alone.
const TILE_TABLES: u64 = 88;
const RUN_TABLES: u64 = 120;

/// Bytes of tables for each batch.
const BATCH_TABLES: u64 = 160;

/// Bytes of tables for the places of the degrees, ids and dense ids of 2^16 vertices.
const CHUNK_TABLES: u64 = 4 * 8;

/// Returns the bytes that later work on a result may take after its run has freed its memory: half
/// of what the process has left.
pub fn room_for_result(graph: &Graph) -> u64 {
    graph.reader().pool().available().saturating_sub(overhead(graph)) / 2
}

/// Leases `held` bytes for a reader of a graph, and the overhead, which counts once for all who
/// hold it at the same time. Frames get what is left.
///
/// # Errors
/// [`OverBudget`](tegula_machine::Error::OverBudget), naming `what`.
pub fn lease_with_overhead(graph: &Graph, what: &str, held: u64) -> Result<(Arc<Lease>, Lease)> {
    // The bytes for frames are not leased: frames come from what is left.
    Ok(graph.reader().pool().lease_sharing(what, overhead(graph) - BLOCK_FRAMES, held)?)
}

/// Returns the overhead of a run on a graph, including the tables of its tiles and vertices.
pub fn overhead(graph: &Graph) -> u64 {
    RUN_OVERHEAD
        + tile_tables(graph.tiles().len() as u64, graph.tile_runs() as u64)
        + batch_tables(graph.batches().len() as u64, graph.vertex_count())
}

/// Returns the bytes of tables for tiles, and for the runs of these.
pub(super) fn tile_tables(tiles: u64, runs: u64) -> u64 {
    TILE_TABLES * tiles + RUN_TABLES * runs
}

/// Returns the bytes of tables for batches and vertices.
pub(super) fn batch_tables(batches: u64, vertices: u64) -> u64 {
    BATCH_TABLES * batches + CHUNK_TABLES * (vertices >> 16)
}
