//! Sorted neighbours as gaps, in codes fitted to each chunk of rows.
//!
//! The first neighbour is coded by its offset to the source, each further one by its gap to the one
//! before. There are three codes ([`super::class_code`]): for the first neighbour; for gaps behind a
//! neighbour near the source, where an order with locality has more neighbours; and for other gaps.
//! The last two codes are the same where a distinction saves little.
//!
//! Features that a chunk does not have cost nothing. If no vertex has a loop, the numbering of ids
//! omits the source. If no arc is repeated, a gap of one is coded as 0.
//!
//! A code is a class in unary and an offset, whose bits the class gives. The classes of a row stand
//! at its front, one after the other; the offsets stand at its end, the first one last:
//!
//! ```text
//! class 1 | class 2 | ... | class n | offset n | ... | offset 2 | offset 1
//! ```
//!
//! So a reader finds the next class and the next offset before it has decoded the last offset. The
//! row ends where the two meet. The last offset, in the middle, is written without leading zeros;
//! the space left tells its length. A row takes the sum of its codes less those zeros.

mod blocks;

use std::ops::ControlFlow;

use super::bits::{BitWriter, RowBits};
use super::class_code::{CLASSES, ClassCode};
use super::codes::{CodeWriter, Codes, cut_off};
use super::fit_code::{Histogram, fit_code};
use blocks::{BLOCK, Blocks, Bounds, OneByOne, ReadBlock};

/// A neighbour is near if it is at most this far from the source. Values from 8 to 64 differ by
/// less than 1 % on every graph measured; without the distinction, p2p-Gnutella31 takes 6 % more
/// bits.
const NEAR_MAX: u64 = 16;

/// Near and far gaps have separate codes where that saves one bit in `NEAR_GAIN_MIN`. The
/// distinction needs a branch that is often mispredicted: on cnr-2000, where it would save 2 %, it
/// costs a fifth of the speed.
const NEAR_GAIN_MIN: u64 = 33;

/// Sorted neighbours as gaps, in codes fitted to a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GapCode {
    first: ClassCode,
    near: ClassCode,
    far: ClassCode,
    has_loops: bool,
    has_duplicates: bool,
    /// Whether the codes of near and far gaps differ.
    tells_near: bool,
    /// Reads several far gaps at once, where the processor can.
    blocks: Option<Blocks>,
}

/// Frequency of the numbers in each code.
struct Counts {
    first: Histogram,
    near: Histogram,
    far: Histogram,
}

impl Counts {
    fn of(arcs: impl Iterator<Item = (u32, u32)>, numbering: impl Fn(u32) -> Numbering) -> Self {
        let [mut first, mut near, mut far] = [(); 3].map(|()| Histogram::new());
        let mut before: Option<(u32, u64)> = None;
        // `for_each` is faster than `next` on chained iterators.
        arcs.for_each(|(source, target)| {
            let numbering = numbering(source);
            let number = numbering.number(target);
            match before {
                Some((last, previous)) if last == source => {
                    let counts = if numbering.is_near(previous) { &mut near } else { &mut far };
                    counts.add(number - previous - numbering.gap_min);
                }
                _ => first.add(numbering.fold(number)),
            }
            before = Some((source, number));
        });
        Self { first, near, far }
    }

    /// Makes the codes hold the numbers of `other` without counting them.
    fn cover(&mut self, other: &Self) {
        let Self { first, near, far } = other;
        self.first.cover(first);
        self.near.cover(near);
        self.far.cover(far);
    }
}

impl GapCode {
    /// Bytes of the stored parameters.
    pub const SIZE: usize = 1 + 3 * CLASSES;

    /// Fits a code to these arcs (source, target), which ascend by source and target. Iterates
    /// twice.
    pub fn fit(arcs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let (mut has_loops, mut has_duplicates, mut before) = (false, false, None);
        arcs.clone().for_each(|arc| {
            has_loops |= arc.0 == arc.1;
            has_duplicates |= before.replace(arc) == Some(arc);
        });
        let counts = Counts::of(arcs, |source| Numbering::new(source, has_loops, has_duplicates));
        Self::suiting(&counts, has_loops, has_duplicates)
    }

    /// Fits a code to some of the arcs that this one was fitted to. The code can hold all of them.
    pub fn fit_again(
        &self,
        some: impl Iterator<Item = (u32, u32)>,
        all: impl Iterator<Item = (u32, u32)>,
    ) -> Self {
        let mut counts = Counts::of(some, |source| self.numbering(source));
        counts.cover(&Counts::of(all, |source| self.numbering(source)));
        Self::suiting(&counts, self.has_loops, self.has_duplicates)
    }

