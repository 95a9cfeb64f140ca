//! Cuts the tiles of a graph into parts, the unit of work of one worker, and groups, the unit of
//! reading. Both depend on the graph alone, so no result depends on the machine.

use std::ops::Range;

use tegula_store::graph::{Graph, ReadSize};
use tegula_store::tiles::BATCH_EDGES_MAX;

/// Bytes of tiles and weights at which a group is closed.
pub const GROUP_SIZE_TARGET: u64 = 1 << 20;
/// Edges at which a part of a large graph is closed: about 4 ms of work.
const PART_EDGES_MAX: u64 = 1 << 22;
/// Edges below which no part is closed: PageRank of graphs of 10^6 edges is no quicker with smaller
/// parts, since more reductions are merged.
const PART_EDGES_MIN: u64 = 1 << 20;
/// Full parts of a graph that is neither small nor large, so that several workers have some. A
/// batch of a large graph has this number, too. So reductions of a smaller graph need no more
/// memory.
const PARTS_OF_GRAPH: u64 = BATCH_EDGES_MAX / PART_EDGES_MAX;

/// Returns the edges at which parts of a graph with `arcs` stored edges are closed, unless
/// [`Tuning`](crate::Tuning) says otherwise.
pub fn usual_part_edges(arcs: u64) -> u64 {
    (arcs / PARTS_OF_GRAPH).clamp(PART_EDGES_MIN, PART_EDGES_MAX)
}

/// Returns the most full parts of a graph with `arcs` stored edges or fewer, and the most of a batch
/// of [usual size](BATCH_EDGES_MAX).
pub fn full_parts_max(arcs: u64) -> (u64, u64) {
    let of_graph = arcs / usual_part_edges(arcs);
    // A graph of fewer than 2^24 edges has at most 4 full parts. In a larger one, a batch of usual
    // size has at most 4.
    (of_graph, of_graph.min(PARTS_OF_GRAPH))
}

/// Consecutive tiles of one part, in one cell, that are read together: about 1 MiB.
#[derive(Debug, Clone)]
pub struct TileGroup {
    /// As a range of [`Graph::tiles`].
    pub tiles: Range<usize>,
    size: ReadSize,
}

impl TileGroup {
    /// Returns the bytes of the frames that hold the group.
    pub fn size(&self, has_weights: bool) -> u64 {
        self.size.total(has_weights)
    }
}

/// A part of a batch: the unit of work of one worker.
#[derive(Debug, Clone)]
pub struct Part {
    /// Index of the batch.
    pub batch: usize,
    /// Number of the part within its batch.
    pub number: usize,
    /// Parts of its batch.
    pub count: usize,
    /// As a range of [`Parts::groups`].
    pub groups: Range<usize>,
}

/// The parts and groups of a graph, batch after batch.
#[derive(Debug)]
pub struct Parts {
    /// The parts; every batch has at least one.
    pub parts: Vec<Part>,
    /// The groups; none is empty.
    pub groups: Vec<TileGroup>,
}

impl Parts {
    /// Cuts the tiles of a graph into parts of about `part_edges` edges; if `None`, of a quarter of
    /// the edges of the graph, but between 2^20 and 2^22.
    pub fn cut(graph: &Graph, part_edges: Option<u64>) -> Parts {
        // A shard knows how many edges the whole graph has, so ranks cut the parts of one machine.
        let part_edges = part_edges.unwrap_or_else(|| usual_part_edges(graph.edge_count()));
        let mut cut = Parts { parts: Vec::new(), groups: Vec::new() };
        for batch in 0..graph.batches().len() {
            cut.add_batch(graph, batch, part_edges);
        }
        cut
    }

    fn add_batch(&mut self, graph: &Graph, batch: usize, part_edges_target: u64) {
        let first_part = self.parts.len();
        let (mut part_start, mut part_edges) = (self.groups.len(), 0);
        let mut open: Option<(Range<usize>, u64)> = None;
        for piece in graph.batch_tiles(batch) {
            for index in piece {
                let entry = &graph.tiles()[index];
                let (tiles, bytes) = open.get_or_insert((index..index, 0));
                tiles.end = index + 1;
                *bytes += u64::from(entry.size) + 4 * u64::from(entry.weight_count);
                part_edges += u64::from(entry.summary.edge_count);
                let is_full = part_edges >= part_edges_target;
                if is_full || *bytes >= GROUP_SIZE_TARGET {
                    self.close_group(graph, &mut open);
                }
                if is_full {
                    self.close_part(batch, first_part, part_start);
                    (part_start, part_edges) = (self.groups.len(), 0);
                }
            }
            // Tiles from the next segment lie elsewhere in the file.
            self.close_group(graph, &mut open);
        }
        // A batch without tiles has a part, too: apply may have to visit its targets.
        if part_start < self.groups.len() || self.parts.len() == first_part {
            self.close_part(batch, first_part, part_start);
        }
        let count = self.parts.len() - first_part;
        self.parts[first_part..].iter_mut().for_each(|part| part.count = count);
    }

    fn close_group(&mut self, graph: &Graph, open: &mut Option<(Range<usize>, u64)>) {
        self.groups.extend(open.take().map(|(tiles, _)| {
            let size = graph.read_size(tiles.clone());
            TileGroup { tiles, size }
        }));
    }

    fn close_part(&mut self, batch: usize, first_part: usize, first_group: usize) {
        let (number, groups) = (self.parts.len() - first_part, first_group..self.groups.len());
        // The number of parts is known only after the last one.
        self.parts.push(Part { batch, number, count: 0, groups });
    }

    /// Returns the bytes of the largest group.
    pub fn group_size_max(&self, has_weights: bool) -> u64 {
        self.groups.iter().map(|group| group.size(has_weights)).max().unwrap_or(0)
    }

    /// Returns the most targets whose reductions may wait for the parts before: for some batch, its
    /// targets once for each of its parts but one.
    pub fn waiting_targets_max(&self, graph: &Graph) -> u64 {
        let waiting = self.parts.iter().map(|part| {
            let targets = graph.batches()[part.batch].targets(graph.vertex_count());
            (targets.end - targets.start) * (part.count as u64 - 1)
        });
        waiting.max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_with_fewer_edges_has_no_more_full_parts() {
        let steps = (16..=32).flat_map(|log2| [(1 << log2) - 1, 1 << log2, (1 << log2) + 1]);
        let all: Vec<u64> = steps.collect();
        for &arcs in &all {
            let (of_graph, of_batch) = full_parts_max(arcs);
            for &fewer in all.iter().filter(|&&fewer| fewer <= arcs) {
                let full = usual_part_edges(fewer);
                assert!(fewer / full <= of_graph, "{fewer} edges beside {arcs}");
                assert!(fewer.min(BATCH_EDGES_MAX) / full <= of_batch, "{fewer} beside {arcs}");
            }
        }
    }
}
