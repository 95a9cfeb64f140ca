//! Neighbours without compression: ascending ids of a fixed width.

use super::bits::{BitWriter, RowBits};
use std::ops::ControlFlow;

/// Ids of `ceil(log2 V)` bits each, at least 1, ascending: `degree * ceil(log2 V)` bits a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlainCode {
    width: u32,
}

impl PlainCode {
    /// The code for ids below `vertex_count`.
    pub fn new(vertex_count: u32) -> Self {
        Self { width: (32 - vertex_count.saturating_sub(1).leading_zeros()).max(1) }
    }

    /// Appends a row. Its targets must ascend.
    pub fn encode(&self, targets: &[u32], out: &mut BitWriter) {
        for &target in targets {
            out.write(u64::from(target), self.width);
        }
    }

    /// Folds the neighbours until `step` breaks. Each takes a load, a shift and a mask, and none
    /// waits for another.
    #[inline]
    pub fn try_fold<A>(
        &self,
        row: RowBits<'_>,
        vertex_count: u32,
        mut folded: A,
        mut step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        let (width, mask) = (u64::from(self.width), (1 << self.width) - 1);
        let mut position = row.start();
        while position + width <= row.end() {
            let target = (row.bits(position) & mask) as u32;
            if target >= vertex_count {
                return Err(super::bits::no_vertex(u64::from(target), vertex_count));
            }
            match step(folded, target) {
                ControlFlow::Continue(next) => folded = next,
                ControlFlow::Break(last) => return Ok(last),
            }
            position += width;
        }
        match position == row.end() {
            true => Ok(folded),
            false => Err(format!("a row of {} bits, not a multiple of {width}", row.len())),
        }
    }
}
