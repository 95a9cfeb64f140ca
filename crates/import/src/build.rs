//! From edges between dense ids to tiles: the last pass.
//!
//! ```text
//!  bucket = batches that follow one another         fits in memory, or is one batch
//!    unit = the edges of a batch that end in one target window
//!      part = the edges of a unit from slices of sources that follow one another: what the
//!             encoder gets, many at a time
//! ```
//!
//! A slice with too many edges for one part is cut, along its targets, then its sources, then its
//! weights. How a graph is cut depends on the graph alone: the tiles are the same for every budget and
//! every number of workers.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::Result;
use tegula_machine::threads::{Stash, Unit, make_in_order};
use tegula_store::graph::GraphWriter;
use tegula_store::tiles::{
    BATCH_EDGES_MAX, DenseEdge, EncodedTile, Encoder, SLICE_LOG2, WINDOW_LOG2,
};

use super::batch_plan::{BatchPlan, TargetTable};
use super::buckets::{Buckets, Filled};
use super::edge::Weight;
use super::import_run::ImportRun;
use super::shares::{self, Share};

/// Edges of a part at the most.
const PART_EDGES_MAX: u64 = 1 << 19;
/// Edges of a group for each worker that suffice: with more, parts would take more memory and workers would hardly
/// wait less for each other.
const GROUP_EDGES: u64 = BATCH_EDGES_MAX;
/// A part that is too large is cut into 2 to the power of this number.
const CUT_BITS: u32 = 2;

/// Edges by groups of batches.
pub(super) struct Sorted<W> {
    groups: Vec<Range<usize>>,
    edges: Filled<DenseEdge<W>>,
}

/// Collects edges by groups of batches.
pub(super) struct Sorter<W> {
    groups: Vec<Range<usize>>,
    table: TargetTable,
    edges: Buckets<DenseEdge<W>>,
}

impl<W: Weight> Sorter<W> {
    /// A sorter of which `held` bytes stay in memory.
    pub fn new(run: &ImportRun<'_>, plan: &BatchPlan, held: u64) -> Sorter<W> {
        let space = run.space(held);
        let arcs: u64 = plan.batches.iter().map(|planned| planned.edges).sum();
        // Fewer than stay in memory once they are scattered to parts.
        let affordable = run.share(shares::GROUP) / size_of::<DenseEdge<W>>() as u64;
        let limit = affordable
            .min(GROUP_EDGES * run.workers.count() as u64)
            .max(arcs.div_ceil(space.buckets_max() as u64 / 2));
        let slices = (plan.vertices >> SLICE_LOG2) + 1;
        let units = run.share(shares::UNIT_COUNTS)
            / (size_of::<u32>() as u64 * slices * (run.workers.count() as u64 + 1));
        let groups = plan.groups(limit, units.max(1) as usize);
        let mut group = 0;
        let table = plan.table(0..plan.batches.len(), |batch| {
            while batch >= groups[group].end {
                group += 1;
            }
            group as u32
        });
        Sorter { edges: Buckets::new(groups.len(), space), groups, table }
    }

    /// Takes in edges, from several threads.
    pub fn add(&self, edges: &[DenseEdge<W>]) -> Result<()> {
        self.edges.write(|writer| {
            edges
                .iter()
                .try_for_each(|&edge| writer.push(self.table.get(edge.target) as usize, edge))
        })
    }

    pub fn finish(self) -> Result<Sorted<W>> {
        Ok(Sorted { groups: self.groups, edges: self.edges.close()? })
    }
}

/// Encodes all edges and writes their tiles. Returns how many arcs repeat another one.
pub(super) fn build<W: Weight>(
    run: &ImportRun<'_>,
    plan: &BatchPlan,
    mut sorted: Sorted<W>,
    writer: &mut GraphWriter,
) -> Result<u64> {
    let edges = plan.batches.iter().map(|planned| planned.edges).sum();
    run.progress.begin("building tiles", Some(edges), Unit::Edges);
    let mut tiles = TileSink { run, plan, writer, next_batch: 0 };
    let kept = Stash::default();
    let duplicates = AtomicU64::new(0);
    for (bucket, group) in sorted.groups.iter().enumerate() {
        let parts = Parts::cut(run, plan, group.clone(), &sorted.edges, bucket)?;
        let edges =
            scatter(run, &sorted.edges, bucket, parts.list.len(), shares::PARTS, &|edge| {
                parts.part_of(edge)
            })?;
        sorted.edges.clear(bucket);
        let encoding = Encoding { run, kept: &kept, duplicates: &duplicates };
        encoding.encode(edges, &parts, &mut tiles)?;
        tiles.begin_batches(group.end);
    }
    run.progress.end();
    Ok(duplicates.into_inner())
}

