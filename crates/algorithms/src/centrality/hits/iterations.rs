//! The power method along rows.

use std::sync::Mutex;
use std::time::Instant;

use tegula_engine::traverse::{self, Neighbourhoods, RowsJob, RowsWanted, Sequential};
use tegula_engine::{Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics};
use tegula_machine::threads::{lock, unlocked};
use tegula_store::rows::Direction;

use super::HitsOptions;
use super::share::{Total, scale, shares, value_of};
use crate::error::Result;

/// The result of the iterations.
#[derive(Debug, Clone)]
pub struct Hits {
    /// The hub value of each dense id; the sum is 1, or 0 without edges.
    pub hubs: Vec<f64>,
    /// The authority value of each dense id; the sum is 1, or 0 without edges.
    pub authorities: Vec<f64>,
    /// The change of the hubs in the last iteration (L1); infinite without an iteration.
    pub change: f64,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}

/// Iterates until the hubs change by at most the tolerance.
pub fn run(graph: &Graph, wanted: HitsOptions, options: &RunOptions<'_>) -> Result<Hits> {
    let held = size(graph, options.threads)?;
    traverse::run(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        iterate(graph, wanted, job, options)
    })
}

/// Bytes held beside the rows: hubs before and after, and authorities.
pub(super) fn size(graph: &Graph, threads: usize) -> Result<u64> {
    let ends = traverse::edges_of_a_vertex_max(graph)?;
    let worker = Neighbourhoods::<Sequential>::size(ends);
    Ok(24 * graph.vertex_count() + threads as u64 * worker)
}

fn iterate(
    graph: &Graph,
    wanted: HitsOptions,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Hits> {
    let count = graph.short_vertex_count()? as usize;
    let mut hubs = vec![1.0 / count.max(1) as f64; count];
    let mut before = vec![0.0; count];
    let mut authorities = vec![0.0; count];
    let mut times = IterationTimes::default();
    // Without values, nothing changes.
    let mut change = if count == 0 { 0.0 } else { f64::INFINITY };
    options.progress.begin("iterating", None, ProgressUnit::Iterations);
    // The first change is infinite, and so may the tolerance be. The first iteration runs anyway.
    while times.count() < wanted.max_iterations
        && (times.count() == 0 || change > wanted.tolerance.get())
    {
        let started = Instant::now();
        add_up(job, Direction::Reverse, &hubs, &mut authorities)?;
        std::mem::swap(&mut hubs, &mut before);
        add_up(job, Direction::Forward, &authorities, &mut hubs)?;
        let changes = hubs.iter().zip(&before).map(|(hub, before)| shares((hub - before).abs()));
        change = value_of(changes.sum());
        times.push(started.elapsed());
        options.progress.advance(1);
    }
    options.progress.end();
    let edges = 2 * times.count() * graph.edge_count();
    Ok(Hits { hubs, authorities, change, statistics: job.statistics(times, edges) })
}

/// Sums `values` over the neighbours of each vertex in a direction, and scales the sums to total 1.
fn add_up(job: &RowsJob<'_>, direction: Direction, values: &[f64], sums: &mut [f64]) -> Result<()> {
    let total = Mutex::new(Total::default());
    job.for_each_range_of(sums, |sums, ids| {
        let mut neighbourhoods = Neighbourhoods::along(job, direction, Sequential::new(ids));
        let mut total_here = 0;
        for value in sums {
            let neighbours = neighbourhoods.next_vertex()?;
            let ends = neighbours.iter().flat_map(|neighbours| neighbours.ends());
            let sum = ends.map(|end| shares(values[end.index()])).sum();
            *value = value_of(sum);
            total_here += sum;
        }
        lock(&total).0 += total_here;
        Ok(())
    })?;
    let scale = scale(&unlocked(total));
    sums.iter_mut().for_each(|value| *value *= scale);
    Ok(())
}
