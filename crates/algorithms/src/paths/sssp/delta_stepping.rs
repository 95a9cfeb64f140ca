//! Delta-stepping as a program: bucket by bucket along rows, all vertices at once over tiles.

use std::sync::atomic::{AtomicBool, Ordering};

use tegula_engine::traverse::{Directions, RowsWanted};
use tegula_engine::{
    Executor, Graph, Min, Next, Outcome, Program, Relaxation, RunOptions, States, VertexId,
    rows_may_stay,
};
use tegula_store::rows::Direction;

use super::config::SsspConfig;
use super::distances::Distances;
use crate::algorithm;
use crate::error::{PATHS, Result, negative_weight};
use crate::shared::sources::Sources;

/// Runs a search as the program `P`. Unless the bucket width is given, it follows from the graph
/// and from whether its rows stay in memory.
pub(super) fn run<P: Program + From<Search>>(
    graph: &Graph,
    sources: Sources,
    config: SsspConfig,
    has_negative: impl Fn(P) -> AtomicBool,
    options: &RunOptions<'_>,
) -> Result<Distances<States<P::State>>> {
    // Ranks scan, so they have no buckets.
    let has_buckets = options.ranks.is_none();
    let tells_width = has_buckets && tells_width(graph, &config);
    // Any width will do then, and finding the default would read tiles.
    let config = SsspConfig { delta: if has_buckets { config.delta } else { Some(1.0) }, ..config };
    let (search, delta) = search_of(graph, sources, config, options)?;
    let outcome = tegula_engine::run_anywhere(graph, P::from(search), options)?;
    if has_negative(outcome.program).into_inner() {
        return Err(negative_weight(graph, PATHS));
    }
    let (distances, statistics) = (outcome.states, outcome.statistics);
    Ok(Distances { distances, delta: tells_width.then_some(delta), statistics })
}

/// Whether the answer gives the width of the buckets. Without weights, it does only if the options
/// set it.
fn tells_width(graph: &Graph, config: &SsspConfig) -> bool {
    graph.is_weighted() || config.delta.is_some()
}

/// A search to run, and the width of its buckets.
fn search_of(
    graph: &Graph,
    sources: Sources,
    config: SsspConfig,
    options: &RunOptions<'_>,
) -> Result<(Search, f64)> {
    let directions = config.direction.into();
    let delta = match config.delta {
        Some(delta) => delta,
        None => default_delta(graph, directions, options)?,
    };
    let search = Search::new(sources, delta).with_cutoff(config.cutoff).following(directions);
    Ok((search, delta))
}

/// Runs searches over tiles as one; returns what each finds, or what is wrong with it alone.
pub(super) fn run_lanes(
    graph: &Graph,
    searches: Vec<(Sources, SsspConfig)>,
    options: &RunOptions<'_>,
) -> Result<Vec<Result<Distances<States<f64>>>>> {
    // The default is the same for all: they are fused only if they go in one direction.
    let mut delta = None;
    let of_each = searches.into_iter().map(|(sources, config)| {
        let tells_width = tells_width(graph, &config);
        let config = SsspConfig { delta: config.delta.or(delta), ..config };
        let (search, found) = search_of(graph, sources, config, options)?;
        if config.delta.is_none() {
            delta = Some(found);
        }
        Ok((Sssp(search), tells_width.then_some(found)))
    });
    let (programs, deltas): (Vec<Sssp>, Vec<Option<f64>>) =
        of_each.collect::<Result<Vec<_>>>()?.into_iter().unzip();
    let options = RunOptions { executor: Executor::Scan, ..options.clone() };
    let outcomes = algorithm::run_lanes(graph, programs, &options)?;
    let found = |(outcome, delta): (Outcome<Sssp, States<f64>>, Option<f64>)| {
        if outcome.program.has_negative().into_inner() {
            return Err(negative_weight(graph, PATHS));
        }
        let (distances, statistics) = (outcome.states, outcome.statistics);
        Ok(Distances { distances, delta, statistics })
    };
    Ok(outcomes.into_iter().zip(deltas).map(found).collect())
}

/// The parameters of a search.
#[derive(Debug)]
pub struct Search {
    pub(super) sources: Sources,
    inverse_delta: f64,
    cutoff: f64,
    pub(super) directions: Directions,
    pub(super) has_negative: AtomicBool,
}

impl Clone for Search {
    /// The same search, before it has met any edge.
    fn clone(&self) -> Search {
        let (sources, has_negative) = (self.sources.clone(), AtomicBool::new(false));
        Search { sources, has_negative, ..*self }
    }
}

impl Search {
    /// A search with buckets of width `delta`, above 0.
    pub fn new(sources: impl Into<Sources>, delta: f64) -> Search {
        let (sources, has_negative) = (sources.into(), AtomicBool::new(false));
        let (inverse_delta, cutoff) = (1.0 / delta, f64::INFINITY);
        Search { sources, inverse_delta, cutoff, directions: Directions::Forward, has_negative }
    }

    /// The same search up to this distance.
    pub fn with_cutoff(self, cutoff: Option<f64>) -> Search {
        Search { cutoff: cutoff.unwrap_or(f64::INFINITY), ..self }
    }

    /// The same search along edges in these directions.
    pub fn following(self, directions: Directions) -> Search {
        Search { directions, ..self }
    }

