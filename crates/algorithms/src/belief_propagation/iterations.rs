//! The iterations, along rows of both directions.

use std::sync::Mutex;
use std::time::Instant;

use tegula_engine::traverse::{
    self, EdgeStates, EdgeStatesLayout, Neighbourhoods, RowsJob, RowsWanted, Sequential,
    UnitStates, estimate_rows, long_rows_size,
};
use tegula_engine::{Arrays, Estimate, Graph, IterationTimes, RunOptions, RunStatistics, Unit};
use tegula_machine::Error;
use tegula_machine::threads::lock;

use super::BeliefPropagationOptions;
use super::model::Model;
use super::potential::probabilities;
use crate::algorithm::SideFiles;
use crate::error::Result;

/// What was found.
pub(super) struct Beliefs {
    /// The log odds of the states of each vertex but the first against its first, by dense id.
    pub log_odds: Vec<f64>,
    /// The greatest change of a belief in the last iteration; infinite where there was none.
    pub change: f64,
    pub statistics: RunStatistics,
}

/// Values beside an edge, as one of its vertices sees it: what it was told, and what it told.
fn entry_width(model: &Model) -> usize {
    2 * model.width()
}

/// What a run needs of memory.
///
/// # Errors
/// Those of reading.
pub(super) fn estimate(graph: &Graph, model: &Model, threads: usize) -> Result<Estimate> {
    let layout = EdgeStatesLayout::new(graph, entry_width(model))?;
    let held = held(graph, model, threads)? + layout.size_min(threads);
    let mut estimate = estimate_rows(graph, RowsWanted::NEIGHBOURS, held);
    estimate.layout_bytes += layout.total_size();
    Ok(estimate)
}

/// Bytes that a run holds beside the rows and the states of edges.
fn held(graph: &Graph, model: &Model, threads: usize) -> Result<u64> {
    let ends = traverse::edges_of_a_vertex_max(graph)?;
    let worker = Neighbourhoods::<Sequential>::size(ends) + 8 * 8 * model.states as u64;
    let vertices = 2 * 8 * model.width() as u64 * graph.vertex_count();
    Ok(vertices + threads as u64 * worker + model.size())
}

/// Iterates.
pub(super) fn run(
    graph: &Graph,
    model: &Model,
    wanted: &BeliefPropagationOptions,
    options: &RunOptions<'_>,
) -> Result<Beliefs> {
    let threads = options.threads;
    let layout = EdgeStatesLayout::new(graph, entry_width(model))?;
    let estimate = estimate(graph, model, threads)?;
    let long_rows = long_rows_size(graph, RowsWanted::NEIGHBOURS, threads)?;
    let free = options.budget().saturating_sub(estimate.needed() + long_rows);
    // Where states and rows do not both fit they share what there is.
    let (all, of_states) = (estimate.layout_bytes, layout.total_size());
    let share = u128::from(free.min(all)) * u128::from(of_states) / u128::from(all.max(1));
    let share = if options.arrays == Arrays::OnDisk { 0 } else { share as u64 };
    let memory = layout.size_min(threads) + share;
    let held = held(graph, model, threads)? + memory;
    traverse::run(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        let folder = options.spill_directory;
        let messages = EdgeStates::zeroes(layout, graph, memory, threads, folder)?;
        iterate(graph, model, wanted, &messages, (job, options))
    })
}

/// What the workers share in an iteration.
struct Round<'r> {
    job: &'r RowsJob<'r>,
    model: &'r Model,
    damping: f64,
    /// The log odds of each vertex, as they were.
    log_odds: &'r [f64],
    /// The greatest change of a belief so far.
    change: Mutex<f64>,
}

