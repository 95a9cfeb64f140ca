//! A graph as communities see it: weights at vertices and between them.

use std::sync::Mutex;

use tegula_engine::traverse::{Listed, RowsJob, Sequential};
use tegula_engine::{Result, ShortId};
use tegula_machine::threads::{lock, unlocked};

use super::arcs::Arcs;
use super::contracted::{Contracted, ListedArcs};
use super::links::Links;
use super::partition::Partition;
use crate::shared::random;

/// The fewest ranges into which the units are divided.
const RANGES: u32 = 8;
/// The most units in a range.
const RANGE_MAX: u32 = 1 << 16;
/// Steps of a range. Neighbours often have consecutive numbers; this keeps them out of one step.
const CLASSES: u64 = 8;
/// Arcs whose other ends are prefetched together.
const ARCS_WAITING: usize = 64;
/// The most units, and about the most vertices, that one worker looks at together.
const PIECE_UNITS: usize = 256;
const PIECE_VERTICES: usize = 4096;

/// The weights of the edges, and the options of the search.
pub(super) struct Network<'n> {
    job: &'n RowsJob<'n>,
    resolution: f64,
    /// Decides orders and equally good choices; each level has another seed.
    pub(super) seed: u64,
    /// The sum of the weights at all vertices, which is twice the sum of all edges.
    total: f64,
    /// The graph whose vertices the partition has, if it is not the stored one.
    pub(super) contracted: Option<Contracted>,
}

