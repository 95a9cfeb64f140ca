//! Cuts arrays over all vertices into blocks.

use std::ops::Range;

use tegula_store::graph::Graph;
use tegula_store::tiles::BATCH_LOG2_MAX;

/// log2 of the most vertices of a block: 512 KiB of states with four bytes each.
const BLOCK_LOG2_MAX: u32 = 17;

/// log2 of the vertices that one worker takes at a time. They hold whole windows and batches, and
/// enough vertices to read their degrees in one go.
pub const STRETCH_LOG2: u32 = 20;
const _: () = assert!(STRETCH_LOG2 >= BATCH_LOG2_MAX && STRETCH_LOG2 >= BLOCK_LOG2_MAX);

/// Blocks of vertices: aligned ranges of one size, each within one segment and one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    vertex_count: usize,
    log2: u32,
}

impl Cut {
    /// Returns the cut of the arrays over the vertices of a graph.
    pub fn of(graph: &Graph) -> Cut {
        let grid = graph.grid();
        let log2 = BLOCK_LOG2_MAX.min(grid.segment_log2).min(grid.column_log2);
        Cut { vertex_count: graph.vertex_count() as usize, log2 }
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Returns the number of blocks.
    pub fn count(&self) -> usize {
        self.vertex_count.div_ceil(1 << self.log2)
    }

    /// Returns the most vertices of a block.
    pub fn size_max(&self) -> usize {
        (1 << self.log2).min(self.vertex_count)
    }

    /// Returns the vertices of a block.
    pub fn vertices(&self, block: usize) -> Range<usize> {
        let start = block << self.log2;
        start..(start + (1 << self.log2)).min(self.vertex_count)
    }

    /// Returns the blocks in which a range of vertices lies; none if it is empty.
    pub fn blocks(&self, vertices: &Range<usize>) -> Range<usize> {
        match vertices.is_empty() {
            true => 0..0,
            false => vertices.start >> self.log2..vertices.end.div_ceil(1 << self.log2),
        }
    }

    /// Yields the blocks after one in a stretch of vertices, and then all blocks of the stretch
    /// `after`.
    pub fn blocks_behind(
        &self,
        block: usize,
        stretch: &Range<usize>,
        after: Option<&Range<usize>>,
    ) -> impl Iterator<Item = usize> {
        let rest = block + 1..self.blocks(stretch).end;
        rest.chain(after.map_or(0..0, |after| self.blocks(after)))
    }

    /// Cuts a range of vertices into aligned stretches, each for one worker.
    pub fn stretches(vertices: &Range<usize>) -> Vec<Range<usize>> {
        let Range { mut start, end } = *vertices;
        let mut stretches = Vec::new();
        while start < end {
            let next = (((start >> STRETCH_LOG2) + 1) << STRETCH_LOG2).min(end);
            stretches.push(start..next);
            start = next;
        }
        stretches
    }
}

/// Returns the vertices that two ranges share; `0..0` if there are none.
pub fn shared(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    let (start, end) = (one.start.max(other.start), one.end.min(other.end));
    if start < end { start..end } else { 0..0 }
}

/// Returns a range of vertices as indices of arrays.
pub fn indices(vertices: Range<u64>) -> Range<usize> {
    vertices.start as usize..vertices.end as usize
}
