//! A pass over the edges of a graph, in the order of its tiles.

use std::ops::ControlFlow;

use tegula_engine::{Cancel, Graph, VertexId};

use crate::error::Result;

/// Returns the number of edges of the tile that has the most.
pub(super) fn edges_of_a_tile_max(graph: &Graph) -> usize {
    let all = graph.tiles().iter().map(|tile| tile.summary.edge_count);
    all.max().unwrap_or(0) as usize
}

/// Shows every edge to `see`, tile after tile, with its weight if the graph has weights. Calls
/// `end_tile` after each tile, until this returns `Break`. Both change `state`.
pub(super) fn for_each_edge<S>(
    graph: &Graph,
    cancel: &Cancel,
    state: &mut S,
    see: impl Fn(&mut S, VertexId, VertexId, Option<f32>),
    mut end_tile: impl FnMut(&mut S) -> Result<ControlFlow<()>>,
) -> Result<()> {
    if graph.is_for_ranks() {
        let what = "an algorithm that finds edges";
        return Err(tegula_engine::Error::NotOnRanks { what }.into());
    }
    graph.for_each_tile(
        |_| true,
        graph.is_weighted(),
        cancel,
        |index, tile, weights| {
            let visit = |entry: usize, source, target| {
                see(state, VertexId(source), VertexId(target), weights.get(entry).copied());
            };
            graph
                .for_each_edge(index, tile, visit)
                .map_err(|detail| graph.damaged_tile(index, detail))?;
            end_tile(state)
        },
    )
}
