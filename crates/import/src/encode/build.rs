//! From edges between dense ids to tiles: the last pass.
//!
//! ```text
//!  group = bins whose tiles follow one another; all bins, if there is memory enough
//!    bin = edges that are near each other by their targets and their sources: see `bins`
//!      portion = bins that follow one another, or a fraction of a large one: what the encoder
//!              gets, many at a time
//! ```
//!
//! A bin with too many edges for one portion is divided by its segments, then by units of targets,
//! then by slices of sources. A slice that is still too large is cut along its targets, then its
//! sources, then its weights. The cuts depend on the graph alone, so the tiles are the same for
//! every budget and every number of workers.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::threads::{ProgressUnit, Stash, make_in_order};
use tegula_store::Result;
use tegula_store::graph::GraphWriter;
use tegula_store::tiles::{
    BATCH_EDGES_MAX, Cell, DenseEdge, EncodedTile, Encoder, VertexNumber, WindowSources,
};

use super::divide::{Division, PORTION_EDGES_MAX, weight_bits};
use crate::edge::{Weight, source_of, target_of};
use crate::import_run::ImportRun;
use crate::order::batch_plan::{BatchPlan, PlannedBatch};
use crate::piles::{Filled, Piles};
use crate::shares::{self, Share};
use crate::sort::bins::{Bins, Region, Stretch};

/// A bin with a pile of its own has at least this memory, about as much as is written to disk at
/// a time.
const BIN_BYTES_MIN: u64 = 64 << 10;
/// Edges per worker that suffice for a group. With more, portions would take more memory, and
/// workers would hardly wait less for each other.
const GROUP_EDGES: u64 = BATCH_EDGES_MAX;

/// Where the edges of a bin are collected.
enum Placing {
    /// In a pile of its own.
    Bins,
    /// In a pile shared with adjacent bins, where there are more bins than piles: `groups` has
    /// the bins of each pile, `pile_of` the pile of each bin.
    Groups { groups: Vec<Range<usize>>, pile_of: Vec<u32> },
}

/// Edges sorted by bins or groups of bins.
pub(crate) struct Sorted<N, W> {
    bins: Bins,
    placing: Placing,
    edges: Filled<DenseEdge<N, W>>,
}

/// Collects edges by bins or groups of bins.
pub(crate) struct Sorter<N, W> {
    bins: Bins,
    placing: Placing,
    edges: Piles<DenseEdge<N, W>>,
}

impl<N: VertexNumber, W: Weight> Sorter<N, W> {
    /// Returns a sorter that keeps `held` bytes in memory.
    pub fn new(run: &ImportRun<'_>, plan: &BatchPlan, held: u64) -> Sorter<N, W> {
        let space = run.space(held);
        let bins = Bins::new(plan);
        let most = space.piles_max().min((held / BIN_BYTES_MIN) as usize);
        if bins.list.len() <= most {
            let edges = Piles::new(bins.list.len(), space);
            return Sorter { bins, placing: Placing::Bins, edges };
        }
        // The edges of a group are to stay in memory when they are scattered to bins. Their number
        // is only an expectation.
        let affordable = run.share(shares::GROUP) / size_of::<DenseEdge<N, W>>() as u64;
        let arcs: u64 = plan.batches.iter().map(PlannedBatch::edges).sum();
        // Two adjacent groups together exceed the limit. So we divide the edges by half of the
        // piles, and there are no more groups than piles.
        let limit = affordable
            .min(GROUP_EDGES * run.workers.count() as u64)
            .max(arcs.div_ceil(space.piles_max() as u64 / 2));
        let bins_max = run.space(run.share(shares::PARTS)).piles_max();
        let groups = groups(&bins.stretches, limit, bins_max);
        let mut pile_of = Vec::with_capacity(bins.list.len());
        for (pile, group) in (0..).zip(&groups) {
            pile_of.extend(std::iter::repeat_n(pile, group.len()));
        }
        let edges = Piles::new(groups.len(), space);
        Sorter { bins, placing: Placing::Groups { groups, pile_of }, edges }
    }

    /// Takes in edges, from several threads.
    pub fn add(&self, edges: &[DenseEdge<N, W>]) -> Result<()> {
        let bins = &self.bins;
        self.edges.write(|writer| match &self.placing {
            Placing::Bins => {
                edges.iter().try_for_each(|&edge| writer.push(bins.bin_of(&edge), edge))
            }
            Placing::Groups { pile_of, .. } => edges
                .iter()
                .try_for_each(|&edge| writer.push(pile_of[bins.bin_of(&edge)] as usize, edge)),
        })
    }

    pub fn finish(self) -> Result<Sorted<N, W>> {
        Ok(Sorted { bins: self.bins, placing: self.placing, edges: self.edges.close()? })
    }
}

