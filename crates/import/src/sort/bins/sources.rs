//! The edges that are expected from each segment, which decide how bins are made.

use std::ops::Range;

use crate::order::batch_plan::PlannedSegment;

/// How many edges come from the sources of a segment.
pub(super) struct SegmentSources {
    /// Holds for each slice the number of edges before it in the segment, then the number of all.
    /// It is a single 0 if slices were not counted.
    pub starts: Vec<u64>,
    /// The edges from the whole segment.
    edges: u64,
    /// The edges of the graph.
    total: u64,
}

impl SegmentSources {
    /// Takes the counts of a segment of a graph with `total` edges.
    pub fn new(segment: &PlannedSegment, total: u64) -> SegmentSources {
        SegmentSources { starts: starts(&segment.slice_edges), edges: segment.edges, total }
    }

    /// Returns how many of `edges` into some targets are expected from `slices` of the segment.
    pub fn expected(&self, edges: u64, slices: Range<usize>) -> u64 {
        self.part(edges, self.starts[slices.end] - self.starts[slices.start])
    }

    /// Returns how many are expected from the whole segment.
    pub fn expected_of_all(&self, edges: u64) -> u64 {
        self.part(edges, self.edges)
    }

    fn part(&self, edges: u64, here: u64) -> u64 {
        // The product of two numbers of edges may exceed 64 bits.
        (u128::from(edges) * u128::from(here) / u128::from(self.total.max(1))) as u64
    }
}

/// Returns where the slices of each segment begin among the slices of all segments.
pub(super) fn first_slices(segments: &[SegmentSources]) -> Vec<u32> {
    let mut next = 0;
    let first_of = |segment: &SegmentSources| {
        let first = next;
        next += segment.starts.len() as u32 - 1;
        first
    };
    segments.iter().map(first_of).collect()
}

/// Returns the sum of the counts before each, and one more for the end.
fn starts(counts: &[u64]) -> Vec<u64> {
    let mut starts = vec![0];
    for &count in counts {
        starts.push(starts[starts.len() - 1] + count);
    }
    starts
}

/// Returns which of `count` spans has a slice with this middle.
#[inline]
pub(super) fn span_of(middle: u32, count: u32) -> u32 {
    ((u64::from(middle) * u64::from(count)) >> u32::BITS) as u32
}

/// Returns for each slice of a segment the part of its edges before the middle of the slice, times
/// 2^32.
pub(super) fn middles(starts: &[u64]) -> Vec<u32> {
    let total = starts.last().copied().unwrap_or(0).max(1);
    let middle = |bounds: &[u64]| {
        let twice = u128::from(bounds[0]) + u128::from(bounds[1]);
        ((twice << (u32::BITS - 1)) / u128::from(total)).min(u128::from(u32::MAX)) as u32
    };
    starts.windows(2).map(middle).collect()
}
