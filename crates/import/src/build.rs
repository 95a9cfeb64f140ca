//! From edges between dense ids to tiles: the last pass.
//!
//! ```text
//!  group = batches that follow one another; where there is memory enough, all of them
//!    bin = edges of one window of targets from some slices of sources: see `bins`
//!      part = bins that follow one another, or a piece of a large one: what the encoder gets,
//!             many at a time
//! ```
//!
//! A bin with too many edges for one part is divided by its slices; a slice with too many of them along its
//! targets, then its sources, then its weights. How a graph is cut depends on the graph alone: the tiles are
//! the same for every budget and every number of workers.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::Result;
use tegula_machine::threads::{Stash, Unit, make_in_order};
use tegula_store::graph::GraphWriter;
use tegula_store::tiles::{
    BATCH_EDGES_MAX, DenseEdge, EncodedTile, Encoder, SLICE_LOG2, WINDOW_LOG2,
};

use super::batch_plan::{BatchPlan, PlannedBatch};
use super::bins::{BIN_EDGES, Bins};
use super::buckets::{Buckets, Filled};
use super::edge::Weight;
use super::import_run::ImportRun;
use super::shares::{self, Share};

/// Edges of a part at the most.
const PART_EDGES_MAX: u64 = 2 * BIN_EDGES;
/// The memory for each bin that is collected by itself: about what is written to disk at a time.
const BIN_BYTES_MIN: u64 = 64 << 10;
/// Edges of a group for each worker that suffice: with more, parts would take more memory and workers would hardly
/// wait less for each other.
const GROUP_EDGES: u64 = BATCH_EDGES_MAX;
/// A slice that is too large is cut into up to 2 to the power of this number.
const CUT_BITS: u32 = 2;

/// Where the edges of a bin are collected.
enum Placing {
    /// In a bucket of its own.
    Bins,
    /// Where there are more bins than buckets, with those of the batches beside it: for each bucket its bins, and
    /// for each bin its bucket.
    Groups { groups: Vec<Range<usize>>, bucket_of: Vec<u32> },
}

/// Edges by bins or groups of them.
pub(super) struct Sorted<W> {
    bins: Bins,
    placing: Placing,
    edges: Filled<DenseEdge<W>>,
}

/// Collects edges by bins or groups of them.
pub(super) struct Sorter<W> {
    bins: Bins,
    placing: Placing,
    edges: Buckets<DenseEdge<W>>,
}

impl<W: Weight> Sorter<W> {
    /// A sorter of which `held` bytes stay in memory.
    pub fn new(run: &ImportRun<'_>, plan: &BatchPlan, held: u64) -> Sorter<W> {
        let space = run.space(held);
        let bins = Bins::new(plan);
        let most = space.buckets_max().min((held / BIN_BYTES_MIN) as usize);
        if bins.list.len() <= most {
            let edges = Buckets::new(bins.list.len(), space);
            return Sorter { bins, placing: Placing::Bins, edges };
        }
        // Fewer than stay in memory once they are scattered to bins.
        let affordable = run.share(shares::GROUP) / size_of::<DenseEdge<W>>() as u64;
        let arcs: u64 = plan.batches.iter().map(PlannedBatch::edges).sum();
        let limit = affordable
            .min(GROUP_EDGES * run.workers.count() as u64)
            .max(arcs.div_ceil(space.buckets_max() as u64 / 2));
        let bins_max = run.space(run.share(shares::PARTS)).buckets_max();
        let groups = groups(plan, &bins, limit, bins_max);
        let mut bucket_of = Vec::with_capacity(bins.list.len());
        for (bucket, group) in (0..).zip(&groups) {
            bucket_of.extend(std::iter::repeat_n(bucket, group.len()));
        }
        let edges = Buckets::new(groups.len(), space);
        Sorter { bins, placing: Placing::Groups { groups, bucket_of }, edges }
    }