/// Cuts the bins into groups of consecutive stretches. A group has up to `edges_max` expected edges
/// and `bins_max` bins, or it is a single stretch.
fn groups(stretches: &[Stretch], edges_max: u64, bins_max: usize) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut edges = 0;
    for Stretch { bins, expected_edges } in stretches {
        edges += expected_edges;
        match groups.last_mut() {
            Some(group) if edges <= edges_max && bins.end - group.start <= bins_max => {
                group.end = bins.end;
            }
            _ => {
                groups.push(bins.clone());
                edges = *expected_edges;
            }
        }
    }
    groups
}

/// Encodes all edges and writes their tiles. Returns how many arcs repeat another one.
pub(crate) fn build<N: VertexNumber, W: Weight>(
    run: &ImportRun<'_>,
    plan: &BatchPlan,
    sorted: Sorted<N, W>,
    writer: &mut GraphWriter,
) -> Result<u64> {
    let Sorted { bins, placing, mut edges } = sorted;
    let total = plan.batches.iter().map(PlannedBatch::edges).sum();
    run.progress.begin("building tiles", Some(total), ProgressUnit::Edges);
    let lists_sources = writer.lists_sources();
    let mut tiles = TileSink { run, writer };
    let kept = Stash::default();
    let duplicates = AtomicU64::new(0);
    let encoding =
        Encoding { run, bins: &bins, lists_sources, kept: &kept, duplicates: &duplicates };
    match placing {
        Placing::Bins => encoding.encode_bins(edges, 0..bins.list.len(), &mut tiles)?,
        Placing::Groups { groups, .. } => {
            for (pile, group) in groups.into_iter().enumerate() {
                let bin_of = |edge: &DenseEdge<N, W>| bins.bin_of(edge) - group.start;
                let binned = scatter(run, &edges, pile, group.len(), shares::PARTS, &bin_of)?;
                // The edges lie in `binned` now, and encoding needs the memory.
                edges.clear(pile);
                encoding.encode_bins(binned, group, &mut tiles)?;
            }
        }
    }
    run.progress.end();
    Ok(duplicates.into_inner())
}

/// Edges that are encoded at once, or divided further.
#[derive(Debug, Clone)]
struct Portion {
    /// The piles of the edges; a single one, if the edges are too many.
    piles: Range<usize>,
    edges: u64,
    /// What the edges of the first pile have in common.
    region: Region,
}

/// Joins consecutive piles to portions, each as large as [`PORTION_EDGES_MAX`] and `may_join`
/// allow.
fn join_piles<N: VertexNumber, W: Weight>(
    edges: &Filled<DenseEdge<N, W>>,
    region_of: &dyn Fn(usize) -> Region,
    may_join: &dyn Fn(usize, usize) -> bool,
) -> Vec<Portion> {
    let mut portions: Vec<Portion> = Vec::new();
    for pile in (0..edges.count()).filter(|&pile| edges.len(pile) > 0) {
        let len = edges.len(pile);
        match portions.last_mut() {
            Some(portion)
                if portion.edges + len <= PORTION_EDGES_MAX
                    && may_join(portion.piles.start, pile) =>
            {
                portion.piles.end = pile + 1;
                portion.edges += len;
            }
            _ => portions.push(Portion {
                piles: pile..pile + 1,
                edges: len,
                region: region_of(pile),
            }),
        }
    }
    portions
}

fn scatter<N: VertexNumber, W: Weight>(
    run: &ImportRun<'_>,
    edges: &Filled<DenseEdge<N, W>>,
    pile: usize,
    count: usize,
    held: Share,
    place: &(dyn Fn(&DenseEdge<N, W>) -> usize + Sync),
) -> Result<Filled<DenseEdge<N, W>>> {
    let scattered = Piles::new(count, run.space(run.share(held)));
    edges.for_each_parallel(pile, run.workers, run.cancel, &|part| {
        scattered.write(|writer| part.iter().try_for_each(|&edge| writer.push(place(&edge), edge)))
    })?;
    scattered.close()
}

/// A worker's buffers for encoding.
#[derive(Default)]
struct EncoderSpace<N, W> {
    encoder: Encoder<W>,
    /// Edges of a portion that are not encoded where they lie.
    read: Vec<DenseEdge<N, W>>,
}

/// Encodes portions on all workers.
struct Encoding<'a, N, W> {
    run: &'a ImportRun<'a>,
    bins: &'a Bins,
    /// Whether the graph lists the sources of its cells.
    lists_sources: bool,
    kept: &'a Stash<EncoderSpace<N, W>>,
    duplicates: &'a AtomicU64,
}

