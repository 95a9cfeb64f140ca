//! Finds the parents of searches that ran as one: one more pass over the edges for each 16 of them.
//!
//! A vertex sends its distance and its id in each search. The smallest message to a target comes
//! from the vertex with the smallest id in the level before it, which is its parent. Memory: 256
//! bytes a vertex for a pass, 272 for the distances of all searches, and 8 for each search.

use std::sync::Arc;

use tegula_engine::traverse::Directions;
use tegula_engine::{
    Activity, Graph, LaneReduction, LaneSums, Min, Next, Program, RunOptions, RunStatistics,
    VertexId, take_apart,
};

use super::distances::Distances;
use super::program::Reached;
use crate::error::Result;

/// Searches in a pass.
pub(super) const WIDTH: usize = 16;

/// The distance of a vertex, and its id in the low 32 bits.
type Message = u64;

/// A pass for some of the searches.
#[derive(Debug)]
pub(super) struct Pass {
    /// What all searches have reached.
    reached: Arc<Vec<Distances>>,
    /// The searches of the pass.
    searches: Vec<usize>,
    directions: Directions,
    /// Bytes that the caller holds.
    held: u64,
}

impl Program for Pass {
    type State = [Reached; WIDTH];
    type Reduction = LaneReduction<Min<Message>, WIDTH>;
    type Weight = ();
    type Aggregate = ();

    fn size(&self) -> u64 {
        self.held
    }

    fn directions(&self) -> Directions {
        self.directions
    }

    fn init(&self, vertex: VertexId, _: u32, (): &mut ()) -> ([Reached; WIDTH], Activity) {
        let distances = &self.reached[vertex.index()].by_search;
        let mut states = [Reached::UNREACHED; WIDTH];
        for (state, &search) in states.iter_mut().zip(&self.searches) {
            *state = Reached::without_parent(vertex, distances[search]);
        }
        (states, Activity::when(states.iter().any(|state| state.distance().is_some())))
    }

    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        if iteration == 0 { Next::Continue } else { Next::Stop }
    }

    #[inline(always)]
    fn signal(
        &self,
        vertex: VertexId,
        states: &[Reached; WIDTH],
        _: u32,
    ) -> Option<[Message; WIDTH]> {
        let mut messages = [vertex.0; WIDTH];
        for (message, state) in messages.iter_mut().zip(states) {
            // A vertex that a search has not reached has the greatest level, so its message never
            // wins.
            *message |= Message::from(state.level()) << 32;
        }
        Some(messages)
    }

    #[inline(always)]
    fn apply(
        &self,
        _: VertexId,
        _: u32,
        states: &mut [Reached; WIDTH],
        nearest: LaneSums<Message, WIDTH>,
        (): &mut (),
    ) -> Activity {
        for (state, &nearest) in states.iter_mut().zip(nearest.lanes()) {
            *state = state.with_parent(nearest as u32);
        }
        Activity::Inactive
    }
}

/// Finds the parents in the `wanted` searches, which all have `reached` these vertices along edges in
/// these directions. The graph has short ids. Adds the statistics of the passes.
pub(super) fn find(
    (reached, directions): (&Arc<Vec<Distances>>, Directions),
    wanted: &[usize],
    graph: &Graph,
    options: &RunOptions<'_>,
    statistics: &mut RunStatistics,
) -> Result<Vec<Vec<Reached>>> {
    let mut found = Vec::with_capacity(wanted.len());
    for searches in wanted.chunks(WIDTH) {
        let bytes = size_of::<Distances>() + size_of::<Reached>() * found.len();
        let program = Pass {
            reached: Arc::clone(reached),
            searches: searches.to_vec(),
            directions,
            held: (bytes * reached.len()) as u64,
        };
        let outcome = tegula_engine::run(graph, program, options)?;
        statistics.add(outcome.statistics);
        found.extend(take_apart(&outcome.states, searches.len(), |states, lane| states[lane]));
    }
    Ok(found)
}
