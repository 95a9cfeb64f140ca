//! The process and apply phases of a program as a job of a scan: by tiles, batch after batch.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use tegula_machine::threads::lock;
use tegula_store::VertexId;
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::{BATCH_LOG2_MAX, Batch, Tile, TileSummary, WINDOW_LOG2, WINDOW_SIZE};

use super::Supersteps;
use crate::accumulators::Accumulators;
use crate::active::ActiveSet;
use crate::instructions::Instructions;
use crate::job::RunningScan;
use crate::kernel::KernelInput;
use crate::program::{Accumulator, Activity, ApplyTo, Message, Program, Reduction};
use crate::scan::{ScanJob, ScanWorker};
use crate::tile_cache::Part;

/// The most windows of a batch.
const BATCH_WINDOWS: usize = 1 << (BATCH_LOG2_MAX - WINDOW_LOG2);

/// A batch during a scan: what only the worker that finishes it touches.
struct BatchWork<'s, P: Program> {
    targets: Range<u32>,
    states: &'s mut [P::State],
    active: &'s mut [u64],
    /// Bits of those that are settled; nothing in a program that settles none.
    settled_bits: &'s mut [u64],
    /// What the first parts were reduced to, in the order of their numbers, until all are done.
    merged: Vec<Accumulator<P>>,
    /// How many parts that is.
    merged_count: usize,
    /// What further parts were reduced to that are done before their turn, by number.
    early: Vec<(usize, Vec<Accumulator<P>>)>,
    aggregate: Option<P::Aggregate>,
    /// How many targets of each window were settled in this iteration.
    settled: [u32; BATCH_WINDOWS],
}

/// The process and apply phases of one program.
pub(super) struct ProgramScan<'s, P: Program> {
    program: &'s P,
    instructions: Instructions,
    graph: &'s Graph,
    degrees: &'s [u32],
    messages: &'s [Message<P>],
    active: &'s ActiveSet,
    open_targets: &'s [u32],
    batches: Vec<Mutex<BatchWork<'s, P>>>,
    outcome: &'s Mutex<ScanOutcome<P>>,
}

/// What a scan leaves to its program.
pub(super) struct ScanOutcome<P: Program> {
    /// By ascending batch.
    pub aggregates: Vec<P::Aggregate>,
    /// Window, and how many of its vertices were settled.
    pub settled: Vec<(usize, u32)>,
}

impl<P: Program> Default for ScanOutcome<P> {
    fn default() -> Self {
        ScanOutcome { aggregates: Vec::new(), settled: Vec::new() }
    }
}

impl<'s, P: Program> ProgramScan<'s, P> {
    /// A scan of a program whose messages were generated.
    pub fn new(steps: &'s mut Supersteps<'_, P>) -> ProgramScan<'s, P> {
        let count = steps.graph.vertex_count();
        let mut batches = Vec::with_capacity(steps.graph.batches().len());
        let (mut states, mut words) = (&mut steps.states[..], &mut steps.next_active[..]);
        let mut settled = &mut steps.settled[..];
        for batch in steps.graph.batches() {
            let targets = batch.targets(count);
            let (own_states, rest_states) = states.split_at_mut(targets.len());
            let (own_words, rest_words) = words.split_at_mut(targets.len().div_ceil(64));
            (states, words) = (rest_states, rest_words);
            let own_settled = settled.len().min(own_words.len());
            let (own_settled, rest_settled) = settled.split_at_mut(own_settled);
            settled = rest_settled;
            batches.push(Mutex::new(BatchWork {
                targets,
                states: own_states,
                active: own_words,
                settled_bits: own_settled,
                merged: Vec::new(),
                merged_count: 0,
                early: Vec::new(),
                aggregate: None,
                settled: [0; BATCH_WINDOWS],
            }));
        }
        ProgramScan {
            program: &steps.program,
            instructions: steps.instructions,
            graph: steps.graph,
            degrees: &steps.degrees,
            messages: &steps.messages,
            active: &steps.active,
            open_targets: &steps.open_targets,
            batches,
            outcome: &steps.outcome,
        }
    }
}

impl<P: Program> RunningScan for ProgramScan<'_, P> {
    fn end(self: Box<Self>) {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        for batch in self.batches {
            let batch = batch.into_inner().unwrap_or_else(PoisonError::into_inner);
            outcome.aggregates.extend(batch.aggregate);
            let first = batch.targets.start as usize >> WINDOW_LOG2;
            let settled = batch.settled.iter().enumerate().filter(|&(_, &count)| count > 0);
            outcome.settled.extend(settled.map(|(window, &count)| (first + window, count)));
        }
    }
}

impl<P: Program> ScanJob for ProgramScan<'_, P> {
    fn needs(&self, tile: &TileSummary) -> bool {
        self.open_targets[(tile.target_first >> WINDOW_LOG2) as usize] > 0
            && self.active.may_meet(tile)
    }

    fn finishes_every_batch(&self) -> bool {
        P::APPLY_TO == ApplyTo::All
    }

    fn worker(&self) -> Box<dyn ScanWorker + '_> {
        Box::new(ProgramWorker { scan: self, accumulators: Accumulators::new(), batch: None })
    }
}

