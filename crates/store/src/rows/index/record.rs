//! The index in the file.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::rows::elias_fano::{Shape, write};

/// A chunk in the file: its sources, the place of its bits and words, its number of edges.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C)]
pub(in crate::rows) struct ChunkRecord {
    pub source_first: U32,
    pub source_count: U32,
    /// Number of indexed rows: that of the sources (CSR), or fewer (DCSR).
    pub row_count: U32,
    /// Number of loops stored in the index, for an encoding without loops.
    pub loop_count: U32,
    /// First byte in `rows.data`.
    pub data_offset: U64,
    /// Bits of all rows.
    pub data_bits: U64,
    /// Edges of the chunks before it.
    pub edge_first: U64,
    pub edge_count: U64,
    /// First word of its part of the index. The first word behind the records is 0.
    pub word_first: U64,
    /// The parameters of the encoding, then zeros.
    pub parameters: [u8; PARAMETERS_SIZE],
}

/// Bytes of a record for the parameters of an encoding.
pub(in crate::rows) const PARAMETERS_SIZE: usize = 32;

/// Words of a record. Records and words share one array.
pub(in crate::rows) const RECORD_WORDS: usize = size_of::<ChunkRecord>() / size_of::<u64>();
const _: () = assert!(size_of::<ChunkRecord>() == 88);

/// A number of bits and a number of edges, of one or several rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::rows) struct RowMeasure {
    pub bits: u64,
    pub edges: u64,
}

impl RowMeasure {
    /// The greater number of bits, and the greater number of edges.
    pub fn max(self, other: RowMeasure) -> RowMeasure {
        RowMeasure { bits: self.bits.max(other.bits), edges: self.edges.max(other.edges) }
    }
}

/// The rows of a chunk while it is written.
#[derive(Debug, Default)]
pub(in crate::rows) struct ChunkRows {
    /// By vertex: the bits and edges that the chunk has up to the end of its row.
    pub ends: Vec<RowMeasure>,
    /// Vertices with a loop that the index stores, counted from the chunk's first, ascending.
    pub loops: Vec<u16>,
    /// The first target of its range, if the chunk is a piece of a row.
    pub target_first: Option<u32>,
}

impl ChunkRows {
    /// Appends the words of the index. Returns the number of indexed rows.
    pub fn write(&self, is_weighted: bool, words: &mut Vec<u64>) -> u32 {
        let RowMeasure { bits, edges } = self.ends.last().copied().unwrap_or_default();
        let last_source = self.ends.len().saturating_sub(1) as u64;
        let is_row = |&index: &usize| {
            let before = index.checked_sub(1).map_or(0, |before| self.ends[before].edges);
            self.ends[index].edges > before
        };
        let mut rows: Vec<usize> = (0..self.ends.len()).filter(is_row).collect();
        let size = |rows: usize| {
            let edges = if is_weighted { Shape::new(rows, edges).words() } else { 0 };
            Shape::new(rows, bits).words() + edges
        };
        let sparse = size(rows.len()) + Shape::new(rows.len(), last_source).words();
        // A dense index answers faster, so a sparse one must save half.
        if 2 * sparse < size(self.ends.len()) {
            let sources: Vec<u64> = rows.iter().map(|&row| row as u64).collect();
            write(&sources, last_source, words);
        } else {
            rows = (0..self.ends.len()).collect();
        }
        let column = |pick: fn(&RowMeasure) -> u64| {
            rows.iter().map(|&row| pick(&self.ends[row])).collect::<Vec<u64>>()
        };
        write(&column(|end| end.bits), bits, words);
        if is_weighted {
            write(&column(|end| end.edges), edges, words);
        }
        words.extend(self.loops.chunks(4).map(|loops| {
            loops.iter().rev().fold(0, |word, &source| word << 16 | u64::from(source))
        }));
        words.extend(self.target_first.map(u64::from));
        rows.len() as u32
    }
}
