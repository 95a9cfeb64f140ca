//! Dependencies of the vertices for one source, with path lengths as sums of weights.

use tegula_engine::traverse::{BestFirst, Filter, Listed, RowsJob, VertexSet};
use tegula_engine::{Result, Row, ShortId};

use super::path_counts::{PathCount, PathCounts};
use super::sources::Search;
use crate::error::is_positive;

/// A search from a source, nearest vertex first (Dijkstra).
pub(super) struct ByWeights {
    distances: Vec<f64>,
    counts: PathCounts,
    /// The vertices whose distance is known; on the way back those that are still to be visited.
    settled: VertexSet,
    /// The vertices reached, in the order in which they were settled; on the way back in reverse.
    reached: Vec<ShortId>,
    queue: BestFirst<u64>,
    /// The lightest edge to each neighbour of a vertex, by target.
    lightest: Vec<(ShortId, f32)>,
    edges: u64,
}

impl Search for ByWeights {
    const NEEDS_WEIGHTS: bool = true;

    fn new(vertex_count: u32) -> ByWeights {
        let count = vertex_count as usize;
        ByWeights {
            distances: vec![f64::INFINITY; count],
            counts: PathCounts::new(count),
            settled: VertexSet::new(vertex_count),
            reached: Vec::with_capacity(count),
            queue: BestFirst::for_vertices(vertex_count),
            lightest: Vec::new(),
            edges: 0,
        }
    }

    fn size(vertex_count: u64, edges_max: u64) -> u64 {
        let vertices = (8 + 4) * vertex_count + PathCounts::size(vertex_count);
        // The list of edges grows by doubling.
        let edges = 2 * size_of::<(ShortId, f32)>() as u64 * edges_max;
        vertices + VertexSet::size(vertex_count) + BestFirst::<u64>::size(vertex_count) + edges
    }

    fn find(&mut self, source: ShortId, job: &RowsJob<'_>) -> Result<bool> {
        if !self.search(source, job)? {
            return Ok(false);
        }
        self.reached.reverse();
        self.come_back(job)?;
        Ok(true)
    }

    fn add_to(&mut self, sums: &mut [f64]) -> u64 {
        // The source was settled first.
        let source = self.reached.last().copied();
        for &vertex in &self.reached {
            let index = vertex.index();
            let depends = self.counts.take(index);
            if Some(vertex) != source {
                sums[index] += depends;
            }
            self.distances[index] = f64::INFINITY;
        }
        self.reached.clear();
        std::mem::take(&mut self.edges)
    }
}

impl ByWeights {
    /// Finds the distances and counts the paths. Returns false if a weight is not above 0.
    fn search(&mut self, source: ShortId, job: &RowsJob<'_>) -> Result<bool> {
        let ByWeights { distances, counts, settled, reached, queue, lightest, edges } = self;
        distances[source.index()] = 0.0;
        counts.set(source.index(), PathCount::ONE);
        // Distances are at least 0, so they have the order of their bits.
        queue.push(source, 0);
        let settled = &*settled;
        let order = Filter::new(std::mem::take(queue), |vertex| !settled.contains(vertex));
        let mut traversal = job.traversal(order);
        while let Some((row, order)) = traversal.next_row()? {
            let vertex = row.source();
            settled.insert(vertex);
            reached.push(vertex);
            let (distance, paths) = (distances[vertex.index()], counts.get(vertex.index()));
            *edges += list_lightest(&row, lightest)?;
            for &(target, weight) in &*lightest {
                if !is_positive(weight) {
                    return Ok(false);
                }
                let (index, through) = (target.index(), distance + f64::from(weight));
                if through < distances[index] {
                    distances[index] = through;
                    counts.set(index, paths);
                    let is_live = |vertex: ShortId, bits: &u64| {
                        *bits == distances[vertex.index()].to_bits() && !settled.contains(vertex)
                    };
                    order.order_mut().push_within(target, through.to_bits(), is_live);
                // A weight may be too small to change the sum. The paths of a settled vertex have
                // already gone on.
                } else if through == distances[index] && !settled.contains(target) {
                    counts.add(index, paths);
                }
            }
        }
        // It is empty by now, and its memory serves the next source.
        *queue = std::mem::take(traversal.order_mut().order_mut());
        Ok(true)
    }

    /// Finds the dependency of each vertex, the farthest first.
    fn come_back(&mut self, job: &RowsJob<'_>) -> Result<()> {
        let ByWeights { distances, counts, settled, reached, lightest, edges, .. } = self;
        let mut traversal = job.traversal(Listed::new(reached));
        while let Some((row, _)) = traversal.next_row()? {
            let vertex = row.source();
            let index = vertex.index();
            let (distance, own) = (distances[index], counts.get(index));
            *edges += list_lightest(&row, lightest)?;
            let mut each_path = 0.0;
            for &(target, weight) in &*lightest {
                let behind = target.index();
                // If a weight is too small to change the sum, the vertices settled later are behind
                // it.
                if !settled.contains(target) && distance + f64::from(weight) == distances[behind] {
                    each_path += counts.for_each_path(own, behind);
                }
            }
            counts.depend(index, each_path);
            settled.remove(vertex);
        }
        Ok(())
    }
}

/// Lists the lightest edge to each other vertex, by target. Returns the number of all edges.
fn list_lightest(row: &Row<'_>, lightest: &mut Vec<(ShortId, f32)>) -> Result<u64> {
    lightest.clear();
    let source = row.source();
    let edges = row.for_each_weighted(|target, weight| lightest.push((target, weight)))?;
    let by_target =
        |a: &(ShortId, f32), b: &(ShortId, f32)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
    if !lightest.is_sorted_by(|a, b| by_target(a, b).is_le()) {
        lightest.sort_unstable_by(by_target);
    }
    lightest.dedup_by_key(|edge| edge.0);
    lightest.retain(|edge| edge.0 != source);
    Ok(edges as u64)
}