    /// The distance at the end of an edge; infinite where it exceeds the cutoff.
    #[inline(always)]
    pub(super) fn along(&self, distance: f64, weight: f32) -> f64 {
        if weight >= 0.0 {
            let sum = distance + f64::from(weight);
            return if sum > self.cutoff { f64::INFINITY } else { sum };
        }
        // The weight of an edge from an inactive vertex does not matter.
        if !is_too_far(distance) {
            self.has_negative.store(true, Ordering::Relaxed);
        }
        f64::INFINITY
    }

    /// Whether it has met a negative weight.
    pub(super) fn has_failed(&self) -> bool {
        self.has_negative.load(Ordering::Relaxed)
    }

    /// Notes a negative weight that was met elsewhere.
    pub(super) fn fail(&mut self) {
        *self.has_negative.get_mut() = true;
    }

    #[inline(always)]
    pub(super) fn bucket(&self, distance: f64) -> u64 {
        // The cast saturates, so a vertex without a path is in the last bucket.
        (distance * self.inverse_delta) as u64
    }
}

/// Whether no path is known.
#[inline(always)]
pub(super) fn is_too_far(distance: f64) -> bool {
    distance == f64::INFINITY
}

/// Delta-stepping as a program.
#[derive(Debug, Clone)]
pub struct Sssp(Search);

impl Sssp {
    /// A search from one or several vertices, with buckets of width `delta`, above 0.
    pub fn new(sources: impl Into<Sources>, delta: f64) -> Sssp {
        Sssp(Search::new(sources, delta))
    }

    pub(super) fn has_negative(self) -> AtomicBool {
        self.0.has_negative
    }
}

impl From<Search> for Sssp {
    fn from(search: Search) -> Sssp {
        Sssp(search)
    }
}

/// How many times wider buckets are if rows do not stay in memory. Each bucket reads pages from
/// disk of which it needs few rows, and the next bucket reads them again. R-MAT 24, undirected,
/// within 1 GiB takes 0.7 times as long.
const WIDER_FROM_DISK: f64 = 8.0;
/// The least width of such buckets, in mean weights. With narrower ones, the rows that scans leave
/// to seek are spread over too many buckets. R-MAT 24 within 512 MiB takes 14 s instead of 15.6
/// with a twenty-fifth, in single runs.
const WIDTH_MIN_FROM_DISK: f64 = 0.25;

/// Number of tiles whose weights are sampled.
const TILES_SAMPLED: usize = 16;
/// The mean degree of the end of an edge at which a bucket is as wide as a mean edge weight. At
/// lower degrees, as in a road network, a wider bucket has more to do at once. At higher degrees a
/// narrow bucket saves more: fewer vertices send a distance that later becomes smaller. The best
/// width is the inverse of the degree (Meyer and Sanders).
const BUCKET_DEGREE: f64 = 32.0;

/// The mean weight of an edge, scaled up where edges lead to vertices of low degree and down where
/// they lead to vertices of high degree.
fn default_delta(graph: &Graph, directions: Directions, options: &RunOptions<'_>) -> Result<f64> {
    let rows_may_stay = rows_may_stay(graph, RowsWanted { directions, has_weights: true }, options);
    let mut weights: Vec<f64> = Vec::new();
    let step = graph.tiles().len().div_ceil(TILES_SAMPLED).max(1);
    for tile in (0..graph.tiles().len()).step_by(step) {
        let read = graph.read_tiles(tile..tile + 1, true).wait()?;
        let (_, all) = read.get(graph, tile);
        let all = all.iter().copied().map(f64::from);
        // Entries that are no edge have weight 0.
        weights.extend(all.filter(|&weight| weight > 0.0 && weight.is_finite()));
    }
    let sum: f64 = weights.iter().sum();
    let mean = if weights.is_empty() { 1.0 } else { sum / weights.len() as f64 };
    let (mut sum, mut squares) = (0.0, 0.0);
    let layouts = directions.layouts(graph);
    graph.for_each_degrees(|_, out, into| {
        for (&out, &into) in out.iter().zip(into) {
            let followed = layouts.iter().map(|layout| match layout {
                Direction::Forward => f64::from(out),
                Direction::Reverse => f64::from(into),
            });
            let degree: f64 = followed.sum();
            sum += degree;
            squares += degree * degree;
        }
        Ok(())
    })?;
    let end_degree = squares / f64::max(sum, 1.0);
    let width = BUCKET_DEGREE / end_degree.max(1.0);
    let width =
        if rows_may_stay { width } else { f64::max(WIDER_FROM_DISK * width, WIDTH_MIN_FROM_DISK) };
    Ok(mean * width)
}

impl Relaxation for Sssp {
    type Reduction = Min<f64>;
    type Weight = f32;

    const IS_FARTHER_BY_WEIGHT: bool = true;
    const HAS_BUCKETS: bool = true;

    fn size(&self) -> u64 {
        self.0.sources.size()
    }

    fn directions(&self) -> Directions {
        self.0.directions
    }

    fn start(&self, vertex: VertexId) -> Option<f64> {
        self.0.sources.contains(vertex).then_some(0.0)
    }

    fn begin_iteration(&mut self, _iteration: u64) -> Next {
        // A cycle of negative weight would never end.
        if self.0.has_failed() { Next::Stop } else { Next::Continue }
    }

    fn has_failed(&self) -> bool {
        self.0.has_failed()
    }

    fn fail(&mut self) {
        self.0.fail();
    }

    #[inline(always)]
    fn along(&self, message: f64, weight: f32) -> f64 {
        self.0.along(message, weight)
    }

    #[inline(always)]
    fn bucket(&self, distance: &f64) -> u64 {
        self.0.bucket(*distance)
    }
}
