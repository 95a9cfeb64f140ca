//! Dijkstra's algorithm.

use std::time::Instant;

use tegula_engine::traverse::{self, BestFirst, Filter, RowsJob, RowsWanted, VertexSet};
use tegula_engine::{Graph, RunOptions, ShortId, Unit, huge};

use super::distances::Distances;
use crate::error::{PATHS, Result, is_negative, negative_weight};
use crate::sources::Sources;

/// Bytes that a run holds beside the rows: a distance and a bit for each vertex, and the queue.
pub(super) fn size(graph: &Graph) -> u64 {
    let count = graph.vertex_count();
    8 * count + VertexSet::size(count) + BestFirst::<u64>::size(count)
}

/// Finds the distances.
pub(super) fn run(
    graph: &Graph,
    sources: &Sources,
    cutoff: Option<f64>,
    options: &RunOptions<'_>,
) -> Result<Distances> {
    let (wanted, held) = (RowsWanted::forward(graph.is_weighted()), size(graph) + sources.size());
    traverse::run(graph, wanted, held, options, |job| {
        search(graph, sources, cutoff.unwrap_or(f64::INFINITY), job, options)
    })
}

fn search(
    graph: &Graph,
    sources: &Sources,
    cutoff: f64,
    job: &RowsJob<'_>,
    options: &RunOptions<'_>,
) -> Result<Distances> {
    let started = Instant::now();
    let count = graph.short_vertex_count()?;
    let mut distances: Vec<f64> = huge::with_capacity(count as usize);
    distances.resize(count as usize, f64::INFINITY);
    let settled = VertexSet::new(count);
    // Distances are not below 0, so they are in the order of their bits.
    let mut queue = BestFirst::for_vertices(count);
    for source in sources.as_slice() {
        distances[source.index()] = 0.0;
        queue.push(source.short(), 0u64);
    }
    let order = Filter::new(queue, |vertex| !settled.contains(vertex));
    let mut traversal = job.traversal(order);
    let (mut edges, mut has_negative) = (0, false);
    options.progress.begin("visiting", Some(graph.edge_count()), Unit::Edges);
    while let Some((row, order)) = traversal.next_row()? {
        settled.insert(row.source());
        let distance = distances[row.source().index()];
        let mut edge = 0;
        row.for_each(|target| {
            let weight = row.weight(edge);
            edge += 1;
            has_negative |= is_negative(weight);
            let through = distance + f64::from(weight);
            if through < distances[target.index()] && through <= cutoff {
                distances[target.index()] = through;
                let is_live = |vertex: ShortId, bits: &u64| {
                    *bits == distances[vertex.index()].to_bits() && !settled.contains(vertex)
                };
                order.order_mut().push_within(target, through.to_bits(), is_live);
            }
        })?;
        if has_negative {
            return Err(negative_weight(graph, PATHS));
        }
        edges += edge as u64;
        options.progress.advance(edge as u64);
    }
    options.progress.end();
    let statistics = job.statistics(started.elapsed().into(), edges);
    Ok(Distances { distances, delta: None, statistics })
}
