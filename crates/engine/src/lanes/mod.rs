//! Several runs of one program as one run.
//!
//! Each run is a *lane*. States, messages and sums of a vertex lie side by side, one for each lane.
//! So a tile is unpacked once, and an edge moves the messages of all lanes with a few vector
//! instructions. Each lane has the bits of its run alone, because the engine reduces messages in
//! the same order whatever they are.
//!
//! Lanes may need different numbers of iterations. A lane that is over keeps its states and sends
//! identities. The run ends when all lanes are over.
//!
//! Where apply visits [all](ApplyTo::All) vertices, lanes may also leave the run when they are over,
//! and other programs may join it ([`run_open_lanes`]). A search cannot be joined: its apply visits
//! few vertices, and none would make the first states of the others.

mod open;
mod reduction;
mod run;
#[cfg(test)]
mod tests;

use std::sync::Mutex;

use tegula_machine::threads::get_mut;
use tegula_store::VertexId;

use crate::program::{
    Accumulator, Activity, Aggregate, ApplyTo, Message, Next, Program, Reduction, Settling,
};
use crate::statistics::RunStatistics;
use crate::traverse::Directions;
use open::Changes;

pub use open::{LaneOutcome, OpenLanes};
pub use reduction::{LaneReduction, LaneSums};
pub use run::{run_lanes, run_open_lanes, take_apart};

/// Up to `K` runs of a program, as one program. Only a program whose vertices may
/// [signal again](Program::MAY_SIGNAL_AGAIN) has lanes, because a vertex is asked for its signals
/// if it is active in any lane.
///
/// It has no buckets, and no [checkpoints](crate::Checkpoints): these keep the sums of the last
/// iteration, but not which lanes are over.
pub struct Lanes<P: Program, const K: usize> {
    programs: [P; K],
    /// Whether each lane has ended, or was never used.
    is_over: [bool; K],
    /// Iterations of each lane.
    iterations: [u64; K],
    /// Lanes that the run began with; the others hold copies of the first program.
    used: usize,
    /// How lanes come and go, if they do.
    changes: Option<Box<Changes<P, K>>>,
    /// Whether any lane joins or leaves in this iteration.
    is_changing: bool,
}

impl<P: Program + Clone, const K: usize> Lanes<P, K> {
    /// Makes a lane of each program.
    ///
    /// # Panics
    /// When there is no program, or more than `K`, or if two follow edges in different directions.
    pub fn new(programs: Vec<P>) -> Lanes<P, K> {
        const { assert!(P::MAY_SIGNAL_AGAIN, "a vertex signals in all lanes at once") };
        const { assert!(!P::SETTLING.is_possible(), "a vertex settles in all lanes at once") };
        let used = programs.len();
        assert!((1..=K).contains(&used), "{used} programs for {K} lanes");
        let directions = programs[0].directions();
        let have_same = programs.iter().all(|program| program.directions() == directions);
        assert!(have_same, "lanes follow edges in different directions");
        Lanes {
            programs: std::array::from_fn(|lane| {
                programs.get(lane).unwrap_or(&programs[0]).clone()
            }),
            is_over: std::array::from_fn(|lane| lane >= used),
            iterations: [0; K],
            used,
            changes: None,
            is_changing: false,
        }
    }

    /// Returns the program of each lane in use, and how many iterations it ran.
    pub fn into_programs(self) -> impl Iterator<Item = (P, u64)> {
        self.programs.into_iter().zip(self.iterations).take(self.used)
    }
}

/// The sums of an iteration, for each lane.
#[derive(Debug)]
pub struct LaneAggregate<A, S, const K: usize> {
    lanes: [LaneSum<A>; K],
    /// The states of the lanes that leave, side by side, in an array for each batch.
    copies: Mutex<Vec<Vec<S>>>,
}

/// The sums of an iteration in one lane.
#[derive(Debug, Default)]
struct LaneSum<A> {
    sums: A,
    /// Whether the next iteration has an active vertex.
    has_active: bool,
}

impl<A: Default, S, const K: usize> Default for LaneAggregate<A, S, K> {
    fn default() -> LaneAggregate<A, S, K> {
        let lanes = std::array::from_fn(|_| LaneSum::default());
        LaneAggregate { lanes, copies: Mutex::default() }
    }
}

impl<A: Aggregate, S: Send, const K: usize> Aggregate for LaneAggregate<A, S, K> {
    fn merge(&mut self, mut next: LaneAggregate<A, S, K>) {
        for (lane, next) in self.lanes.iter_mut().zip(next.lanes) {
            lane.sums.merge(next.sums);
            lane.has_active |= next.has_active;
        }
        let copies = get_mut(&mut next.copies);
        // The copies of all batches are kept at the same time, so spare room would add up.
        copies.iter_mut().for_each(Vec::shrink_to_fit);
        get_mut(&mut self.copies).append(copies);
    }