    fn suiting(counts: &Counts, has_loops: bool, has_duplicates: bool) -> Self {
        let Counts { first, near, far } = counts;
        let mut both = near.clone();
        both.merge(far);
        let [(_, first), (near_bits, near), (far_bits, far)] = [first, near, far].map(fit_code);
        let (bits, common) = fit_code(&both);
        let pays = bits - bits / NEAR_GAIN_MIN > near_bits + far_bits;
        let (near, far) = if pays { (near, far) } else { (common.clone(), common) };
        Self::new(first, near, far, has_loops, has_duplicates)
    }

    fn new(
        first: ClassCode,
        near: ClassCode,
        far: ClassCode,
        has_loops: bool,
        has_duplicates: bool,
    ) -> Self {
        let tells_near = near != far;
        let blocks = Blocks::new(&far, u64::from(!has_duplicates));
        Self { first, near, far, has_loops, has_duplicates, tells_near, blocks }
    }

    /// The stored parameters: a byte of flags (1: loops, 2: duplicate arcs), then eight widths for
    /// each code: first neighbour, near gaps, far gaps.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0] = u8::from(self.has_loops) | u8::from(self.has_duplicates) << 1;
        let widths = [&self.first, &self.near, &self.far].map(ClassCode::to_bytes);
        bytes[1..].copy_from_slice(widths.as_flattened());
        bytes
    }

    /// Parses the result of [`to_bytes`](Self::to_bytes). Other bytes give an error.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        let bytes: &[u8; Self::SIZE] = bytes
            .try_into()
            .map_err(|_| format!("{} bytes of parameters, not {}", bytes.len(), Self::SIZE))?;
        let [flags, widths @ ..] = bytes;
        if *flags > 3 {
            return Err(format!("unknown flags {flags:#x}"));
        }
        let (widths, _) = widths.as_chunks::<CLASSES>();
        let code = |widths: [u8; CLASSES]| {
            ClassCode::new(widths).ok_or_else(|| format!("widths {widths:?}, one above 33"))
        };
        let (first, near, far) = (code(widths[0])?, code(widths[1])?, code(widths[2])?);
        let (has_loops, has_duplicates) = (flags & 1 != 0, flags & 2 != 0);
        Ok(Self::new(first, near, far, has_loops, has_duplicates))
    }

    /// The same code, reading one gap at a time.
    #[cfg(test)]
    pub(super) fn one_by_one(&self) -> Self {
        Self { blocks: None, ..self.clone() }
    }

    /// Whether this processor reads several gaps at a time.
    #[cfg(test)]
    pub(super) fn has_blocks() -> bool {
        blocks::is_supported()
    }

    fn numbering(&self, source: u32) -> Numbering {
        Numbering::new(source, self.has_loops, self.has_duplicates)
    }

    /// Visits the codes of a row, each with its number. The targets must ascend.
    #[inline]
    pub fn for_each_code<'t>(
        &self,
        source: u32,
        targets: impl IntoIterator<Item = &'t u32>,
        mut visit: impl FnMut(&ClassCode, u64),
    ) {
        let numbering = self.numbering(source);
        let mut previous = None;
        for &target in targets {
            let number = numbering.number(target);
            match previous {
                None => visit(&self.first, numbering.fold(number)),
                Some(before) if numbering.is_near(before) => {
                    visit(&self.near, number - before - numbering.gap_min);
                }
                Some(before) => visit(&self.far, number - before - numbering.gap_min),
            }
            previous = Some(number);
        }
    }

    /// Appends a row. Its targets must ascend and be among those that the code was fitted to.
    pub fn encode(&self, source: u32, targets: &[u32], out: &mut BitWriter) {
        let mut codes = CodeWriter::new(targets.len());
        self.for_each_code(source, targets, |code, number| codes.write(code, number, out));
        codes.finish(out);
    }

    /// Folds the neighbours, ascending, until `step` breaks.
    #[inline(always)]
    pub fn try_fold<A>(
        &self,
        source: u32,
        row: RowBits<'_>,
        vertex_count: u32,
        init: A,
        step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        match &self.blocks {
            Some(blocks) => blocks.try_fold(self, source, row, vertex_count, init, step),
            None => self.try_fold_with(OneByOne, source, row, vertex_count, init, step),
        }
    }

    /// As [`try_fold`](Self::try_fold); faster for few neighbours.
    #[inline(always)]
    pub fn try_fold_few<A>(
        &self,
        source: u32,
        row: RowBits<'_>,
        vertex_count: u32,
        init: A,
        step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        self.try_fold_with(OneByOne, source, row, vertex_count, init, step)
    }

    /// As [`try_fold`](Self::try_fold); `blocks` reads several far gaps at a time.
    ///
    /// Near and far gaps have a loop each: the branch between the loops is predicted, while a
    /// selection of widths would make each gap wait for the id before.
    #[inline(always)]
    fn try_fold_with<A>(
        &self,
        blocks: impl ReadBlock,
        source: u32,
        row: RowBits<'_>,
        vertex_count: u32,
        mut folded: A,
        mut step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        if row.is_empty() {
            return Ok(folded);
        }
        let mut codes = Codes::new(row);
        let numbering = self.numbering(source);
        let mut number = numbering.unfold(codes.next(&self.first).ok_or_else(cut_off)?);
        macro_rules! fold {
            ($target:expr) => {
                match step(folded, $target) {
                    ControlFlow::Continue(next) => folded = next,
                    ControlFlow::Break(last) => return Ok(last),
                }
            };
        }
        macro_rules! deliver {
            () => {
                let target = numbering.target(number);
                if target >= u64::from(vertex_count) {
                    return Err(super::bits::no_vertex(target, vertex_count));
                }
                fold!(target as u32);
                if codes.is_at_end() {
                    return Ok(folded);
                }
            };
        }
        deliver!();
        let mut targets = [0; BLOCK];
        loop {
            while !(self.tells_near && numbering.is_near(number)) {
                let limit = if self.tells_near { numbering.near_from(number) } else { u64::MAX };
                let bounds = Bounds { limit, vertex_count };
                let count = blocks.read(&mut codes, &numbering, bounds, &mut number, &mut targets);
                for &target in targets.iter().take(count) {
                    fold!(target);
                }
                if count > 0 {
                    if codes.is_at_end() {
                        return Ok(folded);
                    }
                    continue;
                }
                number += codes.next(&self.far).ok_or_else(cut_off)? + numbering.gap_min;
                deliver!();
            }
            while numbering.is_near(number) {
                number += codes.next(&self.near).ok_or_else(cut_off)? + numbering.gap_min;
                deliver!();
            }
        }
    }
}

