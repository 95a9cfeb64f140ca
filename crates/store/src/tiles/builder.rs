//! Codes strips and joins them to tiles.

use zerocopy::IntoBytes;

use super::divide::StripChoice;
use super::edge::EdgeWeight;
use super::entry_coder::EntryCoder;
use super::strip::{STRIP_HEADER_SIZE, StripHeader, TILE_HEADER_SIZE, TileHeader};
use super::strip_edges::{EdgeSlice, StripEdges};
use super::summary::TileSummary;
use crate::Result;

/// A tile ready to be written.
#[derive(Debug, Clone)]
pub struct EncodedTile {
    /// The tile as in the file.
    pub bytes: Vec<u8>,
    /// A weight for each entry, skips included; empty in an unweighted graph.
    pub weights: Vec<f32>,
    /// The summary, which the tile table stores.
    pub summary: TileSummary,
}

/// Bytes at which a tile is closed.
const TILE_SIZE_TARGET: usize = 256 << 10;

/// Codes the strips of a window in order; closes a tile as soon as it is large enough.
pub(super) fn write_tiles<W: EdgeWeight>(
    edges: &StripEdges<W>,
    strips: &[StripChoice],
    window: u32,
    emit: &mut dyn FnMut(EncodedTile) -> Result<()>,
) -> Result<()> {
    let (source_first, source_last) = edges.source_bounds();
    let mut coder = EntryCoder::default();
    let mut tile = TileBuilder::new(source_first, source_last, window);
    for (strip, mut rest) in strips.iter().zip(edges.strips()) {
        while rest.len() > 0 {
            let taken = tile.push_strip(&mut coder, *strip, rest);
            rest = rest.get(taken..rest.len());
            if tile.size() >= TILE_SIZE_TARGET {
                let next = TileBuilder::new(source_first, source_last, window);
                emit(std::mem::replace(&mut tile, next).finish())?;
            }
        }
    }
    if tile.summary.edge_count > 0 {
        emit(tile.finish())?;
    }
    Ok(())
}

/// A tile under construction, strip by strip.
struct TileBuilder {
    window: u32,
    source_base: u32,
    source_shift: u32,
    headers: Vec<StripHeader>,
    payload: Vec<u8>,
    weights: Vec<f32>,
    summary: TileSummary,
}

impl TileBuilder {
    fn new(source_first: u32, source_last: u32, window: u32) -> Self {
        let span_bits = u32::BITS - (source_last - source_first).leading_zeros();
        TileBuilder {
            window,
            source_base: source_first,
            // Headers of strips have 16 bits for the source.
            source_shift: span_bits.saturating_sub(16),
            headers: Vec::new(),
            payload: Vec::new(),
            weights: Vec::new(),
            summary: TileSummary::empty(source_first, source_last),
        }
    }

    fn size(&self) -> usize {
        TILE_HEADER_SIZE + self.headers.len() * STRIP_HEADER_SIZE + self.payload.len()
    }

    /// Codes edges until one strip is full. Returns how many were coded.
    fn push_strip<W: EdgeWeight>(
        &mut self,
        coder: &mut EntryCoder,
        strip: StripChoice,
        edges: EdgeSlice<'_, W>,
    ) -> usize {
        let source_start = (edges.sources[0] - self.source_base) >> self.source_shift;
        let from = self.source_base + (source_start << self.source_shift);
        let taken = coder.code(strip.encoding, from, edges);
        self.summary.add(self.window, edges.get(0..taken));
        self.headers.push(StripHeader {
            source_start: (source_start as u16).into(),
            target_start: strip.target_start.into(),
            count: (coder.entry_count() as u16).into(),
            encoding: strip.encoding as u8,
            reserved: 0,
        });
        coder.append_to::<W>(strip.encoding, &mut self.payload, &mut self.weights);
        taken
    }

    fn finish(self) -> EncodedTile {
        let header = TileHeader {
            source_base: self.source_base.into(),
            strip_count: (self.headers.len() as u32).into(),
            edge_count: self.summary.edge_count.into(),
            source_shift: self.source_shift as u8,
            reserved: [0; 3],
        };
        let mut bytes = Vec::with_capacity(self.size());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(self.headers.as_bytes());
        bytes.extend_from_slice(&self.payload);
        EncodedTile { bytes, weights: self.weights, summary: self.summary }
    }
}
