//! PageRank as a program, plain and personalized.

use std::sync::Arc;

use tegula_engine::{
    Activity, Aggregate, ApplyTo, Graph, Next, Outcome, Program, RunOptions, Sum, VertexId,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::error::{Error, Result, is_weight};

/// When PageRank stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// After exactly this number of iterations.
    Iterations(u64),
    /// When the ranks change by no more than `tolerance` in an iteration (L1), or after
    /// `iterations_max`.
    Tolerance {
        /// The greatest sum of changes that counts as none.
        tolerance: f64,
        /// The most iterations.
        iterations_max: u64,
    },
}

impl Stop {
    /// Change (L1) at which ranks count as converged.
    pub const TOLERANCE: f64 = 1e-6;
    /// The most iterations towards the tolerance.
    pub const ITERATIONS_MAX: u64 = 100;
}

/// Stops at [`Self::TOLERANCE`], or after [`Self::ITERATIONS_MAX`] iterations.
impl Default for Stop {
    fn default() -> Stop {
        Stop::Tolerance { tolerance: Self::TOLERANCE, iterations_max: Self::ITERATIONS_MAX }
    }
}

/// The program.
#[derive(Debug, Clone)]
pub struct PageRank {
    /// Probability of following an edge, within 0..1.
    damping: f64,
    stop: Stop,
    /// The rank of each vertex before the first iteration. Without seeds, also its share of all
    /// jumps.
    even_share: f64,
    /// The share of each vertex in all jumps, by dense id; empty without seeds.
    shares: Arc<[f32]>,
    /// The share of surfers that jump in this iteration.
    jumping: f64,
    /// Change of the ranks in the last iteration (L1).
    change: f64,
}

/// Sums over all vertices.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
pub struct Sums {
    pub(super) dangling: f64,
    change: f64,
}

impl Aggregate for Sums {
    fn merge(&mut self, next: Sums) {
        self.change += next.change;
        self.dangling += next.dangling;
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Sums> {
        Sums::read_from_bytes(bytes).ok()
    }
}

impl PageRank {
    /// Damping of the original paper and of Graphalytics.
    pub const DAMPING: f64 = 0.85;

    /// Makes PageRank with damping [`Self::DAMPING`] for a graph with `vertex_count` vertices.
    pub fn new(stop: Stop, vertex_count: u64) -> PageRank {
        // Without ranks, none changes.
        let change = if vertex_count == 0 { 0.0 } else { f64::INFINITY };
        let even_share = 1.0 / vertex_count as f64;
        let shares = Arc::default();
        PageRank { damping: Self::DAMPING, stop, even_share, shares, jumping: 0.0, change }
    }

    /// Sets the probability of following an edge, within 0..1.
    pub fn with_damping(self, damping: f64) -> PageRank {
        PageRank { damping, ..self }
    }

    /// Returns the bytes that personalized PageRank takes for its seeds.
    pub fn seeds_size(vertex_count: u64) -> u64 {
        4 * vertex_count
    }

    /// Makes personalized PageRank: jumps lead to these vertices, in proportion to their weights.
    /// The weights of a repeated seed are added up.
    ///
    /// # Errors
    /// [`Error::BadSeed`] for a weight that is negative or not finite, or if none is above 0.
    ///
    /// # Panics
    /// When a seed is no vertex of the graph.
    pub fn personalized(
        stop: Stop,
        vertex_count: u64,
        seeds: &[(VertexId, f64)],
    ) -> Result<PageRank> {
        if let Some(&(_, weight)) = seeds.iter().find(|&&(_, weight)| !is_weight(weight)) {
            return Err(Error::BadSeed { weight });
        }
        let greatest = seeds.iter().fold(0.0, |greatest: f64, &(_, weight)| greatest.max(weight));
        if greatest == 0.0 {
            return Err(Error::BadSeed { weight: 0.0 });
        }
        // Shares of the greatest weight, so that the sum of finite weights is finite.
        let sum: f64 = seeds.iter().map(|&(_, weight)| weight / greatest).sum();
        // Rounded only once, as a seed may be given a million times.
        let mut weights = vec![0.0; vertex_count as usize];
        for (seed, weight) in seeds {
            weights[seed.index()] += weight / greatest;
        }
        let shares = weights.iter().map(|weight| (weight / sum) as f32).collect();
        Ok(PageRank { shares, ..PageRank::new(stop, vertex_count) })
    }

    /// Runs PageRank with damping [`Self::DAMPING`]. The states are the ranks.
    pub fn run(
        graph: &Graph,
        stop: Stop,
        options: &RunOptions<'_>,
    ) -> tegula_engine::Result<Outcome<PageRank>> {
        tegula_engine::run(graph, PageRank::new(stop, graph.vertex_count()), options)
    }

    /// Returns the change of the ranks in the last iteration (L1); infinite before the first one.
    pub fn change(&self) -> f64 {
        self.change
    }

    /// Returns whether the ranks changed by no more than the tolerance in the last iteration;
    /// `None` where only the number of iterations decides.
    pub fn has_converged(&self) -> Option<bool> {
        match self.stop {
            Stop::Iterations(_) => None,
            Stop::Tolerance { tolerance, .. } => Some(self.change <= tolerance),
        }
    }

    /// Returns the rank of every vertex before the first iteration.
    #[inline(always)]
    pub(super) fn first_rank(&self) -> f32 {
        self.even_share as f32
    }

