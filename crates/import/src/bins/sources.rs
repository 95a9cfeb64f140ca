//! What is expected of the sources of each segment, by which bins are made.

use std::ops::Range;

use super::super::batch_plan::PlannedSegment;

/// How many edges come from the sources of a segment.
pub(super) struct SegmentSources {
    /// For each slice of the segment those before it, and one more for the end; nothing where they were not counted by
    /// slices.
    pub starts: Vec<u64>,
    /// The edges from all of them.
    edges: u64,
    /// The edges of the graph.
    total: u64,
}

impl SegmentSources {
    /// Those of a segment of a graph with `total` edges.
    pub fn new(segment: &PlannedSegment, total: u64) -> SegmentSources {
        SegmentSources { starts: starts(&segment.slice_edges), edges: segment.edges, total }
    }

    /// Of `edges` into some targets, those that are expected from slices of the segment.
    pub fn expected(&self, edges: u64, slices: Range<usize>) -> u64 {
        self.part(edges, self.starts[slices.end] - self.starts[slices.start])
    }

    /// Those from the whole segment.
    pub fn expected_of_all(&self, edges: u64) -> u64 {
        self.part(edges, self.edges)
    }

    fn part(&self, edges: u64, here: u64) -> u64 {
        (u128::from(edges) * u128::from(here) / u128::from(self.total.max(1))) as u64
    }
}

/// Where the slices of each segment begin among those of all.
pub(super) fn first_slices(segments: &[SegmentSources]) -> Vec<u32> {
    let mut next = 0;
    let first_of = |segment: &SegmentSources| {
        let first = next;
        next += segment.starts.len() as u32 - 1;
        first
    };
    segments.iter().map(first_of).collect()
}

/// How many come before each, and one more for the end.
fn starts(counts: &[u64]) -> Vec<u64> {
    let mut starts = vec![0];
    for &count in counts {
        starts.push(starts[starts.len() - 1] + count);
    }
    starts
}

/// The span, of `count`, in which a slice with this middle lies.
#[inline]
pub(super) fn span_of(middle: u32, count: u32) -> u32 {
    ((u64::from(middle) * u64::from(count)) >> u32::BITS) as u32
}

/// For each slice of a segment the part of its edges that lie before its middle, times 2^32.
pub(super) fn middles(starts: &[u64]) -> Vec<u32> {
    let total = starts.last().copied().unwrap_or(0).max(1);
    let middle = |bounds: &[u64]| {
        let twice = u128::from(bounds[0]) + u128::from(bounds[1]);
        ((twice << (u32::BITS - 1)) / u128::from(total)).min(u128::from(u32::MAX)) as u32
    };
    starts.windows(2).map(middle).collect()
}
