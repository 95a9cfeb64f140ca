//! Runs the sources, several at a time.

use std::num::NonZeroU64;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{self, RowsJob, RowsWanted};
use tegula_engine::{
    Cancel, Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId, VertexId,
};

use super::by_hops::ByHops;
use super::by_weights::ByWeights;
use crate::error::{Error, Result};
use crate::shared::samples::Sample;

/// Sources from which rows are worth decoding first. A source reads some of the rows twice.
const REREADS_MIN: usize = 4;

/// The sums over all sources.
#[derive(Debug, Clone)]
pub struct Betweenness {
    /// For each dense id, the fraction of the shortest paths that lead through it, summed over all
    /// sources and targets.
    pub sums: Vec<f64>,
    /// Number of sources.
    pub sources: u64,
    /// Statistics of the run; an iteration is one source for each worker.
    pub statistics: RunStatistics,
}

/// The choice of sources.
#[derive(Debug, Clone, Copy)]
pub enum Start<'s> {
    /// All vertices, or some drawn at random.
    Drawn {
        /// Number of sources; `None` for all.
        samples: Option<NonZeroU64>,
        /// Seed of the random draw.
        seed: u64,
    },
    /// The given vertices, each once.
    Given(&'s [VertexId]),
}

impl Start<'_> {
    fn sample(self, graph: &Graph, cancel: &Cancel) -> Result<Sample> {
        match self {
            Start::Drawn { samples, seed } => Sample::draw(graph, samples, seed, cancel),
            Start::Given(vertices) => Sample::given(graph, vertices, cancel),
        }
    }

    fn size(self, graph: &Graph) -> u64 {
        match self {
            Start::Drawn { samples, .. } => Sample::size(graph, samples),
            Start::Given(vertices) => {
                Sample::given_size(graph, vertices.len() as u64) + size_of_val(vertices) as u64
            }
        }
    }
}

/// The length of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// The number of its edges.
    Hops,
    /// The sum of the weights of its edges, each above 0.
    Weights,
}

/// Searches from one source after another, and finds the dependencies of the vertices reached.
pub(super) trait Search: Send {
    /// Whether it reads weights.
    const NEEDS_WEIGHTS: bool;

    /// Creates a search that has reached nothing.
    fn new(vertex_count: u32) -> Self;

    /// Bytes that it holds if no vertex has more than `edges_max` edges.
    fn size(vertex_count: u64, edges_max: u64) -> u64;

    /// Searches from a source, then goes back over the vertices reached. Returns false if an edge
    /// has a weight that is not above 0.
    fn find(&mut self, source: ShortId, job: &RowsJob<'_>) -> tegula_engine::Result<bool>;

    /// Adds the dependency of each vertex but the source to `sums`, and resets itself for the next
    /// source. Returns the number of edges followed.
    fn add_to(&mut self, sums: &mut [f64]) -> u64;
}

/// Adds up the dependencies of each vertex over all sources.
///
/// # Errors
/// [`Error::NotPositiveWeight`] when an edge that was followed has a weight that is not above 0.
pub fn run(
    graph: &Graph,
    start: Start<'_>,
    length: Length,
    options: &RunOptions<'_>,
) -> Result<Betweenness> {
    match length {
        Length::Hops => run_by::<ByHops>(graph, start, options),
        Length::Weights => run_by::<ByWeights>(graph, start, options),
    }
}

fn run_by<S: Search>(
    graph: &Graph,
    start: Start<'_>,
    options: &RunOptions<'_>,
) -> Result<Betweenness> {
    let sample = start.sample(graph, &options.cancel)?;
    let held = size_by::<S>(graph, start, options.threads)?;
    let wanted = RowsWanted::forward(S::NEEDS_WEIGHTS && graph.is_weighted());
    let work = |job: &RowsJob<'_>| add_up::<S>(graph, &sample, job, options);
    // Plain lists of weighted rows are sorted by weight, which `ByWeights` would sort again.
    if !wanted.has_weights && sample.vertices.len() >= REREADS_MIN {
        traverse::run_rereading(graph, wanted, held, options, work)
    } else {
        traverse::run(graph, wanted, held, options, work)
    }
}

/// Bytes held beside the rows.
pub(super) fn size(graph: &Graph, start: Start<'_>, length: Length, threads: usize) -> Result<u64> {
    match length {
        Length::Hops => size_by::<ByHops>(graph, start, threads),
        Length::Weights => size_by::<ByWeights>(graph, start, threads),
    }
}

fn size_by<S: Search>(graph: &Graph, start: Start<'_>, threads: usize) -> Result<u64> {
    let worker = S::size(graph.vertex_count(), traverse::edges_of_a_vertex_max(graph)?);
    let sums = size_of::<f64>() as u64 * graph.vertex_count();
    Ok(sums + start.size(graph) + threads as u64 * worker)
}

fn add_up<S: Search>(
    graph: &Graph,
    sample: &Sample,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Betweenness> {
    let count = graph.short_vertex_count()?;
    let new = || Mutex::new(S::new(count));
    let workers: Vec<_> = std::iter::repeat_with(new).take(options.threads).collect();
    let mut sums = vec![0.0; count as usize];
    let (mut edges, mut times) = (0, IterationTimes::default());
    options.progress.begin("searching", Some(sample.vertices.len() as u64), ProgressUnit::Vertices);
    for sources in sample.vertices.chunks(options.threads) {
        let (started, is_refused) = (Instant::now(), AtomicBool::new(false));
        job.for_each(sources.len(), |index| {
            let mut worker = workers[index].try_lock().expect("each has a source of its own");
            if !worker.find(sources[index], job)? {
                is_refused.store(true, Ordering::Relaxed);
            }
            Ok(())
        })?;
        if is_refused.into_inner() {
            let (what, graph) = ("betweenness", graph.directory().to_owned());
            return Err(Error::NotPositiveWeight { what, graph });
        }
        // In the order of the sources, so that the sums have the same bits for any number of
        // workers.
        for worker in &workers[..sources.len()] {
            let mut worker = worker.try_lock().expect("nobody is at work");
            edges += worker.add_to(&mut sums);
        }
        times.push(started.elapsed());
        options.progress.advance(sources.len() as u64);
    }
    options.progress.end();
    let sources = sample.vertices.len() as u64;
    Ok(Betweenness { sums, sources, statistics: job.statistics(times, edges) })
}
