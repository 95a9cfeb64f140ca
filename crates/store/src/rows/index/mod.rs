//! The index of the rows: where the row of each vertex lies. It stays in memory while the layout is
//! used. It takes about `2 + log2(bits of a row)` bits a vertex, and as much again for weights.
//!
//! Rows are indexed by chunk. Where most vertices of a chunk have edges, every vertex has a row
//! (compressed sparse rows, CSR). Where few have, the chunk lists those (doubly compressed, DCSR;
//! Buluc and Gilbert 2008). DFOGraph chooses between these two indices as well (Yu et al., PPoPP
//! 2021, section 3.2). A row of more than 2^20 edges has several chunks, its pieces.

mod loading;
mod record;

use std::ops::Range;

use super::elias_fano::{EliasFano, Shape, Walk};
use super::encoding::RowCode;
use super::extent::{RowExtent, RowPiece};
use crate::ids::ShortId;
pub(super) use loading::Expected;
pub(super) use record::{ChunkRecord, ChunkRows, PARAMETERS_SIZE, RowMeasure};

/// log2 of the greatest number of vertices in a chunk.
pub(super) const CHUNK_LOG2_MAX: u32 = 16;
/// A chunk of more edges is halved, down to one vertex.
pub(super) const CHUNK_EDGES_MAX: u64 = 1 << 20;

/// The index in memory.
#[derive(Debug)]
pub(super) struct RowIndex {
    chunks: Vec<Chunk>,
    vertex_count: u32,
    /// The first chunk of each range of 2^16 vertices.
    first_chunks: Vec<u32>,
    words: Vec<u64>,
    samples: Vec<u32>,
    /// Upper bounds for the bits and edges of any row.
    row_max: RowMeasure,
    /// The same, where a row in several pieces counts as its longest piece.
    piece_max: RowMeasure,
    /// Sources whose rows are in several pieces, ascending.
    long: Vec<ShortId>,
}

/// The position of a walk through the index.
#[derive(Debug, Clone, Copy, Default)]
pub struct IndexWalk {
    chunk: Option<u32>,
    ends: Walk,
    edge_ends: Walk,
}

/// A chunk in memory.
#[derive(Debug)]
pub(super) struct Chunk {
    source_first: u32,
    /// Number of pieces of the same row before this one.
    piece: u32,
    /// The first target of its range, if it is a piece.
    target_first: u32,
    data_first: u64,
    data_bits: u64,
    edge_first: u64,
    edge_count: u64,
    pub code: RowCode,
    /// How many bits before a row its reference may begin.
    reach: u64,
    /// The sources with a row, if some have none.
    sources: Option<Sequence>,
    ends: Sequence,
    edge_ends: Option<Sequence>,
    /// First word of the loops, and number of loops.
    loops: (usize, usize),
}

/// The content of a chunk.
#[derive(Debug)]
pub(super) struct RowChunk {
    /// The vertices whose rows begin in it.
    pub sources: Range<u32>,
    /// The positions of its edges among those of all rows.
    pub edges: Range<u64>,
    /// The piece, if the chunk is one.
    pub piece: Option<RowPiece>,
}

/// A sequence among the words.
#[derive(Debug, Clone, Copy)]
struct Sequence {
    shape: Shape,
    word: usize,
    sample: usize,
}

impl RowIndex {
    /// Bytes in memory of an index that has `len` bytes on disk.
    pub fn size(len: u64) -> u64 {
        // Samples: 4 bytes per 32 rows, which take at least 8 bytes. Chunks: less than twice their
        // records.
        2 * len
    }

    /// Upper bounds for the bits read of a row and for its edges (0 without weights). They exceed
    /// the longest row by at most twice the average row of its chunk.
    pub fn row_max(&self) -> RowMeasure {
        self.row_max
    }

    /// The same bounds, where a row in several pieces is read piece by piece.
    pub fn piece_max(&self) -> RowMeasure {
        self.piece_max
    }

