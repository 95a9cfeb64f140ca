//! Applies the reductions to the targets that were reached.

use std::sync::Mutex;

use tegula_machine::memory::huge;
use tegula_machine::threads::{lock, unlocked};
use tegula_store::tiles::WINDOW_LOG2;
use tegula_store::{Result, ShortId};

use super::Seek;
use crate::job::context::JobContext;
use crate::program::{Activity, Message, Program, Reduction};
use crate::superstep::frontier::Frontier;
use crate::superstep::targets::Targets;
use crate::superstep::{Superstep, chunks_or_none};

/// Least number of vertices of a list that all workers fill together.
pub(super) const JOINED_TOGETHER_MIN: usize = 1 << 18;

impl<P: Program> Seek<'_, P> {
    /// Applies reductions and gathers the list of the next active vertices.
    pub(super) fn apply_to_reached(
        &mut self,
        step: &mut Superstep<'_, P>,
        is_small: bool,
        context: &JobContext<'_>,
    ) -> Result<()> {
        // Sums may depend on the order. And packed rows are best read in order; unpacked ones are
        // prefetched from memory.
        let is_sorted = size_of::<P::Aggregate>() > 0 || !self.is_unpacked();
        let size = 1usize << self.partition_log2;
        let windows = size >> WINDOW_LOG2;
        let partitions = self.reached.len();
        let arrays = &mut step.arrays;
        let owned = step
            .exchange
            .inbox()
            .chunks_mut(size)
            .zip(arrays.states.all().chunks_mut(size))
            .zip(self.newly_settled.chunks_mut(windows))
            .zip(chunks_or_none(arrays.settled.all(), size / 64, partitions))
            .zip(&mut self.reached);
        let owned: Vec<_> = owned
            .enumerate()
            .filter(|(_, (_, reached))| !reached.is_empty())
            .map(|(partition, ((((messages, states), newly_settled), settled), reached))| {
                let aggregate = P::Aggregate::default();
                Mutex::new(Reached {
                    first: partition * size,
                    messages,
                    states,
                    newly_settled,
                    settled,
                    reached,
                    aggregate,
                })
            })
            .collect();
        let (program, degrees) = (&step.execution.program, &step.degrees[..]);
        let apply = |index: usize| {
            lock::<Reached<'_, P>>(&owned[index]).apply(program, degrees, is_sorted);
            Ok(())
        };
        // Sharing a little work takes longer than the work.
        if is_small {
            (0..owned.len()).try_for_each(apply)?;
        } else {
            context.for_each(owned.len(), &apply)?;
        }
        let mut lists = Vec::new();
        let mut sums = Vec::new();
        for reached in owned.into_iter().map(unlocked) {
            let first_window = reached.first >> WINDOW_LOG2;
            sums.push(reached.aggregate);
            lists.push(reached.reached);
            step.execution.settle(first_window, reached.newly_settled);
        }
        let list = join(lists, context)?;
        let states = &*step.arrays.states.all();
        step.frontier = Frontier::List(step.buckets.put_off(list, &step.execution.program, states));
        step.agree(sums.into_iter())
    }
}

/// Moves lists into one. All workers fill a long one: new memory takes as long to arrive as to
/// fill.
pub(super) fn join(
    lists: Vec<&mut Vec<ShortId>>,
    context: &JobContext<'_>,
) -> Result<Vec<ShortId>> {
    let count = lists.iter().map(|list| list.len()).sum();
    if count < JOINED_TOGETHER_MIN {
        let mut all = Vec::with_capacity(count);
        lists.into_iter().for_each(|list| all.append(list));
        return Ok(all);
    }
    let mut all = huge::zeroes(count);
    let mut rest = &mut all[..];
    let places = lists.into_iter().map(|list| {
        let place = rest.split_off_mut(..list.len()).unwrap_or_default();
        Mutex::new((place, list))
    });
    let places: Vec<_> = places.collect();
    context.for_each(places.len(), &|index| {
        let (place, list) = &mut *lock(&places[index]);
        place.copy_from_slice(list);
        list.clear();
        Ok(())
    })?;
    drop(places);
    Ok(all)
}

/// The targets of a partition, for its owner to apply to.
struct Reached<'s, P: Program> {
    first: usize,
    messages: &'s mut [Message<P>],
    states: &'s mut [P::State],
    newly_settled: &'s mut [u32],
    settled: &'s mut [u64],
    /// Targets that were reached; after apply, those that are active.
    reached: &'s mut Vec<ShortId>,
    aggregate: P::Aggregate,
}

impl<P: Program> Reached<'_, P> {
    /// Applies the reductions, to ascending targets if `is_sorted`.
    fn apply(&mut self, program: &P, degrees: &[u32], is_sorted: bool) {
        let Reached { first, messages, states, newly_settled, settled, reached, aggregate } = self;
        if is_sorted {
            reached.sort_unstable();
        }
        let first = *first;
        let degrees = degrees.get(first..).unwrap_or_default();
        let mut targets =
            Targets { program, degrees, first, states, settled, newly_settled, aggregate };
        reached.retain(|&vertex| {
            let local = vertex.index() - first;
            let reduced = std::mem::replace(&mut messages[local], P::Reduction::IDENTITY);
            targets.apply(local, reduced.into()) == Activity::Active
        });
    }
}
