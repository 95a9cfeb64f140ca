//! A program with its arrays on disk, as a job: a scan for each segment of each group of columns.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tegula_machine::threads::{Cancel, ProgressUnit, lock};
use tegula_store::Result;
use tegula_store::graph::{Graph, TileEntry};

use super::context::JobContext;
use super::program::Outcome;
use super::stage::Stage;
use super::{Advanced, Job, PartStatistics, PartWork};
use crate::checkpoint::Keeper;
use crate::external::background::BackgroundExchange;
use crate::external::{ExternalPart, ExternalStep, NextScan};
use crate::iteration_times::log_iteration;
use crate::memory::ArraysPlan;
use crate::options::RunOptions;
use crate::parts::{Part, Parts};
use crate::process_kind::ProcessKind;
use crate::program::{Message, Program};
use crate::ranks::Ranks;
use crate::scheduler::{Admitted, Scheduler};
use crate::start::Start;
use crate::states::States;
use crate::statistics::RunStatistics;

/// A program while it runs.
pub struct ExternalJob<'r, P: Program> {
    graph: &'r Graph,
    parts: Arc<Parts>,
    options: &'r RunOptions<'r>,
    plan: ArraysPlan,
    stage: Stage<P, ExternalStep<'r, P>>,
    /// The exchange with other ranks.
    background: Option<Arc<BackgroundExchange<'r, Message<P>>>>,
    /// When the current iteration began, if there is one.
    iterating: Option<Instant>,
    /// When the current scan began, if there is one.
    scanning: Option<Instant>,
    /// Time of the scans in this iteration.
    scan_time: Duration,
    /// The statistics of the parts of an iteration so far.
    scanned: Mutex<PartStatistics>,
    keeper: Option<Keeper<'r>>,
    statistics: RunStatistics,
}

impl<'r, P: Program + 'r> ExternalJob<'r, P> {
    /// Makes the job of a program with its arrays on disk as planned.
    pub fn new(
        graph: &'r Graph,
        parts: &Arc<Parts>,
        (start, ranks): (Start<P>, Option<Ranks<'r>>),
        plan: ArraysPlan,
        options: &'r RunOptions<'r>,
    ) -> ExternalJob<'r, P> {
        tracing::info!(
            "arrays on disk: {} groups of {} columns, messages {}; in memory: {} state blocks, {} message blocks",
            plan.groups,
            plan.columns,
            if plan.sends { "reread or dispatched" } else { "reread" },
            plan.states_held,
            plan.messages_held
        );
        ExternalJob {
            graph,
            parts: Arc::clone(parts),
            options,
            plan,
            stage: Stage::New(start),
            background: ranks.map(|ranks| Arc::new(BackgroundExchange::new(ranks))),
            iterating: None,
            scanning: None,
            scan_time: Duration::ZERO,
            scanned: Mutex::default(),
            keeper: None,
            statistics: RunStatistics::default(),
        }
    }

    /// Works on the job until it is over, as [`Scheduler::work_off`] does.
    pub fn work_off(
        &mut self,
        scheduler: &Scheduler<'_>,
        admitted: &Admitted<'_, '_>,
        cancel: &Cancel,
    ) -> Result<()> {
        match self.background.clone().filter(|_| self.plan.exchanges_ahead) {
            Some(background) => background.scope(|| scheduler.work_off(self, admitted, cancel)),
            None => scheduler.work_off(self, admitted, cancel),
        }
    }

    fn end_iteration(&mut self, took: Duration) {
        let scanned = std::mem::take(&mut *lock(&self.scanned));
        self.statistics.add_scan(&scanned, self.graph);
        let scans = std::mem::take(&mut self.scan_time);
        log_iteration(
            self.statistics.iterations,
            format_args!("arrays on disk; took {took:.3?}, scans {scans:.3?} of it"),
        );
        self.statistics.add_iteration(ProcessKind::Scan, None, took);
        if let Ok(step) = self.stage.advancing() {
            step.end_iteration(&self.statistics);
        }
        self.options.progress.advance(1);
    }

    /// Returns the result of the program.
    ///
    /// # Errors
    /// Failed writes of the states; the failure of another rank.
    pub fn into_outcome(self) -> Result<Outcome<P, States<P::State>>> {
        let step = self.stage.into_ended()?;
        let mut statistics = self.statistics;
        step.complete(&mut statistics)?;
        let (states, program) = step.into_result()?;
        Ok(Outcome { states, program, statistics })
    }
}

impl<'r, P: Program + 'r> Job for ExternalJob<'r, P> {
    fn advance(&mut self, context: &JobContext<'_>) -> Result<Advanced> {
        self.stage.begin(|start| {
            self.options.progress.begin("iterating", None, ProgressUnit::Iterations);
            let (graph, parts, plan) = (self.graph, &self.parts, self.plan);
            let start = (start, self.background.clone());
            let step = ExternalStep::new(graph, parts, start, plan, self.options, context)?;
            self.keeper = Keeper::of(self.options.checkpoints, graph, step.iterations_begun());
            self.statistics.begin_at(step.iterations_begun());
            Ok(step)
        })?;
        loop {
            if context.is_others_turn() {
                return Ok(Advanced::Further);
            }
            context.cancel().check()?;
            let step = self.stage.advancing()?;
            if let Some(since) = self.scanning.take() {
                self.scan_time += since.elapsed();
                step.end_scan();
            }
            let Some(started) = self.iterating else {
                let Some(iteration) = step.begin_iteration() else {
                    self.options.progress.end();
                    return Ok(Advanced::Done);
                };
                // Before the checkpoint, whose time belongs to the iteration.
                self.iterating = Some(Instant::now());
                self.keeper
                    .as_ref()
                    .map_or(Ok(()), |keeper| step.keep_if_due(keeper, iteration, context))?;
                continue;
            };
            match step.next_scan(context)? {
                NextScan::Tiles(demand) => {
                    self.scanning = Some(Instant::now());
                    return Ok(Advanced::NeedsTiles(demand));
                }
                NextScan::Further => {}
                NextScan::Done => {
                    self.iterating = None;
                    self.end_iteration(started.elapsed());
                }
            }
        }
    }

    fn parts(&self, _parts: &Parts) -> Range<usize> {
        self.stage.running().map_or(0..0, ExternalStep::parts_at_work)
    }

    fn needs(&self, tile: &TileEntry) -> bool {
        self.stage.running().is_some_and(|step| step.needs(tile))
    }

    fn begin_part(&self, part: &Part) -> Box<dyn PartWork + '_> {
        self.stage.begin_part(|step| ExternalPart::new(step, part))
    }

    fn note_part(&self, done: &PartStatistics) {
        lock(&self.scanned).add(done);
    }
}