    /// Whether the rows of some chunk copy.
    pub fn copies(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.reach > 0)
    }

    /// The vertices whose rows are in several pieces, ascending.
    pub fn long(&self) -> &[ShortId] {
        &self.long
    }

    /// The chunks, in their order.
    pub fn chunks(&self) -> impl Iterator<Item = RowChunk> + '_ {
        (0..self.chunks.len()).map(|number| {
            let chunk = &self.chunks[number];
            let next = self.chunks.get(number + 1);
            let end = next.map_or(self.vertex_count, |next| next.source_first);
            let is_piece = chunk.piece > 0 || end == chunk.source_first;
            let source = ShortId(chunk.source_first);
            let piece = if is_piece { self.pieces(source).nth(chunk.piece as usize) } else { None };
            // A row in pieces belongs to the chunk of its first piece.
            let first = if chunk.piece > 0 { end } else { chunk.source_first };
            let sources = first..if is_piece { first + u32::from(chunk.piece == 0) } else { end };
            RowChunk { sources, edges: self.edges(number as u32), piece }
        })
    }

    /// Returns the positions of the edges of a chunk among those of all rows.
    fn edges(&self, number: u32) -> Range<u64> {
        let chunk = self.chunk(number);
        chunk.edge_first..chunk.edge_first + chunk.edge_count
    }

    /// The pieces of a row; one, if it is not cut.
    pub fn pieces(&self, source: ShortId) -> impl ExactSizeIterator<Item = RowPiece> + Clone + '_ {
        let whole = self.extent(source);
        whole.chunks.clone().map(move |number| {
            let chunk = self.chunk(number);
            let (is_first, is_last) =
                (number == whole.chunks.start, number + 1 == whole.chunks.end);
            let extent =
                if is_first && is_last { whole.clone() } else { self.piece(number, source) };
            let first = if is_first { 0 } else { chunk.target_first };
            let next = self.chunks.get(number as usize + 1).filter(|_| !is_last);
            let end = next.map_or(self.vertex_count, |next| next.target_first);
            RowPiece { extent, targets: first..end }
        })
    }

    /// The extent of a row in several pieces, the last of which is the chunk `last`.
    #[cold]
    fn long_extent(&self, source: ShortId, last: u32) -> RowExtent {
        let first = self.piece(last - self.chunk(last).piece, source);
        let last = self.piece(last, source);
        RowExtent {
            chunks: first.chunks.start..last.chunks.end,
            bits: first.bits.start..last.bits.end,
            edges: first.edges.start..last.edges.end,
            ..first
        }
    }

    /// The extent of a piece, which is a chunk with no other source.
    pub fn piece(&self, number: u32, source: ShortId) -> RowExtent {
        let chunk = self.chunk(number);
        let bits = chunk.data_first..chunk.data_first + chunk.data_bits;
        let edges = if chunk.edge_ends.is_some() { self.edges(number) } else { 0..0 };
        RowExtent { source, chunks: number..number + 1, read_first: bits.start, bits, edges }
    }

    /// The extent of the row `distance` vertices before another, if both are in the same chunk.
    #[inline]
    pub fn before(&self, extent: &RowExtent, distance: u32) -> Option<RowExtent> {
        let source = extent.source.0.checked_sub(distance)?;
        let is_in_chunk = source >= self.chunk(extent.chunks.start).source_first;
        is_in_chunk.then(|| self.extent(ShortId(source)))
    }

    #[inline]
    pub fn chunk(&self, number: u32) -> &Chunk {
        &self.chunks[number as usize]
    }

    /// Looks up where the row of a vertex lies. A vertex without edges has an empty row. About 15
    /// ns.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn extent(&self, source: ShortId) -> RowExtent {
        self.extent_from(source, &mut IndexWalk::default())
    }

    /// As [`RowIndex::extent`]. Takes about 5 ns where a walk visits vertices in ascending order
    /// and close together.
    #[inline(always)]
    pub fn extent_from(&self, source: ShortId, walk: &mut IndexWalk) -> RowExtent {
        let number = self.chunk_of(source.0);
        let chunk = &self.chunks[number as usize];
        if chunk.piece > 0 {
            return self.long_extent(source, number);
        }
        let local = source.0 - chunk.source_first;
        let row = match chunk.sources {
            None => Ok(local as usize),
            Some(sources) => self.view(sources).position(u64::from(local)),
        };
        if walk.chunk != Some(number) {
            *walk = IndexWalk { chunk: Some(number), ..IndexWalk::default() };
        }
        let ends = self.view(chunk.ends);
        let bits = range_at(&ends, row, chunk.data_first, chunk.data_bits, &mut walk.ends);
        let edges = match chunk.edge_ends {
            None => 0..0,
            Some(ends) => {
                let (first, count) = (chunk.edge_first, chunk.edge_count);
                range_at(&self.view(ends), row, first, count, &mut walk.edge_ends)
            }
        };
        // No reference lies before the chunk.
        let read_first = bits.start.saturating_sub(chunk.reach).max(chunk.data_first);
        RowExtent { source, chunks: number..number + 1, bits, read_first, edges }
    }

    /// Number of loops at a vertex that the index stores.
    pub fn loops(&self, chunk: u32, source: ShortId) -> usize {
        let chunk = &self.chunks[chunk as usize];
        let (first, count) = chunk.loops;
        let at = |index: usize| (self.words[first + index / 4] >> (16 * (index % 4))) as u16;
        let local = source.0 - chunk.source_first;
        let find = |is_before: &dyn Fn(u32) -> bool| {
            let (mut low, mut high) = (0, count);
            while low < high {
                let middle = low.midpoint(high);
                if is_before(u32::from(at(middle))) { low = middle + 1 } else { high = middle }
            }
            low
        };
        if count == 0 {
            return 0;
        }
        find(&|other| other <= local).saturating_sub(find(&|other| other < local))
    }

    /// The chunk of a source, or the last of its pieces.
    #[inline]
    fn chunk_of(&self, source: u32) -> u32 {
        let window = (source >> CHUNK_LOG2_MAX) as usize;
        let (first, end) = (self.first_chunks[window], self.first_chunks[window + 1]);
        if end == first + 1 {
            return first;
        }
        let chunks = &self.chunks[first as usize..end as usize];
        first + chunks.partition_point(|chunk| chunk.source_first <= source) as u32 - 1
    }

    #[inline]
    fn view(&self, sequence: Sequence) -> EliasFano<'_> {
        let Sequence { shape, word, sample } = sequence;
        let words = &self.words[word..word + shape.words()];
        EliasFano::new(shape, words, &self.samples[sample..sample + shape.samples()])
    }
}

/// Returns the range between the end of the previous row and the end of this one. Both are at most
/// `count` and count from `first`. For a source without a row, `row` is `Err` with the number of
/// rows before it.
#[inline(always)]
fn range_at(
    ends: &EliasFano<'_>,
    row: Result<usize, usize>,
    first: u64,
    count: u64,
    walk: &mut Walk,
) -> Range<u64> {
    let (start, end) = match row {
        Ok(row) => ends.walk_to(row, walk),
        // A vertex without edges has a position too: a range of rows may begin there.
        Err(0) => (0, 0),
        Err(next) => (u64::MAX, ends.walk_to(next - 1, walk).1),
    };
    let end = end.min(count);
    // A damaged sequence may descend here and there; the row is empty then.
    first + start.min(end)..first + end
}
