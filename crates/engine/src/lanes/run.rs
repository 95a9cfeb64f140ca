//! Runs lanes, and takes the results apart.

use tegula_machine::memory::huge;
use tegula_store::Result;
use tegula_store::graph::Graph;

use super::Lanes;
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
/// # Errors
/// Those of [`run_anywhere`].
///
/// # Panics
/// When there is no program, or more than `K`, or if two follow edges in different directions.
pub fn run_lanes<P: Program + Clone, const K: usize>(
    graph: &Graph,
    programs: Vec<P>,
    options: &RunOptions<'_>,
) -> Result<Vec<Outcome<P, States<P::State>>>> {
    let options = &RunOptions { checkpoints: None, ..options.clone() };
    let lanes = Lanes::<P, K>::new(programs);
    let Outcome { states, program, statistics } = run_anywhere(graph, lanes, options)?;
    let programs: Vec<(P, u64)> = program.into_programs().collect();
    let count = programs.len();
    options.cancel.check()?;
    let of_lanes = match states.in_memory() {
        Some(states) => {
            let of_lanes = take_apart(states, count, |states, lane| states[lane]);
            of_lanes.into_iter().map(States::from).collect()
        }
        None => (0..count)
            .map(|lane| states_on_disk(&states, lane, graph, options))
            .collect::<Result<Vec<_>>>()?,
    };
    let outcome = |(lane, ((program, iterations), states))| {
        let statistics = statistics.of_lane(lane, iterations);
        Outcome { states, program, statistics }
    };
    Ok(programs.into_iter().zip(of_lanes).enumerate().map(outcome).collect())
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

/// Copies the states of one lane into an array on the disk where those of all lanes are.
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
