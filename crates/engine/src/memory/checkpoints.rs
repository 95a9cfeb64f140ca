//! Memory for the checkpoints of a run in memory.

use tegula_store::graph::Graph;

use crate::options::RunOptions;
use crate::program::Program;
use crate::states::cut::Cut;
use crate::states::state_blocks;
use crate::superstep::active_set::ActiveSet;

/// Least number of blocks in memory per worker while blocks are read and written.
const BLOCKS_PER_THREAD: u64 = 3;
/// A copy of the states on its way to disk may take one byte in `COPY_SHARE` of the budget.
const COPY_SHARE: u64 = 8;

/// Returns the bytes of memory for blocks of states on their way from disk, and to disk.
pub fn pool_sizes(graph: &Graph, state_size: usize, budget: u64, threads: usize) -> [u64; 2] {
    let cut = Cut::of(graph);
    let frame = state_blocks(&cut, state_size).frame_size();
    let least = BLOCKS_PER_THREAD * threads as u64 * frame;
    // Blocks that fit into memory are written while the next iteration runs.
    let copy = (cut.count() as u64 * frame).min(budget / COPY_SHARE);
    [2 * frame, least.max(copy)]
}

/// Returns the bytes that a run in memory needs for its checkpoints, if it keeps any.
pub fn copies_size<P: Program>(graph: &Graph, options: &RunOptions<'_>, threads: usize) -> u64 {
    match options.checkpoints {
        Some(_) => checkpoint_size(graph, size_of::<P::State>(), options.budget(), threads),
        None => 0,
    }
}

/// Returns the bytes that a run in memory needs for checkpoints of states of `state_size` bytes.
pub fn checkpoint_size(graph: &Graph, state_size: usize, budget: u64, threads: usize) -> u64 {
    let [read, write] = pool_sizes(graph, state_size, budget, threads);
    read + write + ActiveSet::size(graph.vertex_count())
}
