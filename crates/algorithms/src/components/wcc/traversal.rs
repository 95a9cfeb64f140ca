//! Components by traversal.

use std::cell::Cell;
use std::time::Instant;

use tegula_engine::traverse::{
    self, BreadthFirst, Filter, Nested, RowsJob, RowsWanted, Sequential,
};
use tegula_engine::{Graph, ProgressUnit, Result, RunOptions, ShortId, huge};

use super::Components;

/// Root of a vertex that is not yet visited.
const NONE: ShortId = ShortId(u32::MAX);

/// Bytes held beside the rows: the root of each vertex, and the queue.
pub(super) fn size(graph: &Graph) -> u64 {
    8 * graph.vertex_count()
}

/// Finds the components of an undirected graph.
pub(super) fn run(graph: &Graph, options: &RunOptions<'_>) -> Result<Components> {
    traverse::run(graph, RowsWanted::forward(false), size(graph), options, |job| {
        visit_all(graph, job, options)
    })
}

fn visit_all(graph: &Graph, job: &RowsJob<'_>, options: &RunOptions<'_>) -> Result<Components> {
    let started = Instant::now();
    let count = graph.short_vertex_count()?;
    let mut roots = huge::with_capacity(count as usize);
    roots.resize(count as usize, NONE);
    let mut edges = 0;
    options.progress.begin("visiting", Some(graph.edge_count()), ProgressUnit::Edges);
    {
        let roots = Cell::from_mut(&mut roots[..]).as_slice_of_cells();
        let is_new = |vertex: ShortId| roots[vertex.index()].get() == NONE;
        let order = Nested {
            inner: BreadthFirst::with_capacity(count as usize),
            outer: Filter::new(Sequential::new(0..count), is_new),
        };
        let mut traversal = job.traversal(order);
        while let Some((row, order)) = traversal.next_row()? {
            let root = &roots[row.source().index()];
            if root.get() == NONE {
                // The outer order ascends, so this is the smallest vertex of its component.
                root.set(row.source());
            }
            let before = edges;
            row.for_each(|target| {
                edges += 1;
                if is_new(target) {
                    roots[target.index()].set(root.get());
                    order.inner.push(target);
                }
            })?;
            options.progress.advance(edges - before);
        }
    }
    options.progress.end();
    Ok(Components { roots, statistics: job.statistics(started.elapsed().into(), edges) })
}
