//! A vertex program as a job: each iteration runs the process that is predicted to be the quickest.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tegula_machine::threads::{ProgressUnit, lock};
use tegula_store::Result;
use tegula_store::graph::{Graph, TileEntry};

use super::checkpoint_writer::CheckpointWriter;
use super::context::JobContext;
use super::external::ExternalJob;
use super::program_rows::{Admission, ProgramRows, admit};
use super::stage::Stage;
use super::{Advanced, Job, PartStatistics, PartWork, TileDemand};
use crate::iteration_times::log_iteration;
use crate::options::{Executor, RunOptions};
use crate::parts::{Part, Parts};
use crate::process::choice::{Choice, choose};
use crate::process::cost::CostModel;
use crate::process::pull::Pull;
use crate::process::scan::{ProgramPart, Scan, finish};
use crate::process::seek::Seek;
use crate::process::{Prediction, Process, Progressed};
use crate::process_kind::ProcessKind;
use crate::program::{Message, Program};
use crate::ranks::Ranks;
use crate::scheduler::Scheduler;
use crate::start::Start;
use crate::states::States;
use crate::statistics::RunStatistics;
use crate::superstep::Superstep;

/// The result of a program: its states by dense id, in memory or on disk.
#[derive(Debug)]
pub struct Outcome<P: Program, S = Vec<<P as Program>::State>> {
    /// The state of each vertex.
    pub states: S,
    /// The program after the last iteration.
    pub program: P,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}

/// Runs a program to its end, on the scheduler of the options or on a new one for this run alone.
/// The states are in memory when it returns, and the arrays are in memory during the run unless the
/// options put them on disk.
///
/// # Errors
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget) before anything is read,
/// [`Error::Corrupt`](tegula_machine::Error::Corrupt) and [`Error::Io`](tegula_machine::Error::Io)
/// from reading, [`Error::MissingLayout`](tegula_store::Error::MissingLayout) if rows are needed
/// and the graph has none, [`Error::Cancelled`](tegula_machine::Error::Cancelled),
/// [`Error::WorkerFailed`](tegula_machine::Error::WorkerFailed) if the program panics.
///
/// # Panics
/// When the program needs the weights of edges and the rows of the options were opened without
/// them.
pub fn run<P: Program>(graph: &Graph, program: P, options: &RunOptions<'_>) -> Result<Outcome<P>> {
    let options = &options.with_result_in_memory();
    let Outcome { states, program, statistics } = run_anywhere(graph, program, options)?;
    Ok(Outcome { states: states.into_vec()?, program, statistics })
}

/// Runs a program as [`run`] does, with its arrays on disk if memory has no room for them. Results
/// do not depend on this. A [`Start`] may bring known states beside the program.
///
/// # Errors
/// Besides the errors of [`run`], [`Error::Io`](tegula_machine::Error::Io) if arrays lie on a disk
/// that is full or fails.
///
/// # Panics
/// When the program needs the weights of edges and the rows of the options were opened without
/// them.
pub fn run_anywhere<P: Program>(
    graph: &Graph,
    start: impl Into<Start<P>>,
    options: &RunOptions<'_>,
) -> Result<Outcome<P, States<P::State>>> {
    let start: Start<P> = start.into();
    let options = &on_ranks(graph, &start.program, options)?;
    options.with_scheduler(graph, |scheduler| {
        let admission = admit(scheduler, graph, &start.program, options)?;
        let Admission { admitted, rows, degrees, plan } = admission;
        let meet = |comm| Ranks::meet(comm, graph, &options.cancel);
        let ranks = options.ranks.map(meet).transpose()?;
        if let Some(plan) = plan {
            let start = (start, ranks);
            let mut job = ExternalJob::new(graph, scheduler.parts(), start, plan, options);
            job.work_off(scheduler, &admitted, &options.cancel)?;
            return job.into_outcome();
        }
        let start = (start, ranks, degrees);
        let mut job = ProgramJob::new(scheduler, graph, start, &rows, options);
        scheduler.work_off(&mut job, &admitted, &options.cancel)?;
        job.into_outcome()
    })
}

/// Returns the options of a run that may have other ranks: there, a program scans.
///
/// # Errors
/// [`Error::NotOnRanks`](tegula_store::Error::NotOnRanks) if the program cannot scan.
fn on_ranks<'r, P: Program>(
    graph: &Graph,
    program: &P,
    options: &RunOptions<'r>,
) -> Result<RunOptions<'r>> {
    if options.ranks.is_none() {
        return Ok(options.clone());
    }
    if !program.directions().can_scan(graph) {
        options.refuse_ranks("a program that follows edges against their direction")?;
    }
    Ok(RunOptions { executor: Executor::Scan, rows: None, reverse: None, ..options.clone() })
}

