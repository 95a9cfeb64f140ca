//! A vertex program as a job: iteration by iteration, each by the process that is the quickest.

use std::ops::Deref;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tegula_machine::threads::{Unit, lock};
use tegula_machine::{Error, Result};
use tegula_store::graph::Graph;
use tegula_store::rows::{RowReader, Rows};
use tegula_store::tiles::TileSummary;

use super::context::JobContext;
use super::traversal::missing_rows;
use super::{Advanced, Job, PartStatistics, PartWork};
use crate::options::{Estimate, RunOptions, RunStatistics};
use crate::overhead::overhead;
use crate::parts::{PART_EDGES_TARGET, Part, Parts};
use crate::process::choice::{Choice, Executor, choose};
use crate::process::cost::CostModel;
use crate::process::pull::Pull;
use crate::process::scan::{ProgramPart, Scan, finish};
use crate::process::seek::Seek;
use crate::process::{Process, ProcessKind, Progressed};
use crate::program::{EdgeWeight, Program, may_seek};
use crate::scheduler::{Admitted, MemoryDemand, Scheduler};
use crate::superstep::Superstep;
use crate::tile_source::TileSource;
use crate::traverse::long_rows_of;

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
    let has_weights = has_weights::<P>(graph);
    let parts = Parts::cut(graph, PART_EDGES_TARGET);
    Estimate {
        vertex_bytes: Superstep::<P>::size(graph, &parts, threads),
        stream_bytes_min: TileSource::size_min(&parts, threads, has_weights),
        layout_bytes: graph.tile_bytes(),
        overhead_bytes: overhead(graph),
    }
}

/// Bytes that a program needs beside its [estimate](estimate()) to follow rows, at the least.
pub fn rows_size<P: Program>(graph: &Graph, threads: usize) -> u64 {
    seek_size::<P>(graph, threads) + RowReader::size_min(graph, has_weights::<P>(graph))
}

fn seek_size<P: Program>(graph: &Graph, threads: usize) -> u64 {
    Seek::<P>::size(u64::from(graph.vertex_count()), threads)
}

fn has_weights<P: Program>(graph: &Graph) -> bool {
    P::Weight::IS_WEIGHTED && graph.is_weighted()
}

/// Runs a program to its end: on the scheduler of the options, or on one for this run alone.
///
/// # Errors
/// [`Error::OverBudget`] before anything is read, [`Error::Corrupt`] and [`Error::Io`] from reading,
/// [`Error::MissingLayout`] where rows are asked for and there are none, [`Error::Cancelled`],
/// [`Error::WorkerFailed`] for a panic of the program.
///
/// # Panics
/// When the weights of edges are wanted and the rows of the options were opened without them.
pub fn run<P: Program>(graph: &Graph, program: P, options: &RunOptions<'_>) -> Result<Outcome<P>> {
    options.with_scheduler(graph, |scheduler| {
        let (admitted, rows) = admit(scheduler, graph, &program, options)?;
        let mut job = ProgramJob::new(scheduler, graph, program, rows.as_deref(), options);
        scheduler.work_off(&mut job, &admitted, &options.cancel)?;
        job.into_outcome()
    })
}

/// The rows of a run: its own, or some that are shared.
enum RowsOfRun<'r> {
    Own(Box<RowReader>),
    Shared(&'r RowReader),
}

impl Deref for RowsOfRun<'_> {
    type Target = RowReader;

    fn deref(&self) -> &RowReader {
        match self {
            RowsOfRun::Own(rows) => rows,
            RowsOfRun::Shared(rows) => rows,
        }
    }
}

/// Bytes of pages that hold the surroundings of most frontiers.
const FRONTIER_SIZE: u64 = 64 << 20;

