//! The iterations, along rows of both directions.

use std::sync::Mutex;
use std::time::Instant;

use tegula_engine::traverse::{
    self, EdgeStates, EdgeStatesLayout, RowsJob, RowsWanted, estimate_rows, long_rows_size,
};
use tegula_engine::{
    Arrays, Estimate, Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, huge,
};
use tegula_machine::threads::lock;

use super::BeliefPropagationOptions;
use super::message_update::{Iteration, MessageUpdate};
use crate::error::Result;

/// The result of the iterations.
pub(super) struct Beliefs {
    /// The log odds of the states of each vertex, except the first, against its first, by dense id.
    pub log_odds: Vec<f64>,
    /// The greatest change of a belief in the last iteration; infinite without an iteration.
    pub change: f64,
    pub statistics: RunStatistics,
}

/// Estimates the memory that a run needs, including the `model_size` bytes of the model.
pub(super) fn estimate<U: MessageUpdate>(
    graph: &Graph,
    update: &U,
    model_size: u64,
    threads: usize,
) -> Result<Estimate> {
    let layout = EdgeStatesLayout::<U::Value>::new(graph, update.entry_width())?;
    let held = held(graph, update, threads)? + model_size + U::STORES * layout.size_min(threads);
    let mut estimate = estimate_rows(graph, RowsWanted::NEIGHBOURS, held);
    estimate.layout_bytes += U::STORES * layout.total_size();
    Ok(estimate)
}

/// Returns the bytes that a run holds beside the rows, the states of edges and the model.
fn held<U: MessageUpdate>(graph: &Graph, update: &U, threads: usize) -> Result<u64> {
    let ends = traverse::edges_of_a_vertex_max(graph)?;
    // Two values for each log odds while it iterates; then one, and its `f64` for the answer.
    let vertex = (size_of::<U::Value>() + size_of::<f64>()) * update.width();
    Ok(vertex as u64 * graph.vertex_count() + threads as u64 * update.worker_size(ends))
}

/// Runs the iterations.
pub(super) fn run<U: MessageUpdate>(
    graph: &Graph,
    update: &U,
    model_size: u64,
    wanted: &BeliefPropagationOptions,
    options: &RunOptions<'_>,
) -> Result<Beliefs> {
    let threads = options.threads;
    let layout = EdgeStatesLayout::<U::Value>::new(graph, update.entry_width())?;
    let estimate = estimate(graph, update, model_size, threads)?;
    let long_rows = long_rows_size(graph, RowsWanted::NEIGHBOURS, threads)?;
    let free = options.budget().saturating_sub(estimate.needed() + long_rows);
    // If states and rows do not both fit, they share the free memory.
    let (all, of_states) = (estimate.layout_bytes, layout.total_size());
    let share = u128::from(free.min(all)) * u128::from(of_states) / u128::from(all.max(1));
    let share = if options.arrays == Arrays::OnDisk { 0 } else { share as u64 };
    // The memory of each store.
    let memory = layout.size_min(threads) + share;
    let held = held(graph, update, threads)? + model_size + U::STORES * memory;
    traverse::run(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        let folder = options.spill_directory;
        let store = |_| EdgeStates::zeroes(layout.clone(), graph, memory, threads, folder);
        let stores = (0..U::STORES).map(store).collect::<tegula_engine::Result<Vec<_>>>()?;
        iterate(graph, update, wanted, &stores, (job, options))
    })
}

fn iterate<U: MessageUpdate>(
    graph: &Graph,
    update: &U,
    wanted: &BeliefPropagationOptions,
    stores: &[EdgeStates<U::Value>],
    (job, options): (&RowsJob<'_>, &RunOptions<'_>),
) -> Result<Beliefs> {
    let (width, count) = (update.width(), graph.short_vertex_count()? as usize);
    let mut log_odds: Vec<U::Value> = huge::zeroes(width * count);
    log_odds.chunks_mut(width).enumerate().for_each(|(vertex, own)| update.prior(vertex, own));
    let mut next: Vec<U::Value> = huge::zeroes(width * count);
    let mut times = IterationTimes::default();
    // Without beliefs, none changes.
    let mut change = if count == 0 { 0.0 } else { f64::INFINITY };
    options.progress.begin("iterating", None, ProgressUnit::Iterations);
    // The first change is infinite, and so may the tolerance be. The first iteration runs anyway.
    while times.count() < wanted.iterations
        && (times.count() == 0 || change > wanted.tolerance.get())
    {
        let started = Instant::now();
        let number = times.count();
        let messages = &stores[(number % U::STORES) as usize];
        let instructions = options.tuning.instructions;
        let iteration = Iteration { job, number, log_odds: &log_odds, instructions };
        let greatest = Mutex::new(0.0_f64);
        let mut rest = &mut next[..];
        // Nobody waits for these locks: a unit has one worker.
        let parts: Vec<Mutex<&mut [U::Value]>> = messages
            .units()
            .map(|vertices| {
                let (part, others) = std::mem::take(&mut rest).split_at_mut(width * vertices.len());
                rest = others;
                Mutex::new(part)
            })
            .collect();
        messages.for_each_unit(job, |unit, messages| {
            let change = update.update(&iteration, messages, &mut lock(&parts[unit]))?;
            let mut greatest = lock(&greatest);
            *greatest = greatest.max(change);
            Ok(())
        })?;
        drop(parts);
        change = *lock(&greatest);
        std::mem::swap(&mut log_odds, &mut next);
        times.push(started.elapsed());
        options.progress.advance(1);
    }
    options.progress.end();
    drop(next);
    let edges = times.count() * graph.edge_count();
    let mut statistics = job.statistics(times, edges);
    statistics.bytes_read += stores.iter().map(EdgeStates::bytes_read).sum::<u64>();
    statistics.bytes_written += stores.iter().map(EdgeStates::bytes_written).sum::<u64>();
    Ok(Beliefs { log_odds: log_odds.into_iter().map(Into::into).collect(), change, statistics })
}
