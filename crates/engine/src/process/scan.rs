//! The process and apply phases by tiles, batch after batch.

use std::time::Duration;

use tegula_machine::threads::{get_mut, lock};
use tegula_store::Result;
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::{Batch, Tile, WINDOW_LOG2};

use super::cost::{Correction, CostModel, SCAN_EDGE, SCAN_VERTEX};
use super::kernel::KernelInput;
use super::{Prediction, Process, ProcessKind, Progressed};
use crate::job::context::JobContext;
use crate::job::{PartWork, ScanDirection, TileDemand};
use crate::parts::Part;
use crate::program::{Accumulator, Activity, ApplyTo, EdgeWeight, Program, Reduction};
use crate::scheduler::Scheduler;
use crate::superstep::accumulators::Accumulators;
use crate::superstep::active_set::ActiveSet;
use crate::superstep::batch_array::{BatchRanges, accumulator_range};
use crate::superstep::frontier::Frontier;
use crate::superstep::targets::Targets;
use crate::superstep::{BatchWork, Superstep};

/// The process that goes through all tiles with an active source and an open target.
pub struct Scan<'s> {
    scheduler: &'s Scheduler<'s>,
    graph: &'s Graph,
    costs: CostModel,
    correction: Correction,
}

impl<'s> Scan<'s> {
    pub fn new(scheduler: &'s Scheduler<'s>, graph: &'s Graph, costs: CostModel) -> Scan<'s> {
        Scan { scheduler, graph, costs, correction: Correction::none() }
    }
}

impl<P: Program> Process<P> for Scan<'_> {
    fn kind(&self) -> ProcessKind {
        ProcessKind::Scan
    }

    fn predict(&self, step: &Superstep<'_, P>) -> Prediction {
        let listed = match &step.frontier {
            Frontier::Bits(_) => None,
            Frontier::List(list) => {
                Some(ActiveSet::summary_of(list, self.graph.vertex_count() as usize))
            }
        };
        let active = match (&listed, &step.frontier) {
            (Some(summary), _) | (None, Frontier::Bits(summary)) => summary,
            (None, Frontier::List(_)) => return Prediction::default(),
        };
        let has_weights = P::Weight::IS_WEIGHTED;
        let (mut edges, mut bytes) = (0, 0);
        for (index, group) in self.scheduler.parts().groups.iter().enumerate() {
            let mut is_needed = false;
            for tile in &self.graph.tiles()[group.tiles.clone()] {
                let origin = self.graph.origin_of(tile);
                if step.execution.needs(tile, origin, active) {
                    edges += u64::from(tile.summary.edge_count);
                    is_needed = true;
                }
            }
            if is_needed && self.scheduler.source().get(index, has_weights).is_none() {
                bytes += group.size(has_weights);
            }
        }
        let vertices = self.graph.vertex_count() as f64;
        let CostModel { threads, ref speed, .. } = self.costs;
        let working = (edges as f64 * SCAN_EDGE + vertices * SCAN_VERTEX) / threads;
        let reading = bytes as f64 / speed.sequential_bytes_per_second;
        let by_costs = self.costs.together(working, reading);
        Prediction { seconds: self.correction.apply(by_costs), by_costs, ..Prediction::default() }
    }

    fn run(
        &mut self,
        step: &mut Superstep<'_, P>,
        _prediction: &Prediction,
        context: &JobContext<'_>,
    ) -> Result<Progressed> {
        step.generate(context)?;
        Ok(Progressed::NeedsTiles(TileDemand {
            has_weights: P::Weight::IS_WEIGHTED && self.graph.is_weighted(),
            has_every_batch: P::APPLY_TO == ApplyTo::All,
            direction: ScanDirection::FirstToLast,
        }))
    }

    fn learn(&mut self, prediction: &Prediction, took: Duration) {
        self.correction.learn(prediction.seconds, took);
    }
}

/// Ends the iteration after a scan: takes over sums, active vertices and settled targets.
///
/// # Errors
/// The failure of another rank.
pub fn finish<P: Program>(step: &mut Superstep<'_, P>) -> Result<()> {
    let mut sums = Vec::new();
    for batch in &mut step.arrays.batches {
        let batch = get_mut(batch);
        sums.extend(batch.aggregate.take());
        let first_window = batch.ranges.targets.start >> WINDOW_LOG2;
        step.execution.settle(first_window, &mut batch.newly_settled);
    }
    step.take_next_active();
    step.agree(sums.into_iter())
}

/// The work of one worker on one part. Its accumulators cover the windows of the batch.
pub struct ProgramPart<'s, 'g, P: Program> {
    step: &'s Superstep<'g, P>,
    part: Part,
    batch: Batch,
    accumulators: Accumulators<P>,
}

