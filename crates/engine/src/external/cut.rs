//! How arrays over all vertices are cut into blocks.

use std::ops::Range;

use tegula_store::graph::Graph;
use tegula_store::tiles::BATCH_LOG2_MAX;

/// log2 of the vertices of a block, at the most: 512 KiB of states with four bytes each.
const BLOCK_LOG2_MAX: u32 = 17;

/// log2 of the vertices that one worker takes at a time: all of the windows and batches among them, and enough for
/// their degrees to be read in one go.
pub const STRETCH_LOG2: u32 = 20;
const _: () = assert!(STRETCH_LOG2 >= BATCH_LOG2_MAX && STRETCH_LOG2 >= BLOCK_LOG2_MAX);

/// Blocks of vertices: aligned ranges of one size, each within one segment and one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    vertex_count: u32,
    log2: u32,
}

impl Cut {
    /// The blocks of the arrays over the vertices of a graph.
    pub fn of(graph: &Graph) -> Cut {
        let grid = graph.grid();
        let log2 = BLOCK_LOG2_MAX.min(grid.segment_log2).min(grid.column_log2);
        Cut { vertex_count: graph.vertex_count(), log2 }
    }

    /// How many vertices there are.
    pub fn vertex_count(&self) -> u32 {
        self.vertex_count
    }

    /// How many blocks.
    pub fn count(&self) -> usize {
        self.vertex_count.div_ceil(1 << self.log2) as usize
    }

    /// The most vertices of a block.
    pub fn size_max(&self) -> usize {
        (1 << self.log2).min(self.vertex_count as usize)
    }

    /// The vertices of a block.
    pub fn vertices(&self, block: usize) -> Range<u32> {
        let start = (block << self.log2) as u32;
        start..(u64::from(start) + (1 << self.log2)).min(u64::from(self.vertex_count)) as u32
    }

    /// The blocks in which a range of vertices lies.
    pub fn blocks(&self, vertices: &Range<u32>) -> Range<usize> {
        let end = u64::from(vertices.end).div_ceil(1 << self.log2);
        (vertices.start >> self.log2) as usize..end as usize
    }

    /// A range of vertices in aligned stretches, each for one worker.
    pub fn stretches(vertices: &Range<u32>) -> Vec<Range<u32>> {
        let (mut start, end) = (u64::from(vertices.start), u64::from(vertices.end));
        let mut stretches = Vec::new();
        while start < end {
            let next = (((start >> STRETCH_LOG2) + 1) << STRETCH_LOG2).min(end);
            stretches.push(start as u32..next as u32);
            start = next;
        }
        stretches
    }
}