    /// Returns nothing: there are no checkpoints.
    fn to_bytes(&self) -> Vec<u8> {
        Vec::new()
    }

    fn from_bytes(_bytes: &[u8]) -> Option<LaneAggregate<A, S, K>> {
        None
    }
}

impl<P: Program + Clone, const K: usize> Program for Lanes<P, K> {
    type State = [P::State; K];
    type Reduction = LaneReduction<P::Reduction, K>;
    type Weight = P::Weight;
    type Aggregate = LaneAggregate<P::Aggregate, P::State, K>;

    const APPLY_TO: ApplyTo = P::APPLY_TO;
    const NEEDS_DEGREE: bool = P::NEEDS_DEGREE;
    const NAMES_VERTEX: bool = P::NAMES_VERTEX;
    const SETTLING: Settling = Settling::Never;
    const MAY_SIGNAL_AGAIN: bool = P::MAY_SIGNAL_AGAIN;

    fn size(&self) -> u64 {
        self.programs[..self.used].iter().map(Program::size).sum()
    }

    fn directions(&self) -> Directions {
        self.programs[0].directions()
    }

    fn init(
        &self,
        vertex: VertexId,
        degree: u32,
        aggregate: &mut Self::Aggregate,
    ) -> (Self::State, Activity) {
        let mut is_active = false;
        let states = std::array::from_fn(|lane| {
            let LaneSum { sums, has_active } = &mut aggregate.lanes[lane];
            let (state, activity) = self.programs[lane].init(vertex, degree, sums);
            *has_active |= activity == Activity::Active;
            is_active |= activity == Activity::Active && !self.is_over[lane];
            state
        });
        (states, Activity::when(is_active))
    }

    fn begin_iteration(&mut self, _: u64, aggregate: &Self::Aggregate) -> Next {
        let first = self.end_changes(aggregate);
        for (lane, (of_run, first)) in aggregate.lanes.iter().zip(&first).enumerate() {
            let LaneSum { sums, has_active } = first.as_ref().unwrap_or(of_run);
            if !self.is_over[lane] {
                // The engine asks a program even if no vertex is active, so a lane is asked too.
                let next = self.programs[lane].begin_iteration(self.iterations[lane], sums);
                self.is_over[lane] = next == Next::Stop || !has_active;
                self.iterations[lane] += u64::from(!self.is_over[lane]);
            }
        }
        let is_over = self.is_over.iter().all(|&is_over| is_over);
        let next = if is_over { Next::Stop } else { Next::Continue };
        self.begin_changes(next);
        next
    }

    fn end_iteration(&mut self, statistics: &RunStatistics) {
        self.note(statistics);
    }

    #[inline(always)]
    fn signal(&self, vertex: VertexId, states: &Self::State, degree: u32) -> Option<Message<Self>> {
        let identity = P::Reduction::IDENTITY;
        let mut messages = [identity; K];
        for lane in 0..K {
            let signal = self.programs[lane].signal(vertex, &states[lane], degree);
            let message = signal.unwrap_or(identity);
            // Both values are at hand, so that the choice needs no branch.
            messages[lane] = if self.is_over[lane] { identity } else { message };
        }
        Some(messages)
    }

    #[inline(always)]
    fn along(&self, message: Message<Self>, weight: Self::Weight) -> Message<Self> {
        let mut messages = message;
        for lane in 0..K {
            messages[lane] = self.programs[lane].along(message[lane], weight);
        }
        messages
    }

    #[inline(always)]
    fn apply(
        &self,
        vertex: VertexId,
        degree: u32,
        states: &mut Self::State,
        reduced: Accumulator<Self>,
        aggregate: &mut Self::Aggregate,
    ) -> Activity {
        let mut is_active = false;
        if self.is_changing {
            is_active = self.change(vertex, degree, states, aggregate);
        }
        for (lane, state) in states.iter_mut().enumerate() {
            if self.is_over[lane] {
                continue;
            }
            let LaneSum { sums, has_active } = &mut aggregate.lanes[lane];
            let program = &self.programs[lane];
            let activity = program.apply(vertex, degree, state, reduced.0[lane], sums);
            *has_active |= activity == Activity::Active;
            is_active |= activity == Activity::Active;
        }
        Activity::when(is_active)
    }

    #[inline(always)]
    fn is_news(&self, states: &Self::State, messages: Message<Self>) -> bool {
        let mut is_news = false;
        for lane in 0..K {
            is_news |= self.programs[lane].is_news(&states[lane], messages[lane]);
        }
        is_news
    }
}
