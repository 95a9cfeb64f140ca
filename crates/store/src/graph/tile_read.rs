//! Reads tiles. There is no other way to get them, so every tile was checked.

use std::ops::Range;

use zerocopy::FromBytes;

use super::opened::Graph;
use crate::Error;
use crate::tiles::Tile;
use tegula_machine::disk::{Frame, Pending, Request};

/// Consecutive tiles in flight, with their weights if they are wanted and stored.
#[must_use = "it is to be waited for"]
pub struct TileRead<'g> {
    graph: &'g Graph,
    range: Range<usize>,
    tiles: Pending,
    weights: Option<Pending>,
}

/// Consecutive tiles in memory. Their checksums, heads and weights were checked.
pub struct CheckedTiles {
    range: Range<usize>,
    tiles: Frame,
    weights: Option<Frame>,
}

/// Bytes of memory for tiles while they are read and used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadSize {
    /// Bytes of the tiles.
    pub tiles: u64,
    /// Bytes of their weights.
    pub weights: u64,
}

impl ReadSize {
    /// The sum, with weights if `has_weights`.
    pub fn total(self, has_weights: bool) -> u64 {
        self.tiles + if has_weights { self.weights } else { 0 }
    }
}

impl Graph {
    /// Begins to read a range of [`Graph::tiles`], which must not be empty. Does not wait, not even
    /// for memory.
    pub fn read_tiles(&self, range: Range<usize>, has_weights: bool) -> TileRead<'_> {
        let read =
            |request: Request<'_>| self.reader().read(request.file, request.offset, request.len);
        let tiles = read(self.tiles_request(range.clone()));
        let weights = self.weights_request(range.clone()).filter(|_| has_weights).map(read);
        TileRead { graph: self, range, tiles, weights }
    }

    /// Bytes of memory for a range of tiles.
    pub fn read_size(&self, range: Range<usize>) -> ReadSize {
        let size = |request: Request<'_>| self.reader().frame_size(&request);
        ReadSize {
            tiles: size(self.tiles_request(range.clone())),
            weights: self.weights_request(range).map_or(0, size),
        }
    }
}

impl TileRead<'_> {
    /// Waits for the tiles and checks each of them.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) when a checksum differs, or the head of a
    /// tile is invalid.
    pub fn wait(self) -> Result<CheckedTiles, Error> {
        let TileRead { graph, range, tiles, weights } = self;
        let weights = weights.map(Pending::wait);
        let tiles = CheckedTiles { range, tiles: tiles.wait()?, weights: weights.transpose()? };
        for index in tiles.range.clone() {
            graph.check_tile(index, tiles.bytes(graph, index))?;
            if tiles.has_weights() {
                graph.check_weights(index, tiles.weight_bytes(graph, index))?;
            }
            // Looked at once here, so that `get` cannot fail.
            tiles.try_get(graph, index).map_err(|detail| graph.damaged_tile(index, detail))?;
        }
        Ok(tiles)
    }
}

impl CheckedTiles {
    /// Their range in [`Graph::tiles`].
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Whether weights were read with them.
    pub fn has_weights(&self) -> bool {
        self.weights.is_some()
    }

    /// A tile of the range, and a weight for each of its entries; empty if weights were not read.
    /// `graph` must be the one that the tiles come from.
    ///
    /// # Panics
    /// When the tile is not in the range.
    pub fn get(&self, graph: &Graph, index: usize) -> (Tile<'_>, &[f32]) {
        self.try_get(graph, index).expect("it was looked at when it was read")
    }

    fn try_get(&self, graph: &Graph, index: usize) -> Result<(Tile<'_>, &[f32]), String> {
        let tile = Tile::parse(self.bytes(graph, index))?;
        if !self.has_weights() {
            return Ok((tile, &[]));
        }
        let weights = FromBytes::ref_from_bytes(self.weight_bytes(graph, index));
        Ok((tile, weights.map_err(|_| "its weights are not aligned".to_owned())?))
    }

    /// The bytes of a tile of the range.
    pub(crate) fn bytes(&self, graph: &Graph, index: usize) -> &[u8] {
        let entries = graph.tiles();
        let start = (entries[index].offset - entries[self.range.start].offset) as usize;
        &self.tiles[start..start + entries[index].size as usize]
    }

    fn weight_bytes(&self, graph: &Graph, index: usize) -> &[u8] {
        let Some(weights) = &self.weights else { return &[] };
        let entries = graph.tiles();
        let first = entries[self.range.start].weights_offset;
        let start = (entries[index].weights_offset - first) as usize;
        &weights[start..start + 4 * entries[index].weight_count as usize]
    }
}
