//! Sorted neighbours as gaps, in codes that are fitted to each chunk of rows.
//!
//! The first neighbour is coded by its offset to the source, each further one by its gap to the one
//! before. There are three codes ([`super::widths`]): for the first; for gaps behind a neighbour that
//! is near the source, where an order with locality has more neighbours; and for gaps elsewhere. The
//! last two are the same where telling them apart saves little.
//!
//! What a chunk does not have costs nothing. Where no vertex has a loop, ids are numbered without the
//! source. Where no arc stands twice, a gap is counted from 0.
//!
//! A code is a class, in unary, and a rank of as many bits as its class has. The classes of a row
//! stand at its front, one after the other; the ranks at its end, the first one last:
//!
//! ```text
//! class 1 | class 2 | ... | class n | rank n | ... | rank 2 | rank 1
//! ```
//!
//! So a reader finds the next class and the next rank before it knows what the last one says, and the
//! row ends where the two meet. The last rank, in the middle, is written without leading zeros; the
//! place that is left tells its length. A row takes the sum of its codes less those zeros.

mod blocks;

use std::ops::ControlFlow;

use super::bits::{BitWriter, RowBits};
use super::widths::{CLASSES, Histogram, Widths};
use blocks::{BLOCK, Blocks, Bounds, OneByOne, ReadBlock};

/// A neighbour is near if it is at most this far from the source. From 8 to 64 it makes no difference
/// of 1 % to any graph measured; without the distinction, p2p-Gnutella31 takes 6 % more bits.
const NEAR_MAX: u64 = 16;

/// Near and far gaps have a code each where that saves one bit in this number of bits. Telling them apart
/// takes a branch that is often foretold wrongly: on cnr-2000, where it would save 2 %, it costs a
/// fifth of the speed.
const NEAR_GAIN_MIN: u64 = 33;

/// Sorted neighbours as gaps, in codes fitted to a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GapCode {
    first: Widths,
    near: Widths,
    far: Widths,
    has_loops: bool,
    has_duplicates: bool,
    /// Whether the codes of near and far gaps differ.
    tells_near: bool,
    /// For the far gaps, on processors that read several at once.
    blocks: Option<Blocks>,
}

impl GapCode {
    /// Bytes of the stored parameters.
    pub const SIZE: usize = 1 + 3 * CLASSES;

    /// The code that suits these arcs (source, target), which come by source and target. Goes through
    /// them three times.
    pub fn fit(arcs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let has_loops = arcs.clone().any(|(source, target)| source == target);
        let has_duplicates = arcs.clone().zip(arcs.clone().skip(1)).any(|(arc, next)| arc == next);
        let frame = |source| Frame::new(source, has_loops, has_duplicates);
        let [mut first, mut near_gaps, mut far_gaps] = [(); 3].map(|()| Histogram::new());
        let mut before: Option<(u32, u64)> = None;
        for (source, target) in arcs {
            let frame = frame(source);
            let number = frame.number(target);
            match before {
                Some((last, previous)) if last == source => {
                    let histogram =
                        if frame.is_near(previous) { &mut near_gaps } else { &mut far_gaps };
                    histogram.add(number - previous - frame.gap_min);
                }
                _ => first.add(frame.fold(number)),
            }
            before = Some((source, number));
        }
        let [(_, first), (near_bits, near), (far_bits, far)] =
            [&first, &near_gaps, &far_gaps].map(Widths::fit);
        let mut both = near_gaps;
        both.merge(&far_gaps);
        let (bits, common) = Widths::fit(&both);
        let pays = bits - bits / NEAR_GAIN_MIN > near_bits + far_bits;
        let (near, far) = if pays { (near, far) } else { (common.clone(), common) };
        Self::new(first, near, far, has_loops, has_duplicates)
    }

    fn new(
        first: Widths,
        near: Widths,
        far: Widths,
        has_loops: bool,
        has_duplicates: bool,
    ) -> Self {
        let tells_near = near != far;
        let blocks = Blocks::new(&far, u64::from(!has_duplicates));
        Self { first, near, far, has_loops, has_duplicates, tells_near, blocks }
    }

