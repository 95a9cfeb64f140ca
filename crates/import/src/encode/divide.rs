//! Divides edges that are too many to be encoded at once.
//!
//! ```text
//!  segments -> units -> slices -> a slice: along its targets, then its sources, then its weights
//! ```

use std::ops::Range;

use tegula_machine::threads::Stash;
use tegula_store::Result;
use tegula_store::tiles::{Cell, DenseEdge, Grid, VertexNumber, WINDOW_LOG2};

use crate::edge::{Weight, slice_of, source_of, target_of};
use crate::import_run::ImportRun;
use crate::order::batch_plan::BIN_EDGES;
use crate::piles::Filled;
use crate::shares;
use crate::sort::bins::{Bins, Region};

/// The most edges of a portion.
pub(crate) const PORTION_EDGES_MAX: u64 = 2 * BIN_EDGES;
/// log2 of the most parts into which a slice that is too large is cut at once.
const CUT_BITS: u32 = 2;

/// The regions into which a portion that is too large is divided, and the place of each edge among
/// them.
pub(crate) struct Division<'d, N, W> {
    pub regions: Vec<Region>,
    pub place: Box<dyn Fn(&DenseEdge<N, W>) -> usize + Sync + 'd>,
}

impl<'d, N: VertexNumber, W: Weight> Division<'d, N, W> {
    /// Divides the edges of a pile, which have `region` in common, by the next finer thing in
    /// which they may differ.
    pub fn of(
        run: &ImportRun<'_>,
        bins: &'d Bins,
        edges: &Filled<DenseEdge<N, W>>,
        pile: usize,
        region: &Region,
    ) -> Result<Division<'d, N, W>> {
        let grid = bins.grid();
        let piles_max = run.space(run.share(shares::CUTS)).piles_max() as u32;
        Ok(match *region {
            Region::Segments { column, ref segments } => {
                let (first, each) = (segments.start, segments.len() as u32);
                let each = each.div_ceil(piles_max);
                let some = |segments: Range<u32>| match segments.len() {
                    1 => {
                        let segment = bins.segments[segments.start as usize];
                        let cell = Cell { column, segment };
                        Region::Units { cell, places: bins.places(column) }
                    }
                    _ => Region::Segments { column, segments },
                };
                Division {
                    regions: ranges(segments, each).map(some).collect(),
                    place: Box::new(move |edge| {
                        ((bins.segment_place(source_of(edge)) - first) / each) as usize
                    }),
                }
            }
            Region::Units { cell, ref places } => {
                let (first, each) = (places.start, (places.len() as u32).div_ceil(piles_max));
                let some = |places: Range<u32>| match places.len() {
                    1 => bins.whole_unit(cell, bins.unit_at[places.start as usize]),
                    _ => Region::Units { cell, places },
                };
                Division {
                    regions: ranges(places, each).map(some).collect(),
                    place: Box::new(move |edge| {
                        let unit = bins.unit_of(target_of(edge)) as usize;
                        ((bins.units[unit].place - first) / each) as usize
                    }),
                }
            }
            Region::Slices { cell, unit, ref slices, target_bits } => {
                let bits = target_bits + grid.slice_log2() + weight_bits::<W>();
                let first = slices.start;
                let place_of = join_slices(run, edges, pile, slices, grid)?;
                let count = place_of.last().map_or(1, |&last| last as usize + 1);
                let place = move |edge: &DenseEdge<N, W>| {
                    place_of[(slice_of(edge, grid) - first) as usize] as usize
                };
                Division {
                    regions: vec![Region::Slice { cell, unit, bits }; count],
                    place: Box::new(place),
                }
            }
            Region::Slice { cell, unit, bits } => {
                // Weights are divided only once the ends do not differ any more.
                let bits_of_ends = bits.saturating_sub(weight_bits::<W>());
                let cut_bits = CUT_BITS.min(if bits_of_ends > 0 { bits_of_ends } else { bits });
                let bits = bits - cut_bits;
                let place = move |edge: &DenseEdge<N, W>| {
                    (place_in_slice(edge, grid) >> bits) as usize & ((1 << cut_bits) - 1)
                };
                Division {
                    regions: vec![Region::Slice { cell, unit, bits }; 1 << cut_bits],
                    place: Box::new(place),
                }
            }
        })
    }
}

/// Returns for each slice the part that it goes to. A part takes as many slices as it can hold.
fn join_slices<N: VertexNumber, W: Weight>(
    run: &ImportRun<'_>,
    edges: &Filled<DenseEdge<N, W>>,
    pile: usize,
    slices: &Range<u32>,
    grid: Grid,
) -> Result<Vec<u32>> {
    if slices.len() == 1 {
        return Ok(vec![0]);
    }
    let kept = Stash::default();
    let new = || vec![0u64; slices.len()];
    edges.for_each_parallel(pile, run.workers, run.cancel, &|some| {
        kept.with(new, |counts| {
            for edge in some {
                counts[(slice_of(edge, grid) - slices.start) as usize] += 1;
            }
            Ok(())
        })
    })?;
    let mut counts = new();
    for of_worker in kept.into_items() {
        counts.iter_mut().zip(of_worker).for_each(|(count, here)| *count += here);
    }
    let (mut part, mut edges_here) = (0, 0);
    let place = |count: u64| {
        // So only a part of a single slice can be too large, and that one is cut further.
        if edges_here > 0 && edges_here + count > PORTION_EDGES_MAX {
            (part, edges_here) = (part + 1, 0);
        }
        edges_here += count;
        part
    };
    Ok(counts.into_iter().map(place).collect())
}

/// Cuts a range into ranges of `each`.
fn ranges(range: &Range<u32>, each: u32) -> impl Iterator<Item = Range<u32>> {
    let end = range.end;
    let starts = range.clone().step_by(each as usize);
    starts.map(move |start| start..end.min(start.saturating_add(each)))
}

/// Bits in which the weights of edges with the same ends may differ.
pub(crate) const fn weight_bits<W: Weight>() -> u32 {
    if W::IS_WEIGHTED { u32::BITS } else { 0 }
}

/// Returns the place of an edge in a slice: by target, then source, then the bits of the weight.
fn place_in_slice<N: VertexNumber, W: Weight>(edge: &DenseEdge<N, W>, grid: Grid) -> u64 {
    let local = |id: u64, log2: u32| id & ((1 << log2) - 1);
    let slice_log2 = grid.slice_log2();
    let ends =
        local(target_of(edge), WINDOW_LOG2) << slice_log2 | local(source_of(edge), slice_log2);
    let weight = if W::IS_WEIGHTED { { edge.weight }.to_f32().to_bits() } else { 0 };
    ends << weight_bits::<W>() | u64::from(weight)
}
