//! What a run takes beside arrays and tiles.

use tegula_store::graph::Graph;

/// Memory of a run apart from vertex arrays and frames: code, tables, stacks, a chunk of ids.
pub const RUN_OVERHEAD: u64 = 26 << 20;

/// Bytes of the overhead of a run that frames may take besides those of tiles: blocks of ids and degrees,
/// and rows that find no room in their cache.
pub const BLOCK_FRAMES: u64 = 4 << 20;

/// The overhead of a run on a graph, with the tables of its tiles.
pub fn overhead(graph: &Graph) -> u64 {
    RUN_OVERHEAD + 80 * graph.tiles().len() as u64
}