    /// Replaces a rank by the next one, from what has come along the edges.
    #[inline(always)]
    pub(super) fn step(&self, vertex: VertexId, rank: &mut f32, reduced: f64, sums: &mut Sums) {
        let next = self.jumping * self.share(vertex) + self.damping * reduced;
        let next = rounded(*rank, next);
        sums.change += (f64::from(next) - f64::from(*rank)).abs();
        *rank = next;
    }

    /// Returns the share of a vertex in all jumps.
    #[inline(always)]
    fn share(&self, vertex: VertexId) -> f64 {
        if self.shares.is_empty() {
            self.even_share
        } else {
            f64::from(self.shares[vertex.index()])
        }
    }
}

/// A step of more than this share of a rank is rounded to the nearest `f32`. The share is 8 to 16
/// roundings.
const SMALL_STEP: f64 = 1e-6;

/// Returns the next rank as an `f32`. After a small step it is not beyond `next`. Uses no
/// comparisons: compilers make branches of them, which cannot be predicted here. The numbers to
/// compare are not negative, so their bits have the same order, and the sign of a difference tells
/// which is greater.
#[inline(always)]
fn rounded(rank: f32, next: f64) -> f32 {
    let nearest = next as f32;
    let step = next - f64::from(rank);
    let beyond = (f64::from(nearest) - next) * step;
    let beyond_bits = beyond.to_bits().cast_signed();
    let room = (SMALL_STEP * next).to_bits().wrapping_sub(step.abs().to_bits()).cast_signed();
    // The signs of the first two tell whether `beyond` is above zero; the sign of the last, whether
    // the step is small.
    let is_taken_back = (!beyond_bits & beyond_bits.wrapping_neg() & !room) >> 63;
    // Ranks are not negative, so their bits grow with them, and no rank is taken back below zero.
    let towards_rank = 2 * (step.to_bits() >> 63) as i32 - 1;
    f32::from_bits(nearest.to_bits().wrapping_add_signed(is_taken_back as i32 & towards_rank))
}

/// Returns the rank of a vertex without out-edges, which goes to all vertices; else 0. Uses no
/// comparison, as above.
#[inline(always)]
pub(super) fn dangling(degree: u32, rank: f64) -> f64 {
    let is_none = (u64::from(degree).wrapping_sub(1).cast_signed() >> 63).cast_unsigned();
    f64::from_bits(rank.to_bits() & is_none)
}

impl Program for PageRank {
    type State = f32;
    type Reduction = Sum<f32>;
    type Weight = ();
    type Aggregate = Sums;

    const APPLY_TO: ApplyTo = ApplyTo::All;
    const NEEDS_DEGREE: bool = true;
    /// All vertices are active in every iteration.
    const MAY_SIGNAL_AGAIN: bool = true;

    fn size(&self) -> u64 {
        4 * self.shares.len() as u64
    }

    fn init(&self, _vertex: VertexId, degree: u32, sums: &mut Sums) -> (f32, Activity) {
        let rank = self.first_rank();
        sums.dangling += dangling(degree, f64::from(rank));
        (rank, Activity::Active)
    }

    fn begin_iteration(&mut self, iteration: u64, sums: &Sums) -> Next {
        let d = self.damping;
        self.jumping = 1.0 - d + d * sums.dangling;
        let is_done = match self.stop {
            Stop::Iterations(iterations) => iteration >= iterations,
            Stop::Tolerance { tolerance, iterations_max } => {
                // Before the first iteration, the change is 0 because nothing was added up.
                iteration >= iterations_max || (iteration > 0 && sums.change <= tolerance)
            }
        };
        if iteration > 0 {
            self.change = sums.change;
        }
        if is_done { Next::Stop } else { Next::Continue }
    }

    #[inline(always)]
    fn signal(&self, _vertex: VertexId, rank: &f32, degree: u32) -> Option<f32> {
        // A vertex without out-edges sends to no one, so its quotient is never read.
        Some(rank / degree.max(1) as f32)
    }

    #[inline(always)]
    fn apply(
        &self,
        vertex: VertexId,
        degree: u32,
        rank: &mut f32,
        reduced: f64,
        sums: &mut Sums,
    ) -> Activity {
        self.step(vertex, rank, reduced, sums);
        sums.dangling += dangling(degree, f64::from(*rank));
        Activity::Active
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As [`rounded`], with comparisons.
    fn rounded_plainly(rank: f32, next: f64) -> f32 {
        let nearest = next as f32;
        let step = next - f64::from(rank);
        let is_beyond = (f64::from(nearest) - next) * step > 0.0;
        match is_beyond && step.abs() <= SMALL_STEP * next {
            true if step > 0.0 => nearest.next_down(),
            true => nearest.next_up(),
            false => nearest,
        }
    }

    proptest! {
        #[test]
        fn rounding_is_the_same_as_with_comparisons(
            rank in prop_oneof![Just(0.0f32), 1e-12f32..1.0, Just(f32::MIN_POSITIVE)],
            share in prop_oneof![Just(0.0), -3e-6..3e-6, -1.0..1.0f64],
        ) {
            let next = f64::from(rank) * (1.0 + share);
            prop_assert_eq!(rounded(rank, next).to_bits(), rounded_plainly(rank, next).to_bits());
        }

        #[test]
        fn only_a_vertex_without_edges_gives_its_rank_to_all(degree: u32, rank in 0.0..1.0f64) {
            prop_assert_eq!(dangling(0, rank), rank);
            prop_assert_eq!(dangling(degree.max(1), rank), 0.0);
        }
    }
}
