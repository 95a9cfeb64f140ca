//! What the centralities share that follow from the distances to each vertex.
//!
//! 64 searches run [together](crate::shared::together), then the next 64. Each vertex keeps one sum
//! over all searches. Levels and searches come in a fixed order, so the sums have the same bits
//! whether a search scans tiles or follows rows.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{
    Arrays, Estimate, Graph, ProgressUnit, RunOptions, RunStatistics, ShortId, Start, States,
    Value, VertexId,
};
use tegula_machine::threads::Silent;
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::algorithm::{Edges, Found, Iterations, Work};
use crate::answer::{Scores, Values};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;
use crate::shared::samples::{self, Sample};
use crate::shared::together::{Cutoff, ReachedBy, Together, WIDTH};

/// Options of a centrality by distances.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DistanceOptions {
    /// Estimate from K vertices drawn at random [default: exact, from all].
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub samples: Option<NonZeroU64>,
    /// Seed of the random samples.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
}

/// A sum over the distances to a vertex; all zeroes if there are none.
pub(super) trait DistanceSum: Value {
    /// Adds the distance `level`, once for each of `count` searches.
    fn add(&mut self, level: u32, count: u32);
}

/// The state of a vertex.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
struct SummedDistances<D> {
    seen: u64,
    last: u64,
    sum: D,
}

impl<D: DistanceSum> ReachedBy for SummedDistances<D> {
    fn begin(known: SummedDistances<D>, searches: u64) -> SummedDistances<D> {
        SummedDistances { seen: searches, last: searches, sum: known.sum }
    }

    #[inline(always)]
    fn seen(&self) -> u64 {
        self.seen
    }

    #[inline(always)]
    fn last(&self) -> u64 {
        self.last
    }

    #[inline(always)]
    fn reach(&mut self, searches: u64, level: u32) {
        self.seen |= searches;
        self.last = searches;
        // A copy: the struct is packed, so a reference to a field may not be aligned.
        let mut sum = self.sum;
        sum.add(level, searches.count_ones());
        self.sum = sum;
    }
}

impl DistanceOptions {
    /// The edges of a run that sums up `D`.
    pub(super) fn edges<D: DistanceSum>() -> Edges {
        let rows_size = tegula_engine::rows_size::<Together<SummedDistances<D>>>;
        Edges::Either { directions: Directions::Forward, rows_size }
    }

    /// Estimates the memory of a run that sums up `D`.
    pub(super) fn estimate<D: DistanceSum>(
        &self,
        graph: &Graph,
        threads: usize,
    ) -> Result<Estimate> {
        let estimate = tegula_engine::estimate::<Together<SummedDistances<D>>>(graph, threads);
        let sources = samples::count(graph, self.samples).min(WIDTH as u64);
        let together = sources * size_of::<(VertexId, u64)>() as u64;
        let vertex_bytes = estimate.vertex_bytes + Sample::size(graph, self.samples) + together;
        with_order_streamed(Estimate { vertex_bytes, ..estimate }, graph)
    }

    /// Returns the work of a run, as `kind`.
    pub(super) fn work(&self, kind: &'static str, graph: &Graph) -> Work {
        let runs = samples::count(graph, self.samples).div_ceil(WIDTH as u64);
        Work::of_rounds(kind, graph, Iterations::Exactly(runs))
    }

    /// Searches from the sampled vertices, and sums up the distances to each other vertex.
    /// `centrality` gets the sum of a vertex, and the number of other vertices that were searched
    /// from.
    pub(super) fn run<D: DistanceSum>(
        &self,
        graph: &Graph,
        options: &RunOptions<'_>,
        centrality: impl Fn(D, usize) -> f64,
    ) -> Result<Found> {
        let sample = Sample::draw(graph, self.samples, self.seed, &options.cancel)?;
        let (states, statistics) = sums::<D>(graph, &sample.vertices, options)?;
        let centralities: Vec<f64> = states
            .iter()
            .zip((0..).map(ShortId))
            .map(|(state, vertex)| centrality(state.sum, sample.others(vertex)))
            .collect();
        let figures = samples::Sources::of(graph, self.samples);
        let values = Values::of(centralities.into(), graph, &options.cancel)?;
        Ok(Found::new(Scores { column: "centrality", values, figures }, statistics))
    }
}

/// Searches from all sources, [`WIDTH`] at a time. Returns the states after the last search.
fn sums<D: DistanceSum>(
    graph: &Graph,
    sources: &[ShortId],
    options: &RunOptions<'_>,
) -> Result<(Vec<SummedDistances<D>>, RunStatistics)> {
    let (mut known, mut statistics) = (None, RunStatistics::default());
    let progress = options.progress;
    progress.begin("searching", Some(sources.len() as u64), ProgressUnit::Vertices);
    options.with_scheduler(graph, |scheduler| {
        // Tiles and rows stay in memory from one run to the next.
        let options = &RunOptions {
            scheduler: Some(scheduler),
            // Progress counts sources here, not the levels of each run.
            progress: &Silent,
            arrays: Arrays::InMemory,
            ..options.clone()
        };
        for together in sources.chunks(WIDTH) {
            let searches =
                together.iter().map(|&source| (VertexId::from(source).into(), Cutoff::MAX));
            // The sample is held until all have been searched from.
            let held = Sample::given_size(graph, sources.len() as u64);
            let program = Together::new(searches, Directions::Forward).holding(held);
            let start = Start { program, known: known.take(), is_own_enough: false };
            let outcome = tegula_engine::run_anywhere(graph, start, options)?;
            known = Some(outcome.states);
            statistics.add(outcome.statistics);
            progress.advance(together.len() as u64);
        }
        Ok::<(), tegula_engine::Error>(())
    })?;
    progress.end();
    // Without sources there are no vertices.
    let states = known.map_or(Ok(Vec::new()), States::into_vec)?;
    Ok((states, statistics))
}
