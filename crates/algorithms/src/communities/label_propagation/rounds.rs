//! The iterations.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{
    self, Held, Listed, Neighbourhoods, Neighbours, RowsJob, RowsWanted, VertexSet,
};
use tegula_engine::{Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId};

use super::LabelPropagationOptions;
use crate::error::Result;
use crate::shared::original_ids::IdPositions;
use crate::shared::random;
use crate::shared::tally::Tally;

/// Vertices that a worker relabels at a time.
const CHUNK: usize = 1 << 10;

/// The labels that were found.
#[derive(Debug, Clone)]
pub struct StableLabels {
    /// For each dense id, the id position of the vertex whose id is its label.
    pub id_positions: Vec<u32>,
    /// Vertices that would take another label.
    pub unstable: u64,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}

/// Propagates labels.
pub fn run(
    graph: &Graph,
    wanted: LabelPropagationOptions,
    options: &RunOptions<'_>,
) -> Result<StableLabels> {
    let held = size(graph, options.threads)?;
    traverse::run_rereading(graph, RowsWanted::NEIGHBOURS, held, options, |job| {
        propagate(graph, wanted, job, options)
    })
}

/// Returns the bytes that a run holds beside the rows: labels before and after, the list of drawn
/// vertices, the set of unsettled ones, and id positions.
pub(super) fn size(graph: &Graph, threads: usize) -> Result<Held> {
    let ends = traverse::edges_of_a_vertex_max(graph)?;
    let worker = Neighbourhoods::<Listed<'_>>::size(ends) + Tally::size(ends);
    let count = graph.vertex_count();
    let own = 12 * count + VertexSet::size(count) + threads as u64 * worker;
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
    // A vertex that had its turn has a most frequent label, until a neighbour changes.
    let unsettled = VertexSet::full(count);
    let few = wanted.few(count.into());
    let mut turn: Vec<ShortId> = Vec::with_capacity(labels.len());
    let (mut times, mut edges) = (IterationTimes::default(), 0);
    options.progress.begin("iterating", None, ProgressUnit::Iterations);
    while times.count() < wanted.max_iterations.get() {
        let started = Instant::now();
        turn.clear();
        turn.extend(unsettled.iter());
        if turn.len() as f64 <= few {
            break;
        }
        let coin = random::number(wanted.seed, times.count());
        turn.retain(|&vertex| random::number(coin, id_positions.of(vertex).0.into()) & 1 == 0);
        // Before they are relabelled, since a neighbour that changes now unsettles them again.
        turn.iter().for_each(|&vertex| unsettled.remove(vertex));
        let round = Round { job, labels: &labels, next: &next, seed: wanted.seed };
        let found = round.relabel(&turn, |neighbours| {
            neighbours.ends().for_each(|neighbour| {
                unsettled.insert(neighbour);
            });
        })?;
        edges += found.edges;
        // Only now: all of them look at the labels before the iteration.
        for vertex in turn.iter().map(|vertex| vertex.index()) {
            labels[vertex] = *next[vertex].get_mut();
        }
        times.push(started.elapsed());
        options.progress.advance(1);
    }
    options.progress.end();
    turn.clear();
    turn.extend(unsettled.iter());
    let round = Round { job, labels: &labels, next: &next, seed: wanted.seed };
    // This only counts who would still change: the labels stay as they are.
    let found = round.relabel(&turn, |_| ())?;
    let statistics = job.statistics(times, edges + found.edges);
    Ok(StableLabels { id_positions: labels, unstable: found.changes, statistics })
}

/// What the workers share.
struct Round<'r> {
    job: &'r RowsJob<'r>,
    labels: &'r [u32],
    next: &'r [AtomicU32],
    /// Chooses between labels.
    seed: u64,
}

/// What relabelling found.
#[derive(Debug, Default)]
struct Found {
    /// Vertices that change their label.
    changes: u64,
    /// Edges that were followed.
    edges: u64,
}

impl Round<'_> {
    /// Finds the next labels of these vertices, and calls `see` with the neighbours of those whose
    /// label changes.
    fn relabel(&self, vertices: &[ShortId], see: impl Fn(&Neighbours<'_>) + Sync) -> Result<Found> {
        let (changes, edges) = (AtomicU64::new(0), AtomicU64::new(0));
        self.job.for_each(vertices.len().div_ceil(CHUNK), |index| {
            let end = vertices.len().min((index + 1) * CHUNK);
            let found = self.relabel_chunk(&vertices[index * CHUNK..end], &see)?;
            changes.fetch_add(found.changes, Ordering::Relaxed);
            edges.fetch_add(found.edges, Ordering::Relaxed);
            Ok(())
        })?;
        Ok(Found { changes: changes.into_inner(), edges: edges.into_inner() })
    }

    fn relabel_chunk(
        &self,
        vertices: &[ShortId],
        see: impl Fn(&Neighbours<'_>),
    ) -> tegula_engine::Result<Found> {
        let mut neighbourhoods = Neighbourhoods::new(self.job, Listed::new(vertices));
        let mut tally = Tally::default();
        let mut found = Found::default();
        let label = |vertex: ShortId| self.labels[vertex.index()];
        while let Some(neighbours) = neighbourhoods.next_vertex()? {
            let vertex = neighbours.vertex;
            let own = label(vertex);
            let key = |label| (label != own, random::number(self.seed, u64::from(label)));
            let best = tally.most_frequent(neighbours.ends().map(label), key).unwrap_or(own);
            self.next[vertex.index()].store(best, Ordering::Relaxed);
            found.edges += neighbours.edge_count() as u64;
            if best != own {
                found.changes += 1;
                see(&neighbours);
            }
        }
        Ok(found)
    }
}
