//! Runs lanes, and takes the results apart.

use std::sync::Arc;

use tegula_machine::memory::huge;
use tegula_store::Result;
use tegula_store::graph::Graph;

use super::{LaneOutcome, Lanes, OpenLanes};
use crate::external::StatesWriter;
use crate::job::program::{Outcome, run_anywhere};
use crate::options::RunOptions;
use crate::program::{Program, Value};
use crate::states::States;

/// Runs up to `K` programs as one. The outcomes are those of [`run_anywhere`] for each program, in
/// their order. What the run reads is in the statistics of the first one, and the others share it.
/// The run keeps no checkpoints.
///
/// Taking the states of the lanes apart needs memory for all of them a second time. The messages
/// are freed before, so the [estimate](crate::estimate()) of [`Lanes`] has room for it.
///
/// # Panics
/// When there is no program, or more than `K`, or if two follow edges in different directions.
pub fn run_lanes<P: Program + Clone, const K: usize>(
    graph: &Graph,
    programs: Vec<P>,
    options: &RunOptions<'_>,
) -> Result<Vec<Outcome<P, States<P::State>>>> {
    options.refuse_ranks("a fused run")?;
    let options = &RunOptions { checkpoints: None, ..options.clone() };
    let lanes = Lanes::<P, K>::new(programs);
    let Outcome { states, program, statistics } = run_anywhere(graph, lanes, options)?;
    let programs: Vec<(P, u64)> = program.into_programs().collect();
    let lanes: Vec<usize> = (0..programs.len()).collect();
    let of_lanes = states_of(&states, &lanes, graph, options)?;
    let outcome = |(lane, ((program, iterations), states))| {
        let statistics = statistics.of_lane(lane, iterations);
        Outcome { states, program, statistics }
    };
    Ok(programs.into_iter().zip(of_lanes).enumerate().map(outcome).collect())
}

/// Runs up to `K` programs as [`run_lanes`] does. A lane leaves when it is over: `end` takes its
/// outcome and the number of its program, and another program may [join](OpenLanes::join) by `open`
/// in its place. The run ends when no lane is left. Then, or if it fails, those who still wait at
/// `open` are told so. If it fails, `end` may have had some outcomes already.
///
/// Workers call `end` between two iterations, so it should only hand the outcome on.
///
/// A lane that leaves before the end has its states in memory, beside the arrays of the run, until
/// the caller has dropped them. The [estimate](crate::estimate()) of [`Lanes`] has no room for
/// that.
///
/// # Panics
/// When there is no program, or more than `K`, or if two follow edges in different directions.
pub fn run_open_lanes<P: Program + Clone, const K: usize>(
    graph: &Graph,
    programs: Vec<P>,
    options: &RunOptions<'_>,
    open: &OpenLanes<P>,
    end: impl Fn(usize, LaneOutcome<P>) + Send + Sync + 'static,
) -> Result<()> {
    // Those who wait are told even if the run fails or panics.
    let _closing = Closing(open);
    options.refuse_ranks("a fused run")?;
    let options = &RunOptions { checkpoints: None, ..options.clone() };
    let lanes = Lanes::<P, K>::new(programs).open(open, &(Arc::new(end) as _));
    let Outcome { states, program, statistics } = run_anywhere(graph, lanes, options)?;
    let remaining = program.into_remaining(&statistics);
    let lanes: Vec<usize> = remaining.iter().map(|remaining| remaining.lane).collect();
    let of_lanes = states_of(&states, &lanes, graph, options)?;
    // Freed before callers get their copies, which they may keep for long.
    drop(states);
    for (remaining, states) in remaining.into_iter().zip(of_lanes) {
        remaining.leave(states, &statistics);
    }
    Ok(())
}

/// Closes a run when dropped.
struct Closing<'o, P: Program>(&'o OpenLanes<P>);

impl<P: Program> Drop for Closing<'_, P> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Returns the states of some lanes.
fn states_of<S: Value, const K: usize>(
    states: &States<[S; K]>,
    lanes: &[usize],
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<Vec<States<S>>> {
    options.cancel.check()?;
    match states.in_memory() {
        Some(states) => {
            let of_lanes = take_apart(states, lanes.len(), |states, index| states[lanes[index]]);
            Ok(of_lanes.into_iter().map(States::from).collect())
        }
        None => lanes.iter().map(|&lane| states_on_disk(states, lane, graph, options)).collect(),
    }
}

/// States that are taken apart at a time: few enough to stay in the cache until the last lane is
/// copied.
const CHUNK: usize = 256;

/// Returns a vector for each lane, with `value_of(state, lane)` for each state.
pub fn take_apart<S, T>(
    states: &[S],
    lanes: usize,
    value_of: impl Fn(&S, usize) -> T,
) -> Vec<Vec<T>> {
    let mut of_lanes: Vec<Vec<T>> = (0..lanes).map(|_| huge::with_capacity(states.len())).collect();
    for chunk in states.chunks(CHUNK) {
        for (lane, values) in of_lanes.iter_mut().enumerate() {
            values.extend(chunk.iter().map(|states| value_of(states, lane)));
        }
    }
    of_lanes
}

/// Copies the states of one lane into an array on the disk that holds the states of all lanes.
fn states_on_disk<S: Value, const K: usize>(
    states: &States<[S; K]>,
    lane: usize,
    graph: &Graph,
    options: &RunOptions<'_>,
) -> Result<States<S>> {
    options.cancel.check()?;
    let mut writer = StatesWriter::next_to(states, graph)?.expect("these states lie on disk");
    states
        .for_each_chunk(|_, states| writer.write_each(states.iter().map(|states| states[lane])))?;
    writer.finish()
}