impl<'s, 'g, P: Program> ProgramPart<'s, 'g, P> {
    /// Begins a part. The messages must be generated already.
    pub fn new(step: &'s Superstep<'g, P>, part: &Part) -> ProgramPart<'s, 'g, P> {
        let idle = lock(&step.arrays.idle_accumulators).pop();
        let mut accumulators = idle.unwrap_or_else(Accumulators::new);
        let batch = step.graph.batches()[part.batch];
        accumulators.reserve(accumulator_range(step.graph, &batch).end);
        ProgramPart { step, part: part.clone(), batch, accumulators }
    }
}

impl<P: Program> PartWork for ProgramPart<'_, '_, P> {
    fn process(
        &mut self,
        tile: Tile<'_>,
        entry: &TileEntry,
        weights: &[f32],
    ) -> Result<(), String> {
        let origin = self.step.graph.origin_of(entry);
        let window = entry.window(origin) - (self.batch.target_first as usize >> WINDOW_LOG2);
        self.step.instructions.run(KernelInput {
            program: &self.step.execution.program,
            tile,
            weights,
            messages: &self.step.exchange.messages()[origin.source as usize..],
            accumulators: self.accumulators.window(window),
        })?;
        self.accumulators.spill_when_due(window);
        Ok(())
    }

    /// Merges parts in the order of their numbers, in whatever order they end.
    fn end(self: Box<Self>) {
        let ProgramPart { step, part, batch, mut accumulators } = *self;
        let targets = accumulator_range(step.graph, &batch);
        let mut work = lock(&step.arrays.batches[part.batch]);
        if part.number != work.merge.next() {
            work.merge.wait(part.number, accumulators.take(targets));
        } else if part.number + 1 < part.count {
            work.merge.merge(part.number, &mut accumulators, targets);
        } else {
            // One pass merges and applies.
            let merged = work.merge.take().unwrap_or_default();
            let mut aggregate = P::Aggregate::default();
            let mut batch = Applying::new(step, &mut work, &mut aggregate);
            accumulators.drain(targets, |index, sum| {
                let before = merged.get(index);
                let reduced = before.map_or(sum, |&merged| P::Reduction::accumulate(merged, sum));
                batch.apply(index, reduced);
            });
            batch.finish();
            work.aggregate = Some(aggregate);
        }
        // Other workers may use the accumulators while this one merges.
        lock(&step.arrays.idle_accumulators).push(accumulators);
        // Once the batch was applied, no part of it waits.
        if work.aggregate.is_none() {
            merge_early(step, &mut work, part.count);
        }
    }
}

/// Merges the parts of a batch that ended before their turn, and applies the result after the last
/// part.
fn merge_early<P: Program>(step: &Superstep<'_, P>, work: &mut BatchWork<P>, part_count: usize) {
    work.merge.merge_waiting();
    if work.merge.next() == part_count {
        let merged = work.merge.take().unwrap_or_default();
        let mut aggregate = P::Aggregate::default();
        let mut batch = Applying::new(step, work, &mut aggregate);
        merged.iter().enumerate().for_each(|(index, &reduced)| batch.apply(index, reduced));
        batch.finish();
        work.aggregate = Some(aggregate);
    }
}

/// Applies reductions to the vertices of a batch.
struct Applying<'a, P: Program> {
    targets: Targets<'a, P>,
    next_active: &'a mut [u64],
    /// Activity bits of the current word.
    active: u64,
}

impl<'a, P: Program> Applying<'a, P> {
    fn new(
        step: &'a Superstep<'_, P>,
        work: &'a mut BatchWork<P>,
        aggregate: &'a mut P::Aggregate,
    ) -> Applying<'a, P> {
        let BatchRanges { targets, words } = work.ranges.clone();
        let arrays = &step.arrays;
        let has_settled = P::SETTLING.is_possible();
        // SAFETY: no two batches share a vertex or a word, and the caller has `work`, so it holds
        // the lock of this batch. Nobody borrows an array as a whole while the step is shared.
        let (states, next_active, settled) = unsafe {
            let settled = if has_settled { words.clone() } else { 0..0 };
            (
                arrays.states.range(targets.clone()),
                arrays.next_active.range(words),
                arrays.settled.range(settled),
            )
        };
        let targets = Targets {
            program: &step.execution.program,
            degrees: step.degrees_of(targets.clone()),
            first: targets.start,
            states,
            settled,
            newly_settled: &mut work.newly_settled,
            aggregate,
        };
        Applying { targets, next_active, active: 0 }
    }

    #[inline(always)]
    fn apply(&mut self, index: usize, reduced: Accumulator<P>) {
        let activity = self.targets.apply(index, reduced);
        // The word stays in a register: a word in memory would stall each vertex on the store
        // before.
        self.active |= u64::from(activity == Activity::Active) << (index % 64);
        if index % 64 == 63 {
            self.store(index);
        }
    }

    /// Stores the activity bits of the word that has the vertex `index`.
    #[inline(always)]
    fn store(&mut self, index: usize) {
        self.next_active[index / 64] |= std::mem::take(&mut self.active);
    }

    /// Stores the last activity bits, after all targets.
    fn finish(mut self) {
        if let Some(last) = self.targets.states.len().checked_sub(1) {
            self.store(last);
        }
    }
}
