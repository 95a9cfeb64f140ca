//! What a run takes beside arrays and tiles.

use tegula_machine::Result;
use tegula_machine::disk::Lease;
use tegula_store::graph::Graph;

/// Memory of a run apart from vertex arrays and frames: code, tables, stacks, a chunk of ids.
pub const RUN_OVERHEAD: u64 = 30 << 20;

/// Bytes of the overhead of a run that only its result takes, while it is written: a run that has given its arrays back
/// by then may use them before. The rest is that of code, which takes 15 MiB while it runs with debug assertions.
pub const RESULT_OVERHEAD: u64 = 12 << 20;

/// Bytes of the overhead of a run that frames may take besides those of tiles: blocks of ids and degrees,
/// and rows that find no room in their cache.
pub const BLOCK_FRAMES: u64 = 4 << 20;

/// Bytes of the tables that know a tile, and a run of tiles of one batch in one cell, which is read by itself.
const TILE_TABLES: u64 = 88;
const RUN_TABLES: u64 = 120;

/// Bytes of those that know a batch.
const BATCH_TABLES: u64 = 160;

/// Bytes that tell where the degrees, ids and dense ids of 2^16 vertices lie.
const CHUNK_TABLES: u64 = 4 * 8;

/// Bytes that what becomes of a result may take, when its run has given back its own: half of what the process itself
/// leaves.
pub fn room_for_result(graph: &Graph) -> u64 {
    graph.reader().pool().available().saturating_sub(overhead(graph)) / 2
}

/// Counts what somebody holds who reads a graph, and the overhead: frames have what is left.
///
/// # Errors
/// [`OverBudget`](tegula_machine::Error::OverBudget), about `what`.
pub fn lease_with_overhead(graph: &Graph, what: &str, held: u64) -> Result<Lease> {
    graph.reader().pool().lease(what, overhead(graph) - BLOCK_FRAMES + held)
}

/// The overhead of a run on a graph, with the tables of its tiles and vertices.
pub fn overhead(graph: &Graph) -> u64 {
    let (tiles, runs) = (graph.tiles().len() as u64, graph.tile_runs() as u64);
    let (batches, chunks) = (graph.batches().len() as u64, graph.vertex_count() >> 16);
    RUN_OVERHEAD
        + TILE_TABLES * tiles
        + RUN_TABLES * runs
        + BATCH_TABLES * batches
        + CHUNK_TABLES * chunks
}