/// The parts of one group of batches, in the order of their tiles.
struct Parts {
    units: TargetTable,
    slices: usize,
    /// The part of each unit and slice.
    part_of: Vec<u32>,
    list: Vec<Part>,
}

/// A part: whose it is, where its tiles belong, and how many edges it has.
#[derive(Debug, Clone, Copy)]
struct Part {
    batch: usize,
    hilbert: u64,
    edges: u64,
}

impl Parts {
    /// Counts the edges of each unit and slice, and cuts the units into parts.
    fn cut<W: Weight>(
        run: &ImportRun<'_>,
        plan: &BatchPlan,
        group: Range<usize>,
        edges: &Filled<DenseEdge<W>>,
        bucket: usize,
    ) -> Result<Parts> {
        let mut batch_of_unit = Vec::new();
        let units = plan.table(group, |batch| {
            batch_of_unit.push(batch);
            batch_of_unit.len() as u32 - 1
        });
        let slices = ((plan.vertices.max(1) - 1) >> SLICE_LOG2) as usize + 1;
        let counts = count(run, &units, batch_of_unit.len(), slices, edges, bucket)?;
        let mut parts = Parts { units, slices, part_of: vec![0; counts.len()], list: Vec::new() };
        let mut first_unit = 0;
        for (unit, &index) in batch_of_unit.iter().enumerate() {
            if batch_of_unit[first_unit] != index {
                first_unit = unit;
            }
            let batch = &plan.batches[index].batch;
            let target_first = batch.target_first + ((unit - first_unit) << WINDOW_LOG2) as u32;
            parts.cut_unit(unit, &counts[unit * slices..][..slices], &|slice| {
                let hilbert = batch.hilbert_index((slice << SLICE_LOG2) as u32, target_first);
                Part { batch: index, hilbert, edges: 0 }
            });
        }
        Ok(parts.in_order())
    }

    /// Puts as many slices as it can hold into each part; `new` begins one at a slice.
    fn cut_unit(&mut self, unit: usize, counts: &[u32], new: &dyn Fn(usize) -> Part) {
        let first = self.list.len();
        for (slice, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let edges = u64::from(count);
            match self.list[first..].last_mut() {
                Some(part) if part.edges + edges <= PART_EDGES_MAX => part.edges += edges,
                _ => self.list.push(Part { edges, ..new(slice) }),
            }
            self.part_of[unit * self.slices + slice] = self.list.len() as u32 - 1;
        }
    }

    /// Brings the parts of each batch into Hilbert order.
    fn in_order(mut self) -> Parts {
        let mut order: Vec<u32> = (0..self.list.len() as u32).collect();
        order.sort_by_key(|&part| {
            (self.list[part as usize].batch, self.list[part as usize].hilbert)
        });
        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        self.list = order.iter().map(|&old| self.list[old as usize]).collect();
        if !place.is_empty() {
            self.part_of.iter_mut().for_each(|part| *part = place[*part as usize]);
        }
        self
    }

    #[inline]
    fn part_of<W: Weight>(&self, edge: &DenseEdge<W>) -> usize {
        let unit = self.units.get(edge.target) as usize;
        self.part_of[unit * self.slices + (edge.source >> SLICE_LOG2) as usize] as usize
    }
}

/// Edges of each unit and slice of a bucket.
fn count<W: Weight>(
    run: &ImportRun<'_>,
    units: &TargetTable,
    unit_count: usize,
    slices: usize,
    edges: &Filled<DenseEdge<W>>,
    bucket: usize,
) -> Result<Vec<u32>> {
    let kept = Stash::default();
    let new = || vec![0u32; unit_count * slices];
    edges.for_each_parallel(bucket, run.workers, run.cancel, &|part| {
        kept.with(new, |counts| {
            for edge in part {
                let unit = units.get(edge.target) as usize;
                let count = &mut counts[unit * slices + (edge.source >> SLICE_LOG2) as usize];
                *count = count.saturating_add(1);
            }
            Ok(())
        })
    })?;
    let mut workers = kept.into_items().into_iter();
    let mut total = workers.next().unwrap_or_else(new);
    for counts in workers {
        total
            .iter_mut()
            .zip(counts)
            .for_each(|(total, count)| *total = total.saturating_add(count));
    }
    Ok(total)
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
    /// The edges of a part that do not lie side by side.
    gathered: Vec<DenseEdge<W>>,
}

/// Encodes parts on all workers.
struct Encoding<'a, W> {
    run: &'a ImportRun<'a>,
    kept: &'a Stash<EncoderSpace<W>>,
    duplicates: &'a AtomicU64,
}