impl<'n> Network<'n> {
    /// Makes the network of vertices with the given [`strengths`]. `None` if a weight is below 0 or
    /// not finite.
    pub(super) fn new(
        job: &'n RowsJob<'n>,
        strengths: &[f64],
        resolution: f64,
    ) -> Option<Network<'n>> {
        let total: f64 = strengths.iter().sum();
        let network = Network { job, resolution, seed: 0, total, contracted: None };
        total.is_finite().then_some(network)
    }

    /// Returns what a unit gains by being in a community, whose weights do not include its own.
    /// This is the weights between them, minus their average if edges are drawn at random between
    /// vertices of the same strengths.
    #[inline]
    pub(super) fn gain(&self, links: f64, strength: f64, community: f64) -> f64 {
        links - self.expected(strength, community)
    }

    /// Returns the average weights between two at random, times the resolution.
    #[inline]
    pub(super) fn expected(&self, one: f64, other: f64) -> f64 {
        // The division comes first, since the product of two sums of weights might overflow.
        // Without weights, there are no links either.
        self.resolution * (one / self.total.max(f64::MIN_POSITIVE) * other)
    }

    /// Draws a number that decides between equally good choices.
    pub(super) fn draw(&self, number: u32) -> u64 {
        random::number(self.seed, number.into())
    }

    /// Divides the wanted units into steps. The seed and the sweep decide the steps; `is_wanted` is
    /// asked when the range of a unit begins. The units of a step ascend and are from one range, so
    /// their rows lie close together. Ranges come in any order; the steps of a range follow each
    /// other.
    pub(super) fn steps(
        &self,
        unit_count: u32,
        sweep: u64,
        is_wanted: impl Fn(u32) -> bool,
    ) -> impl Iterator<Item = Vec<u32>> {
        let size = unit_count.div_ceil(RANGES).clamp(1, RANGE_MAX);
        let seed = random::number(self.seed, sweep);
        let mut starts: Vec<u32> = (0..unit_count).step_by(size as usize).collect();
        starts.sort_by_cached_key(|&start| random::number(seed, start.into()));
        starts.into_iter().flat_map(move |start| {
            let mut classes = vec![Vec::new(); CLASSES as usize];
            let range = start..start.saturating_add(size).min(unit_count);
            for unit in range.filter(|&unit| is_wanted(unit)) {
                let class = random::number_below(seed, unit.into(), CLASSES);
                classes[class as usize].push(unit);
            }
            classes.into_iter().filter(|class| !class.is_empty())
        })
    }

    /// Divides units into pieces, each for one worker.
    pub(super) fn pieces(
        &self,
        partition: &Partition,
        units: impl Iterator<Item = u32>,
    ) -> Vec<Vec<u32>> {
        let mut pieces: Vec<Vec<u32>> = Vec::new();
        let mut vertices = PIECE_VERTICES;
        for unit in units {
            let is_full = pieces.last().is_none_or(|piece| piece.len() == PIECE_UNITS);
            if is_full || vertices >= PIECE_VERTICES {
                pieces.push(Vec::new());
                vertices = 0;
            }
            vertices += partition.members(unit).len();
            pieces.last_mut().expect("there is one").push(unit);
        }
        pieces
    }

    /// Divides units that are in the order of their communities into pieces of whole communities,
    /// each for one worker.
    pub(super) fn communities<'u>(
        &self,
        partition: &Partition,
        mut units: &'u [u32],
    ) -> Vec<&'u [u32]> {
        let community = |unit: u32| partition.communities[unit as usize];
        let (mut pieces, mut len, mut vertices) = (Vec::new(), 0, 0);
        while len < units.len() {
            vertices += partition.members(units[len]).len();
            len += 1;
            let is_last =
                units.get(len).is_none_or(|&next| community(next) != community(units[len - 1]));
            if is_last && (len == units.len() || vertices >= PIECE_VERTICES) {
                let (piece, rest) = units.split_at(len);
                pieces.push(piece);
                (units, len, vertices) = (rest, 0, 0);
            }
        }
        pieces
    }

    /// Calls `work` with each of some pieces. Returns the results in the order of the pieces.
    pub(super) fn map<P: AsRef<[u32]> + Sync, T: Send>(
        &self,
        pieces: &[P],
        work: impl Fn(&[u32]) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        self.map_indexed(pieces.len(), |index| work(pieces[index].as_ref()))
    }

    /// Calls `work` with each of `0..count`. Returns the results in this order.
    pub(super) fn map_indexed<T: Send>(
        &self,
        count: usize,
        work: impl Fn(usize) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let found = Mutex::new(Vec::with_capacity(count));
        self.job.for_each(count, |index| {
            let one = work(index)?;
            lock(&found).push((index, one));
            Ok(())
        })?;
        let mut found = unlocked(found);
        found.sort_unstable_by_key(|&(index, _)| index);
        Ok(found.into_iter().map(|(_, one)| one).collect())
    }

    /// Returns the edges at these vertices.
    fn arcs<'a>(&'a self, vertices: &'a [ShortId]) -> ListedArcs<'a> {
        match &self.contracted {
            None => ListedArcs::Stored(Box::new(Arcs::new(self.job, Listed::new(vertices)))),
            Some(graph) => ListedArcs::Contracted { graph, left: vertices.iter() },
        }
    }

    /// Shows the edges at the vertices of some units.
    pub(super) fn for_each_arc(
        &self,
        partition: &Partition,
        units: &[u32],
        mut visit: impl FnMut(u32, ShortId, f64),
    ) -> Result<()> {
        let vertices: Vec<ShortId> =
            units.iter().flat_map(|&unit| partition.members(unit)).copied().collect();
        let mut arcs = self.arcs(&vertices);
        for &vertex in &vertices {
            let unit = partition.unit(vertex);
            arcs.next_vertex(|target, weight| visit(unit, target, weight))?;
        }
        Ok(())
    }

    /// Adds up the links of each of some units to others. `number` is called with the other end of
    /// a link, and returns the number to add to, or `None` if the link does not count. Links are
    /// cleared after each unit. Several arcs are taken at a time, so that their memory accesses
    /// overlap.
    pub(super) fn for_each_unit(
        &self,
        partition: &Partition,
        units: &[u32],
        links: &mut Links,
        number: impl Fn(u32, ShortId) -> Option<u32>,
        mut done: impl FnMut(u32, &Links),
    ) -> Result<()> {
        let vertices: Vec<ShortId> =
            units.iter().flat_map(|&unit| partition.members(unit)).copied().collect();
        let mut arcs = self.arcs(&vertices);
        let mut waiting = Vec::with_capacity(ARCS_WAITING);
        let mut numbered = Vec::with_capacity(ARCS_WAITING);
        for &unit in units {
            let mut add_up = |waiting: &mut Vec<(ShortId, f64)>, links: &mut Links| {
                for (target, weight) in waiting.drain(..) {
                    let Some(number) = number(unit, target) else { continue };
                    links.prefetch(number);
                    // Links within the unit add 0.
                    let is_outside = partition.unit(target) != unit;
                    numbered.push((number, if is_outside { weight } else { 0.0 }));
                }
                numbered.drain(..).for_each(|(number, weight)| links.add(number, weight));
            };
            for _ in partition.members(unit) {
                arcs.next_vertex(|target, weight| {
                    partition.prefetch(target);
                    waiting.push((target, weight));
                    if waiting.len() == ARCS_WAITING {
                        add_up(&mut waiting, links);
                    }
                })?;
            }
            add_up(&mut waiting, links);
            done(unit, links);
            links.clear();
        }
        Ok(())
    }

    /// Returns the sum of the weights between communities.
    pub(super) fn between(&self, partition: &Partition) -> Result<f64> {
        let pieces = self.pieces(partition, 0..partition.unit_count());
        let sums = self.map(&pieces, |units| {
            let mut between = 0.0;
            self.for_each_arc(partition, units, |unit, target, weight| {
                let is_within = partition.community(target) == partition.communities[unit as usize];
                between += if is_within { 0.0 } else { weight };
            })?;
            Ok(between)
        })?;
        // The pieces do not depend on the number of workers, and neither do the bits of their sum.
        Ok(sums.into_iter().sum())
    }

    /// Returns the modularity of the communities (Newman, Girvan, Physical Review E 69, 2004, with
    /// the resolution of Reichardt and Bornholdt, Physical Review E 74, 2006): the share of the
    /// weights within communities, minus this share at random. It is 0 without weights. `between`
    /// is the sum of the weights between communities.
    pub(super) fn modularity(&self, partition: &Partition, between: f64) -> f64 {
        if self.total == 0.0 {
            return 0.0;
        }
        let expected: f64 = partition.totals.iter().map(|&total| self.expected(total, total)).sum();
        (self.total - between - expected) / self.total
    }
}

/// Adds up the weights at each vertex. A weight below 0 makes the sum NaN.
pub(super) fn strengths(job: &RowsJob<'_>, vertex_count: u32) -> Result<Vec<f64>> {
    let mut strengths = vec![0.0f64; vertex_count as usize];
    job.for_each_range_of(&mut strengths, |strengths, ids| {
        let mut arcs = Arcs::new(job, Sequential::new(ids));
        for strength in strengths {
            arcs.next_vertex(|_, weight| {
                // A sum that is NaN or infinite stays so.
                *strength += if weight < 0.0 { f64::NAN } else { weight };
            })?;
        }
        Ok(())
    })?;
    Ok(strengths)
}