/// A program while it runs.
struct ProgramJob<'r, P: Program> {
    graph: &'r Graph,
    options: &'r RunOptions<'r>,
    stage: Stage<P, Superstep<'r, P>>,
    /// The other ranks, until the program runs.
    ranks: Option<Ranks<'r>>,
    /// Empty if the program does not need degrees.
    degrees: Arc<Vec<u32>>,
    rows: &'r ProgramRows<'r>,
    kinds: Vec<ProcessKind>,
    /// In the order of `kinds`.
    processes: Vec<Box<dyn Process<P> + 'r>>,
    /// The iteration that waits for tiles.
    scanning: Option<Iteration>,
    /// The statistics of the parts of a scan so far.
    scanned: Mutex<PartStatistics>,
    checkpoints: Option<CheckpointWriter<'r, P>>,
    statistics: RunStatistics,
}

/// An iteration while it runs.
struct Iteration {
    choice: Choice,
    active: u64,
    started: Instant,
    /// Its time apart from that of its parts.
    alone: Duration,
}

impl<'r, P: Program + 'r> ProgramJob<'r, P> {
    fn new(
        scheduler: &'r Scheduler<'r>,
        graph: &'r Graph,
        (start, ranks, degrees): (Start<P>, Option<Ranks<'r>>, Arc<Vec<u32>>),
        rows: &'r ProgramRows<'r>,
        options: &'r RunOptions<'r>,
    ) -> ProgramJob<'r, P> {
        let costs = CostModel::of(graph, scheduler.threads(), scheduler.speed());
        let mut processes: Vec<Box<dyn Process<P> + 'r>> = Vec::new();
        let (outgoing, incoming) = (rows.outgoing(), rows.incoming());
        let can_scan = start.program.directions().can_scan(graph);
        let must_scan = outgoing.is_empty();
        assert!(!must_scan || can_scan, "there are rows for a program that cannot scan");
        // In the order in which `choose` asks them: those that are quick to predict come first.
        if !must_scan {
            let count = graph.vertex_count() as usize;
            processes.push(Box::new(Seek::<P>::new(outgoing.clone(), count, costs.clone())));
        }
        if Pull::is_for::<P>() && !incoming.is_empty() {
            processes.push(Box::new(Pull::new(incoming, outgoing, costs.clone())));
        }
        if must_scan || can_scan && options.executor != Executor::Seek {
            processes.push(Box::new(Scan::new(scheduler, graph, costs)));
        }
        ProgramJob {
            graph,
            options,
            stage: Stage::New(start),
            ranks,
            degrees,
            rows,
            kinds: processes.iter().map(|process| process.kind()).collect(),
            processes,
            scanning: None,
            scanned: Mutex::default(),
            checkpoints: None,
            statistics: RunStatistics::default(),
        }
    }

    /// Runs an iteration by the process that is predicted to be the quickest. If this one gives up,
    /// the quickest of the others runs. Returns the choice, the demand of a scan, and the time of
    /// the process that ran last.
    fn run_quickest(
        &mut self,
        context: &JobContext<'_>,
    ) -> Result<(Choice, Option<TileDemand>, Duration)> {
        let step = self.stage.advancing()?;
        let mut given_up = None;
        loop {
            let begun = Instant::now();
            let choice = choose(&self.kinds, |index| match given_up {
                Some(given_up) if given_up == index => Prediction::NEVER,
                _ => self.processes[index].predict(step),
            });
            let process = &mut self.processes[choice.index];
            match process.run(step, &choice.prediction, context)? {
                Progressed::Done { edges } => {
                    self.statistics.edges_processed += edges;
                    return Ok((choice, None, begun.elapsed()));
                }
                Progressed::NeedsTiles(demand) => {
                    return Ok((choice, Some(demand), begun.elapsed()));
                }
                Progressed::GivenUp { edges } => {
                    let kind = process.kind().name();
                    tracing::debug!("{kind} was given up after {:.3?}", begun.elapsed());
                    // These edges were looked through, even if in vain.
                    self.statistics.edges_processed += edges;
                    given_up = Some(choice.index);
                }
            }
        }
    }

    /// Ends an iteration that would have taken `alone` without other jobs.
    fn end_iteration(&mut self, iteration: Iteration, alone: Duration) {
        let Iteration { choice, active, started, .. } = iteration;
        let kind = self.kinds[choice.index];
        let took = started.elapsed();
        // Jobs that share a scan add to its time. The cost model learns from the time without them.
        self.processes[choice.index].learn(&choice.prediction, alone);
        let name = kind.name();
        log_iteration(
            self.statistics.iterations,
            format_args!("{name}, {active} active{choice}; took {took:.3?}"),
        );
        self.statistics.add_iteration(kind, choice.by_costs(), took);
        let bytes_read = self.bytes_read();
        if let Ok(step) = self.stage.advancing() {
            step.execution.program.end_iteration(&self.statistics);
            if let Some(ranks) = step.exchange.ranks() {
                ranks.end_interval(bytes_read, 0);
            }
        }
        self.options.progress.advance(1);
    }

    /// Continues an iteration that waited for tiles.
    fn end_scan(&mut self, iteration: Iteration, threads: usize) -> Result<()> {
        let resumed = Instant::now();
        finish(self.stage.advancing()?)?;
        let scanned = std::mem::take(&mut *lock(&self.scanned));
        self.statistics.add_scan(&scanned, self.graph);
        // Workers process parts at the same time, so their times are divided among them.
        let parts = (scanned.working + scanned.waiting) / threads as u32;
        let alone = iteration.alone + parts + resumed.elapsed();
        self.end_iteration(iteration, alone);
        Ok(())
    }

    /// Returns the bytes of degrees, rows and tiles read so far.
    fn bytes_read(&self) -> u64 {
        let degrees = if P::NEEDS_DEGREE { 4 * self.graph.vertex_count() } else { 0 };
        self.statistics.bytes_read + degrees + self.rows.bytes_read()
    }

    fn into_outcome(mut self) -> Result<Outcome<P, States<P::State>>> {
        // A run whose last checkpoint is lost has failed.
        self.checkpoints.as_mut().map_or(Ok(()), CheckpointWriter::finish)?;
        let bytes_read = self.bytes_read();
        let mut step = self.stage.into_ended()?;
        let mut statistics = RunStatistics { bytes_read, ..self.statistics };
        step.complete(&mut statistics)?;
        let (states, program) = step.into_result();
        Ok(Outcome { states: States::from(states), program, statistics })
    }
}

