//! The blocks in which messages are sent to groups of columns, and the memory for sending them.

use tegula_store::graph::ListedSources;
use tegula_store::tiles::Grid;

use crate::external::wanted::NeededMessages;

/// log2 of the blocks in which the messages of a segment are sent: 2^16 messages each for 2^24
/// sources.
const SEGMENT_BLOCKS_LOG2: u32 = 8;
/// Least number of messages in a block.
const BLOCK_MESSAGES_MIN: usize = 64;
/// Bytes of a source sent with its message, as an offset from the first source of its segment.
pub const SOURCE_SIZE: usize = size_of::<u32>();

/// Returns the number of messages in a block for a grid.
pub fn block_messages(grid: Grid) -> usize {
    (1usize << grid.segment_log2 >> SEGMENT_BLOCKS_LOG2).max(BLOCK_MESSAGES_MIN)
}

/// Returns the number of blocks for the messages of a segment that a group needs.
pub fn blocks_of(wanted: Option<NeededMessages>, block_messages: usize) -> usize {
    wanted.map_or(0, |wanted| wanted.sources as usize).div_ceil(block_messages)
}

/// Returns the bytes of memory for sending with `threads` workers. Lists are read into the pool of
/// the graph.
pub fn sending_size(threads: usize, grid: Grid, message_size: usize) -> u64 {
    let bits = 1 << grid.segment_log2 >> 3;
    let block = block_messages(grid) * (message_size + SOURCE_SIZE);
    let using = ListedSources::USE_SIZE.min((SOURCE_SIZE as u64) << grid.segment_log2);
    bits + threads as u64 * (bits + block as u64 + using)
}
