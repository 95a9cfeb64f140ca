//! Bins: where edges go on their way to tiles, each about half of what is encoded at once.
//!
//! ```text
//!  unit = the targets of a batch in one window
//!    span = source slices that follow one another        expected edges: BIN_EDGES, or one slice
//!      bin = the span, or of a heavy slice an aligned part of the unit's targets
//! ```
//!
//! Bins follow from the degrees alone, as if each edge met its target by chance: of the edges into a unit a slice
//! of sources is expected to have its part of all edges. So nothing is counted before edges are brought to
//! their bins. Where edges do not meet by chance, bins differ from what was expected, and the
//! [building](mod@super::build) joins small ones and divides large ones.

use std::ops::Range;

use tegula_store::tiles::{DenseEdge, SLICE_LOG2, WINDOW_LOG2};

use super::batch_plan::{BatchPlan, UnitTable};
use super::edge::Weight;

/// Edges that are expected in a bin.
pub(super) const BIN_EDGES: u64 = 1 << 18;

/// One bin.
#[derive(Debug, Clone)]
pub(super) struct Bin {
    /// The unit, for bins of different units are never joined.
    pub unit: u32,
    /// Index of its batch.
    pub batch: usize,
    /// Where its tiles belong among those of the batch.
    pub hilbert: u64,
    /// The slices that its sources lie in.
    pub slices: Range<u32>,
    /// In how many low bits its targets may differ.
    pub target_bits: u32,
}

/// All bins of a graph: unit after unit, by ascending sources, then targets.
pub(super) struct Bins {
    pub list: Vec<Bin>,
    units: UnitTable,
    spans_of_unit: Vec<UnitSpans>,
    spans: Vec<Span>,
    /// For each slice, the part of all edges whose sources lie before its middle, times 2^32.
    middle_of_slice: Vec<u32>,
}

/// The spans of a unit: `count` of them from `first` on, of about equally many edges each.
#[derive(Debug, Clone, Copy)]
struct UnitSpans {
    first: u32,
    count: u32,
}

/// From the targets of a span to its bins.
#[derive(Debug, Clone, Copy)]
struct Span {
    first_bin: u32,
    /// The bits of a target that tell it from others of its unit.
    target_mask: u32,
    shift: u32,
}

impl Bins {
    /// The bins of a graph with these batches.
    pub fn new(plan: &BatchPlan) -> Bins {
        // How many edges come from sources before each slice; one more for the end.
        let mut starts = vec![0];
        for &edges in &plan.slice_edges {
            starts.push(starts[starts.len() - 1] + edges);
        }
        let mut bins = Bins {
            list: Vec::new(),
            units: plan.units(),
            spans_of_unit: Vec::new(),
            spans: Vec::new(),
            middle_of_slice: middles(&starts),
        };
        for (index, planned) in plan.batches.iter().enumerate() {
            let batch = planned.batch;
            for (window, &edges) in (0u32..).zip(&planned.unit_edges) {
                let target_first = batch.target_first + (window << WINDOW_LOG2);
                let unit = bins.spans_of_unit.len() as u32;
                bins.add_unit(
                    &starts,
                    edges,
                    batch.log2.min(WINDOW_LOG2),
                    &|slices, target_bits| Bin {
                        unit,
                        batch: index,
                        hilbert: batch.hilbert_index(slices.start << SLICE_LOG2, target_first),
                        slices,
                        target_bits,
                    },
                );
            }
        }
        bins
    }

    /// Adds the spans and bins of the next unit, into which `edges` lead and whose targets differ in
    /// `target_bits`; `new` makes a bin.
    fn add_unit(
        &mut self,
        starts: &[u64],
        edges: u64,
        target_bits: u32,
        new: &dyn Fn(Range<u32>, u32) -> Bin,
    ) {
        let count = edges.div_ceil(BIN_EDGES).clamp(1, u64::from(u32::MAX)) as u32;
        self.spans_of_unit.push(UnitSpans { first: self.spans.len() as u32, count });
        let total = u128::from(starts[starts.len() - 1].max(1));
        let mut start = 0;
        for span in 0..count {
            let is_before = |&middle: &u32| span_of(middle, count) <= span;
            let end = self.middle_of_slice.partition_point(is_before);
            let of_all = u128::from(starts[end] - starts[start]);
            let expected = (u128::from(edges) * of_all / total) as u64;
            let cut_bits = match end - start {
                1 => expected.div_ceil(BIN_EDGES).max(1).next_power_of_two().ilog2(),
                _ => 0,
            };
            let bin_bits = target_bits.saturating_sub(cut_bits);
            let target_mask = (1 << target_bits) - 1;
            let first_bin = self.list.len() as u32;
            self.spans.push(Span { first_bin, target_mask, shift: bin_bits });
            // A heavy slice may reach over several spans, of which the others are empty.
            if start < end {
                let bin = new(start as u32..end as u32, bin_bits);
                self.list.extend(std::iter::repeat_n(bin, 1 << (target_bits - bin_bits)));
            }
            start = end;
        }
    }

