//! Merges the reductions of the parts of a batch.

use std::ops::Range;

use super::accumulators::Accumulators;
use crate::program::{Accumulator, Program, Reduction};

/// The reductions of the parts of a batch. Parts end in any order and are merged in the order of
/// their numbers. So the sums do not depend on which worker was quicker.
pub struct OrderedMerge<P: Program, W> {
    /// The reduction of the merged parts; `None` if there is none yet.
    merged: Option<Vec<Accumulator<P>>>,
    /// The number of the part whose turn it is.
    next: usize,
    waiting: Vec<WaitingPart<W>>,
}

/// A part that waits for its turn.
struct WaitingPart<W> {
    number: usize,
    reductions: W,
}

impl<P: Program, W> OrderedMerge<P, W> {
    /// Begins before the first part.
    pub fn new() -> OrderedMerge<P, W> {
        OrderedMerge { merged: None, next: 0, waiting: Vec::new() }
    }

    /// Returns the number of the part whose turn it is: the number of parts that had theirs.
    pub fn next(&self) -> usize {
        self.next
    }

    /// Returns whether any part has reductions.
    pub fn has_any(&self) -> bool {
        self.merged.is_some() || !self.waiting.is_empty()
    }

    /// Keeps the reductions of a part until its turn.
    pub fn wait(&mut self, number: usize, reductions: W) {
        self.waiting.push(WaitingPart { number, reductions });
    }

    /// Returns the reductions of a waiting part.
    pub fn waiting(&mut self, number: usize) -> Option<&mut W> {
        let part = self.waiting.iter_mut().find(|part| part.number == number);
        part.map(|part| &mut part.reductions)
    }

    /// Takes the reductions of a waiting part.
    pub fn take_waiting(&mut self, number: usize) -> Option<W> {
        let place = self.waiting.iter().position(|part| part.number == number)?;
        // Turns go by number, so the order of those that wait does not matter.
        Some(self.waiting.swap_remove(place).reductions)
    }

    /// Returns the smallest number of a waiting part.
    pub fn first_waiting(&self) -> Option<usize> {
        self.waiting.iter().map(|part| part.number).min()
    }

    /// Merges a part and leaves identities in its accumulators. The parts before it are merged, or
    /// had no reductions.
    pub fn merge(
        &mut self,
        number: usize,
        accumulators: &mut Accumulators<P>,
        targets: Range<usize>,
    ) {
        match &mut self.merged {
            Some(merged) => accumulators.drain(targets, |index, sum| {
                merged[index] = P::Reduction::accumulate(merged[index], sum);
            }),
            None => self.merged = Some(accumulators.take(targets)),
        }
        self.next = number + 1;
    }

    /// Passes over the part whose turn it is, because it has no reductions.
    pub fn pass_over(&mut self) {
        self.next += 1;
    }

    /// Takes the merged reductions, if there are any, and begins before the first part again.
    pub fn take(&mut self) -> Option<Vec<Accumulator<P>>> {
        self.next = 0;
        self.merged.take()
    }
}

impl<P: Program> OrderedMerge<P, Vec<Accumulator<P>>> {
    /// Merges the waiting parts whose turn it is.
    pub fn merge_waiting(&mut self) {
        while let Some(sums) = self.take_waiting(self.next) {
            for (into, from) in self.merged.iter_mut().flatten().zip(sums) {
                *into = P::Reduction::accumulate(*into, from);
            }
            self.next += 1;
        }
    }
}
