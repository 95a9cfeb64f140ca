//! How the adjacency matrix is cut: columns of targets, segments of sources, and within the cells of that grid
//! windows of targets and slices of sources.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// log2 of the number of vertices of a window.
pub const WINDOW_LOG2: u32 = 16;

/// Vertices of a window: ids in it are 2-byte local ids.
pub const WINDOW_SIZE: usize = 1 << WINDOW_LOG2;

/// log2 of the sources of a slice: their messages (64 KiB of four bytes each) stay close to the core
/// while all targets are visited strip by strip.
pub const SLICE_LOG2: u32 = 14;

/// The cells of a graph: aligned ranges of targets, its columns, across aligned ranges of sources, its segments.
/// What has to be in memory to process a cell are the messages of a segment and the accumulators of a column (the
/// two-level column partition of DFOGraph, Yu et al., PPoPP 2021, section 3.1). The order in which edges are reduced
/// follows from the cells, so their sizes are those of the graph and never of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// log2 of the sources of a segment.
    pub segment_log2: u32,
    /// log2 of the targets of a column.
    pub column_log2: u32,
}

/// A cell of a grid, by the numbers of its column and segment. They are filed in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Which column.
    pub column: u32,
    /// Which segment.
    pub segment: u32,
}

/// What the ids in the tiles of a cell count from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    /// The first source of its segment.
    pub source: u64,
    /// The first target of the window in which its column begins.
    pub target: u64,
}

impl Default for Grid {
    /// Segments of 2^24 vertices, 64 MiB of messages with four bytes each; columns of 2^22, 48 MiB of accumulators for
    /// the widest sums. How columns are cut changes no tile, so they are what the smallest budgets want.
    fn default() -> Grid {
        Grid { segment_log2: 24, column_log2: 22 }
    }
}

impl Grid {
    /// log2 of the fewest vertices of a segment or column: a word of a bitmap belongs to one.
    pub const LOG2_MIN: u32 = 6;
    /// log2 of the most.
    pub const LOG2_MAX: u32 = 24;

    /// Whether segments and columns have sizes that a grid may have.
    pub fn is_sound(&self) -> bool {
        let sizes = Grid::LOG2_MIN..=Grid::LOG2_MAX;
        sizes.contains(&self.segment_log2) && sizes.contains(&self.column_log2)
    }

    /// The cell of an edge.
    #[inline]
    pub fn cell(&self, source: u64, target: u64) -> Cell {
        Cell {
            column: (target >> self.column_log2) as u32,
            segment: (source >> self.segment_log2) as u32,
        }
    }

    /// Whether segments and columns of so many vertices can be numbered.
    pub fn can_cut(&self, vertex_count: u64) -> bool {
        vertex_count.div_ceil(1 << self.segment_log2.min(self.column_log2)) < u64::from(u32::MAX)
    }

    /// How many segments `vertex_count` sources have.
    pub fn segment_count(&self, vertex_count: u64) -> u32 {
        vertex_count.div_ceil(1 << self.segment_log2) as u32
    }

    /// How many columns `vertex_count` targets have.
    pub fn column_count(&self, vertex_count: u64) -> u32 {
        vertex_count.div_ceil(1 << self.column_log2) as u32
    }

    /// Whether the sources of each cell are listed: where there are several segments, messages of the one at work
    /// are not all there are.
    pub fn lists_sources(&self, vertex_count: u64) -> bool {
        vertex_count > 1 << self.segment_log2
    }

    /// The sources of a segment, cut off at the number of vertices.
    pub fn sources(&self, segment: u32, vertex_count: u64) -> Range<u64> {
        range(segment, self.segment_log2, vertex_count)
    }

    /// How many these are.
    pub fn source_count(&self, segment: u32, vertex_count: u64) -> u32 {
        let sources = self.sources(segment, vertex_count);
        (sources.end - sources.start) as u32
    }

    /// The targets of a column, cut off at the number of vertices.
    pub fn targets(&self, column: u32, vertex_count: u64) -> Range<u64> {
        range(column, self.column_log2, vertex_count)
    }

    /// What ids in the tiles of a cell count from.
    #[inline]
    pub fn origin(&self, cell: Cell) -> Origin {
        let column_first = u64::from(cell.column) << self.column_log2;
        Origin {
            source: u64::from(cell.segment) << self.segment_log2,
            target: column_first & !(WINDOW_SIZE as u64 - 1),
        }
    }

    /// log2 of the sources of a slice, which lies within a segment.
    pub fn slice_log2(&self) -> u32 {
        SLICE_LOG2.min(self.segment_log2)
    }
}

/// An aligned range of 2^log2 ids, cut off at the number of vertices.
fn range(number: u32, log2: u32, vertex_count: u64) -> Range<u64> {
    let start = u64::from(number) << log2;
    let end = (start + (1 << log2)).min(vertex_count);
    start.min(end)..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_lies_in_the_cell_of_its_ends() {
        for (segment_log2, column_log2) in [(24, 24), (6, 8), (17, 6), (8, 20)] {
            let grid = Grid { segment_log2, column_log2 };
            let vertices = 3 << 20;
            for number in 0..1000u64 {
                let [source, target] =
                    [0x9e37_79b9, 0x85eb_ca6b].map(|factor: u64| number * factor % vertices);
                let cell = grid.cell(source, target);
                assert!(grid.sources(cell.segment, vertices).contains(&source));
                assert!(grid.targets(cell.column, vertices).contains(&target));
                assert!(cell.segment < grid.segment_count(vertices));
                assert!(cell.column < grid.column_count(vertices));
                let origin = grid.origin(cell);
                assert!(origin.source <= source && origin.target <= target);
                assert_eq!(origin.target % WINDOW_SIZE as u64, 0);
            }
        }
    }

    #[test]
    fn the_last_segment_ends_with_the_vertices() {
        let grid = Grid::default();
        assert_eq!(grid.sources(0, 5), 0..5);
        for (vertices, segments) in [
            ((1u64 << 32) - 1, 256),
            (1 << 32, 256),
            ((1 << 32) + 1, 257),
            ((1 << 40) - 1, 1 << 16),
        ] {
            assert_eq!(grid.segment_count(vertices), segments);
            let first = u64::from(segments - 1) << 24;
            assert_eq!(grid.sources(segments - 1, vertices), first..vertices);
        }
        assert_eq!(
            [0, 1, 1 << 24, (1 << 24) + 1].map(|count| grid.segment_count(count)),
            [0, 1, 1, 2]
        );
    }
}
