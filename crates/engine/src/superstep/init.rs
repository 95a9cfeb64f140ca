//! The states before the first iteration.

use std::ops::Range;
use std::sync::Mutex;

use tegula_machine::threads::{lock, unlocked};
use tegula_store::graph::Graph;
use tegula_store::tiles::{WINDOW_LOG2, WINDOW_SIZE};
use tegula_store::{Result, VertexId};

use super::execution::Execution;
use super::{Superstep, split_off};
use crate::job::context::JobContext;
use crate::program::{Activity, Program};

/// What is known of a unit after its vertices were initialised: the targets of a batch in one
/// window.
pub struct NewUnit<P: Program> {
    /// Its first vertex.
    pub first: usize,
    /// Vertices that are not settled.
    pub open: u32,
    pub aggregate: P::Aggregate,
}

impl<P: Program> NewUnit<P> {
    /// Begins the unit that starts with a vertex.
    pub fn at(first: usize) -> NewUnit<P> {
        NewUnit { first, open: 0, aggregate: P::Aggregate::default() }
    }
}

/// Iterates over the units of a graph that begin at a vertex or behind it. Sums over the states
/// before the first iteration are made by unit and added up in this order. No two ranks share a
/// unit, so the sums are the same on any number of ranks.
pub fn units_from(graph: &Graph, first: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let batches = graph.batches();
    let behind = batches.partition_point(|batch| batch.target_first as usize <= first);
    // The batch with `first` may begin before it.
    let units = batches[behind.saturating_sub(1)..].iter().flat_map(|batch| {
        let targets = batch.targets(graph.vertex_count());
        let (start, end) = (targets.start as usize, targets.end as usize);
        (start..end).step_by(WINDOW_SIZE).map(move |unit| unit..end.min(unit + WINDOW_SIZE))
    });
    units.skip_while(move |unit| unit.start < first)
}

/// The arrays of a unit while it is initialised.
struct UnitArrays<'s, P: Program> {
    states: &'s mut [P::State],
    active: &'s mut [u64],
    settled: &'s mut [u64],
    unit: NewUnit<P>,
}

impl<P: Program> Superstep<'_, P> {
    /// Initialises the states of the vertices of this rank, unit by unit. If the run `resumes`, the
    /// ranks agree later, after the states are restored.
    pub(super) fn init(&mut self, resumes: bool, context: &JobContext<'_>) -> Result<()> {
        let own = self.exchange.own_vertices();
        let Execution { program, open_targets, .. } = &mut self.execution;
        let mut states = &mut self.arrays.states.all()[own.clone()];
        let mut active = &mut self.arrays.next_active.all()[own.start / 64..];
        let mut settled = match P::SETTLING.is_possible() {
            true => &mut self.arrays.settled.all()[own.start / 64..],
            false => &mut [],
        };
        let mut units: Vec<Mutex<UnitArrays<'_, P>>> = Vec::new();
        let own_units = units_from(self.graph, own.start).take_while(|unit| unit.start < own.end);
        for unit in own_units {
            let words = unit.len().div_ceil(64);
            units.push(Mutex::new(UnitArrays {
                states: split_off(&mut states, unit.len()),
                active: split_off(&mut active, words),
                settled: split_off(&mut settled, words),
                unit: NewUnit::at(unit.start),
            }));
        }
        let (program, degrees) = (&*program, &self.degrees[..]);
        context.for_each(units.len(), &|index| {
            lock(&units[index]).init(program, degrees);
            Ok(())
        })?;
        let units: Vec<NewUnit<P>> = units.into_iter().map(|unit| unlocked(unit).unit).collect();
        for unit in &units {
            open_targets[unit.first >> WINDOW_LOG2] += unit.open;
        }
        self.take_next_active();
        if resumes {
            return Ok(());
        }
        self.agree(units.into_iter().map(|unit| unit.aggregate))
    }
}

impl<P: Program> UnitArrays<'_, P> {
    fn init(&mut self, program: &P, degrees: &[u32]) {
        let UnitArrays { states, active, settled, unit } = self;
        for (word, states) in states.chunks_mut(64).enumerate() {
            let first = unit.first + 64 * word;
            let (mut active_here, mut settled_here) = (0, 0);
            for (bit, place) in states.iter_mut().enumerate() {
                let vertex = VertexId((first + bit) as u64);
                let degree = if P::NEEDS_DEGREE { degrees[vertex.index()] } else { 0 };
                let (state, activity) =
                    program.init_from(*place, vertex, degree, &mut unit.aggregate);
                settled_here |= u64::from(program.is_settled(&state)) << bit;
                active_here |= u64::from(activity == Activity::Active) << bit;
                *place = state;
            }
            active[word] = active_here;
            unit.open += states.len() as u32 - settled_here.count_ones();
            if P::SETTLING.is_possible() {
                settled[word] = settled_here;
            }
        }
    }
}