impl<'r, P: Program + 'r> Job for ProgramJob<'r, P> {
    fn advance(&mut self, context: &JobContext<'_>) -> Result<Advanced> {
        self.stage.begin(|start| {
            self.options.progress.begin("iterating", None, ProgressUnit::Iterations);
            let resumes = self.options.checkpoints.is_some_and(|kept| kept.resume.is_some());
            let settings = (self.options.tuning.instructions, resumes);
            let degrees = Arc::clone(&self.degrees);
            let ranks = self.ranks.take();
            let mut step = Superstep::new(self.graph, start, ranks, degrees, settings, context)?;
            self.checkpoints = CheckpointWriter::open(self.options, &mut step, context.threads())?;
            self.statistics.begin_at(step.execution.iterations_begun());
            Ok(step)
        })?;
        if let Some(iteration) = self.scanning.take() {
            self.end_scan(iteration, context.threads())?;
        }
        loop {
            if context.is_others_turn() {
                return Ok(Advanced::Further);
            }
            context.cancel().check()?;
            let step = self.stage.advancing()?;
            let started = Instant::now();
            let Some(iteration) = step.begin_iteration() else {
                self.options.progress.end();
                return Ok(Advanced::Done);
            };
            if let Some(checkpoints) = &mut self.checkpoints {
                checkpoints.keep_if_due(step, iteration, context)?;
            }
            let active = step.active_count();
            let (choice, demand, alone) = self.run_quickest(context)?;
            let iteration = Iteration { choice, active, started, alone };
            match demand {
                None => self.end_iteration(iteration, alone),
                Some(demand) => {
                    self.scanning = Some(iteration);
                    return Ok(Advanced::NeedsTiles(demand));
                }
            }
        }
    }

    /// Returns the parts of the batches of this rank.
    fn parts(&self, parts: &Parts) -> Range<usize> {
        let own = self.stage.running().map_or(0..0, |step| step.exchange.own_vertices());
        let is_before = |vertex: usize| {
            move |part: &Part| (self.graph.batches()[part.batch].target_first as usize) < vertex
        };
        let first = |vertex| parts.parts.partition_point(is_before(vertex));
        first(own.start)..first(own.end)
    }

    fn needs(&self, tile: &TileEntry) -> bool {
        let Some(step) = self.stage.running() else { return false };
        !self.options.tuning.is_selective || step.needs(tile)
    }

    fn vertex_bytes(&self) -> u64 {
        (size_of::<P::State>() + size_of::<Message<P>>()) as u64
    }

    fn begin_part(&self, part: &Part) -> Box<dyn PartWork + '_> {
        self.stage.begin_part(|step| ProgramPart::new(step, part))
    }

    fn note_part(&self, done: &PartStatistics) {
        lock(&self.scanned).add(done);
    }
}
