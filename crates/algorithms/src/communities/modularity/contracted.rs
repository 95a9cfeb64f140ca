//! The graph of units, where it is small enough to be held.

use std::slice::Iter;

use tegula_engine::traverse::Listed;
use tegula_engine::{Graph, Result, ShortId};

use super::arcs::Arcs;
use super::links::SpareLinks;
use super::network::Network;
use super::partition::Partition;

/// The most arcs that are held, two for each link. It is the number of vertices if that is more.
const ARCS_MAX: u64 = 1 << 20;
/// Pieces whose arcs are found together, and the most arcs of a piece.
const PIECES_TOGETHER: usize = 4;
const PIECE_ARCS_MAX: usize = 1 << 16;
/// Bytes of the arcs that are found together. A list that grows may have twice the room it needs.
const FOUND_SIZE: u64 = (2 * PIECES_TOGETHER * PIECE_ARCS_MAX * size_of::<(u32, f64)>()) as u64;

/// The weights between the units of a partition. Each unit is a vertex of this graph.
pub(super) struct Contracted {
    /// Where the arcs of each vertex begin, and where the last ones end.
    starts: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f64>,
}

/// Returns the most arcs of a contracted graph. It depends on the graph alone, so that budgets do
/// not decide how weights are added up.
pub(super) fn arcs_max(graph: &Graph) -> u64 {
    let vertices = graph.vertex_count();
    // An edge has two arcs, also where the graph is directed.
    (2 * graph.edge_count()).min(ARCS_MAX.max(vertices))
}

impl Contracted {
    /// Returns the bytes of one with the most arcs.
    pub(super) fn size(graph: &Graph) -> u64 {
        (4 + 8) * arcs_max(graph) + 4 * (graph.vertex_count() + 1)
    }

    /// Returns the bytes that making one takes, its own included.
    pub(super) fn making_size(graph: &Graph) -> u64 {
        Contracted::size(graph) + FOUND_SIZE
    }

    /// Adds up the weights between the units of a partition; `None` if there are more than
    /// `arcs_max` arcs, or too many in one piece.
    pub(super) fn of_units(
        network: &Network<'_>,
        partition: &Partition,
        arcs_max: u64,
    ) -> Result<Option<Contracted>> {
        let count = partition.unit_count();
        let spare = SpareLinks::new(count);
        let mut graph = Contracted { starts: vec![0], targets: Vec::new(), weights: Vec::new() };
        // Growing by doubling could take more than `size` says.
        graph.targets.reserve_exact(arcs_max as usize);
        graph.weights.reserve_exact(arcs_max as usize);
        let unit_of = |_, target| Some(partition.unit(target));
        for pieces in network.pieces(partition, 0..count).chunks(PIECES_TOGETHER) {
            let found = network.map(pieces, |units| {
                let mut arcs: Vec<(u32, f64)> = Vec::new();
                let mut ends: Vec<usize> = Vec::with_capacity(units.len());
                spare.with(|links| {
                    network.for_each_unit(partition, units, links, unit_of, |_, links| {
                        // One arc beyond the limit is enough to give up, and bounds the list.
                        arcs.extend(links.iter().take(PIECE_ARCS_MAX + 1 - arcs.len()));
                        ends.push(arcs.len());
                    })
                })?;
                Ok((arcs, ends))
            })?;
            for (arcs, ends) in found {
                let before = graph.targets.len();
                if arcs.len() > PIECE_ARCS_MAX || (before + arcs.len()) as u64 > arcs_max {
                    return Ok(None);
                }
                graph.starts.extend(ends.into_iter().map(|end| (before + end) as u32));
                graph.targets.extend(arcs.iter().map(|&(target, _)| target));
                graph.weights.extend(arcs.iter().map(|&(_, weight)| weight));
            }
        }
        Ok(Some(graph))
    }

    fn for_each_arc(&self, vertex: ShortId, mut visit: impl FnMut(ShortId, f64)) {
        let ends = &self.starts[vertex.index()..][..2];
        let arcs = ends[0] as usize..ends[1] as usize;
        for (&target, &weight) in self.targets[arcs.clone()].iter().zip(&self.weights[arcs]) {
            visit(ShortId(target), weight);
        }
    }
}

/// Shows the edges at listed vertices of the graph or of a contracted one.
pub(super) enum ListedArcs<'l> {
    Stored(Box<Arcs<'l, Listed<'l>>>),
    Contracted { graph: &'l Contracted, left: Iter<'l, ShortId> },
}

impl ListedArcs<'_> {
    /// Shows the other end and the weight of each edge at the next vertex.
    pub(super) fn next_vertex(&mut self, visit: impl FnMut(ShortId, f64)) -> Result<()> {
        match self {
            ListedArcs::Stored(arcs) => _ = arcs.next_vertex(visit)?,
            ListedArcs::Contracted { graph, left } => {
                if let Some(&vertex) = left.next() {
                    graph.for_each_arc(vertex, visit);
                }
            }
        }
        Ok(())
    }
}
