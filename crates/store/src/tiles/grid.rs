//! How the adjacency matrix is cut: columns of targets and segments of sources; within their cells,
//! windows of targets and slices of sources.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// log2 of the number of vertices of a window.
pub const WINDOW_LOG2: u32 = 16;

/// Vertices of a window. Ids in a window take 2 bytes.
pub const WINDOW_SIZE: usize = 1 << WINDOW_LOG2;

/// log2 of the sources of a slice. Their messages (64 KiB with four bytes each) stay close to the
/// core while targets are visited strip by strip.
pub const SLICE_LOG2: u32 = 14;

/// The grid of a graph: columns are aligned ranges of targets, segments are aligned ranges of
/// sources. To process a cell takes the messages of a segment and the accumulators of a column in
/// memory (the two-level column partition of DFOGraph, Yu et al., PPoPP 2021, section 3.1). Cells
/// determine the order in which edges are reduced, so their sizes belong to the graph and never to
/// a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// log2 of the sources of a segment.
    pub segment_log2: u32,
    /// log2 of the targets of a column.
    pub column_log2: u32,
}

/// A cell of a grid, by the numbers of its column and segment. Cells are stored in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// Number of its column.
    pub column: u32,
    /// Number of its segment.
    pub segment: u32,
}

/// The ids from which the tiles of a cell count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Origin {
    /// The first source of the segment.
    pub source: u64,
    /// The first target of the window in which the column begins.
    pub target: u64,
}

impl Default for Grid {
    /// Segments of 2^24 vertices: 64 MiB of messages with four bytes each. Columns of 2^22: 48 MiB
    /// of accumulators for the widest sums. The size of columns changes no tile, so it suits the
    /// smallest budgets.
    fn default() -> Grid {
        Grid { segment_log2: 24, column_log2: 22 }
    }
}

impl Grid {
    /// log2 of the fewest vertices of a segment or column. So a word of a bitmap belongs to only
    /// one.
    pub const LOG2_MIN: u32 = 6;
    /// log2 of the most vertices of a segment or column.
    pub const LOG2_MAX: u32 = 24;

    /// Whether the sizes of segments and columns are allowed.
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

    /// Whether the segments and columns of `vertex_count` vertices can be numbered in 32 bits.
    pub fn can_cut(&self, vertex_count: u64) -> bool {
        vertex_count.div_ceil(1 << self.segment_log2.min(self.column_log2)) < u64::from(u32::MAX)
    }

    /// Number of segments of `vertex_count` sources.
    pub fn segment_count(&self, vertex_count: u64) -> u32 {
        vertex_count.div_ceil(1 << self.segment_log2) as u32
    }

    /// Number of columns of `vertex_count` targets.
    pub fn column_count(&self, vertex_count: u64) -> u32 {
        vertex_count.div_ceil(1 << self.column_log2) as u32
    }

    /// Whether each cell lists its sources: if there are several segments, a run may load only the
    /// messages that a cell needs.
    pub fn lists_sources(&self, vertex_count: u64) -> bool {
        vertex_count > 1 << self.segment_log2
    }

    /// The sources of a segment, cut off at the number of vertices.
    pub fn sources(&self, segment: u32, vertex_count: u64) -> Range<u64> {
        range(segment, self.segment_log2, vertex_count)
    }

    /// Number of sources of a segment.
    pub fn source_count(&self, segment: u32, vertex_count: u64) -> u32 {
        let sources = self.sources(segment, vertex_count);
        (sources.end - sources.start) as u32
    }

    /// The targets of a column, cut off at the number of vertices.
    pub fn targets(&self, column: u32, vertex_count: u64) -> Range<u64> {
        range(column, self.column_log2, vertex_count)
    }

    /// The ids from which the tiles of a cell count.
    #[inline]
    pub fn origin(&self, cell: Cell) -> Origin {
        let column_first = u64::from(cell.column) << self.column_log2;
        Origin {
            source: u64::from(cell.segment) << self.segment_log2,
            target: column_first & !(WINDOW_SIZE as u64 - 1),
        }
    }

    /// log2 of the sources of a slice. A slice lies within a segment.
    pub fn slice_log2(&self) -> u32 {
        SLICE_LOG2.min(self.segment_log2)
    }
}

/// An aligned range of 2^log2 ids, cut off at the number of vertices.
fn range(number: u32, log2: u32, vertex_count: u64) -> Range<u64> {
    let start = u64::from(number) << log2;
    let end = (start + (1 << log2)).min(vertex_count);
    // The number may be that of a range behind the last vertex.
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
