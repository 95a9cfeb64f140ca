//! The apply phase: reduced messages go into the states of their targets.

use tegula_store::VertexId;
use tegula_store::tiles::{WINDOW_LOG2, WINDOW_SIZE};

use crate::program::{Accumulator, Activity, Program};

/// Targets that one worker owns, and all that apply changes in them. Only this type calls the
/// `apply` of a program and settles vertices.
pub struct Targets<'t, P: Program> {
    pub program: &'t P,
    /// Empty if the program does not need them.
    pub degrees: &'t [u32],
    /// The first of the targets, a multiple of 64.
    pub first: usize,
    pub states: &'t mut [P::State],
    /// A bit for each settled target. Empty if the program settles none.
    pub settled: &'t mut [u64],
    /// For each window with one of the targets, how many settled in this iteration.
    pub newly_settled: &'t mut [u32],
    pub aggregate: &'t mut P::Aggregate,
}

impl<P: Program> Targets<'_, P> {
    /// Applies a reduction to the target with index `local` among them.
    #[inline(always)]
    pub fn apply(&mut self, local: usize, reduced: Accumulator<P>) -> Activity {
        let degree = if P::NEEDS_DEGREE { self.degrees[local] } else { 0 };
        let state = &mut self.states[local];
        let id = VertexId((self.first + local) as u64);
        if !P::SETTLING.is_possible() {
            return self.program.apply(id, degree, state, reduced, self.aggregate);
        }
        let was_settled = self.program.is_settled(state);
        let activity = self.program.apply(id, degree, state, reduced, self.aggregate);
        if !was_settled && self.program.is_settled(state) {
            self.newly_settled[(self.first % WINDOW_SIZE + local) >> WINDOW_LOG2] += 1;
            self.settled[local / 64] |= 1 << (local % 64);
        }
        activity
    }
}
