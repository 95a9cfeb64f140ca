//! Dijkstra's algorithm.

use std::time::Instant;

use tegula_engine::traverse::{
    self, BestFirst, BreadthFirst, Filter, RowsJob, RowsWanted, VertexSet,
};
use tegula_engine::{Graph, ProgressUnit, Row, RunOptions, ShortId, huge};

use super::config::SsspConfig;
use super::distances::Distances;
use crate::error::{PATHS, Result, is_negative, negative_weight};
use crate::shared::sources::Sources;

/// Bytes held beside the rows: a distance and a bit for each vertex, and the queue.
pub(super) fn size(graph: &Graph) -> u64 {
    let count = graph.vertex_count();
    8 * count + VertexSet::size(count) + BestFirst::<u64>::size(count)
}

/// Finds the distances.
pub(super) fn run(
    graph: &Graph,
    sources: &Sources,
    config: SsspConfig,
    options: &RunOptions<'_>,
) -> Result<Distances> {
    let directions = config.direction.into();
    let wanted = RowsWanted { directions, has_weights: graph.is_weighted() };
    let held = size(graph) + sources.size();
    traverse::run(graph, wanted, held, options, |job| {
        search(graph, sources, config.cutoff.unwrap_or(f64::INFINITY), job, options)
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
    // Distances are at least 0, so they have the order of their bits.
    let mut queue = BestFirst::for_vertices(count);
    for source in sources.as_slice() {
        distances[source.index()] = 0.0;
        queue.push(source.short(), 0u64);
    }
    let order = Filter::new(queue, |vertex| !settled.contains(vertex));
    let mut traversal = job.traversal(order);
    // The row by target of a vertex is read right after its row by source, not ahead.
    let mut reverse = job.reverse_traversal(BreadthFirst::default());
    let mut edges = 0;
    let mut relax = |row: &Row<'_>, queue: &mut BestFirst<u64>| -> Result<()> {
        let distance = distances[row.source().index()];
        let (mut edge, mut has_negative) = (0, false);
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
                queue.push_within(target, through.to_bits(), is_live);
            }
        })?;
        if has_negative {
            return Err(negative_weight(graph, PATHS));
        }
        edges += edge as u64;
        options.progress.advance(edge as u64);
        Ok(())
    };
    let edges_max = graph.edge_count() * if reverse.is_some() { 2 } else { 1 };
    options.progress.begin("visiting", Some(edges_max), ProgressUnit::Edges);
    while let Some((row, order)) = traversal.next_row()? {
        let source = row.source();
        settled.insert(source);
        relax(&row, order.order_mut())?;
        if let Some(reverse) = &mut reverse {
            reverse.order_mut().push(source);
            while let Some((row, _)) = reverse.next_row()? {
                relax(&row, traversal.order_mut().order_mut())?;
            }
        }
    }
    options.progress.end();
    let statistics = job.statistics(started.elapsed().into(), edges);
    Ok(Distances { distances, delta: None, statistics })
}