impl<N: VertexNumber, W: Weight> Encoding<'_, N, W> {
    /// Encodes the edges of the bins in `range`, which have a pile each.
    fn encode_bins(
        &self,
        edges: Filled<DenseEdge<N, W>>,
        range: Range<usize>,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let bins = &self.bins.list[range];
        let unit_of = |bin: usize| match &bins[bin] {
            Region::Slices { cell, unit, .. } => Some((*cell, *unit)),
            _ => None,
        };
        // The encoder takes one unit of a cell at a time, so nothing else is joined.
        let may_join = |a: usize, b: usize| unit_of(a).is_some() && unit_of(a) == unit_of(b);
        let mut portions = join_piles(&edges, &|pile| bins[pile].clone(), &may_join);
        // Bins come unit by unit, but the file has the tiles of a batch in the tile order.
        portions.sort_by_key(|portion| self.bins.file_order(&portion.region));
        self.encode_portions(edges, &portions, tiles)
    }

    /// Encodes all portions in order, and divides those that are too large.
    fn encode_portions(
        &self,
        mut edges: Filled<DenseEdge<N, W>>,
        portions: &[Portion],
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        // A portion that is too large stands alone, since all workers divide it together.
        for some in portions.chunk_by(|a, b| a.edges.max(b.edges) <= PORTION_EDGES_MAX) {
            match some {
                [portion] if portion.edges > PORTION_EDGES_MAX => {
                    self.divide_and_encode(&mut edges, portion, tiles)?;
                }
                _ => self.encode_side_by_side(&edges, some, tiles)?,
            }
        }
        Ok(())
    }

    /// Divides the edges of a pile that has too many, and encodes them.
    fn divide_and_encode(
        &self,
        edges: &mut Filled<DenseEdge<N, W>>,
        portion: &Portion,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let pile = portion.piles.start;
        let mut region = portion.region.clone();
        let Division { regions, place } = loop {
            if let &Region::Slice { cell, unit, bits: 0 } = &region {
                return self.encode_equal(edges, portion, cell, unit, tiles);
            }
            let division = Division::of(self.run, self.bins, edges, pile, &region)?;
            match &division.regions[..] {
                // A division into one region divides nothing, so the next finer one is tried.
                [finer] => region = finer.clone(),
                _ => break division,
            }
        };
        let divided = scatter(self.run, edges, pile, regions.len(), shares::CUTS, &*place)?;
        edges.clear(pile);
        let portions = join_piles(&divided, &|pile| regions[pile].clone(), &|_, _| false);
        if let (Some(&Region::Slice { bits, .. }), Region::Slice { .. }) =
            (regions.first(), &region)
            && bits < weight_bits::<W>()
        {
            // Edges with the same ends come into different portions here, but the encoder counts
            // duplicates only within a portion.
            self.duplicates.fetch_add(portions.len() as u64 - 1, Ordering::Relaxed);
        }
        self.encode_portions(divided, &portions, tiles)
    }

    /// Encodes edges that are all the same, [`PORTION_EDGES_MAX`] at a time, in any order.
    fn encode_equal(
        &self,
        edges: &Filled<DenseEdge<N, W>>,
        portion: &Portion,
        cell: Cell,
        unit: u32,
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let Some(edge) = edges.first(portion.piles.start)? else { return Ok(()) };
        let mut left = portion.edges;
        // The encoder counts repeats within a call, so it misses the first edge of each further
        // call.
        self.duplicates.fetch_add(left.div_ceil(PORTION_EDGES_MAX) - 1, Ordering::Relaxed);
        let equal = vec![edge; left.min(PORTION_EDGES_MAX) as usize];
        while left > 0 {
            let count = left.min(PORTION_EDGES_MAX);
            let mut encoded = Vec::new();
            self.kept.with(EncoderSpace::default, |space| {
                let equal = &equal[..count as usize];
                self.encode_unit(&mut space.encoder, cell, unit, &[equal], &mut encoded)
            })?;
            tiles.append(encoded)?;
            self.run.progress.advance(count);
            left -= count;
        }
        Ok(())
    }

    /// Encodes portions in parallel and writes their tiles in order.
    fn encode_side_by_side(
        &self,
        edges: &Filled<DenseEdge<N, W>>,
        portions: &[Portion],
        tiles: &mut TileSink<'_>,
    ) -> Result<()> {
        let make = |index: usize| self.encode_portion(edges, &portions[index]);
        make_in_order(
            self.run.workers,
            portions.len(),
            self.run.cancel,
            &make,
            &mut |index, encoded| {
                self.run.progress.advance(portions[index].edges);
                tiles.append(encoded)
            },
        )
    }

    fn encode_portion(
        &self,
        edges: &Filled<DenseEdge<N, W>>,
        portion: &Portion,
    ) -> Result<Vec<PlacedTiles>> {
        self.kept.with(EncoderSpace::default, |space| {
            let EncoderSpace { encoder, read } = space;
            let mut encoded = Vec::new();
            let unit = match portion.region {
                Region::Slices { cell, unit, .. } | Region::Slice { cell, unit, .. } => {
                    Some((cell, unit))
                }
                Region::Segments { .. } | Region::Units { .. } => None,
            };
            // The encoder takes several pieces where they lie, which saves a copy of edges in
            // memory.
            if let Some((cell, unit)) = unit {
                let held: Option<Vec<_>> =
                    portion.piles.clone().map(|pile| edges.held(pile)).collect();
                if let Some(held) = held {
                    self.encode_unit(encoder, cell, unit, &held.concat(), &mut encoded)?;
                    return Ok(encoded);
                }
            }
            read.clear();
            // Growing by doubling could take more than the worker's memory.
            read.reserve_exact(portion.edges as usize);
            for pile in portion.piles.clone() {
                edges.for_each(pile, &mut |some| {
                    read.extend_from_slice(some);
                    Ok(())
                })?;
            }
            match unit {
                Some((cell, unit)) => {
                    self.encode_unit(encoder, cell, unit, &[read], &mut encoded)?;
                }
                None => self.encode_units(encoder, read, &mut encoded)?,
            }
            Ok(encoded)
        })
    }

    /// Encodes the edges of several units and cells of a column, one unit of a cell at a time.
    fn encode_units(
        &self,
        encoder: &mut Encoder<W>,
        edges: &mut [DenseEdge<N, W>],
        encoded: &mut Vec<PlacedTiles>,
    ) -> Result<()> {
        let (bins, grid) = (self.bins, self.bins.grid());
        let unit_of = |edge: &DenseEdge<N, W>| bins.unit_of(target_of(edge));
        // The segment, then the place of the unit.
        let key = |edge: &DenseEdge<N, W>| {
            let place = bins.units[unit_of(edge) as usize].place;
            source_of(edge) >> grid.segment_log2 << u32::BITS | u64::from(place)
        };
        edges.sort_unstable_by_key(key);
        for same in edges.chunk_by(|a, b| key(a) == key(b)) {
            let cell = grid.cell(source_of(&same[0]), target_of(&same[0]));
            self.encode_unit(encoder, cell, unit_of(&same[0]), &[same], encoded)?;
        }
        Ok(())
    }

    /// Encodes edges of one cell and unit.
    fn encode_unit(
        &self,
        encoder: &mut Encoder<W>,
        cell: Cell,
        unit: u32,
        edges: &[&[DenseEdge<N, W>]],
        encoded: &mut Vec<PlacedTiles>,
    ) -> Result<()> {
        let batch = self.bins.batch_index(unit);
        let origin = self.bins.grid().origin(cell);
        let mut tiles = Vec::new();
        encoder.encode_window(edges, origin, &mut |tile| {
            tiles.push(tile);
            Ok(())
        })?;
        let sources = self.lists_sources.then(|| encoder.sources());
        encoded.push(PlacedTiles { cell, batch, tiles, sources });
        self.duplicates.fetch_add(encoder.take_duplicates(), Ordering::Relaxed);
        Ok(())
    }
}