    /// Takes in edges, from several threads.
    pub fn add(&self, edges: &[DenseEdge<W>]) -> Result<()> {
        let bins = &self.bins;
        self.edges.write(|writer| match &self.placing {
            Placing::Bins => {
                edges.iter().try_for_each(|&edge| writer.push(bins.bin_of(&edge), edge))
            }
            Placing::Groups { bucket_of, .. } => edges
                .iter()
                .try_for_each(|&edge| writer.push(bucket_of[bins.bin_of(&edge)] as usize, edge)),
        })
    }

    pub fn finish(self) -> Result<Sorted<W>> {
        Ok(Sorted { bins: self.bins, placing: self.placing, edges: self.edges.close()? })
    }
}

/// Cuts the bins into groups, those of batches that follow one another: each of up to `edges_max` edges and
/// `bins_max` bins, or of one batch.
fn groups(plan: &BatchPlan, bins: &Bins, edges_max: u64, bins_max: usize) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut edges = 0;
    let mut start = 0;
    for (index, planned) in plan.batches.iter().enumerate() {
        let end = start + bins.list[start..].partition_point(|bin| bin.batch <= index);
        edges += planned.edges();
        match groups.last_mut() {
            Some(group) if edges <= edges_max && end - group.start <= bins_max => group.end = end,
            _ => {
                groups.push(start..end);
                edges = planned.edges();
            }
        }
        start = end;
    }
    groups
}

/// Encodes all edges and writes their tiles. Returns how many arcs repeat another one.
pub(super) fn build<W: Weight>(
    run: &ImportRun<'_>,
    plan: &BatchPlan,
    sorted: Sorted<W>,
    writer: &mut GraphWriter,
) -> Result<u64> {
    let Sorted { bins, placing, mut edges } = sorted;
    let total = plan.batches.iter().map(PlannedBatch::edges).sum();
    run.progress.begin("building tiles", Some(total), Unit::Edges);
    let mut tiles = TileSink { run, plan, writer, next_batch: 0 };
    let kept = Stash::default();
    let duplicates = AtomicU64::new(0);
    let encoding = Encoding { run, kept: &kept, duplicates: &duplicates };
    match placing {
        Placing::Bins => encoding.encode_bins(edges, &bins, 0..bins.list.len(), &mut tiles)?,
        Placing::Groups { groups, .. } => {
            for (bucket, group) in groups.into_iter().enumerate() {
                let bin_of = |edge: &DenseEdge<W>| bins.bin_of(edge) - group.start;
                let binned = scatter(run, &edges, bucket, group.len(), shares::PARTS, &bin_of)?;
                edges.clear(bucket);
                encoding.encode_bins(binned, &bins, group, &mut tiles)?;
            }
        }
    }
    tiles.begin_batches(plan.batches.len());
    run.progress.end();
    Ok(duplicates.into_inner())
}

/// Edges of one target window that are encoded at once, or cut once more.
#[derive(Debug, Clone)]
struct Part {
    /// The buckets that they lie in: one, where they are too many.
    buckets: Range<usize>,
    edges: u64,
    /// Whose they are.
    batch: usize,
}

/// Joins buckets that follow one another to parts, as many as one can hold.
fn join_buckets<W: Weight>(
    edges: &Filled<DenseEdge<W>>,
    batch_of: &dyn Fn(usize) -> usize,
    may_join: &dyn Fn(usize, usize) -> bool,
) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for bucket in (0..edges.count()).filter(|&bucket| edges.len(bucket) > 0) {
        let len = edges.len(bucket);
        match parts.last_mut() {
            Some(part)
                if part.edges + len <= PART_EDGES_MAX && may_join(part.buckets.start, bucket) =>
            {
                part.buckets.end = bucket + 1;
                part.edges += len;
            }
            _ => parts.push(Part {
                buckets: bucket..bucket + 1,
                edges: len,
                batch: batch_of(bucket),
            }),
        }
    }
    parts
}