/// One worker of a program: its accumulators cover the windows of a batch.
struct ProgramWorker<'w, 's, P: Program> {
    scan: &'w ProgramScan<'s, P>,
    accumulators: Accumulators<P>,
    batch: Option<Batch>,
}

impl<P: Program> ProgramWorker<'_, '_, P> {
    /// The batch's targets as indices of the accumulators, which begin with its first window.
    fn range(&self, batch: &Batch) -> Range<usize> {
        let targets = batch.targets(self.scan.graph.vertex_count());
        let first = targets.start as usize & (WINDOW_SIZE - 1);
        first..first + targets.len()
    }
}

impl<P: Program> ScanWorker for ProgramWorker<'_, '_, P> {
    fn begin_part(&mut self, part: &Part) {
        let batch = self.scan.graph.batches()[part.batch];
        let range = self.range(&batch);
        self.accumulators.reserve(range.end);
        self.batch = Some(batch);
    }

    fn process(
        &mut self,
        tile: Tile<'_>,
        entry: &TileEntry,
        weights: &[f32],
    ) -> Result<(), String> {
        let first = self.batch.map_or(0, |batch| batch.target_first >> WINDOW_LOG2);
        let window = ((entry.summary.target_first >> WINDOW_LOG2) - first) as usize;
        self.scan.instructions.run(KernelInput {
            program: self.scan.program,
            tile,
            weights,
            messages: self.scan.messages,
            accumulators: self.accumulators.window(window),
        })?;
        self.accumulators.spill_when_due(window);
        Ok(())
    }

    /// Parts are merged in the order of their numbers, whenever they are done.
    fn end_part(&mut self, part: &Part) {
        let Some(batch) = self.batch.take() else { return };
        let targets = self.range(&batch);
        let accumulators = &mut self.accumulators;
        let mut work = lock(&self.scan.batches[part.batch]);
        let work = &mut *work;
        if part.number > work.merged_count || part.number == 0 && part.count > 1 {
            let mut sums = Vec::with_capacity(targets.len());
            accumulators.drain(targets, |_, sum| sums.push(sum));
            if part.number > 0 {
                work.early.push((part.number, sums));
                return;
            }
            work.merged = sums;
        } else if part.number + 1 == part.count {
            let merged = std::mem::take(&mut work.merged);
            let before = |index: usize, sum| match merged.get(index) {
                Some(&merged) => P::Reduction::accumulate(merged, sum),
                None => sum,
            };
            let mut batch = Applying::new(self.scan, work);
            accumulators.drain(targets, |index, sum| batch.apply(index, before(index, sum)));
            batch.end();
            return;
        } else {
            let merged = &mut work.merged;
            accumulators.drain(targets, |index, sum| {
                merged[index] = P::Reduction::accumulate(merged[index], sum);
            });
        }
        work.merged_count += 1;
        self.scan.merge_early(work, part.count);
    }
}

impl<'s, P: Program> ProgramScan<'s, P> {
    /// Merges the parts of a batch that were done before it was their turn, and applies the result after the
    /// last one.
    fn merge_early(&self, work: &mut BatchWork<'s, P>, part_count: usize) {
        while let Some(next) = work.early.iter().position(|early| early.0 == work.merged_count) {
            let (_, sums) = work.early.swap_remove(next);
            for (into, &from) in work.merged.iter_mut().zip(&sums) {
                *into = P::Reduction::accumulate(*into, from);
            }
            work.merged_count += 1;
        }
        if work.merged_count == part_count {
            let merged = std::mem::take(&mut work.merged);
            let mut batch = Applying::new(self, work);
            merged.iter().enumerate().for_each(|(index, &reduced)| batch.apply(index, reduced));
            batch.end();
        }
    }
}

/// Takes what was reduced into the vertices of a batch.
struct Applying<'a, 's, P: Program> {
    scan: &'a ProgramScan<'s, P>,
    work: &'a mut BatchWork<'s, P>,
    aggregate: P::Aggregate,
}

impl<'a, 's, P: Program> Applying<'a, 's, P> {
    fn new(scan: &'a ProgramScan<'s, P>, work: &'a mut BatchWork<'s, P>) -> Self {
        Applying { scan, work, aggregate: P::Aggregate::default() }
    }

    #[inline(always)]
    fn apply(&mut self, index: usize, reduced: Accumulator<P>) {
        let Applying { scan, work, aggregate } = self;
        let first = work.targets.start as usize;
        let vertex = first + index;
        let state = &mut work.states[index];
        let degree = if P::NEEDS_DEGREE { scan.degrees[vertex] } else { 0 };
        let id = VertexId(vertex as u32);
        let was_open = !scan.program.is_settled(state);
        let activity = scan.program.apply(id, degree, state, reduced, aggregate);
        if was_open && scan.program.is_settled(state) {
            work.settled[(first % WINDOW_SIZE + index) >> WINDOW_LOG2] += 1;
            if P::SETTLING.is_possible() {
                work.settled_bits[index / 64] |= 1 << (index % 64);
            }
        }
        work.active[index / 64] |= u64::from(activity == Activity::Active) << (index % 64);
    }

    /// All vertices were applied to.
    fn end(self) {
        self.work.aggregate = Some(self.aggregate);
    }
}
