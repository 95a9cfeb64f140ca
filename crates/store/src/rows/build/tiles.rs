//! Tiles are read in the order of the file, a few reads ahead.

use std::collections::VecDeque;
use std::ops::Range;

use tegula_machine::Result;
use tegula_machine::threads::Cancel;

use super::size::{READ_SIZE, READS_AHEAD};
use crate::graph::{Graph, TileEntry};
use crate::tiles::Tile;

/// Shows the tiles that are wanted, with their weights where these are.
///
/// # Errors
/// Those of reading and of `visit`; cancellation.
pub(super) fn for_each_tile(
    graph: &Graph,
    is_wanted: impl Fn(&TileEntry) -> bool,
    has_weights: bool,
    cancel: &Cancel,
    visit: &mut dyn FnMut(usize, Tile<'_>, &[f32]) -> Result<(), String>,
) -> Result<()> {
    let mut runs = runs_of_tiles(graph, is_wanted).into_iter();
    let mut on_their_way = VecDeque::new();
    loop {
        cancel.check()?;
        while on_their_way.len() < READS_AHEAD
            && let Some(run) = runs.next()
        {
            on_their_way.push_back(graph.read_tiles(run, has_weights));
        }
        let Some(read) = on_their_way.pop_front() else { return Ok(()) };
        let tiles = read.wait()?;
        for index in tiles.range() {
            let (tile, weights) = tiles.get(graph, index);
            visit(index, tile, weights).map_err(|detail| graph.damaged_tile(index, detail))?;
        }
    }
}

/// Ranges of tiles to be read together.
fn runs_of_tiles(graph: &Graph, is_wanted: impl Fn(&TileEntry) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let mut size = 0;
    for (index, tile) in graph.tiles().iter().enumerate() {
        if !is_wanted(tile) {
            continue;
        }
        let tile_size = u64::from(tile.size) + 4 * u64::from(tile.weight_count);
        size += tile_size;
        match runs.last_mut() {
            Some(run) if run.end == index && size <= READ_SIZE => run.end += 1,
            _ => {
                runs.push(index..index + 1);
                size = tile_size;
            }
        }
    }
    runs
}