fn scatter<W: Weight>(
    run: &ImportRun<'_>,
    edges: &Filled<DenseEdge<W>>,
    bucket: usize,
    count: usize,
    held: Share,
    place: &(dyn Fn(&DenseEdge<W>) -> usize + Sync),
) -> Result<Filled<DenseEdge<W>>> {
    let scattered = Buckets::new(count, run.space(run.share(held)));
    edges.for_each_parallel(bucket, run.workers, run.cancel, &|part| {
        scattered.write(|writer| part.iter().try_for_each(|&edge| writer.push(place(&edge), edge)))
    })?;
    scattered.close()
}

/// What a worker encodes with.
#[derive(Default)]
struct EncoderSpace<W> {
    encoder: Encoder<W>,
    /// The edges of a part that do not lie in memory.
    read: Vec<DenseEdge<W>>,
}

/// Encodes parts on all workers.
struct Encoding<'a, W> {
    run: &'a ImportRun<'a>,
    kept: &'a Stash<EncoderSpace<W>>,
    duplicates: &'a AtomicU64,
}

/// Cuts the edges of a part that is too large and encodes them.
type Cut<'c, W> = dyn FnMut(&mut Filled<DenseEdge<W>>, &Part, &mut TileSink<'_>) -> Result<()> + 'c;

