//! The index of the rows: for each vertex, where its row lies. It stays in memory while the layout is
//! used: about `2 + log2(bits of a row)` bits a vertex, and as much again where edges have weights.
//!
//! Rows are indexed by chunk. A chunk in which most vertices have a row numbers its rows like its
//! vertices (compressed sparse rows, CSR). One in which few do lists those (doubly compressed, DCSR;
//! Buluc and Gilbert 2008), as one of the two indices that DFOGraph (Yu et al., PPoPP 2021, section
//! 3.2) chooses between. A row of very many edges has several chunks, its pieces.

mod loading;
mod record;

use std::ops::Range;

use super::elias_fano::{EliasFano, Shape, Walk};
use super::encoding::RowCode;
use super::extent::{RowExtent, RowPiece};
use crate::ids::ShortId;
pub(super) use loading::Expected;
pub(super) use record::{ChunkRecord, ChunkRows, PARAMETERS_SIZE, RowMeasure};

/// log2 of the most vertices of a chunk.
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
    /// Bits and weights of any row at the most.
    row_max: RowMeasure,
    /// The same of rows that are one chunk or in one, and of pieces.
    piece_max: RowMeasure,
    /// Sources whose rows are in several pieces, ascending.
    long: Vec<ShortId>,
}

/// Where a walk through the index has come to.
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
    /// Of a row in several pieces, how many are before this one.
    piece: u32,
    /// The first target that it may lead to.
    target_first: u32,
    data_first: u64,
    data_bits: u64,
    edge_first: u64,
    edge_count: u64,
    pub code: RowCode,
    /// How many bits before a row its reference may begin.
    reach: u64,
    /// The sources that have a row, where not all are indexed.
    sources: Option<Sequence>,
    ends: Sequence,
    edge_ends: Option<Sequence>,
    /// First word of the loops, and how many loops there are.
    loops: (usize, usize),
}

/// What a chunk holds.
#[derive(Debug)]
pub(super) struct RowChunk {
    /// The vertices whose rows begin in it.
    pub sources: Range<u32>,
    /// The places of its edges among those of all rows.
    pub edges: Range<u64>,
    /// The piece that it is, if it is one.
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
    /// Bytes that the index of a graph takes in memory when it was read from `len` bytes.
    pub fn size(len: u64) -> u64 {
        // Samples: 4 bytes for every 32 rows, which take at least 8 bytes. Chunks: less than twice
        // their records.
        2 * len
    }

    /// Bounds on the bits that are read of a row, and on its edges, the latter 0 without weights: those of the
    /// longest, and at the most twice those of an average row of its chunk more.
    pub fn row_max(&self) -> RowMeasure {
        self.row_max
    }

    /// The same where a row in several pieces is read piece by piece.
    pub fn piece_max(&self) -> RowMeasure {
        self.piece_max
    }

    /// Whether rows copy in any chunk.
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
            // The row of a piece begins in the first one.
            let first = if chunk.piece > 0 { end } else { chunk.source_first };
            let sources = first..if is_piece { first + u32::from(chunk.piece == 0) } else { end };
            RowChunk { sources, edges: self.edges(number as u32), piece }
        })
    }

    /// The places of the edges of a chunk among those of all rows.
    fn edges(&self, number: u32) -> Range<u64> {
        let chunk = self.chunk(number);
        chunk.edge_first..chunk.edge_first + chunk.edge_count
    }

    /// The pieces of a row: one, if it is not cut.
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

    /// Where the row of `source` lies that is in several pieces, of which `last` is the last chunk.
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

    /// Where the edges of `source` lie that a chunk holds, which has no other source.
    pub fn piece(&self, number: u32, source: ShortId) -> RowExtent {
        let chunk = self.chunk(number);
        let bits = chunk.data_first..chunk.data_first + chunk.data_bits;
        let edges = if chunk.edge_ends.is_some() { self.edges(number) } else { 0..0 };
        RowExtent { source, chunks: number..number + 1, read_first: bits.start, bits, edges }
    }

    /// The row so many vertices before another, if that is in the same chunk.
    #[inline]
    pub fn before(&self, extent: &RowExtent, distance: u32) -> Option<RowExtent> {
        let source = extent.source.0.checked_sub(distance)?;
        let is_in_chunk = source >= self.chunk(extent.chunks.start).source_first;
        is_in_chunk.then(|| self.extent(ShortId(source)))
    }

    /// A chunk.
    #[inline]
    pub fn chunk(&self, number: u32) -> &Chunk {
        &self.chunks[number as usize]
    }

    /// Where the row of a vertex lies; the row of one without edges is empty. About 15 ns.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn extent(&self, source: ShortId) -> RowExtent {
        self.extent_from(source, &mut IndexWalk::default())
    }

    /// As [`RowIndex::extent`], about 5 ns where `walk` comes by ascending vertices close to each other.
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
        let read_first = bits.start.saturating_sub(chunk.reach).max(chunk.data_first);
        RowExtent { source, chunks: number..number + 1, bits, read_first, edges }
    }

    /// How many loops the index tells of a vertex.
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

    /// The chunk that a source belongs to, or the last piece of its row.
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

/// What lies between the end before a row and its own, both at most `count`, counted from `first`. A source
/// without a row comes with the number of rows before it.
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
        // A vertex without edges has its place too: who reads a range may begin there.
        Err(0) => (0, 0),
        Err(next) => (u64::MAX, ends.walk_to(next - 1, walk).1),
    };
    let end = end.min(count);
    // A damaged sequence may descend within a few numbers: then the row is empty.
    first + start.min(end)..first + end
}
