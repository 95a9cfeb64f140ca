//! A graph as communities see it: weights at vertices and between them.

use std::ops::Range;
use std::sync::Mutex;

use tegula_engine::traverse::{Listed, RANGE_SIZE, RowsJob, Sequential};
use tegula_engine::{Result, ShortId};
use tegula_machine::threads::lock;

use super::arcs::Arcs;
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

/// Units that are looked at together. They are from one range, so their rows lie close together.
#[derive(Debug, Clone)]
pub(super) struct Step {
    range: Range<u32>,
    class: u64,
    seed: u64,
}

impl Step {
    /// Returns the units, ascending.
    pub(super) fn units(&self) -> impl Iterator<Item = u32> {
        self.range.clone().filter(|&unit| self.contains(unit))
    }

    /// Returns whether a unit is in the step.
    #[inline]
    pub(super) fn contains(&self, unit: u32) -> bool {
        self.range.contains(&unit)
            && random::number_below(self.seed, unit.into(), CLASSES) == self.class
    }
}

/// The weights of the edges, and the options of the search.
pub(super) struct Network<'n> {
    pub(super) job: &'n RowsJob<'n>,
    resolution: f64,
    seed: u64,
    /// The sum of the weights at all vertices, which is twice the sum of all edges.
    total: f64,
}

impl<'n> Network<'n> {
    /// Adds up the weights at each vertex, which are the second result. The first result is `None`
    /// if a weight is below 0 or not finite.
    pub(super) fn new(
        job: &'n RowsJob<'n>,
        vertex_count: u32,
        resolution: f64,
        seed: u64,
    ) -> Result<(Option<Network<'n>>, Vec<f64>)> {
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
        let total: f64 = strengths.iter().sum();
        let network = Network { job, resolution, seed, total };
        Ok((total.is_finite().then_some(network), strengths))
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
        // Without weights, there are no links either.
        self.resolution * (one / self.total.max(f64::MIN_POSITIVE) * other)
    }

    /// Draws a number that decides between equally good choices.
    pub(super) fn draw(&self, number: u32) -> u64 {
        random::number(self.seed, number.into())
    }

    /// Divides the units into steps, which the seed chooses for each sweep. Ranges come in any
    /// order; the classes of a range follow each other.
    pub(super) fn steps(&self, unit_count: u32, sweep: u64) -> impl Iterator<Item = Step> {
        let size = unit_count.div_ceil(RANGES).clamp(1, RANGE_MAX);
        let seed = random::number(self.seed, sweep);
        let mut starts: Vec<u32> = (0..unit_count).step_by(size as usize).collect();
        starts.sort_by_cached_key(|&start| random::number(seed, start.into()));
        starts.into_iter().flat_map(move |start| {
            let range = start..start.saturating_add(size).min(unit_count);
            (0..CLASSES).map(move |class| Step { range: range.clone(), class, seed })
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

    /// Shows the edges at the vertices of some units.
    pub(super) fn for_each_arc(
        &self,
        partition: &Partition,
        units: &[u32],
        mut visit: impl FnMut(u32, ShortId, f64),
    ) -> Result<()> {
        let vertices: Vec<ShortId> =
            units.iter().flat_map(|&unit| partition.members(unit)).copied().collect();
        let mut arcs = Arcs::new(self.job, Listed::new(&vertices));
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
        let mut arcs = Arcs::new(self.job, Listed::new(&vertices));
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

    /// Returns the modularity of the communities (Newman, Girvan, Physical Review E 69, 2004, with
    /// the resolution of Reichardt and Bornholdt, Physical Review E 74, 2006): the share of the
    /// weights within communities, minus this share at random. It is 0 without weights.
    pub(super) fn modularity(
        &self,
        vertex_count: u32,
        community: impl Fn(ShortId) -> u32 + Sync,
    ) -> Result<f64> {
        if self.total == 0.0 {
            return Ok(0.0);
        }
        // For each range, the weights within communities and the weights at its vertices.
        let sums: Vec<Mutex<(f64, Vec<f64>)>> =
            (0..vertex_count.div_ceil(RANGE_SIZE)).map(|_| Mutex::default()).collect();
        let mut totals = vec![0.0; vertex_count as usize];
        self.job.for_each_range(|index, ids| {
            let mut arcs = Arcs::new(self.job, Sequential::new(ids.clone()));
            let mut within = 0.0;
            let mut strengths = Vec::with_capacity(ids.len());
            for vertex in ids.map(ShortId) {
                let (own, mut strength) = (community(vertex), 0.0);
                arcs.next_vertex(|target, weight| {
                    strength += weight;
                    within += if community(target) == own { weight } else { 0.0 };
                })?;
                strengths.push(strength);
            }
            *lock(&sums[index]) = (within, strengths);
            Ok(())
        })?;
        let (mut within, mut vertices) = (0.0, (0..vertex_count).map(ShortId));
        for sums in sums {
            let (weights, strengths) = sums.into_inner().unwrap_or_default();
            within += weights;
            for (strength, vertex) in strengths.into_iter().zip(&mut vertices) {
                totals[community(vertex) as usize] += strength;
            }
        }
        let expected: f64 = totals.into_iter().map(|total| self.expected(total, total)).sum();
        Ok((within - expected) / self.total)
    }
}
