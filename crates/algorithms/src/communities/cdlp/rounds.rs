//! The iterations.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{self, Neighbourhoods, RowsJob, RowsWanted, Sequential};
use tegula_engine::{Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId};

use super::CdlpOptions;
use crate::error::Result;
use crate::shared::tally::Tally;

/// The labels that were found.
#[derive(Debug, Clone)]
pub struct Labels {
    /// For each dense id, the id position of the vertex whose id is its label.
    pub id_positions: Vec<u32>,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}

/// What the workers share.
struct Round<'r> {
    job: &'r RowsJob<'r>,
    labels: &'r [u32],
    next: &'r [AtomicU32],
    changed: AtomicU64,
}

/// Propagates labels.
pub fn run(graph: &Graph, wanted: CdlpOptions, options: &RunOptions<'_>) -> Result<Labels> {
    let held = size(graph, options.threads)?;
    traverse::run_rereading(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        propagate(graph, wanted.iterations, job, options)
    })
}

/// Returns the bytes that a run holds beside the rows.
pub(super) fn size(graph: &Graph, threads: usize) -> Result<u64> {
    let ends = traverse::edges_of_a_vertex_max(graph)?;
    let worker = Neighbourhoods::<Sequential>::size(ends) + Tally::size(ends);
    Ok(8 * graph.vertex_count() + threads as u64 * worker)
}

fn propagate(
    graph: &Graph,
    iterations: u64,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Labels> {
    // At first, the label of a vertex is its id position.
    let mut labels = vec![0; graph.short_vertex_count()? as usize];
    graph.original_ids()?.write_id_positions(&mut labels, &options.cancel)?;
    let mut next: Vec<AtomicU32> = Vec::new();
    next.resize_with(labels.len(), AtomicU32::default);
    let mut times = IterationTimes::default();
    options.progress.begin("iterating", None, ProgressUnit::Iterations);
    while times.count() < iterations {
        let started = Instant::now();
        let round = Round { job, labels: &labels, next: &next, changed: AtomicU64::new(0) };
        job.for_each_range(|_, ids| round.relabel(ids))?;
        let changed = round.changed.into_inner();
        // Only now: all vertices look at the labels before the iteration.
        for (label, next) in labels.iter_mut().zip(&mut next) {
            *label = *next.get_mut();
        }
        times.push(started.elapsed());
        options.progress.advance(1);
        if changed == 0 {
            break;
        }
    }
    options.progress.end();
    let edges = times.count() * graph.edge_count();
    Ok(Labels { id_positions: labels, statistics: job.statistics(times, edges) })
}

impl Round<'_> {
    /// Finds the next labels of a range of vertices.
    fn relabel(&self, ids: Range<u32>) -> tegula_engine::Result<()> {
        let mut neighbourhoods = Neighbourhoods::new(self.job, Sequential::new(ids));
        let mut tally = Tally::default();
        let mut changed = 0;
        let label = |vertex: ShortId| self.labels[vertex.index()];
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            let own = label(neighbours.vertex);
            let next = tally.most_frequent(neighbours.ends().map(label), |label| label);
            // Only a vertex without neighbours has no most frequent label.
            let next = next.unwrap_or(own);
            self.next[neighbours.vertex.index()].store(next, Ordering::Relaxed);
            changed += u64::from(next != own);
        }
        self.changed.fetch_add(changed, Ordering::Relaxed);
        Ok(())
    }
}
