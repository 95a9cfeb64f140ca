//! Runs: programs from their first iteration to their last, alone or several on one scan.

use std::time::Instant;

use tegula_machine::threads::Unit;
use tegula_machine::{Error, Result};
use tegula_store::graph::Graph;
use tegula_store::rows::RowReader;
use tegula_store::tiles::EdgeWeight;

use crate::job::Job;
use crate::options::{BLOCK_FRAMES, PROCESS_OVERHEAD, RunOptions, RunStatistics};
use crate::process::{Chooser, Executor};
use crate::program::{Program, may_seek};
use crate::scan::{Direction, ScanJob, ScanStatistics, scan};
use crate::superstep::Supersteps;
use crate::tile_cache::TileCache;
use crate::traverse::open_within;

/// What a run needs of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of the arrays over all vertices and of the workers.
    pub vertex_bytes: u64,
    /// Bytes without which tiles cannot be streamed.
    pub stream_bytes_min: u64,
    /// Bytes of all tiles, or of all rows where only those are read: with that much more no iteration but the
    /// first reads.
    pub layout_bytes: u64,
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

/// Bytes that a program needs beside its [estimate](estimate()) to follow rows, at the least.
pub fn rows_size<P: Program>(graph: &Graph, threads: usize) -> u64 {
    let has_weights = P::Weight::IS_WEIGHTED && graph.is_weighted();
    Supersteps::<P>::rows_size(graph, threads) + RowReader::size_min(graph, has_weights)
}