/// The numbering of one source's neighbours.
struct Numbering {
    source: u64,
    /// 1 if ids above the source are numbered one lower, because no vertex has a loop.
    skip: u64,
    /// Least difference between two neighbours.
    gap_min: u64,
}

impl Numbering {
    #[inline(always)]
    fn new(source: u32, has_loops: bool, has_duplicates: bool) -> Self {
        let [skip, gap_min] = [has_loops, has_duplicates].map(|has| u64::from(!has));
        Self { source: u64::from(source), skip, gap_min }
    }

    #[inline(always)]
    fn number(&self, target: u32) -> u64 {
        let target = u64::from(target);
        if target > self.source { target - self.skip } else { target }
    }

    #[inline(always)]
    fn target(&self, number: u64) -> u64 {
        number + (u64::from(number >= self.source) & self.skip)
    }

    #[inline(always)]
    fn is_near(&self, number: u64) -> bool {
        // One comparison for both sides: far below the source, the difference wraps around.
        number.wrapping_sub(self.source).wrapping_add(NEAR_MAX) <= 2 * NEAR_MAX
    }

    /// The least number above `number` that may be near; `u64::MAX` if none is.
    #[inline(always)]
    fn near_from(&self, number: u64) -> u64 {
        let from = self.source.saturating_sub(NEAR_MAX);
        if number < from { from } else { u64::MAX }
    }

    /// Folds a number by its distance to the source, alternating: the number before the source is
    /// 0, that of the source 1.
    #[inline(always)]
    fn fold(&self, number: u64) -> u64 {
        if number < self.source {
            2 * (self.source - 1 - number)
        } else {
            2 * (number - self.source) + 1
        }
    }

    /// The inverse of [`fold`](Self::fold); exceeds all ids if nothing folds to `folded`.
    /// Branch-free, since a branch would be mispredicted half of the time.
    #[inline(always)]
    fn unfold(&self, folded: u64) -> u64 {
        let if_before = (folded & 1).wrapping_sub(1);
        self.source.wrapping_add((folded / 2) ^ if_before) & (u64::MAX >> 1)
    }
}