/// Waits for the memory of a program, with rows where it may use them and they fit.
fn admit<'s, 'g, 'r, P: Program>(
    scheduler: &'s Scheduler<'g>,
    graph: &Graph,
    program: &P,
    options: &RunOptions<'r>,
) -> Result<(Admitted<'s, 'g>, Option<RowsOfRun<'r>>)> {
    let has_weights = has_weights::<P>(graph);
    let threads = scheduler.threads();
    let held = Superstep::<P>::size(graph, scheduler.parts(), threads) + program.size();
    let can_seek = may_seek::<P>() && options.executor != Executor::Scan;
    let must_seek = can_seek && options.executor == Executor::Seek;
    let without = || MemoryDemand::scan("the run", held, has_weights);
    if let Some(rows) = options.rows.filter(|_| can_seek) {
        assert!(rows.has_weights() || !has_weights, "the rows were opened without weights");
        let held = held + seek_size::<P>(graph, threads);
        let demand = MemoryDemand::scan("the run", held, has_weights);
        let admitted = scheduler.ledger().admit(&[demand], &options.cancel)?;
        return Ok((admitted, Some(RowsOfRun::Shared(rows))));
    }
    if !can_seek || graph.manifest().rows.is_none() && !must_seek {
        return Ok((scheduler.ledger().admit(&[without()], &options.cancel)?, None));
    }
    // Only what is asked for in any case is opened without knowing that it fits.
    let least = held + rows_size::<P>(graph, threads);
    let could_hold =
        scheduler.ledger().could_hold(&MemoryDemand::scan("the run by rows", least, has_weights));
    let rows = match could_hold {
        Ok(()) => Some(Rows::open(graph)?.ok_or_else(|| missing_rows(graph))?),
        Err(error) if must_seek && graph.manifest().rows.is_some() => return Err(error),
        Err(_) if must_seek => return Err(missing_rows(graph)),
        Err(error) => {
            tracing::info!("rows are not used: {error}");
            None
        }
    };
    let long_rows =
        rows.as_ref().map_or(0, |rows| long_rows_of(rows.batch_size(has_weights), threads));
    let all = RowReader::cache_size_max(graph, has_weights);
    let unpacked =
        rows.as_ref().map_or(0, |rows| RowReader::unpacked_size(rows, has_weights, threads));
    let takes_of = |free: u64| {
        let free = free + RowReader::CACHE_SIZE_MIN;
        let tiles = if must_seek { 0 } else { graph.tile_bytes() };
        if all + unpacked + tiles <= free {
            return all + unpacked - RowReader::CACHE_SIZE_MIN;
        }
        let share = match options.executor {
            Executor::Seek => free,
            Executor::Auto | Executor::Scan if all + graph.tile_bytes() <= free => free,
            // Where rows and tiles do not both fit they share it. What is little goes to the rows: a scan
            // streams what it has no room for, but seeking reads the pages around a frontier again and again
            // if they do not stay.
            Executor::Auto | Executor::Scan => (free / 2).max(free.min(FRONTIER_SIZE)),
        };
        all.min(share.max(RowReader::CACHE_SIZE_MIN)) - RowReader::CACHE_SIZE_MIN
    };
    let with = || MemoryDemand::both("the run by rows", least + long_rows, has_weights, takes_of);
    let ways = match &rows {
        None => vec![without()],
        Some(_) if must_seek => vec![with()],
        Some(_) => vec![with(), without()],
    };
    let admitted = scheduler.ledger().admit(&ways, &options.cancel)?;
    let Some(rows) = rows.filter(|_| admitted.choice == 0) else { return Ok((admitted, None)) };
    let size = RowReader::CACHE_SIZE_MIN + admitted.taken;
    let reader = RowReader::new(rows, has_weights, size.min(all), &scheduler.speed().targets)?;
    let reader = if size >= all + unpacked { reader.with_room_to_unpack() } else { reader };
    Ok((admitted, Some(RowsOfRun::Own(Box::new(reader)))))
}

/// A program on its way.
struct ProgramJob<'r, P: Program> {
    graph: &'r Graph,
    options: &'r RunOptions<'r>,
    stage: Stage<'r, P>,
    rows: Option<&'r RowReader>,
    kinds: Vec<ProcessKind>,
    /// In the same order.
    processes: Vec<Box<dyn Process<P> + 'r>>,
    /// The iteration that waits for tiles.
    scanning: Option<Iteration>,
    /// What the parts of a scan did so far.
    scanned: Mutex<PartStatistics>,
    statistics: RunStatistics,
}

/// How far a program is.
enum Stage<'g, P: Program> {
    New(P),
    Running(Box<Superstep<'g, P>>),
    /// It failed before it ran.
    Lost,
}

/// An iteration on its way.
struct Iteration {
    choice: Choice,
    active: u64,
    started: Instant,
    /// What it has taken apart from its parts.
    alone: Duration,
}