fn iterate(
    graph: &Graph,
    model: &Model,
    wanted: &BeliefPropagationOptions,
    messages: &EdgeStates,
    (job, options): (&RowsJob<'_>, &RunOptions<'_>),
) -> Result<Beliefs> {
    let (width, count) = (model.width(), graph.short_vertex_count()? as usize);
    let mut log_odds = vec![0.0; width * count];
    log_odds.chunks_mut(width).enumerate().for_each(|(vertex, own)| model.prior(vertex, own));
    let mut next = vec![0.0; width * count];
    let mut times = IterationTimes::default();
    // Of no beliefs none changes.
    let mut change = if count == 0 { 0.0 } else { f64::INFINITY };
    options.progress.begin("iterating", None, Unit::Iterations);
    while times.count() < wanted.iterations
        && (times.count() == 0 || change > wanted.tolerance.get())
    {
        let started = Instant::now();
        let (damping, log_odds_before) = (wanted.damping.get(), &log_odds[..]);
        let round =
            Round { job, model, damping, log_odds: log_odds_before, change: Mutex::new(0.0) };
        let mut rest = &mut next[..];
        let parts: Vec<Mutex<&mut [f64]>> = messages
            .units()
            .map(|vertices| {
                let (part, others) = std::mem::take(&mut rest).split_at_mut(width * vertices.len());
                rest = others;
                Mutex::new(part)
            })
            .collect();
        messages.for_each_unit(job, |unit, states| round.tell(states, &mut lock(&parts[unit])))?;
        drop(parts);
        change = *lock(&round.change);
        std::mem::swap(&mut log_odds, &mut next);
        times.push(started.elapsed());
        options.progress.advance(1);
    }
    options.progress.end();
    let edges = times.count() * graph.edge_count();
    let mut statistics = job.statistics(times, edges);
    statistics.bytes_read += messages.bytes_read();
    statistics.bytes_written += messages.bytes_written();
    Ok(Beliefs { log_odds, change, statistics })
}

impl Round<'_> {
    /// Finds the next messages at the vertices of a unit, and adds up those that these are told.
    ///
    /// Both messages of an edge are found at either end: what the one tells the other follows from the log odds of
    /// the one and from what the other told it before, and this is kept at both ends.
    fn tell(&self, states: &mut UnitStates<'_>, next: &mut [f64]) -> tegula_engine::Result<()> {
        let Round { job, model, damping, log_odds, .. } = *self;
        let width = model.width();
        let at = |vertex: usize| &log_odds[vertex * width..][..width];
        let mut neighbourhoods = Neighbourhoods::new(job, Sequential::new(states.vertices()));
        let mut terms = vec![0.0; model.states];
        let [mut message, mut other] = [vec![0.0; width], vec![0.0; width]];
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut change = 0.0_f64;
        for sum in next.chunks_mut(width) {
            let Some(neighbours) = neighbourhoods.next_vertex()? else { break };
            let vertex = neighbours.vertex;
            let own = at(vertex.index());
            model.prior(vertex.index(), sum);
            let (mut place, mut outcome) = (0, Ok(()));
            neighbours.for_each(|neighbour| {
                if outcome.is_err() {
                    return;
                }
                let between = model.potentials.between(vertex.0, neighbour.id.0, place);
                place += 1;
                outcome = match (between, states.next_entry()) {
                    (Some(potential), Ok(entry)) => {
                        let (told, back) = entry.split_at_mut(width);
                        let others = at(neighbour.id.index());
                        let terms = &mut terms;
                        potential.reversed().message(others, back, terms, &mut message);
                        potential.message(own, told, terms, &mut other);
                        // Both need what both were.
                        take_over(told, &message, damping);
                        take_over(back, &other, damping);
                        sum.iter_mut().zip(&*told).for_each(|(sum, told)| *sum += told);
                        Ok(())
                    }
                    (None, _) => Err(Error::Replaced { path: model.file.clone() }),
                    (_, Err(error)) => Err(error),
                };
            });
            outcome?;
            probabilities(own, &mut before);
            probabilities(sum, &mut after);
            let changes = before.iter().zip(&after).map(|(before, after)| (before - after).abs());
            change = changes.fold(change, f64::max);
        }
        let mut greatest = lock(&self.change);
        *greatest = greatest.max(change);
        Ok(())
    }
}

/// The next message, which stays as much what it was as it is damped: a geometric mean of what it says of the odds.
#[inline]
fn take_over(message: &mut [f64], next: &[f64], damping: f64) {
    for (message, next) in message.iter_mut().zip(next) {
        *message = if damping == 0.0 { *next } else { damping * *message + (1.0 - damping) * next };
    }
}
