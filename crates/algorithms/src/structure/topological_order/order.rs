//! Finds the order or a cycle.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use tegula_engine::traverse::{self, Filter, Held, RowsJob, RowsWanted, Sequential};
use tegula_engine::{Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId};
use tegula_store::rows::Direction;

use crate::error::{Error, Result};
use crate::shared::original_ids::{IdPosition, IdPositions};

/// A topological order.
#[derive(Debug, Clone)]
pub struct TopologicalOrder {
    /// The position of each dense id.
    pub positions: Vec<u32>,
    /// Statistics of the run. An iteration is a frontier: in the `i`-th, counted from 0, the
    /// longest path to a vertex from one without in-edges has `i` edges.
    pub statistics: RunStatistics,
}

/// The maximum number of vertices of a cycle that are named.
const NAMED_MAX: usize = 10;
/// Steps between two checks for cancellation.
const LOOK_EVERY: usize = 1 << 16;
/// Position of a vertex that has none yet, and no vertex.
const NONE: u32 = u32::MAX;

/// Finds the order.
///
/// # Errors
/// [`Error::Cycle`] when the graph has a cycle or a loop.
pub fn run(graph: &Graph, options: &RunOptions<'_>) -> Result<TopologicalOrder> {
    traverse::run(graph, RowsWanted::forward(false), size(graph)?, options, |job| {
        put_in_order(graph, job, options)
    })
}

/// Bytes held beside the rows: positions, numbers of in-edges left, two frontiers, and id
/// positions.
pub(super) fn size(graph: &Graph) -> Result<Held> {
    Ok(Held::with_id_positions(graph, 16 * graph.vertex_count())?)
}

fn put_in_order(
    graph: &Graph,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<TopologicalOrder> {
    let count = graph.short_vertex_count()?;
    let id_positions = IdPositions::read(graph, &options.cancel)?;
    let edges_to: Vec<AtomicU32> = graph.in_degrees()?.into_iter().map(AtomicU32::new).collect();
    let left = |vertex: ShortId| edges_to[vertex.index()].load(Ordering::Relaxed);
    let mut positions = vec![NONE; count as usize];
    let (mut position, mut edges) = (0, AtomicU64::new(0));
    let mut times = IterationTimes::default();
    options.progress.begin("ordering", Some(count.into()), ProgressUnit::Vertices);
    let mut frontier: Vec<ShortId> =
        (0..count).map(ShortId).filter(|&vertex| left(vertex) == 0).collect();
    while !frontier.is_empty() {
        let started = Instant::now();
        let next = job.follow(&frontier, &[Direction::Forward], |row, found| {
            let mut followed = 0;
            row.for_each(|target| {
                followed += 1;
                if edges_to[target.index()].fetch_sub(1, Ordering::Relaxed) == 1 {
                    found.push(target);
                }
            })?;
            edges.fetch_add(followed, Ordering::Relaxed);
            Ok(())
        })?;
        // Only now, because rows are followed in the order in which they lie.
        frontier.sort_unstable_by_key(|&vertex| id_positions.of(vertex));
        for vertex in &frontier {
            positions[vertex.index()] = position;
            position += 1;
        }
        options.progress.advance(frontier.len() as u64);
        times.push(started.elapsed());
        frontier = next;
    }
    options.progress.end();
    if position < count {
        return Err(cycle(graph, &id_positions, job, &positions)?);
    }
    Ok(TopologicalOrder { positions, statistics: job.statistics(times, *edges.get_mut()) })
}

/// Names a cycle among the vertices without a position.
fn cycle(
    graph: &Graph,
    id_positions: &IdPositions,
    job: &RowsJob<'_>,
    positions: &[u32],
) -> Result<Error> {
    let is_left = |vertex: ShortId| positions[vertex.index()] == NONE;
    let before: Vec<AtomicU32> = positions.iter().map(|_| AtomicU32::new(NONE)).collect();
    job.for_each_range(|_, ids| {
        let mut traversal = job.traversal(Filter::new(Sequential::new(ids), is_left));
        while let Some((row, _)) = traversal.next_row()? {
            row.for_each(|target| {
                // The least one, so that the named cycle does not depend on the threads.
                before[target.index()].fetch_min(row.source().0, Ordering::Relaxed);
            })?;
        }
        Ok(())
    })?;
    let before = |vertex: ShortId| ShortId(before[vertex.index()].load(Ordering::Relaxed));
    // Every vertex left has an in-edge from a vertex left.
    let mut on_cycle = (0..).map(ShortId).find(|&vertex| is_left(vertex)).unwrap_or(ShortId(0));
    // After a step for each vertex, the walk is on a cycle wherever it began.
    for step in 0..positions.len() {
        on_cycle = before(on_cycle);
        if step % LOOK_EVERY == 0 {
            job.cancel().check()?;
        }
    }
    let around = || {
        std::iter::successors(Some(on_cycle), |&vertex| {
            Some(before(vertex)).filter(|&next| next != on_cycle)
        })
    };
    let mut vertices = Vec::with_capacity(around().count());
    vertices.extend(around());
    vertices.reverse();
    // The walk may enter the cycle anywhere, so its first vertex is chosen by id.
    let first = (0..vertices.len()).min_by_key(|&place| id_positions.of(vertices[place]));
    vertices.rotate_left(first.unwrap_or(0));
    let ids = graph.original_ids()?;
    let name = |&vertex: &ShortId| IdPosition::from(id_positions.of(vertex)).name(&ids);
    let named = vertices.iter().take(NAMED_MAX).map(name).collect::<tegula_engine::Result<_>>()?;
    Ok(Error::Cycle {
        graph: graph.directory().to_owned(),
        vertices: named,
        length: vertices.len(),
    })
}
