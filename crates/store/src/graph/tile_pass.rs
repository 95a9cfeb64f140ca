//! A pass over tiles by one thread, in the order of the file, with a few reads ahead.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use tegula_machine::threads::Cancel;

use super::{CheckedTiles, Graph, TileEntry};
use crate::Error;
use crate::tiles::Tile;

/// Bytes of tiles per read, unless one tile has more.
pub(crate) const PASS_READ_SIZE: u64 = 1 << 20;
/// Reads in flight.
pub(crate) const PASS_READS_AHEAD: usize = 4;

impl Graph {
    /// Visits the tiles that `is_wanted` accepts, until `visit` breaks. `visit` gets the index in
    /// [`Graph::tiles`], the tile, and its weights if `has_weights` and the graph has them.
    pub fn for_each_tile<E: From<Error>>(
        &self,
        is_wanted: impl Fn(&TileEntry) -> bool,
        has_weights: bool,
        cancel: &Cancel,
        mut visit: impl FnMut(usize, Tile<'_>, &[f32]) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let all = 0..self.tiles().len();
        self.for_each_checked(all, is_wanted, has_weights, cancel, |tiles, index| {
            let (tile, weights) = tiles.get(self, index);
            visit(index, tile, weights)
        })
    }

    /// Does the same for a range of [`Graph::tiles`], but `visit` gets the tiles of a read and the
    /// index of one of them.
    pub(crate) fn for_each_checked<E: From<Error>>(
        &self,
        range: Range<usize>,
        is_wanted: impl Fn(&TileEntry) -> bool,
        has_weights: bool,
        cancel: &Cancel,
        mut visit: impl FnMut(&CheckedTiles, usize) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let mut runs = self.runs_of_tiles(range, is_wanted).into_iter();
        let mut on_their_way = VecDeque::new();
        loop {
            cancel.check().map_err(Error::from)?;
            while on_their_way.len() < PASS_READS_AHEAD
                && let Some(run) = runs.next()
            {
                on_their_way.push_back(self.read_tiles(run, has_weights));
            }
            let Some(read) = on_their_way.pop_front() else { return Ok(()) };
            let tiles = read.wait()?;
            for index in tiles.range() {
                if visit(&tiles, index)?.is_break() {
                    return Ok(());
                }
            }
        }
    }

    /// Upper bound for the bytes of tiles in memory during a pass.
    pub fn tile_pass_size(&self) -> u64 {
        let most = self.tiles().iter().map(size_with_weights).max();
        PASS_READS_AHEAD as u64 * (PASS_READ_SIZE + most.unwrap_or(0))
    }

    /// Ranges of tiles that are read together.
    fn runs_of_tiles(
        &self,
        range: Range<usize>,
        is_wanted: impl Fn(&TileEntry) -> bool,
    ) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = Vec::new();
        let mut size = 0;
        let tiles = range.clone().zip(&self.tiles()[range]);
        for (index, tile) in tiles.filter(|(_, tile)| is_wanted(tile)) {
            size += size_with_weights(tile);
            match runs.last_mut() {
                Some(run) if run.end == index && size <= PASS_READ_SIZE => run.end += 1,
                _ => {
                    runs.push(index..index + 1);
                    size = size_with_weights(tile);
                }
            }
        }
        runs
    }
}

fn size_with_weights(tile: &TileEntry) -> u64 {
    u64::from(tile.size) + size_of::<f32>() as u64 * u64::from(tile.weight_count)
}
