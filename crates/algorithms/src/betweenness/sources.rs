//! The sources, several at a time.

use std::num::NonZeroU64;
use std::sync::Mutex;
use std::time::Instant;

use tegula_engine::traverse::{self, Neighbourhoods, RowsJob, RowsWanted, Sequential};
use tegula_engine::{Cancel, Graph, IterationTimes, RunOptions, RunStatistics, Unit, VertexId};

use super::dependencies::Dependencies;
use crate::error::Result;
use crate::samples::Sample;

/// What the sources found together.
#[derive(Debug, Clone)]
pub struct Betweenness {
    /// For each dense id the part of the shortest paths that lead through it, over all sources and targets.
    pub sums: Vec<f64>,
    /// How many sources there were.
    pub sources: u64,
    /// What the run did; an iteration is a source for each worker.
    pub statistics: RunStatistics,
}

/// Which the sources are.
#[derive(Debug, Clone, Copy)]
pub enum Start<'s> {
    /// All, or so many that are drawn at random.
    Drawn {
        /// How many, where not all.
        samples: Option<NonZeroU64>,
        /// What they are drawn by.
        seed: u64,
    },
    /// These, each once.
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

/// Adds up what depends on each vertex.
///
/// # Errors
/// Those of [`traverse::run`] and of reading.
pub fn run(graph: &Graph, start: Start<'_>, options: &RunOptions<'_>) -> Result<Betweenness> {
    let sample = start.sample(graph, &options.cancel)?;
    let held = size(graph, start, options.threads)?;
    traverse::run(graph, RowsWanted::forward(false), held, options, |job| {
        add_up(graph, &sample, job, options)
    })
}

/// Bytes that a run holds beside the rows.
pub(super) fn size(graph: &Graph, start: Start<'_>, threads: usize) -> Result<u64> {
    let edges = traverse::edges_of_a_vertex_max(graph)?;
    let worker =
        Neighbourhoods::<Sequential>::size(edges) + Dependencies::size(graph.vertex_count());
    let sums = size_of::<f64>() as u64 * graph.vertex_count();
    Ok(sums + start.size(graph) + threads as u64 * worker)
}

fn add_up(
    graph: &Graph,
    sample: &Sample,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Betweenness> {
    let count = graph.short_vertex_count()?;
    let new = || Mutex::new(Dependencies::new(count));
    let workers: Vec<_> = std::iter::repeat_with(new).take(options.threads).collect();
    let mut sums = vec![0.0; count as usize];
    let (mut edges, mut times) = (0, IterationTimes::default());
    options.progress.begin("searching", Some(sample.vertices.len() as u64), Unit::Vertices);
    for sources in sample.vertices.chunks(options.threads) {
        let started = Instant::now();
        job.for_each(sources.len(), |index| {
            let mut worker = workers[index].try_lock().expect("each has a source of its own");
            worker.find(sources[index], job)
        })?;
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
