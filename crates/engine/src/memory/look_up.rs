//! Plans how a value is looked up for each vertex in the available memory, and how much memory and
//! disk that takes.

use tegula_store::graph::Graph;

use super::overhead::room_for_result;
use crate::external::lists::ListsLayout;
use crate::states::cut::Cut;
use crate::states::state_blocks;

/// Least bytes of a block: direct reads and writes are whole pages.
const BLOCK_SIZE_MIN: u64 = 4 << 10;
/// Bytes of a block that a disk moves efficiently.
const BLOCK_SIZE_GOOD: u64 = 64 << 10;
const BLOCK_SIZE_MAX: u64 = 1 << 20;
/// Blocks in memory per list: one that is filled or emptied, and one read ahead.
const BLOCKS_OF_LIST: u64 = 2;
/// Other blocks in memory at each level: blocks on their way to disk, and blocks of the list that
/// is looked up.
const BLOCKS_BESIDE: u64 = 16;
/// Blocks in memory per level of lists beyond the first: one read, one read ahead, and two being
/// filled.
const BLOCKS_OF_LEVEL: u64 = 4;

/// Blocks that may be on their way to disk.
pub const WRITE_BEHIND: u64 = 4;

/// A division of values into ranges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// log2 of the values of a range, at most 32.
    pub log2: u32,
    /// Number of ranges.
    pub count: usize,
}

/// A plan to look up values of `value_size` bytes. It has `room` bytes of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LookUpPlan {
    value_count: usize,
    value_size: usize,
    room: u64,
    block_size: u64,
}

impl LookUpPlan {
    /// Makes a plan for `value_count` values of `value_size` bytes in `room` bytes of memory.
    pub fn new(value_count: usize, value_size: usize, room: u64) -> LookUpPlan {
        let plan = LookUpPlan { value_count, value_size, room, block_size: BLOCK_SIZE_MIN };
        let lists = plan.split(value_count).map_or(1, |split| split.count as u64);
        let fits = room / (BLOCKS_OF_LIST * lists + BLOCKS_BESIDE);
        // A tiny room fits no block, and 0 has no logarithm.
        let block_size = 1 << fits.max(1).ilog2();
        LookUpPlan { block_size: block_size.clamp(BLOCK_SIZE_MIN, BLOCK_SIZE_MAX), ..plan }
    }

    /// Returns the number of values.
    pub fn value_count(&self) -> usize {
        self.value_count
    }

    /// Returns how `count` values are split into ranges; `None` if they fit in half of the memory
    /// unsplit.
    pub fn split(&self, count: usize) -> Option<Split> {
        let fits = (self.room as usize / 2 / self.value_size).max(1);
        if count <= fits {
            return None;
        }
        let lists_max = self.room / BLOCK_SIZE_GOOD;
        let lists_max = lists_max.saturating_sub(BLOCKS_BESIDE) / BLOCKS_OF_LIST;
        // Fewer than two lists would divide nothing.
        let least = count.div_ceil((lists_max as usize).max(2));
        // A number within a range has 32 bits.
        let log2 = fits.ilog2().max(least.next_power_of_two().ilog2()).min(u32::BITS);
        Some(Split { log2, count: count.div_ceil(1 << log2) })
    }

    /// Returns the layout of the lists of a split.
    pub fn lists(&self, split: Split) -> ListsLayout {
        ListsLayout { count: split.count, block_size: self.block_size as usize }
    }

    /// Returns the bytes of memory.
    pub fn memory(&self) -> u64 {
        match self.split(self.value_count) {
            None => (self.value_count * self.value_size) as u64,
            Some(split) => {
                let deeper = BLOCKS_OF_LEVEL * (self.levels() - 1);
                let blocks = BLOCKS_OF_LIST * split.count as u64 + BLOCKS_BESIDE + deeper;
                self.room.max(blocks * self.block_size)
            }
        }
    }

    /// Returns the bytes of a block of any list.
    pub fn block_size(&self) -> u64 {
        self.block_size
    }

    /// Returns how often numbers and values go through lists, level by level.
    pub fn levels(&self) -> u64 {
        let mut count = self.value_count;
        let next = || {
            let split = self.split(count)?;
            count = count.min(1 << split.log2);
            Some(())
        };
        std::iter::from_fn(next).count() as u64
    }

    /// Returns the bytes of the files that sort `len` numbers with entries of `entry_size` bytes.
    pub fn file_size(&self, len: usize, entry_size: usize) -> u64 {
        let (mut count, mut size) = (self.value_count, 0);
        while let Some(split) = self.split(count) {
            let lists = self.lists(split);
            size += lists.blocks(entry_size, len).file_size();
            size += lists.blocks(self.value_size, len).file_size();
            count = count.min(1 << split.log2);
        }
        size
    }

    /// Returns the bytes that move when `len` numbers with entries of `entry_size` bytes are looked
    /// up. The numbers themselves do not count.
    pub fn bytes_moved(&self, len: usize, entry_size: usize) -> u64 {
        let sorted = 2 * self.levels() * (len * (entry_size + self.value_size)) as u64;
        sorted + ((self.value_count + len) * self.value_size) as u64
    }
}

/// Returns the plan to look up values of `value_size` bytes for all vertices, beside `held` bytes.
pub fn look_up_plan(graph: &Graph, value_size: usize, held: u64) -> LookUpPlan {
    let cut = Cut::of(graph);
    // Blocks are read whole.
    let least = 2 * (cut.size_max() * value_size) as u64;
    let room = room_for_result(graph).saturating_sub(held).max(least);
    LookUpPlan::new(cut.vertex_count(), value_size, room)
}

/// Returns the bytes of the files for looking up a value of `value_size` bytes for each vertex:
/// sorted entries, and found values.
pub fn look_up_file_size(graph: &Graph, value_size: usize, entry_size: usize) -> u64 {
    let cut = Cut::of(graph);
    let sorted = look_up_plan(graph, value_size, 0).file_size(cut.vertex_count(), entry_size);
    sorted + state_blocks(&cut, value_size).file_size()
}
