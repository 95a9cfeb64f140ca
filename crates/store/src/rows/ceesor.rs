//! The encoding of CEESOR: A. Roy, K. Nilakant, V. Dalibard, E. Yoneki, *Mitigating I/O latency in
//! SSD-based graph traversal*, University of Cambridge Computer Laboratory, Technical Report 823,
//! 2012.
//!
//! A neighbour is its offset to the source. Offsets are sorted by magnitude, so the bits that they
//! need only grow along the row. The width begins at 1. For each offset follow:
//!
//! * a 0 for each bit by which the width grows,
//! * the magnitude in that width: its highest bit, which is a 1, then the others, the lowest first,
//! * the sign, 1 for a neighbour before the source.
//!
//! So the highest bit also marks the end of the growth, at no cost. A row of magnitudes `m` takes
//! `sum(bits(m) + 1) + bits(greatest m) - 1` bits. A self-loop has no magnitude: the row omits it,
//! and the index stores it.

use super::bits::{BitWriter, RowBits};
use std::ops::ControlFlow;

/// Offsets to the source by magnitude, in bits that grow along the row. It has no parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CeesorCode;

/// Greatest width of a magnitude.
const WIDTH_MAX: u32 = 32;

/// The order of neighbours in a row: by magnitude; of two equal ones, the one before the source
/// comes first.
pub(super) fn sort_key(source: u32, target: u32) -> (u32, bool) {
    (target.abs_diff(source), target > source)
}

impl CeesorCode {
    /// Appends a row. Its targets come in the order of [`sort_key`], without the source.
    pub fn encode(&self, source: u32, targets: &[u32], out: &mut BitWriter) {
        let mut width = 1;
        for &target in targets {
            debug_assert_ne!(target, source, "a self-loop is a flag of the index");
            let magnitude = target.abs_diff(source);
            let needed = 32 - magnitude.leading_zeros();
            out.write(1 << (needed - width), needed - width + 1);
            let below_highest = u64::from(magnitude) & !(1 << (needed - 1));
            let sign = u64::from(target < source) << (needed - 1);
            out.write(below_highest | sign, needed);
            width = needed;
        }
    }

    /// Folds the neighbours, by ascending magnitude, until `step` breaks.
    #[inline]
    pub fn try_fold<A>(
        &self,
        source: u32,
        row: RowBits<'_>,
        vertex_count: u32,
        mut folded: A,
        mut step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        let source = u64::from(source);
        let mut position = row.start();
        let mut width = 1;
        while position < row.end() {
            let (mut word, known) = row.word(position);
            let growth = word.trailing_zeros();
            width += growth;
            if width > WIDTH_MAX {
                return Err(format!("a magnitude of more than {WIDTH_MAX} bits"));
            }
            position += u64::from(growth) + 1;
            let behind = position + u64::from(width);
            if behind > row.end() {
                return Err("a code that runs over the end of its row".to_owned());
            }
            word = if growth + 1 + width <= known {
                word >> growth >> 1
            } else {
                row.word(position).0
            };
            let below_highest = word & !(u64::MAX << (width - 1));
            let magnitude = below_highest | 1 << (width - 1);
            let is_before = word >> (width - 1) & 1 == 1;
            let target =
                // A target before vertex 0 wraps around, and is refused below.
                if is_before { source.wrapping_sub(magnitude) } else { source + magnitude };
            if target >= u64::from(vertex_count) {
                return Err(super::bits::no_vertex(target, vertex_count));
            }
            match step(folded, target as u32) {
                ControlFlow::Continue(next) => folded = next,
                ControlFlow::Break(last) => return Ok(last),
            }
            position = behind;
        }
        Ok(folded)
    }
}