/// The tiles of one call of the encoder, and where they are filed.
struct PlacedTiles {
    cell: Cell,
    /// Index of their batch among all batches of the graph.
    batch: usize,
    tiles: Vec<EncodedTile>,
    /// The sources of their edges, if the graph lists them.
    sources: Option<WindowSources>,
}

/// Writes tiles in order.
struct TileSink<'a> {
    run: &'a ImportRun<'a>,
    writer: &'a mut GraphWriter,
}

impl TileSink<'_> {
    fn append(&mut self, encoded: Vec<PlacedTiles>) -> Result<()> {
        self.run.cancel.check()?;
        encoded.iter().try_for_each(|PlacedTiles { cell, batch, tiles, sources }| {
            self.writer.append(*cell, *batch, tiles, sources.as_ref())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_large_as_allowed() {
        let sizes = [(4, 10), (4, 90), (2, 5), (2, 5), (4, 500), (4, 1)];
        let mut start = 0;
        let stretches = sizes.map(|(bins, expected_edges)| {
            start += bins;
            Stretch { bins: start - bins..start, expected_edges }
        });
        let groups = |edges_max, bins_max| groups(&stretches, edges_max, bins_max);
        assert_eq!(groups(100, 100), [0..8, 8..12, 12..16, 16..20]);
        assert_eq!(groups(1000, 6), [0..4, 4..10, 10..16, 16..20]);
        assert_eq!(groups(0, 0), [0..4, 4..8, 8..10, 10..12, 12..16, 16..20]);
        assert_eq!(groups(u64::MAX, usize::MAX), std::slice::from_ref(&(0..20)));
    }
}
