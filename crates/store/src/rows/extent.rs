use std::ops::Range;

use super::bits::RowBits;
use crate::ids::ShortId;

/// Where the row of a vertex lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowExtent {
    pub(super) source: ShortId,
    /// The chunks of the row: one, or one for each of its pieces.
    pub(super) chunks: Range<u32>,
    /// Bits in `rows.data`.
    pub(super) bits: Range<u64>,
    /// The bit in `rows.data` from which to read: the row may copy from rows that begin there.
    pub(super) read_first: u64,
    /// Positions of its edges among those of all rows, in a weighted graph; else empty.
    pub(super) edges: Range<u64>,
}

impl RowExtent {
    /// The vertex.
    pub fn source(&self) -> ShortId {
        self.source
    }

    /// Bytes of `rows.data` that hold the row and what it may copy from. Other rows may share the
    /// first and the last byte. Empty where the row has no bits.
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

    /// Finds the `bits` of this row, or of one shortly before it, in [`RowExtent::bytes`]. Returns
    /// `None` if they lie outside.
    #[inline(always)]
    pub(super) fn row<'b>(&self, bits: &Range<u64>, bytes: &'b [u8]) -> Option<RowBits<'b>> {
        let origin = self.read_first / 8 * 8;
        let is_within = bits.start >= self.read_first && bits.end <= self.bits.end;
        let row = || RowBits::new(bytes, bits.start - origin..bits.end.wrapping_sub(origin));
        if is_within { row() } else { None }
    }

    /// Whether the row has several pieces, each coded on its own.
    #[inline(always)]
    pub(super) fn is_cut(&self) -> bool {
        self.chunks.end - self.chunks.start > 1
    }

    /// Bits of the row; they tell roughly how many edges it has.
    #[inline]
    pub fn bit_count(&self) -> u64 {
        self.bits.end - self.bits.start
    }
}

/// A piece of a row: the edges to a range of targets. A row of more than 2^20 edges has several
/// pieces, so that workers share it and need not hold all of it. Other rows have one.
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

    /// The range of its targets. The ranges of a row's pieces ascend and cover all vertices.
    pub fn targets(&self) -> Range<ShortId> {
        ShortId(self.targets.start)..ShortId(self.targets.end)
    }
}
