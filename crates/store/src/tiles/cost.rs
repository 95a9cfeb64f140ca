//! What a strip takes in each encoding, counted without coding it.

use super::encode::EdgeWeight;
use super::strip::{Encoding, STRIP_HEADER_SIZE};

/// Counts what a strip would take in each encoding, edge by edge in the order of its sources.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StripCost {
    pub(super) edges: u32,
    cells: u32,
    skips8: u32,
    skips16: u32,
    last_source: u32,
    last_target: u32,
}

impl StripCost {
    #[inline]
    pub(super) fn add(&mut self, source: u32, target: u32) {
        if self.edges == 0 {
            self.last_source = source;
            self.cells = 1;
        } else {
            let gap = source - self.last_source;
            self.skips8 += gap / 255;
            self.skips16 += gap / 65535;
            // A mask holds each target once: a duplicate takes a cell of its own.
            self.cells += u32::from(gap > 0 || target == self.last_target);
        }
        self.edges += 1;
        self.last_source = source;
        self.last_target = target;
    }

    /// Bits of the cheapest encoding of this width, its header included.
    pub(super) fn cheapest<W: EdgeWeight>(&self, width: u32) -> (u64, Encoding) {
        let edges = u64::from(self.edges);
        if edges == 0 {
            return (0, Encoding::Gap8Low0);
        }
        let header = 8 * STRIP_HEADER_SIZE as u64;
        let weight_bits = if W::IS_WEIGHTED { 32 } else { 0 };
        let single = |gap: u64, skips: u32| {
            header + (edges + u64::from(skips)) * (gap + u64::from(width) + weight_bits)
        };
        let mask = |bits: u64| header + u64::from(self.cells + self.skips8) * (8 + bits);
        let never = (u64::MAX, Encoding::Mask8);
        let (gap8, gap16) = match width {
            0 => (Encoding::Gap8Low0, Encoding::Gap16Low0),
            4 => (Encoding::Gap8Low4, Encoding::Gap16Low4),
            8 => (Encoding::Gap8Low8, Encoding::Gap16Low8),
            12 => (Encoding::Gap8Low12, Encoding::Gap16Low12),
            16 => (Encoding::Gap8Low16, Encoding::Gap16Low16),
            _ => (Encoding::Mask8, Encoding::Mask8),
        };
        let masks = match width {
            _ if W::IS_WEIGHTED => never,
            3 => (mask(8), Encoding::Mask8),
            4 => (mask(16), Encoding::Mask16),
            _ => never,
        };
        if width == 3 {
            return masks;
        }
        [(single(8, self.skips8), gap8), (single(16, self.skips16), gap16), masks]
            .into_iter()
            .min_by_key(|&(bits, _)| bits)
            .unwrap_or(never)
    }
}
