//! Batches: the ranges of targets that one worker owns while it processes them.

use super::grid::{Grid, WINDOW_LOG2};

/// An aligned range of `2^log2` targets. Its tiles in one cell are adjacent in the file, in a
/// [`TileOrder`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Batch {
    /// First target; a multiple of `2^log2`.
    pub target_first: u64,
    /// log2 of the number of targets: 6 to 18.
    pub log2: u32,
}

/// The order of the tiles in a batch and cell. Readers accept any order; those other than the
/// default are for measurements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TileOrder {
    /// Along a Hilbert curve over (source window, target window).
    #[default]
    Hilbert,
    /// By source window, then target window: neighbours share messages.
    Source,
    /// By target window, then source window: neighbours share accumulators.
    Target,
}

/// log2 of the most targets of a batch: four windows. So the Hilbert order can save something, and
/// four-byte accumulators take 1 MiB.
pub const BATCH_LOG2_MAX: u32 = WINDOW_LOG2 + 2;
/// log2 of the fewest targets of a batch. So a word of a bitmap belongs to only one batch.
pub const BATCH_LOG2_MIN: u32 = 6;
/// A batch with more edges is halved, down to `2^BATCH_LOG2_MIN` targets.
pub const BATCH_EDGES_MAX: u64 = 1 << 24;

impl Batch {
    /// The targets of the batch, cut off at the number of vertices.
    pub fn targets(&self, vertex_count: u64) -> std::ops::Range<u64> {
        self.target_first..(self.target_first + (1 << self.log2)).min(vertex_count)
    }

    /// Cuts all targets into batches of up to `edges_max` edges by their in-degrees, each within a
    /// column of the grid. Depends only on the graph, never on the machine, so a graph directory
    /// and every result are the same everywhere.
    pub fn plan(in_degrees: &[u32], edges_max: u64, grid: Grid) -> Vec<Batch> {
        let mut batches = Vec::new();
        let log2 = BATCH_LOG2_MAX.min(grid.column_log2);
        for first in (0..in_degrees.len()).step_by(1 << log2) {
            let batch = Batch { target_first: first as u64, log2 };
            batch.halve_into(in_degrees, edges_max, &mut batches);
        }
        batches
    }

    /// Halves a batch until each piece has at most `edges_max` edges or is the smallest possible,
    /// and adds the pieces to `batches`. `in_degrees` has the in-degrees of all targets.
    pub fn halve_into(self, in_degrees: &[u32], edges_max: u64, batches: &mut Vec<Batch>) {
        let targets = self.targets(in_degrees.len() as u64);
        if targets.is_empty() {
            return;
        }
        let degrees = &in_degrees[targets.start as usize..targets.end as usize];
        let edges: u64 = degrees.iter().map(|&degree| u64::from(degree)).sum();
        if edges <= edges_max || self.log2 == BATCH_LOG2_MIN {
            batches.push(self);
            return;
        }
        let log2 = self.log2 - 1;
        let lower = Batch { target_first: self.target_first, log2 };
        lower.halve_into(in_degrees, edges_max, batches);
        let upper = self.target_first + (1 << log2);
        if upper < in_degrees.len() as u64 {
            let upper = Batch { target_first: upper, log2 };
            upper.halve_into(in_degrees, edges_max, batches);
        }
    }

    /// Position of a tile within its batch and cell, by its windows. The source counts from the
    /// first of its segment. If the batch lies within one window, every order is by source.
    pub fn tile_position(&self, order: TileOrder, source_first: u32, target_first: u64) -> u64 {
        let source_window = source_first >> WINDOW_LOG2;
        if self.log2 <= WINDOW_LOG2 {
            return u64::from(source_window);
        }
        let target_window = ((target_first - self.target_first) >> WINDOW_LOG2) as u32;
        match order {
            TileOrder::Hilbert => fast_hilbert::xy2h::<u32>(source_window, target_window, 16),
            TileOrder::Source => u64::from(source_window) << u32::BITS | u64::from(target_window),
            TileOrder::Target => u64::from(target_window) << u32::BITS | u64::from(source_window),
        }
    }
}
