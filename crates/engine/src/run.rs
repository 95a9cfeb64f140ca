//! Runs: programs from their first iteration to their last, alone or several on one scan.

use std::time::Instant;

use tegula_store::graph::Graph;
use tegula_store::tiles::EdgeWeight;
use tegula_store::{Error, Result, Unit};

use crate::job::Job;
use crate::options::{PROCESS_OVERHEAD, RunOptions, RunStatistics};
use crate::program::Program;
use crate::scan::{Direction, ScanJob, scan};
use crate::superstep::Supersteps;
use crate::tile_cache::TileCache;

/// What a run needs of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of the arrays over all vertices and of the workers.
    pub vertex_bytes: u64,
    /// Bytes without which tiles cannot be streamed.
    pub stream_bytes_min: u64,
    /// Bytes of all tiles: with so much more no iteration but the first reads.
    pub tile_bytes: u64,
    /// Bytes of code, tables and stacks.
    pub overhead_bytes: u64,
}

impl Estimate {
    /// The smallest budget with which the run starts.
    pub fn needed(&self) -> u64 {
        self.vertex_bytes + self.stream_bytes_min + self.overhead_bytes
    }
}

/// The result of a program.
#[derive(Debug)]
pub struct Outcome<P: Program> {
    /// The state of each vertex, by dense id.
    pub states: Vec<P::State>,
    /// The program, as the last iteration left it.
    pub program: P,
    /// What the run did.
    pub statistics: RunStatistics,
}

/// What a program needs on a graph, without running it; what the program itself holds comes on top.
pub fn estimate<P: Program>(graph: &Graph, threads: usize) -> Estimate {
    let has_weights = P::Weight::IS_WEIGHTED && graph.is_weighted();
    estimate_with(graph, threads, Supersteps::<P>::size(graph, threads), has_weights)
}

fn estimate_with(graph: &Graph, threads: usize, vertex_bytes: u64, weights: bool) -> Estimate {
    Estimate {
        vertex_bytes,
        stream_bytes_min: TileCache::size_min(graph, threads, weights),
        tile_bytes: graph.tile_bytes(),
        overhead_bytes: PROCESS_OVERHEAD + 80 * graph.tiles().len() as u64,
    }
}

/// The cache of tiles for what the budget leaves beside `held` bytes.
pub(crate) fn cache_within<'g>(
    graph: &'g Graph,
    what: &str,
    held: u64,
    has_weights: bool,
    options: &RunOptions<'_>,
) -> Result<TileCache<'g>> {
    let estimate = estimate_with(graph, options.threads, held, has_weights);
    let needed = estimate.needed();
    if needed > options.memory {
        let budget = options.memory;
        return Err(Error::OverBudget { what: what.to_owned(), needed, budget });
    }
    let budget = options.memory - held - estimate.overhead_bytes;
    Ok(TileCache::new(graph, options.threads, has_weights, budget))
}

/// Runs a program to its end.
///
/// # Errors
/// [`Error::OverBudget`] before anything is read, [`Error::Corrupt`] and [`Error::Io`] from reading,
/// [`Error::Cancelled`], [`Error::WorkerFailed`].
pub fn run<P: Program>(graph: &Graph, program: P, options: &RunOptions<'_>) -> Result<Outcome<P>> {
    let has_weights = P::Weight::IS_WEIGHTED && graph.is_weighted();
    let held = Supersteps::<P>::size(graph, options.threads) + program.size();
    let cache = cache_within(graph, "the run", held, has_weights, options)?;
    let mut job = Supersteps::new(graph, program, options.instructions, options.threads)?;
    let statistics = run_jobs(&cache, &mut [&mut job], options)?;
    let (states, program) = job.into_result();
    Ok(Outcome { states, program, statistics })
}

/// Runs two programs on the same scans. Each gives exactly what it gives alone.
///
/// # Errors
/// Those of [`run`]; the budget is for both.
pub fn run_together<P: Program, Q: Program>(
    graph: &Graph,
    (first, second): (P, Q),
    options: &RunOptions<'_>,
) -> Result<(Outcome<P>, Outcome<Q>)> {
    let wants_weights = P::Weight::IS_WEIGHTED || Q::Weight::IS_WEIGHTED;
    let has_weights = wants_weights && graph.is_weighted();
    let held = Supersteps::<P>::size(graph, options.threads)
        + Supersteps::<Q>::size(graph, options.threads)
        + first.size()
        + second.size();
    let cache = cache_within(graph, "the runs", held, has_weights, options)?;
    let mut first = Supersteps::new(graph, first, options.instructions, options.threads)?;
    let mut second = Supersteps::new(graph, second, options.instructions, options.threads)?;
    let statistics = run_jobs(&cache, &mut [&mut first, &mut second], options)?;
    let outcome_of = |iterations| RunStatistics { iterations, ..statistics.clone() };
    let (first_statistics, second_statistics) =
        (outcome_of(first.iteration()), outcome_of(second.iteration()));
    let (states, program) = first.into_result();
    let first = Outcome { states, program, statistics: first_statistics };
    let (states, program) = second.into_result();
    Ok((first, Outcome { states, program, statistics: second_statistics }))
}

/// Iterates until every job is over: one scan an iteration, shared by all that still run.
fn run_jobs(
    cache: &TileCache<'_>,
    jobs: &mut [&mut dyn Job],
    options: &RunOptions<'_>,
) -> Result<RunStatistics> {
    let reader = cache.graph().reader();
    let read_before = reader.statistics().bytes_read;
    let mut statistics = RunStatistics::default();
    options.progress.begin("iterating", None, Unit::Iterations);
    loop {
        options.cancel.check()?;
        let started = Instant::now();
        let mut running: Vec<_> =
            jobs.iter_mut().filter_map(|job| job.generate().then_some(job)).collect();
        if running.is_empty() {
            break;
        }
        let scans: Vec<_> = running.iter_mut().map(|job| job.start_scan()).collect();
        let scan_jobs: Vec<&dyn ScanJob> = scans.iter().map(|scan| &**scan as _).collect();
        let done =
            scan(cache, &scan_jobs, Direction::FirstToLast, options.threads, &options.cancel)?;
        scans.into_iter().for_each(|scan| scan.end());
        running.iter_mut().for_each(|job| job.finish_iteration());
        statistics.iterations += 1;
        statistics.iteration_times.push(started.elapsed());
        statistics.edges_processed += done.edges_processed;
        statistics.tiles_skipped += done.tiles_skipped;
        options.progress.advance(1);
    }
    options.progress.end();
    statistics.bytes_read = reader.statistics().bytes_read - read_before;
    Ok(statistics)
}
