//! Codes strips and puts them together to tiles.

use zerocopy::IntoBytes;

use super::encode::{EdgeWeight, EncodedTile, TileEdge};
use super::strip::{ENTRY_COUNT_MAX, Encoding, STRIP_HEADER_SIZE, StripHeader};
use super::strip::{TILE_HEADER_SIZE, TileHeader};
use super::summary::TileSummary;
use crate::error::Result;

/// Bytes at which a tile is closed.
const TILE_SIZE_TARGET: usize = 256 << 10;

/// A strip of the chosen division.
#[derive(Debug, Clone, Copy)]
pub(super) struct StripChoice {
    pub(super) target_start: u16,
    pub(super) encoding: Encoding,
}

/// Codes the strips one after the other and closes a tile whenever it is large enough.
pub(super) fn write_tiles<W: EdgeWeight>(
    edges: &[TileEdge<W>],
    strips: &[StripChoice],
    ends: &[u32],
    emit: &mut dyn FnMut(EncodedTile) -> Result<()>,
) -> Result<()> {
    let source_first = edges.iter().map(|e| e.source).min().unwrap_or(0);
    let source_last = edges.iter().map(|e| e.source).max().unwrap_or(0);
    let mut tile = TileBuilder::<W>::new(source_first, source_last);
    let mut begin = 0;
    for (strip, &end) in strips.iter().zip(ends) {
        let mut rest = &edges[begin..end as usize];
        begin = end as usize;
        while !rest.is_empty() {
            let taken = tile.push_strip(*strip, rest);
            rest = &rest[taken..];
            if tile.size() >= TILE_SIZE_TARGET {
                let full =
                    std::mem::replace(&mut tile, TileBuilder::new(source_first, source_last));
                emit(full.finish())?;
            }
        }
    }
    if tile.edge_count > 0 {
        emit(tile.finish())?;
    }
    Ok(())
}

/// A tile that grows strip by strip.
struct TileBuilder<W> {
    source_base: u32,
    source_shift: u32,
    edge_count: u32,
    headers: Vec<StripHeader>,
    payload: Vec<u8>,
    weights: Vec<f32>,
    summary: TileSummary,
    coder: EntryCoder<W>,
}

impl<W: EdgeWeight> TileBuilder<W> {
    fn new(source_first: u32, source_last: u32) -> Self {
        let span_bits = 32 - (source_last - source_first).leading_zeros();
        TileBuilder {
            source_base: source_first,
            source_shift: span_bits.saturating_sub(16),
            edge_count: 0,
            headers: Vec::new(),
            payload: Vec::new(),
            weights: Vec::new(),
            summary: TileSummary::empty(source_first, source_last),
            coder: EntryCoder::default(),
        }
    }

    fn size(&self) -> usize {
        TILE_HEADER_SIZE + self.headers.len() * STRIP_HEADER_SIZE + self.payload.len()
    }

    /// Codes as many of the edges as one strip can hold; returns how many.
    fn push_strip(&mut self, strip: StripChoice, edges: &[TileEdge<W>]) -> usize {
        let source_start = (edges[0].source - self.source_base) >> self.source_shift;
        let from = self.source_base + (source_start << self.source_shift);
        let taken = self.coder.code(strip.encoding, from, edges);
        for edge in &edges[..taken] {
            self.summary.add(edge.source, edge.target);
        }
        self.headers.push(StripHeader {
            source_start: (source_start as u16).into(),
            target_start: strip.target_start.into(),
            count: (self.coder.count as u16).into(),
            encoding: strip.encoding as u8,
            reserved: 0,
        });
        self.coder.append_to(&mut self.payload, &mut self.weights);
        self.edge_count += taken as u32;
        taken
    }

    fn finish(mut self) -> EncodedTile {
        let header = TileHeader {
            source_base: self.source_base.into(),
            strip_count: (self.headers.len() as u32).into(),
            edge_count: self.edge_count.into(),
            source_shift: self.source_shift as u8,
            reserved: [0; 3],
        };
        let mut bytes = Vec::with_capacity(self.size());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(self.headers.as_bytes());
        bytes.extend_from_slice(&self.payload);
        self.summary.edge_count = self.edge_count;
        EncodedTile { bytes, weights: self.weights, summary: self.summary }
    }
}