    /// The parameters as stored: a byte of flags (1: loops, 2: duplicate arcs), then eight widths each
    /// of the codes for the first neighbour, near and far gaps.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0] = u8::from(self.has_loops) | u8::from(self.has_duplicates) << 1;
        let widths = [&self.first, &self.near, &self.far].map(Widths::to_bytes);
        bytes[1..].copy_from_slice(widths.as_flattened());
        bytes
    }

    /// Reads what [`to_bytes`](Self::to_bytes) gives. Says what is wrong with other bytes.
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
            Widths::new(widths).ok_or_else(|| format!("widths {widths:?}, one above 33"))
        };
        let (first, near, far) = (code(widths[0])?, code(widths[1])?, code(widths[2])?);
        let (has_loops, has_duplicates) = (flags & 1 != 0, flags & 2 != 0);
        Ok(Self::new(first, near, far, has_loops, has_duplicates))
    }

    /// The same code, without what reads several gaps at a time.
    #[cfg(test)]
    pub(super) fn one_by_one(&self) -> Self {
        Self { blocks: None, ..self.clone() }
    }

    /// Whether this processor reads several gaps at a time.
    #[cfg(test)]
    pub(super) fn has_blocks() -> bool {
        blocks::is_supported()
    }

    fn frame(&self, source: u32) -> Frame {
        Frame::new(source, self.has_loops, self.has_duplicates)
    }

    /// Appends the row of these targets, which come ascending and are among those fitted to.
    pub fn encode(&self, source: u32, targets: impl Iterator<Item = u32>, out: &mut BitWriter) {
        let frame = self.frame(source);
        let mut previous = None;
        // Classes run forwards, and the ranks within them backwards: 8 bytes of each neighbour are put by.
        let mut ranks: Vec<u64> = Vec::with_capacity(targets.size_hint().1.unwrap_or(0));
        let pack = |rank: u64, width: u32| rank << 6 | u64::from(width);
        for target in targets {
            let number = frame.number(target);
            let (widths, coded) = match previous {
                None => (&self.first, frame.fold(number)),
                Some(before) if frame.is_near(before) => (&self.near, number - before),
                Some(before) => (&self.far, number - before),
            };
            let coded = if previous.is_some() { coded - frame.gap_min } else { coded };
            let (index, class) = widths
                .class_of(coded)
                .unwrap_or_else(|| unreachable!("the code was fitted to this row"));
            out.write(1 << index, index as u32 + 1);
            ranks.push(pack(coded - class.base, class.width as u32));
            previous = Some(number);
        }
        if let Some(last) = ranks.last_mut() {
            let rank = *last >> 6;
            *last = pack(rank, 64 - rank.leading_zeros());
        }
        for packed in ranks.into_iter().rev() {
            out.write(packed >> 6, (packed & 63) as u32);
        }
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

    /// As [`try_fold`](Self::try_fold), with what reads several far gaps at a time.
    ///
    /// Near and far gaps have a loop each: the branch between them is foretold, while a choice of
    /// widths would make each gap wait for the id before.
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
        let frame = self.frame(source);
        let mut number = frame.unfold(codes.next(&self.first).ok_or_else(cut_off)?);
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
                let target = frame.target(number);
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
            while !(self.tells_near && frame.is_near(number)) {
                let limit = if self.tells_near { frame.near_from(number) } else { u64::MAX };
                let bounds = Bounds { limit, vertex_count };
                let count = blocks.read(&mut codes, &frame, bounds, &mut number, &mut targets);
                for &target in targets.iter().take(count) {
                    fold!(target);
                }
                if count > 0 {
                    if codes.is_at_end() {
                        return Ok(folded);
                    }
                    continue;
                }
                number += codes.next(&self.far).ok_or_else(cut_off)? + frame.gap_min;
                deliver!();
            }
            while frame.is_near(number) {
                number += codes.next(&self.near).ok_or_else(cut_off)? + frame.gap_min;
                deliver!();
            }
        }
    }
}

#[cold]
fn cut_off() -> String {
    "a code that runs over the end of its row".to_owned()
}

/// The codes of a row, read from both its ends.
struct Codes<'a> {
    row: RowBits<'a>,
    /// The bits from `window_start` on, less the classes that are read. Ranks and the next row may follow
    /// the classes; no valid row is read so far.
    stops: u64,
    window_start: u64,
    /// Where the next class begins.
    front: u64,
    /// Where the last rank begins.
    back: u64,
}

impl<'a> Codes<'a> {
    #[inline(always)]
    fn new(row: RowBits<'a>) -> Self {
        let (front, back) = (row.start(), row.end());
        Self { row, stops: row.bits(front), window_start: front, front, back }
    }

    /// Goes on with the class at `front` and the rank before `back`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn go_to(&mut self, front: u64, back: u64) {
        (self.stops, self.front, self.back) = (0, front, back);
    }

    #[inline(always)]
    fn is_at_end(&self) -> bool {
        self.front == self.back
    }

    /// The next number; None if the row ends within its code. Not at the end of the row.
    #[inline(always)]
    fn next(&mut self, widths: &Widths) -> Option<u64> {
        if self.stops == 0 {
            self.window_start = self.front;
            self.stops = self.row.bits(self.front);
        }
        // Without a further 1, no row is valid: the place found is behind the window, the class modulo 8
        // any, and both as good as others.
        let stop = self.window_start + u64::from(self.stops.trailing_zeros());
        let class = widths.class(stop - self.front);
        self.stops &= self.stops.wrapping_sub(1);
        self.front = stop + 1;
        if self.front + class.width < self.back {
            self.back -= class.width;
            return Some(class.base + (self.row.bits(self.back) & class.mask));
        }
        let len = self.back.checked_sub(self.front)?;
        self.back = self.front;
        Some(class.base + (self.row.bits(self.front) & !(u64::MAX << len)))
    }
}

/// How the neighbours of one source are numbered.
struct Frame {
    source: u64,
    /// 1 if ids above the source are numbered one lower, as the source is no neighbour.
    skip: u64,
    /// Least difference of two neighbours.
    gap_min: u64,
}

impl Frame {
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
        number.wrapping_sub(self.source).wrapping_add(NEAR_MAX) <= 2 * NEAR_MAX
    }

    /// The least number behind `number` that may be near; there may be none.
    #[inline(always)]
    fn near_from(&self, number: u64) -> u64 {
        let from = self.source.saturating_sub(NEAR_MAX);
        if number < from { from } else { u64::MAX }
    }

    /// Numbers by their distance to the source, alternating: the one before it is 0, itself 1.
    #[inline(always)]
    fn fold(&self, number: u64) -> u64 {
        if number < self.source {
            2 * (self.source - 1 - number)
        } else {
            2 * (number - self.source) + 1
        }
    }

    /// The inverse of [`fold`](Self::fold); behind all ids where nothing folds to this. Without a
    /// branch, which would be foretold wrongly half of the time.
    #[inline(always)]
    fn unfold(&self, folded: u64) -> u64 {
        let if_before = (folded & 1).wrapping_sub(1);
        self.source.wrapping_add((folded / 2) ^ if_before) & (u64::MAX >> 1)
    }
}