    /// The bin of an edge.
    #[inline]
    pub fn bin_of<W: Weight>(&self, edge: &DenseEdge<W>) -> usize {
        let UnitSpans { first, count } = self.spans_of_unit[self.units.get(edge.target) as usize];
        let middle = self.middle_of_slice[(edge.source >> SLICE_LOG2) as usize];
        let span = self.spans[(first + span_of(middle, count)) as usize];
        span.first_bin as usize + ((edge.target & span.target_mask) >> span.shift) as usize
    }
}

/// The span, of `count`, in which a slice with this middle lies.
#[inline]
fn span_of(middle: u32, count: u32) -> u32 {
    ((u64::from(middle) * u64::from(count)) >> u32::BITS) as u32
}

/// For each slice the part of all edges that lie before its middle, times 2^32.
fn middles(starts: &[u64]) -> Vec<u32> {
    let total = starts.last().copied().unwrap_or(0).max(1);
    let middle = |bounds: &[u64]| {
        let twice = u128::from(bounds[0]) + u128::from(bounds[1]);
        ((twice << (u32::BITS - 1)) / u128::from(total)).min(u128::from(u32::MAX)) as u32
    };
    starts.windows(2).map(middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch_plan::PlannedBatch;
    use tegula_store::tiles::Batch;

    fn plan(batches: &[(u32, &[u64])], slice_edges: &[u64]) -> BatchPlan {
        let mut first = 0;
        let batches = batches.iter().map(|&(log2, unit_edges)| {
            let batch = Batch { target_first: first, log2 };
            first += 1 << log2;
            PlannedBatch { batch, unit_edges: unit_edges.to_vec() }
        });
        BatchPlan { batches: batches.collect(), slice_edges: slice_edges.to_vec() }
    }

    /// The bin of an edge by searching all of them.
    fn found(bins: &Bins, plan: &BatchPlan, source: u32, target: u32) -> Vec<usize> {
        let slice = source >> SLICE_LOG2;
        let holds = |index: usize| {
            let bin = &bins.list[index];
            let batch = plan.batches[bin.batch].batch;
            let first_of_slice = bins
                .list
                .iter()
                .position(|other| other.unit == bin.unit && other.slices == bin.slices);
            let unit_first = bins
                .list
                .iter()
                .find(|other| other.batch == bin.batch)
                .map_or(0, |other| other.unit);
            let unit_start = batch.target_first + ((bin.unit - unit_first) << WINDOW_LOG2);
            let start = u64::from(unit_start)
                + (((index - first_of_slice.unwrap()) as u64) << bin.target_bits);
            bin.slices.contains(&slice)
                && (start..start + (1 << bin.target_bits)).contains(&u64::from(target))
        };
        (0..bins.list.len()).filter(|&index| holds(index)).collect()
    }

    #[test]
    fn each_edge_has_one_bin() {
        let many = 3 * BIN_EDGES;
        let slices = [many * 5, 7, 0, many, many, 9, many * 40, 0];
        for slice_edges in [&slices[..], &[0; 8], &[1, 0, 0, 0, 0, 0, 0, 0]] {
            let plan = plan(
                &[
                    (14, &[many * 30]),
                    (14, &[0]),
                    (15, &[BIN_EDGES]),
                    (16, &[1]),
                    (17, &[many, 17]),
                ],
                slice_edges,
            );
            let bins = Bins::new(&plan);
            for number in 0..5000u32 {
                let source = number.wrapping_mul(0x9e37_79b9) % (8 << SLICE_LOG2);
                let target = number.wrapping_mul(0x85eb_ca6b) % (1 << 18);
                let edge = DenseEdge { source, target, weight: () };
                assert_eq!(found(&bins, &plan, source, target), [bins.bin_of(&edge)]);
            }
        }
    }

    #[test]
    fn a_heavy_slice_is_cut_along_its_targets_and_light_ones_are_joined() {
        let plan = plan(&[(16, &[16 * BIN_EDGES])], &[1, 1, 1, 1, 24, 1, 1, 1, 1]);
        let bins = Bins::new(&plan);
        let shapes: Vec<_> =
            bins.list.iter().map(|bin| (bin.slices.clone(), bin.target_bits)).collect();
        let (light, heavy) = (|slices| (slices, 16), (4..5, 12));
        assert_eq!(shapes[..2], [light(0..2), light(2..4)]);
        assert_eq!(shapes[2..18], vec![heavy; 16]);
        assert_eq!(shapes[18..], [light(5..7), light(7..9)]);
    }
}