impl<W: Weight> Encoding<'_, W> {
    /// Encodes all parts in order; those that are too large once they are cut.
    fn encode(
        &self,
        mut edges: Filled<DenseEdge<W>>,
        parts: &Parts,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let mut next = 0;
        while next < parts.list.len() {
            let is_small = |part: &Part| part.edges <= PART_EDGES_MAX;
            let small = parts.list[next..].iter().take_while(|part| is_small(part)).count();
            if small > 0 {
                self.encode_side_by_side(
                    &edges,
                    next..next + small,
                    &|part| parts.list[part].batch,
                    tiles,
                )?;
                next += small;
            } else {
                let bits = WINDOW_LOG2 + SLICE_LOG2 + weight_bits::<W>();
                self.cut_and_encode(&mut edges, next, bits, parts.list[next].batch, tiles)?;
                next += 1;
            }
        }
        Ok(())
    }

    /// Cuts one slice of a unit along its targets, then its sources, then its weights. `bits` tells in
    /// how many low bits of these three, targets above all, the edges may differ.
    fn cut_and_encode(
        &self,
        edges: &mut Filled<DenseEdge<W>>,
        part: usize,
        bits: u32,
        batch: usize,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        if bits == 0 {
            return self.encode_equal(edges, part, batch, tiles);
        }
        let shift = bits - CUT_BITS;
        let cut_of =
            |edge: &DenseEdge<W>| (place_in_slice(edge) >> shift) as usize & ((1 << CUT_BITS) - 1);
        let mut cuts = scatter(self.run, edges, part, 1 << CUT_BITS, shares::CUTS, &cut_of)?;
        edges.clear(part);
        if shift < weight_bits::<W>() {
            // Edges between the same two ends come apart here; the encoder counts within each part.
            let parts = (0..cuts.count()).filter(|&cut| cuts.len(cut) > 0).count();
            self.duplicates.fetch_add(parts as u64 - 1, Ordering::Relaxed);
        }
        let mut next = 0;
        while next < cuts.count() {
            let small =
                (next..cuts.count()).take_while(|&cut| cuts.len(cut) <= PART_EDGES_MAX).count();
            if small > 0 {
                self.encode_side_by_side(&cuts, next..next + small, &|_| batch, tiles)?;
                next += small;
            } else {
                self.cut_and_encode(&mut cuts, next, shift, batch, tiles)?;
                next += 1;
            }
        }
        Ok(())
    }

    /// Encodes edges that are all the same, [`PART_EDGES_MAX`] at a time: which ones does not matter.
    fn encode_equal(
        &self,
        edges: &Filled<DenseEdge<W>>,
        part: usize,
        batch: usize,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let Some(edge) = edges.first(part)? else { return Ok(()) };
        let mut left = edges.len(part);
        self.duplicates.fetch_add(left.div_ceil(PART_EDGES_MAX) - 1, Ordering::Relaxed);
        let equal = vec![edge; left.min(PART_EDGES_MAX) as usize];
        while left > 0 {
            let count = left.min(PART_EDGES_MAX);
            let encoded = self.kept.with(EncoderSpace::default, |space| {
                self.encode_edges(&mut space.encoder, &equal[..count as usize])
            })?;
            tiles.append(batch, encoded)?;
            self.run.progress.advance(count);
            left -= count;
        }
        Ok(())
    }

    /// Encodes parts side by side; their tiles are written in order.
    fn encode_side_by_side(
        &self,
        edges: &Filled<DenseEdge<W>>,
        parts: Range<usize>,
        batch_of: &(dyn Fn(usize) -> usize + Sync),
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let first = parts.start;
        let make = |index: usize| self.encode_part(edges, first + index);
        make_in_order(self.run.workers, parts.len(), self.run.cancel, &make, &mut |index,
                                                                                   (
            encoded,
            count,
        )| {
            self.run.progress.advance(count);
            tiles.append(batch_of(first + index), encoded)
        })
    }

    fn encode_part(
        &self,
        edges: &Filled<DenseEdge<W>>,
        part: usize,
    ) -> Result<(Vec<EncodedTile>, u64)> {
        let encoded = self.kept.with(EncoderSpace::default, |space| {
            let EncoderSpace { encoder, gathered } = space;
            if let Some(all) = edges.side_by_side(part) {
                return self.encode_edges(encoder, all);
            }
            gathered.clear();
            gathered.reserve_exact(edges.len(part) as usize);
            edges.for_each(part, &mut |some| {
                gathered.extend_from_slice(some);
                Ok(())
            })?;
            self.encode_edges(encoder, gathered)
        })?;
        Ok((encoded, edges.len(part)))
    }

    /// Encodes edges of one target window.
    fn encode_edges(
        &self,
        encoder: &mut Encoder<W>,
        edges: &[DenseEdge<W>],
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