/// The entries of one strip while they are coded: a plane of gaps, one of bytes, one of nibbles.
#[derive(Debug, Default)]
struct EntryCoder<W> {
    count: usize,
    gaps: Vec<u8>,
    bytes: Vec<u8>,
    nibbles: Vec<u8>,
    weights: Vec<f32>,
    unused: std::marker::PhantomData<W>,
}

impl<W: EdgeWeight> EntryCoder<W> {
    /// Codes edges from the source `from` on until the strip is full; returns how many.
    fn code(&mut self, encoding: Encoding, from: u32, edges: &[TileEdge<W>]) -> usize {
        self.count = 0;
        self.gaps.clear();
        self.bytes.clear();
        self.nibbles.clear();
        self.weights.clear();
        if encoding.is_mask() {
            self.code_masks(encoding, from, edges)
        } else {
            self.code_singles(encoding, from, edges)
        }
    }

    fn code_singles(&mut self, encoding: Encoding, from: u32, edges: &[TileEdge<W>]) -> usize {
        let low_mask = (1u32 << encoding.width_log2()) - 1;
        let mut last = from;
        for (index, edge) in edges.iter().enumerate() {
            let gap = edge.source - last;
            let skips = (gap / encoding.skip()) as usize;
            // A strip ends before it overflows; the next one starts at the edge's own source.
            if self.count + skips + 1 > ENTRY_COUNT_MAX {
                return index;
            }
            for _ in 0..skips {
                self.push_single(encoding, encoding.skip(), 0, 0.0);
            }
            let low = edge.target & low_mask;
            self.push_single(encoding, gap % encoding.skip(), low, edge.weight.to_f32());
            last = edge.source;
        }
        edges.len()
    }

    fn push_single(&mut self, encoding: Encoding, gap: u32, low: u32, weight: f32) {
        self.gaps.extend_from_slice(&gap.to_le_bytes()[..encoding.gap_size()]);
        let mut push_nibble = |nibble: u8| {
            if self.count.is_multiple_of(2) {
                self.nibbles.push(nibble);
            } else if let Some(last) = self.nibbles.last_mut() {
                *last |= nibble << 4;
            }
        };
        match encoding.width_log2() {
            0 => {}
            4 => push_nibble(low as u8),
            8 => self.bytes.push(low as u8),
            12 => {
                self.bytes.push(low as u8);
                push_nibble((low >> 8) as u8);
            }
            _ => self.bytes.extend_from_slice(&(low as u16).to_le_bytes()),
        }
        if W::IS_WEIGHTED {
            self.weights.push(weight);
        }
        self.count += 1;
    }

    fn code_masks(&mut self, encoding: Encoding, from: u32, edges: &[TileEdge<W>]) -> usize {
        let width = 1u32 << encoding.width_log2();
        let mut last = from;
        let mut index = 0;
        while index < edges.len() {
            let source = edges[index].source;
            let mut gap = source - last;
            let skips = (gap.saturating_sub(1) / 255) as usize;
            if self.count + skips + 1 > ENTRY_COUNT_MAX {
                return index;
            }
            while gap > 255 {
                self.push_mask(encoding, 255, 0);
                gap -= 255;
            }
            let (mut mask, mut previous) = (0, u32::MAX);
            while index < edges.len() && edges[index].source == source {
                let target = edges[index].target;
                if target == previous {
                    break;
                }
                mask |= 1 << (target % width);
                previous = target;
                index += 1;
            }
            self.push_mask(encoding, gap, mask);
            last = source;
        }
        edges.len()
    }

    fn push_mask(&mut self, encoding: Encoding, gap: u32, mask: u32) {
        self.gaps.push(gap as u8);
        let size = 1 << (encoding.width_log2() - 3);
        self.bytes.extend_from_slice(&mask.to_le_bytes()[..size]);
        self.count += 1;
    }

    fn append_to(&self, payload: &mut Vec<u8>, weights: &mut Vec<f32>) {
        payload.extend_from_slice(&self.gaps);
        payload.extend_from_slice(&self.bytes);
        payload.extend_from_slice(&self.nibbles);
        weights.extend_from_slice(&self.weights);
    }
}
