//! A pass over the edges of a graph, in the order of its tiles.

use std::collections::VecDeque;
use std::ops::Range;

use tegula_engine::{Cancel, Graph, VertexId};

use crate::error::Result;

/// Bytes of tiles that are read at a time, and reads that are on their way.
const READ_BYTES: u64 = 1 << 20;
const READS_AHEAD: usize = 4;

/// Bytes of tiles that a pass holds at the most.
pub(super) fn size(graph: &Graph) -> u64 {
    let most = graph.tiles().iter().map(|tile| tile_bytes(tile.size, tile.weight_count)).max();
    READS_AHEAD as u64 * (READ_BYTES + most.unwrap_or(0))
}

/// Edges of the tile that has the most.
pub(super) fn edges_of_a_tile_max(graph: &Graph) -> usize {
    let all = graph.tiles().iter().map(|tile| tile.summary.edge_count);
    all.max().unwrap_or(0) as usize
}

/// Has `see` shown every edge, with its weight if the graph has weights, tile after tile; and calls `end_tile` after
/// each, until that is told to stop. What they do is done to `state`.
///
/// # Errors
/// Those of reading and of `end_tile`; cancellation.
pub(super) fn for_each_edge<S>(
    graph: &Graph,
    cancel: &Cancel,
    state: &mut S,
    see: impl Fn(&mut S, VertexId, VertexId, Option<f32>),
    mut end_tile: impl FnMut(&mut S) -> Result<bool>,
) -> Result<()> {
    let mut runs = runs_of_tiles(graph).into_iter();
    let mut on_their_way = VecDeque::new();
    loop {
        cancel.check()?;
        while on_their_way.len() < READS_AHEAD
            && let Some(run) = runs.next()
        {
            on_their_way.push_back(graph.read_tiles(run, graph.is_weighted()));
        }
        let Some(read) = on_their_way.pop_front() else { return Ok(()) };
        let tiles = read.wait()?;
        for index in tiles.range() {
            let (tile, weights) = tiles.get(graph, index);
            let visit = |entry: usize, source, target| {
                see(state, VertexId(source), VertexId(target), weights.get(entry).copied());
            };
            graph
                .for_each_edge(index, tile, visit)
                .map_err(|detail| graph.damaged_tile(index, detail))?;
            if !end_tile(state)? {
                return Ok(());
            }
        }
    }
}

fn tile_bytes(size: u32, weight_count: u32) -> u64 {
    u64::from(size) + size_of::<f32>() as u64 * u64::from(weight_count)
}

/// Ranges of tiles to be read together.
fn runs_of_tiles(graph: &Graph) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut bytes = 0;
    for (index, tile) in graph.tiles().iter().enumerate() {
        bytes += tile_bytes(tile.size, tile.weight_count);
        match runs.last_mut() {
            Some(run) if bytes <= READ_BYTES => run.end = index + 1,
            _ => {
                runs.push(index..index + 1);
                bytes = tile_bytes(tile.size, tile.weight_count);
            }
        }
    }
    runs
}
