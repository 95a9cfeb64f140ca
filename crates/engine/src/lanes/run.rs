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
    let programs = program.into_programs().enumerate();
    let outcome = |(lane, (program, iterations))| {
        options.cancel.check()?;
        let states = states_of(&states, lane, graph)?;
        let statistics = statistics.of_lane(lane, iterations);
        Ok(Outcome { states, program, statistics })
    };
    programs.map(outcome).collect()
}

/// Returns the states of one lane, in memory or on disk like those of all.
fn states_of<S: Value, const K: usize>(
    states: &States<[S; K]>,
    lane: usize,
    graph: &Graph,
) -> Result<States<S>> {
    let Some(mut writer) = StatesWriter::next_to(states, graph)? else {
        let mut of_lane = huge::with_capacity(states.len());
        of_lane.extend(states.in_memory().into_iter().flatten().map(|states| states[lane]));
        return Ok(of_lane.into());
    };
    states
        .for_each_chunk(|_, states| writer.write_each(states.iter().map(|states| states[lane])))?;
    writer.finish()
}