fn estimate_with(graph: &Graph, threads: usize, vertex_bytes: u64, weights: bool) -> Estimate {
    Estimate {
        vertex_bytes,
        stream_bytes_min: TileCache::size_min(graph, threads, weights),
        layout_bytes: graph.tile_bytes(),
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
    let refused = |budget| Error::OverBudget { what: what.to_owned(), needed, budget };
    if needed > options.memory {
        return Err(refused(options.memory));
    }
    let pool = graph.reader().pool();
    let other = held + estimate.overhead_bytes;
    let lease = pool.lease(what, other - BLOCK_FRAMES)?;
    let budget = (options.memory - other).min(pool.available().saturating_sub(BLOCK_FRAMES));
    if budget < estimate.stream_bytes_min {
        return Err(refused(other + budget));
    }
    Ok(TileCache::new(graph, options.threads, has_weights, budget, lease))
}

/// Bytes of pages that hold the surroundings of most frontiers.
const FRONTIER_SIZE: u64 = 64 << 20;

/// The rows for what the budget leaves beside `held` bytes, and the bytes that they take.
///
/// Where rows and tiles do not both fit they share it, in a run that may use both. What is little goes to
/// the rows: a scan streams what it has no room for, but seeking reads the pages around a frontier again
/// and again if they do not stay.
fn rows_within(
    graph: &Graph,
    held: u64,
    has_weights: bool,
    options: &RunOptions<'_>,
) -> Result<Option<(RowReader, u64)>> {
    let estimate = estimate_with(graph, options.threads, held, has_weights);
    let index = RowReader::index_size(graph, has_weights);
    let needed = estimate.needed() + RowReader::size_min(graph, has_weights);
    let (rows, long_rows) = match open_within(graph, has_weights, needed, options) {
        Ok(opened) => opened,
        Err(error @ Error::OverBudget { .. }) if options.executor != Executor::Seek => {
            tracing::info!("rows are not used: {error}");
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let free = options.memory - needed - long_rows + RowReader::CACHE_SIZE_MIN;
    let all = RowReader::cache_size_max(graph, has_weights);
    let share = match options.executor {
        Executor::Seek => free,
        _ if all + graph.tile_bytes() <= free => free,
        _ => (free / 2).max(free.min(FRONTIER_SIZE)),
    };
    let size = all.min(share.max(RowReader::CACHE_SIZE_MIN));
    let rows = RowReader::new(rows, has_weights, size, &options.speed.targets)?;
    Ok(Some((rows, index + long_rows + size)))
}

/// The rows, where a run of an exact program may use them.
fn rows_of<P: Program>(
    graph: &Graph,
    held: u64,
    has_weights: bool,
    options: &RunOptions<'_>,
) -> Result<Option<(RowReader, u64)>> {
    if !may_seek::<P>() || options.executor == Executor::Scan {
        return Ok(None);
    }
    if graph.manifest().rows.is_none() && options.executor != Executor::Seek {
        return Ok(None);
    }
    let own = Supersteps::<P>::rows_size(graph, options.threads);
    let rows = rows_within(graph, held + own, has_weights, options)?;
    Ok(rows.map(|(rows, size)| (rows, own + size)))
}

/// Runs a program to its end.
///
/// # Errors
/// [`Error::OverBudget`] before anything is read, [`Error::Corrupt`] and [`Error::Io`] from reading,
/// [`Error::MissingLayout`] where rows are asked for and there are none, [`Error::Cancelled`],
/// [`Error::WorkerFailed`].
///
/// # Panics
/// When the weights of edges are wanted and the rows of the options were opened without them.
pub fn run<P: Program>(graph: &Graph, program: P, options: &RunOptions<'_>) -> Result<Outcome<P>> {
    let has_weights = P::Weight::IS_WEIGHTED && graph.is_weighted();
    let held = Supersteps::<P>::size(graph, options.threads) + program.size();
    let shared = options.rows.filter(|_| may_seek::<P>() && options.executor != Executor::Scan);
    let (own, rows_size) = match shared {
        Some(rows) => {
            assert!(rows.has_weights() || !has_weights, "the rows were opened without weights");
            (None, Supersteps::<P>::rows_size(graph, options.threads))
        }
        None => match rows_of::<P>(graph, held, has_weights, options)? {
            Some((rows, size)) => (Some(rows), size),
            None => (None, 0),
        },
    };
    let held = held + rows_size;
    let cache = cache_within(graph, "the run", held, has_weights, options)?;
    let workers = options.workers();
    let mut job = Supersteps::new(graph, program, options.instructions, &workers)?;
    let rows = shared.or(own.as_ref());
    let statistics = run_jobs(&cache, rows, &mut [&mut job], options)?;
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
    let workers = options.workers();
    let mut first = Supersteps::new(graph, first, options.instructions, &workers)?;
    let mut second = Supersteps::new(graph, second, options.instructions, &workers)?;
    let statistics = run_jobs(&cache, None, &mut [&mut first, &mut second], options)?;
    let outcome_of = |iterations| RunStatistics { iterations, ..statistics.clone() };
    let (first_statistics, second_statistics) =
        (outcome_of(first.iteration()), outcome_of(second.iteration()));
    let (states, program) = first.into_result();
    let first = Outcome { states, program, statistics: first_statistics };
    let (states, program) = second.into_result();
    Ok((first, Outcome { states, program, statistics: second_statistics }))
}

/// Iterates until every job is over. Each job has the choice of a [process](crate::Process); those that
/// scan share one scan an iteration.
fn run_jobs(
    cache: &TileCache<'_>,
    rows: Option<&RowReader>,
    jobs: &mut [&mut dyn Job],
    options: &RunOptions<'_>,
) -> Result<RunStatistics> {
    let bytes_read = || cache.graph().reader().statistics().bytes_read;
    let read_before = bytes_read();
    let workers = options.workers();
    let mut chooser =
        Chooser::new(options.executor, rows, cache, options.threads, options.speed.clone());
    let mut statistics = RunStatistics::default();
    options.progress.begin("iterating", None, Unit::Iterations);
    loop {
        options.cancel.check()?;
        let started = Instant::now();
        let mut scanning: Vec<&mut &mut dyn Job> = Vec::new();
        let mut choices = Vec::new();
        for job in &mut *jobs {
            if !job.begin_iteration() {
                continue;
            }
            let (choice, rows) = chooser.choose(&job.frontier());
            choices.push(choice);
            match rows {
                Some(rows) => {
                    statistics.edges_processed +=
                        job.run_on_rows(choice.process, rows, &choice.workers(workers))?;
                }
                None => scanning.push(job),
            }
        }
        if choices.is_empty() {
            break;
        }
        if !scanning.is_empty() {
            let done = scan_once(cache, &mut scanning, options)?;
            statistics.edges_processed += done.edges_processed;
            statistics.tiles_skipped += done.tiles_skipped;
        }
        let took = started.elapsed();
        if let [choice] = choices[..] {
            chooser.learn(&choice, took);
            tracing::debug!("iteration {}: {choice}; took {took:.3?}", statistics.iterations);
        }
        statistics.processes.extend(choices.first().map(|choice| choice.process));
        statistics.iterations += 1;
        statistics.iteration_times.push(took);
        options.progress.advance(1);
    }
    options.progress.end();
    statistics.bytes_read = bytes_read() - read_before;
    Ok(statistics)
}

/// One scan for several jobs.
fn scan_once(
    cache: &TileCache<'_>,
    jobs: &mut [&mut &mut dyn Job],
    options: &RunOptions<'_>,
) -> Result<ScanStatistics> {
    let scans: Vec<_> = jobs.iter_mut().map(|job| job.start_scan()).collect();
    let scan_jobs: Vec<&dyn ScanJob> = scans.iter().map(|scan| &**scan as _).collect();
    let done = scan(cache, &scan_jobs, Direction::FirstToLast, options.threads, &options.cancel)?;
    scans.into_iter().for_each(|scan| scan.end());
    jobs.iter_mut().for_each(|job| job.finish_scan());
    Ok(done)
}
