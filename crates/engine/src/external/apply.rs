//! The apply phase, block by block: the reductions for the targets of a group of columns go into
//! their states.

use std::ops::Range;
use std::sync::Mutex;

use tegula_machine::threads::{Cancel, lock, unlocked};
use tegula_store::Result;
use tegula_store::tiles::{WINDOW_LOG2, WINDOW_SIZE};
use zerocopy::IntoBytes;

use super::ExternalStep;
use crate::job::context::JobContext;
use crate::program::{Accumulator, Activity, ApplyTo, Program, Reduction};
use crate::states::BlockStates;
use crate::states::cut::{Cut, indices, shared};
use crate::superstep::targets::Targets;

/// The result of a worker for a stretch of targets.
struct Applied<P: Program> {
    /// The sums by batch.
    sums: Vec<(usize, P::Aggregate)>,
    /// Newly settled vertices in each window of the stretch.
    settled: Vec<u32>,
}

/// The targets of a batch while a worker applies to them.
struct Reduced<P: Program> {
    batch: usize,
    targets: Range<usize>,
    /// `None` if nothing was reduced.
    values: Option<Vec<Accumulator<P>>>,
    aggregate: P::Aggregate,
}

impl<P: Program> Reduced<P> {
    /// Returns the targets among some vertices.
    fn targets_in(&self, vertices: &Range<usize>) -> Range<usize> {
        self.targets.start.max(vertices.start)..self.targets.end.min(vertices.end)
    }

    /// Returns whether a message may have reached any of some vertices.
    fn has_message(&self, vertices: &Range<usize>) -> bool {
        let targets = self.targets_in(vertices);
        let here = targets.start - self.targets.start..targets.end - self.targets.start;
        let nothing = Accumulator::<P>::from(P::Reduction::IDENTITY);
        self.values.as_ref().is_some_and(|values| {
            values[here].iter().any(|value| value.as_bytes() != nothing.as_bytes())
        })
    }
}

/// Takes in the sums of the batches that end within `vertices`; returns the batch that continues
/// after them.
fn close<P: Program>(
    reduced: Vec<Reduced<P>>,
    vertices: &Range<usize>,
    applied: &mut Applied<P>,
) -> Option<Reduced<P>> {
    let mut open = None;
    for reduced in reduced {
        if reduced.targets.end > vertices.end {
            open = Some(reduced);
        } else if reduced.values.is_some() || P::APPLY_TO == ApplyTo::All {
            applied.sums.push((reduced.batch, reduced.aggregate));
        }
    }
    open
}