impl<'r, P: Program + 'r> ProgramJob<'r, P> {
    fn new(
        scheduler: &'r Scheduler<'r>,
        graph: &'r Graph,
        program: P,
        rows: Option<&'r RowReader>,
        options: &'r RunOptions<'r>,
    ) -> ProgramJob<'r, P> {
        let costs = CostModel::of(graph, scheduler.threads(), scheduler.speed());
        let mut processes: Vec<Box<dyn Process<P> + 'r>> = Vec::new();
        if let Some(rows) = rows {
            let count = graph.vertex_count() as usize;
            processes.push(Box::new(Seek::<P>::new(rows, count, costs.clone())));
            let pull = Pull::new::<P>(rows, graph.manifest().undirected, costs.clone());
            processes.extend(pull.map(|pull| Box::new(pull) as Box<dyn Process<P> + 'r>));
        }
        if rows.is_none() || options.executor != Executor::Seek {
            processes.push(Box::new(Scan::new(scheduler, graph, costs)));
        }
        ProgramJob {
            graph,
            options,
            stage: Stage::New(program),
            rows,
            kinds: processes.iter().map(|process| process.kind()).collect(),
            processes,
            scanning: None,
            scanned: Mutex::default(),
            statistics: RunStatistics::default(),
        }
    }

    /// The iteration has ended.
    fn end_iteration(&mut self, iteration: Iteration, alone: Duration) {
        let Iteration { choice, active, started, .. } = iteration;
        let kind = self.kinds[choice.index];
        let took = started.elapsed();
        // Others that share a scan take their time too; what it would have taken alone is learnt from.
        self.processes[choice.index].learn(&choice.prediction, alone);
        let number = self.statistics.iterations;
        tracing::debug!(
            "iteration {number}: {}, {active} active, {choice}; took {took:.3?}",
            kind.name()
        );
        self.statistics.processes.push(kind);
        self.statistics.iterations += 1;
        self.statistics.iteration_times.push(took);
        self.options.progress.advance(1);
    }

    /// Takes up an iteration that waited for tiles.
    fn end_scan(&mut self, iteration: Iteration, threads: usize) {
        let resumed = Instant::now();
        if let Stage::Running(step) = &mut self.stage {
            finish(step);
        }
        let scanned = std::mem::take(&mut *lock(&self.scanned));
        self.statistics.add_scan(&scanned, self.graph);
        let parts = scanned.time / threads as u32;
        let alone = iteration.alone + parts + resumed.elapsed();
        self.end_iteration(iteration, alone);
    }

    fn into_outcome(self) -> Result<Outcome<P>> {
        let Stage::Running(step) = self.stage else { return Err(Error::Cancelled) };
        let mut statistics = self.statistics;
        let degrees = if P::NEEDS_DEGREE { 4 * u64::from(self.graph.vertex_count()) } else { 0 };
        let rows = self.rows.map_or(0, RowReader::bytes_read);
        statistics.bytes_read += degrees + rows;
        let (states, program) = step.into_result();
        Ok(Outcome { states, program, statistics })
    }
}

impl<'r, P: Program + 'r> Job for ProgramJob<'r, P> {
    fn advance(&mut self, context: &JobContext<'_>) -> Result<Advanced> {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Lost) {
            Stage::New(program) => {
                self.options.progress.begin("iterating", None, Unit::Iterations);
                let instructions = self.options.instructions;
                let step = Superstep::new(self.graph, program, instructions, context)?;
                Stage::Running(Box::new(step))
            }
            begun => begun,
        };
        if let Some(iteration) = self.scanning.take() {
            self.end_scan(iteration, context.threads());
        }
        loop {
            if context.is_others_turn() {
                return Ok(Advanced::Further);
            }
            context.cancel().check()?;
            let Stage::Running(step) = &mut self.stage else { return Err(Error::Cancelled) };
            let started = Instant::now();
            if !step.begin_iteration() {
                self.options.progress.end();
                return Ok(Advanced::Done);
            }
            let active = step.frontier.count();
            let choice = choose(&self.kinds, |index| self.processes[index].predict(step));
            let process = &mut self.processes[choice.index];
            let progressed = process.run(step, &choice.prediction, context)?;
            let alone = started.elapsed();
            let iteration = Iteration { choice, active, started, alone };
            match progressed {
                Progressed::Done { edges } => {
                    self.statistics.edges_processed += edges;
                    self.end_iteration(iteration, alone);
                }
                Progressed::NeedsTiles(demand) => {
                    self.scanning = Some(iteration);
                    return Ok(Advanced::NeedsTiles(demand));
                }
            }
        }
    }

    fn needs(&self, tile: &TileSummary) -> bool {
        let Stage::Running(step) = &self.stage else { return false };
        step.needs(tile)
    }

    fn begin_part(&self, part: &Part) -> Box<dyn PartWork + '_> {
        let Stage::Running(step) = &self.stage else { unreachable!("it scans while it runs") };
        Box::new(ProgramPart::new(step, part))
    }

    fn note_part(&self, done: &PartStatistics) {
        lock(&self.scanned).add(done);
    }
}
