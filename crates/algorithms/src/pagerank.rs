//! PageRank (Page, Brin, Motwani, Winograd 1999), as LDBC Graphalytics defines it.
//!
//! The rank of a vertex is the probability that a surfer stands on it who follows a random edge with
//! probability `d` (the damping) and else, or where there is no edge to follow, jumps to a random
//! vertex:
//!
//! ```text
//!  r'(v) = (1 - d) / V  +  d * sum over edges u -> v of r(u) / out_degree(u)
//!                       +  d / V * sum over u without out-edges of r(u)
//! ```
//!
//! It starts from `r = 1/V`. Every iteration reads every edge once. It stops after a fixed number of
//! iterations, or when the L1 distance between two successive ranks is at most a tolerance.
//!
//! *Personalized*, the surfer who does not follow an edge jumps to a seed, in proportion to its
//! weight: `(1 - d) / V` becomes `(1 - d) * weight(v) / sum of weights`. All else stays as it is; in
//! particular, whoever stands where there is no edge to follow still jumps to any vertex.
//!
//! Ranks and messages are `f32`; the two sums over all vertices are `f64`. Against double precision
//! every rank stays within 1e-5, relative. Memory: 12 bytes a vertex, 16 with seeds.

use tegula_engine::{Activity, ApplyTo, Graph, Next, Outcome, Program, RunOptions, VertexId};

use crate::error::{Error, Result};

/// What a run of PageRank may choose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageRankConfig {
    /// Probability of following an edge, within 0..1.
    pub damping: f64,
    /// When to stop.
    pub stop: Stop,
}

/// When PageRank stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stop {
    /// After exactly so many iterations.
    Iterations(u64),
    /// When the ranks change by no more than this in an iteration (L1), or after so many.
    Tolerance {
        /// Greatest sum of changes that counts as none.
        tolerance: f64,
        /// The most iterations.
        iterations_max: u64,
    },
}

impl PageRankConfig {
    /// Damping of the original paper and of Graphalytics.
    pub const DAMPING: f64 = 0.85;
    /// Change (L1) at which ranks count as converged.
    pub const TOLERANCE: f64 = 1e-6;
    /// The most iterations towards the tolerance.
    pub const ITERATIONS_MAX: u64 = 100;
}

impl Default for PageRankConfig {
    fn default() -> Self {
        PageRankConfig {
            damping: Self::DAMPING,
            stop: Stop::Tolerance {
                tolerance: Self::TOLERANCE,
                iterations_max: Self::ITERATIONS_MAX,
            },
        }
    }
}

/// The program.
#[derive(Debug, Clone)]
pub struct PageRank {
    config: PageRankConfig,
    vertex_count: f64,
    /// What each vertex gets of all that jumps to the seeds, by dense id; empty without seeds.
    shares: Vec<f32>,
    /// What every vertex gets in this iteration, whatever its edges.
    base: f64,
    /// Change of the ranks in the last iteration (L1).
    change: f64,
}

/// Sums over all vertices.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sums {
    dangling: f64,
    change: f64,
}

impl PageRank {
    /// PageRank on a graph with so many vertices.
    pub fn new(config: PageRankConfig, vertex_count: u32) -> PageRank {
        let vertex_count = f64::from(vertex_count);
        PageRank { config, vertex_count, shares: Vec::new(), base: 0.0, change: f64::INFINITY }
    }

    /// Bytes that personalized PageRank holds besides: for its seeds.
    pub fn seeds_size(vertex_count: u32) -> u64 {
        4 * u64::from(vertex_count)
    }