impl<W: Weight> Encoding<'_, W> {
    /// Encodes the edges of some bins, a bucket for each.
    fn encode_bins(
        &self,
        edges: Filled<DenseEdge<W>>,
        bins: &Bins,
        range: Range<usize>,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let bins = &bins.list[range];
        let may_join = |a: usize, b: usize| bins[a].unit == bins[b].unit;
        let mut parts = join_buckets(&edges, &|bucket| bins[bucket].batch, &may_join);
        parts.sort_by_key(|part| (part.batch, bins[part.buckets.start].hilbert));
        self.encode_parts(edges, &parts, tiles, &mut |edges, part, tiles| {
            let bin = &bins[part.buckets.start];
            let bits = bin.target_bits + SLICE_LOG2 + weight_bits::<W>();
            if bin.slices.len() == 1 {
                return self.cut_and_encode(edges, part, bits, tiles);
            }
            self.divide_and_encode(edges, part, &bin.slices, bits, tiles)
        })
    }

    /// Divides a bin by its slices.
    fn divide_and_encode(
        &self,
        edges: &mut Filled<DenseEdge<W>>,
        part: &Part,
        slices: &Range<u32>,
        bits: u32,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let bucket = part.buckets.start;
        let place_of = self.divide(edges, bucket, slices)?;
        let last = place_of.last().copied().unwrap_or(0);
        if last == 0 {
            return self.cut_and_encode(edges, part, bits, tiles);
        }
        let place = |edge: &DenseEdge<W>| {
            place_of[((edge.source >> SLICE_LOG2) - slices.start) as usize] as usize
        };
        let divided = scatter(self.run, edges, bucket, last as usize + 1, shares::CUTS, &place)?;
        edges.clear(bucket);
        let parts = join_buckets(&divided, &|_| part.batch, &|_, _| false);
        self.encode_parts(divided, &parts, tiles, &mut |edges, part, tiles| {
            self.cut_and_encode(edges, part, bits, tiles)
        })
    }

    /// For each slice the part that it goes to: as many slices to each as it can hold.
    fn divide(
        &self,
        edges: &Filled<DenseEdge<W>>,
        bucket: usize,
        slices: &Range<u32>,
    ) -> Result<Vec<u32>> {
        let kept = Stash::default();
        let new = || vec![0u64; slices.len()];
        edges.for_each_parallel(bucket, self.run.workers, self.run.cancel, &|some| {
            kept.with(new, |counts| {
                for edge in some {
                    counts[((edge.source >> SLICE_LOG2) - slices.start) as usize] += 1;
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
            if edges_here > 0 && edges_here + count > PART_EDGES_MAX {
                (part, edges_here) = (part + 1, 0);
            }
            edges_here += count;
            part
        };
        Ok(counts.into_iter().map(place).collect())
    }

    /// Encodes all parts in order; those that are too large once `cut` has cut them.
    fn encode_parts(
        &self,
        mut edges: Filled<DenseEdge<W>>,
        parts: &[Part],
        tiles: &mut TileSink<'_>,
        cut: &mut Cut<'_, W>,
    ) -> Result<()> {
        for some in parts.chunk_by(|a, b| a.edges.max(b.edges) <= PART_EDGES_MAX) {
            match some {
                [part] if part.edges > PART_EDGES_MAX => cut(&mut edges, part, tiles)?,
                _ => self.encode_side_by_side(&edges, some, tiles)?,
            }
        }
        Ok(())
    }

    /// Cuts one slice of a unit along its targets, then its sources, then its weights. `bits` tells in
    /// how many low bits of these three, targets above all, the edges may differ.
    fn cut_and_encode(
        &self,
        edges: &mut Filled<DenseEdge<W>>,
        part: &Part,
        bits: u32,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let bucket = part.buckets.start;
        if bits == 0 {
            return self.encode_equal(edges, part, tiles);
        }
        // Weights come apart only once the ends do not differ any more.
        let bits_of_ends = bits.saturating_sub(weight_bits::<W>());
        let cut_bits = CUT_BITS.min(if bits_of_ends > 0 { bits_of_ends } else { bits });
        let shift = bits - cut_bits;
        let cut_of =
            |edge: &DenseEdge<W>| (place_in_slice(edge) >> shift) as usize & ((1 << cut_bits) - 1);
        let cuts = scatter(self.run, edges, bucket, 1 << cut_bits, shares::CUTS, &cut_of)?;
        edges.clear(bucket);
        let parts = join_buckets(&cuts, &|_| part.batch, &|_, _| false);
        if shift < weight_bits::<W>() {
            // Edges between the same two ends come apart here; the encoder counts within each part.
            self.duplicates.fetch_add(parts.len() as u64 - 1, Ordering::Relaxed);
        }
        self.encode_parts(cuts, &parts, tiles, &mut |cuts, part, tiles| {
            self.cut_and_encode(cuts, part, shift, tiles)
        })
    }

    /// Encodes edges that are all the same, [`PART_EDGES_MAX`] at a time: which ones does not matter.
    fn encode_equal(
        &self,
        edges: &Filled<DenseEdge<W>>,
        part: &Part,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let Some(edge) = edges.first(part.buckets.start)? else { return Ok(()) };
        let mut left = part.edges;
        self.duplicates.fetch_add(left.div_ceil(PART_EDGES_MAX) - 1, Ordering::Relaxed);
        let equal = vec![edge; left.min(PART_EDGES_MAX) as usize];
        while left > 0 {
            let count = left.min(PART_EDGES_MAX);
            let encoded = self.kept.with(EncoderSpace::default, |space| {
                self.encode_edges(&mut space.encoder, &[&equal[..count as usize]])
            })?;
            tiles.append(part.batch, encoded)?;
            self.run.progress.advance(count);
            left -= count;
        }
        Ok(())
    }

    /// Encodes parts side by side; their tiles are written in order.
    fn encode_side_by_side(
        &self,
        edges: &Filled<DenseEdge<W>>,
        parts: &[Part],
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let make = |index: usize| self.encode_part(edges, &parts[index]);
        make_in_order(
            self.run.workers,
            parts.len(),
            self.run.cancel,
            &make,
            &mut |index, encoded| {
                self.run.progress.advance(parts[index].edges);
                tiles.append(parts[index].batch, encoded)
            },
        )
    }

    fn encode_part(&self, edges: &Filled<DenseEdge<W>>, part: &Part) -> Result<Vec<EncodedTile>> {
        self.kept.with(EncoderSpace::default, |space| {
            let EncoderSpace { encoder, read } = space;
            let held: Option<Vec<_>> =
                part.buckets.clone().map(|bucket| edges.held(bucket)).collect();
            if let Some(held) = held {
                return self.encode_edges(encoder, &held.concat());
            }
            read.clear();
            read.reserve_exact(part.edges as usize);
            for bucket in part.buckets.clone() {
                edges.for_each(bucket, &mut |some| {
                    read.extend_from_slice(some);
                    Ok(())
                })?;
            }
            self.encode_edges(encoder, &[read])
        })
    }

    /// Encodes edges of one target window.
    fn encode_edges(
        &self,
        encoder: &mut Encoder<W>,
        edges: &[&[DenseEdge<W>]],
    ) -> Result<Vec<EncodedTile>> {
        let mut tiles = Vec::new();
        encoder.encode_window(edges, &mut |tile| {
            tiles.push(tile);
            Ok(())
        })?;
        self.duplicates.fetch_add(encoder.take_duplicates(), Ordering::Relaxed);
        Ok(tiles)
    }
}

/// Bits in which the weights of edges between the same two ends may differ.
const fn weight_bits<W: Weight>() -> u32 {
    if W::IS_WEIGHTED { u32::BITS } else { 0 }
}

/// Where an edge belongs in a slice: by target, source and, the order of the bits will do, weight.
fn place_in_slice<W: Weight>(edge: &DenseEdge<W>) -> u64 {
    let local = |id: u32, log2: u32| u64::from(id) & ((1 << log2) - 1);
    let ends = local(edge.target, WINDOW_LOG2) << SLICE_LOG2 | local(edge.source, SLICE_LOG2);
    let weight = if W::IS_WEIGHTED { { edge.weight }.to_f32().to_bits() } else { 0 };
    ends << weight_bits::<W>() | u64::from(weight)
}

/// Writes tiles, and begins a batch before its first one.
struct TileSink<'a> {
    run: &'a ImportRun<'a>,
    plan: &'a BatchPlan,
    writer: &'a mut GraphWriter,
    next_batch: usize,
}

impl TileSink<'_> {
    fn append(&mut self, batch: usize, tiles: Vec<EncodedTile>) -> Result<()> {
        self.run.cancel.check()?;
        self.begin_batches(batch + 1);
        tiles.iter().try_for_each(|tile| self.writer.append_tile(tile))
    }

    /// Begins all batches before `end`, those without tiles too.
    fn begin_batches(&mut self, end: usize) {
        for planned in &self.plan.batches[self.next_batch.min(end)..end] {
            self.writer.begin_batch(planned.batch);
        }
        self.next_batch = self.next_batch.max(end);
    }
}

#[cfg(test)]
mod tests {
    use tegula_store::tiles::Batch;

    use super::*;

    #[test]
    fn groups_hold_as_many_batches_as_they_may() {
        let mut target_first = 0;
        let batch = |(log2, edges): (u32, u64)| {
            let batch = Batch { target_first, log2 };
            target_first += 1 << log2;
            let mut unit_edges = vec![0; 1 << (log2 - WINDOW_LOG2)];
            unit_edges[0] = edges;
            PlannedBatch { batch, unit_edges }
        };
        // Four bins, or two where batches have half the targets.
        let sizes = [(18, 10), (18, 90), (17, 5), (17, 5), (18, 500), (18, 1)];
        let batches = sizes.into_iter().map(batch).collect();
        let plan = BatchPlan { batches, slice_edges: vec![611] };
        let bins = Bins::new(&plan);
        let groups = |edges_max, bins_max| groups(&plan, &bins, edges_max, bins_max);
        assert_eq!(groups(100, 100), [0..8, 8..12, 12..16, 16..20]);
        assert_eq!(groups(1000, 6), [0..4, 4..10, 10..16, 16..20]);
        assert_eq!(groups(0, 0), [0..4, 4..8, 8..10, 10..12, 12..16, 16..20]);
        assert_eq!(groups(u64::MAX, usize::MAX), std::slice::from_ref(&(0..20)));
    }
}