impl<P: Program> ExternalStep<'_, P> {
    /// Applies the reductions for the group of columns at work.
    ///
    /// # Errors
    /// Failed reads and writes; cancellation; a panic of the program.
    pub(super) fn apply(&mut self, context: &JobContext<'_>) -> Result<()> {
        let stretches = Cut::stretches(&self.targets());
        let applied: Vec<Mutex<Option<Applied<P>>>> =
            stretches.iter().map(|_| Mutex::new(None)).collect();
        context.for_each(stretches.len(), &|index| {
            // The other workers probably take the stretches in between.
            let after = stretches.get(index + context.threads());
            let found = self.apply_to(&stretches[index], after, context.cancel())?;
            *lock(&applied[index]) = Some(found);
            Ok(())
        })?;
        self.forget_ahead();
        for (stretch, applied) in stretches.iter().zip(applied) {
            let Some(Applied { sums, mut settled }) = unlocked(applied) else { continue };
            sums.into_iter().for_each(|(batch, sum)| self.sums[batch] = Some(sum));
            self.execution.settle(stretch.start >> WINDOW_LOG2, &mut settled);
        }
        Ok(())
    }

    /// Applies to a stretch. The stretch `after` probably comes next.
    fn apply_to(
        &self,
        stretch: &Range<usize>,
        after: Option<&Range<usize>>,
        cancel: &Cancel,
    ) -> Result<Applied<P>> {
        let windows = stretch.end.div_ceil(WINDOW_SIZE);
        let first_window = stretch.start >> WINDOW_LOG2;
        let mut applied = Applied { sums: Vec::new(), settled: vec![0; windows - first_window] };
        let batches = self.batches_of(stretch);
        let is_reached = |batch| P::APPLY_TO == ApplyTo::All || self.group.has_reached(batch);
        if !batches.clone().any(is_reached) {
            return Ok(applied);
        }
        let degrees = self.degrees_of(stretch)?;
        let mut block_states = BlockStates::new(self.cut.size_max());
        let mut open: Option<Reduced<P>> = None;
        for block in self.cut.blocks(stretch) {
            cancel.check()?;
            let vertices = self.cut.vertices(block);
            // Other ranks have the rest of a block at either end.
            let batches = self.batches_of(&shared(&vertices, stretch));
            if !batches.clone().any(|batch| {
                is_reached(batch) || open.as_ref().is_some_and(|open| open.batch == batch)
            }) {
                continue;
            }
            // Several small batches share a block; a large batch spans several blocks.
            let mut reduced: Vec<Reduced<P>> = batches
                .map(|batch| match open.take() {
                    Some(open) if open.batch == batch => open,
                    _ => self.reduced(batch),
                })
                .collect();
            let has_message = || reduced.iter().any(|it| it.has_message(&vertices));
            if P::APPLY_TO == ApplyTo::Reached && !has_message() {
                // A batch may be reached without this block of it.
                open = close(reduced, &vertices, &mut applied);
                continue;
            }
            if !self.has_small_frontier() {
                // A small frontier would need few of the blocks that are read ahead.
                self.ask_for_targets_ahead(block, stretch, after);
            }
            let (states, active) = block_states.of(vertices.len());
            self.states.read_with(block, states, active)?;
            // The bits that were read are those of the iteration that ends.
            active.fill(0);
            for reduced in &mut reduced {
                let targets = reduced.targets_in(&vertices);
                let degrees = match P::NEEDS_DEGREE {
                    true => {
                        let first = targets.start - stretch.start;
                        &degrees[first..first + targets.len()]
                    }
                    false => &[],
                };
                let here = targets.start - vertices.start;
                let states = &mut states[here..here + targets.len()];
                let active = &mut active[here / 64..];
                let window = (targets.start >> WINDOW_LOG2) - first_window;
                let settled = &mut applied.settled[window..];
                self.apply_batch(reduced, &targets, degrees, states, active, settled);
            }
            open = close(reduced, &vertices, &mut applied);
            self.next_activity.note(block, vertices.start, active);
            self.states.write(block, states, active)?;
        }
        Ok(applied)
    }

    fn reduced(&self, batch: usize) -> Reduced<P> {
        let targets = indices(self.graph.batches()[batch].targets(self.graph.vertex_count()));
        let values = self.group.take(self.graph, batch);
        Reduced { batch, targets, values, aggregate: P::Aggregate::default() }
    }

    /// Applies to some targets of a batch: to those with reductions, or to all if the program wants
    /// that.
    fn apply_batch(
        &self,
        reduced: &mut Reduced<P>,
        vertices: &Range<usize>,
        degrees: &[u32],
        states: &mut [P::State],
        active: &mut [u64],
        settled: &mut [u32],
    ) {
        if reduced.values.is_none() && P::APPLY_TO == ApplyTo::Reached {
            return;
        }
        let count = states.len();
        let mut settled_bits =
            vec![0; if P::SETTLING.is_possible() { count.div_ceil(64) } else { 0 }];
        let mut targets = Targets {
            program: &self.execution.program,
            degrees,
            first: vertices.start,
            states,
            settled: &mut settled_bits,
            newly_settled: settled,
            aggregate: &mut reduced.aggregate,
        };
        let first = vertices.start - reduced.targets.start;
        let values = reduced.values.as_ref().map(|values| &values[first..first + count]);
        for (word, first) in active.iter_mut().zip((0..count).step_by(64)) {
            let mut bits = 0;
            for local in first..count.min(first + 64) {
                let value = values.map_or(P::Reduction::IDENTITY.into(), |values| values[local]);
                let activity = targets.apply(local, value);
                bits |= u64::from(activity == Activity::Active) << (local - first);
            }
            *word |= bits;
        }
    }

    /// Returns the batches with a target among these vertices.
    fn batches_of(&self, vertices: &Range<usize>) -> Range<usize> {
        let batches = self.graph.batches();
        let first = batches.partition_point(|batch| batch.target_first as usize <= vertices.start);
        let end = batches.partition_point(|batch| (batch.target_first as usize) < vertices.end);
        first.saturating_sub(1)..end
    }

    /// Requests the next blocks that apply will need, in a stretch and in the one `after`.
    fn ask_for_targets_ahead(
        &self,
        block: usize,
        stretch: &Range<usize>,
        after: Option<&Range<usize>>,
    ) {
        let next = self.cut.blocks_behind(block, stretch, after);
        let is_needed = |&next: &usize| {
            let mut batches = self.batches_of(&self.cut.vertices(next));
            P::APPLY_TO == ApplyTo::All || batches.any(|batch| self.group.has_reached(batch))
        };
        next.filter(is_needed).take(2).for_each(|next| self.states.read_ahead(next));
    }
}
