//! The iterations.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{self, Held, Neighbourhoods, RowsJob, RowsWanted, Sequential};
use tegula_engine::{Graph, IterationTimes, RunOptions, RunStatistics, ShortId, Unit};

use super::LabelPropagationOptions;
use crate::error::Result;
use crate::shared::original_ids::IdPositions;
use crate::shared::random;
use crate::shared::tally::Tally;

/// The labels that were found.
#[derive(Debug, Clone)]
pub struct StableLabels {
    /// For each dense id, the id position of the vertex whose id is its label.
    pub id_positions: Vec<u32>,
    /// Vertices that would have taken another label in the last iteration.
    pub unstable: u64,
    /// Statistics of the run. If the labels converge, the last iteration only confirms this.
    pub statistics: RunStatistics,
}

/// What the workers share.
struct Round<'r> {
    job: &'r RowsJob<'r>,
    id_positions: &'r IdPositions,
    labels: &'r [u32],
    next: &'r [AtomicU32],
    /// Chooses between labels.
    seed: u64,
    /// Chooses the vertices that may change.
    coin: u64,
    unstable: AtomicU64,
}

/// Propagates labels.
pub fn run(
    graph: &Graph,
    wanted: LabelPropagationOptions,
    options: &RunOptions<'_>,
) -> Result<StableLabels> {
    let held = size(graph, options.threads)?;
    traverse::run(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        propagate(graph, wanted, job, options)
    })
}

/// Returns the bytes that a run holds beside the rows: labels before and after, and id positions.
pub(super) fn size(graph: &Graph, threads: usize) -> Result<Held> {
    let ends = traverse::edges_of_a_vertex_max(graph)?;
    let worker = Neighbourhoods::<Sequential>::size(ends) + Tally::size(ends);
    let own = 8 * graph.vertex_count() + threads as u64 * worker;
    Ok(Held::with_id_positions(graph, own)?)
}

fn propagate(
    graph: &Graph,
    wanted: LabelPropagationOptions,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<StableLabels> {
    let count = graph.short_vertex_count()?;
    let id_positions = IdPositions::read(graph, &options.cancel)?;
    let mut labels: Vec<u32> =
        (0..count).map(|vertex| id_positions.of(ShortId(vertex)).0).collect();
    let mut next: Vec<AtomicU32> = Vec::new();
    next.resize_with(labels.len(), AtomicU32::default);
    let (mut times, mut unstable) = (IterationTimes::default(), 0);
    options.progress.begin("iterating", None, Unit::Iterations);
    while times.count() < wanted.max_iterations.get() {
        let started = Instant::now();
        let coin = random::number(wanted.seed, times.count());
        let round = Round {
            job,
            id_positions: &id_positions,
            labels: &labels,
            next: &next,
            seed: wanted.seed,
            coin,
            unstable: AtomicU64::new(0),
        };
        job.for_each_range(|_, ids| round.relabel(ids))?;
        unstable = round.unstable.into_inner();
        for (label, next) in labels.iter_mut().zip(&mut next) {
            *label = *next.get_mut();
        }
        times.push(started.elapsed());
        options.progress.advance(1);
        if unstable == 0 {
            break;
        }
    }
    options.progress.end();
    let edges = times.count() * graph.edge_count();
    Ok(StableLabels { id_positions: labels, unstable, statistics: job.statistics(times, edges) })
}

impl Round<'_> {
    /// Finds the next labels of a range of vertices.
    fn relabel(&self, ids: Range<u32>) -> tegula_engine::Result<()> {
        let mut neighbourhoods = Neighbourhoods::new(self.job, Sequential::new(ids));
        let mut tally = Tally::default();
        let mut unstable = 0;
        let label = |vertex: ShortId| self.labels[vertex.index()];
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            let vertex = neighbours.vertex;
            let own = label(vertex);
            let key = |label| (label != own, random::number(self.seed, u64::from(label)));
            let best = tally.most_frequent(neighbours.ends().map(label), key).unwrap_or(own);
            let may_change =
                random::number(self.coin, self.id_positions.of(vertex).0.into()) & 1 == 0;
            let next = if may_change { best } else { own };
            self.next[vertex.index()].store(next, Ordering::Relaxed);
            unstable += u64::from(best != own);
        }
        self.unstable.fetch_add(unstable, Ordering::Relaxed);
        Ok(())
    }
}
