//! Where the row of a vertex lies.

use std::ops::Range;

use super::bits::RowBits;
use crate::ids::ShortId;

/// Where the row of a vertex lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowExtent {
    pub(super) source: ShortId,
    /// One, or of a row in several pieces all of them.
    pub(super) chunks: Range<u32>,
    /// Bits in `rows.data`.
    pub(super) bits: Range<u64>,
    /// The bit in `rows.data` from which on it has to be read: what it copies from lies before it.
    pub(super) read_first: u64,
    /// Places of its edges among those of all rows, in a weighted graph; else empty.
    pub(super) edges: Range<u64>,
}

impl RowExtent {
    /// The vertex.
    pub fn source(&self) -> ShortId {
        self.source
    }

    /// Bytes of `rows.data` that hold the row and what it may copy from; the first and the last may be
    /// shared with others. None where the row has no bits.
    #[inline]
    pub fn bytes(&self) -> Range<u64> {
        let first = self.read_first / 8;
        if self.bits.is_empty() { first..first } else { first..self.bits.end.div_ceil(8) }
    }

    /// Bytes of `rows.weights` that hold the weights; empty in an unweighted graph.
    #[inline]
    pub fn weight_bytes(&self) -> Range<u64> {
        4 * self.edges.start..4 * self.edges.end
    }

    /// The bits of this row, or of one before it that can be read with it, among [`RowExtent::bytes`].
    /// None if it cannot.
    #[inline(always)]
    pub(super) fn row<'b>(&self, bits: &Range<u64>, bytes: &'b [u8]) -> Option<RowBits<'b>> {
        let origin = self.read_first / 8 * 8;
        let is_within = bits.start >= self.read_first && bits.end <= self.bits.end;
        let row = || RowBits::new(bytes, bits.start - origin..bits.end.wrapping_sub(origin));
        if is_within { row() } else { None }
    }

    /// Whether it spans several pieces, which are coded one by one.
    #[inline(always)]
    pub(super) fn is_cut(&self) -> bool {
        self.chunks.end - self.chunks.start > 1
    }

    /// Bits of the row, which tell about how many edges it has.
    #[inline]
    pub fn bit_count(&self) -> u64 {
        self.bits.end - self.bits.start
    }
}

/// A piece of a row: the edges to a range of targets. A row of very many edges is coded in several, so that workers
/// share it and need not hold all of it; others are in one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPiece {
    pub(super) extent: RowExtent,
    pub(super) targets: Range<u32>,
}

impl RowPiece {
    /// The vertex.
    pub fn source(&self) -> ShortId {
        self.extent.source
    }

    /// The vertices that it may lead to: those of the pieces of a row ascend, and are all vertices together.
    pub fn targets(&self) -> Range<ShortId> {
        ShortId(self.targets.start)..ShortId(self.targets.end)
    }
}