    /// Personalized PageRank: jumps lead to these vertices, in proportion to their weights. Those of
    /// a seed that is given several times are added up.
    ///
    /// # Errors
    /// [`Error::BadSeed`] for a weight that is negative or no finite number, or if none is above 0.
    ///
    /// # Panics
    /// When there is no such vertex.
    pub fn personalized(
        config: PageRankConfig,
        vertex_count: u32,
        seeds: &[(VertexId, f64)],
    ) -> Result<PageRank> {
        let is_weight = |weight: f64| weight.is_finite() && weight >= 0.0;
        if let Some(&(_, weight)) = seeds.iter().find(|&&(_, weight)| !is_weight(weight)) {
            return Err(Error::BadSeed { weight });
        }
        let greatest = seeds.iter().fold(0.0, |greatest: f64, &(_, weight)| greatest.max(weight));
        if greatest == 0.0 {
            return Err(Error::BadSeed { weight: 0.0 });
        }
        // Parts of the greatest, so that the sum of finite weights is finite.
        let sum: f64 = seeds.iter().map(|&(_, weight)| weight / greatest).sum();
        // Rounded once: a seed may be given a million times.
        let mut weights = vec![0.0; vertex_count as usize];
        for (seed, weight) in seeds {
            weights[seed.index()] += weight / greatest;
        }
        let shares = weights.iter().map(|weight| (weight / sum) as f32).collect();
        Ok(PageRank { shares, ..PageRank::new(config, vertex_count) })
    }

    /// Runs PageRank; the states are the ranks.
    ///
    /// # Errors
    /// Those of [`tegula_engine::run`].
    pub fn run(
        graph: &Graph,
        config: PageRankConfig,
        options: &RunOptions<'_>,
    ) -> tegula_engine::Result<Outcome<PageRank>> {
        tegula_engine::run(graph, PageRank::new(config, graph.vertex_count()), options)
    }

    /// Change of the ranks in the last iteration (L1).
    pub fn change(&self) -> f64 {
        self.change
    }
}

impl Program for PageRank {
    type State = f32;
    type Message = f32;
    type Weight = ();
    type Aggregate = Sums;

    const APPLY_TO: ApplyTo = ApplyTo::All;
    const NEEDS_DEGREE: bool = true;

    fn size(&self) -> u64 {
        4 * self.shares.len() as u64
    }

    fn init(&self, _vertex: VertexId, degree: u32, sums: &mut Sums) -> (f32, Activity) {
        let rank = 1.0 / self.vertex_count;
        sums.dangling += if degree == 0 { rank } else { 0.0 };
        (rank as f32, Activity::Active)
    }

    fn begin_iteration(&mut self, iteration: u64, sums: &Sums) -> Next {
        let d = self.config.damping;
        let anywhere = if self.shares.is_empty() { 1.0 - d } else { 0.0 };
        self.base = anywhere / self.vertex_count + d * sums.dangling / self.vertex_count;
        let is_done = match self.config.stop {
            Stop::Iterations(iterations) => iteration >= iterations,
            Stop::Tolerance { tolerance, iterations_max } => {
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
        // A vertex without out-edges has nobody to send to; its quotient is never read.
        Some(rank / degree.max(1) as f32)
    }

    #[inline(always)]
    fn along(&self, message: f32, (): ()) -> f32 {
        message
    }

    #[inline(always)]
    fn identity(&self) -> f32 {
        0.0
    }

    #[inline(always)]
    fn reduce(&self, a: f32, b: f32) -> f32 {
        a + b
    }

    #[inline(always)]
    fn apply(
        &self,
        vertex: VertexId,
        degree: u32,
        rank: &mut f32,
        reduced: f32,
        sums: &mut Sums,
    ) -> Activity {
        let d = self.config.damping;
        let mut base = self.base;
        if !self.shares.is_empty() {
            base += (1.0 - d) * f64::from(self.shares[vertex.index()]);
        }
        let next = (base + d * f64::from(reduced)) as f32;
        sums.change += f64::from((next - *rank).abs());
        sums.dangling += if degree == 0 { f64::from(next) } else { 0.0 };
        *rank = next;
        Activity::Active
    }

    fn merge(&self, into: &mut Sums, from: Sums) {
        into.change += from.change;
        into.dangling += from.dangling;
    }
}
