//! Numbers in blocks of 256, each block in as few bits as suit it.
//!
//! A block has a *base* and a *width*: its numbers are offsets to the base, in `width` bits each
//! (frame of reference). The few numbers that need more bits are *exceptions*: their excess stands
//! behind the others (Zukowski et al., *Super-scalar RAM-CPU cache compression*, ICDE 2006).

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::lanes::{LANES, Row, WORDS_SIZE, pack, unpack, words};

/// Numbers of a block; the last one of a chunk may have fewer.
const BLOCK: usize = 256;
const ROWS: usize = BLOCK / LANES;
/// Upper bound for the exceptions of a block: their number is a byte.
const EXCEPTIONS_MAX: usize = u8::MAX as usize;

/// The message for bytes that no writer produces.
pub(crate) type Fault = &'static str;

/// A number that can be packed: `u32` or `u64`.
pub trait Number: Copy + Default + Ord + FromBytes + IntoBytes + Immutable + Into<u64> {
    /// Bits of the type.
    const BITS: u32;

    /// Converts a number; `None` if it does not fit the type.
    fn checked(number: u64) -> Option<Self>;

    /// Adds `low`, wrapping around.
    fn plus(self, low: u32) -> Self;

    /// Adds `high * 2^32`, wrapping around. Adds nothing if the type has 32 bits.
    fn plus_high(self, high: u32) -> Self;
}

impl Number for u32 {
    const BITS: u32 = u32::BITS;

    fn checked(number: u64) -> Option<u32> {
        u32::try_from(number).ok()
    }

    #[inline(always)]
    fn plus(self, low: u32) -> u32 {
        self.wrapping_add(low)
    }

    #[inline(always)]
    fn plus_high(self, _high: u32) -> u32 {
        self
    }
}

impl Number for u64 {
    const BITS: u32 = u64::BITS;

    fn checked(number: u64) -> Option<u64> {
        Some(number)
    }

    #[inline(always)]
    fn plus(self, low: u32) -> u64 {
        self.wrapping_add(u64::from(low))
    }

    #[inline(always)]
    fn plus_high(self, high: u32) -> u64 {
        self.wrapping_add(u64::from(high) << u32::BITS)
    }
}

/// The greatest number of `width` bits, 0 to 64.
fn mask(width: u32) -> u64 {
    u64::MAX.checked_shr(u64::BITS - width).unwrap_or(0)
}

fn bit_length(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Appends numbers in blocks.
pub(crate) fn encode<N: Number>(numbers: &[N], bytes: &mut Vec<u8>) {
    numbers.chunks(BLOCK).for_each(|block| encode_block(block, bytes));
}

fn encode_block<N: Number>(numbers: &[N], bytes: &mut Vec<u8>) {
    let least: u64 = numbers.iter().min().map_or(0, |&least| least.into());
    let Division { width, excess_len } = divide(numbers, least);
    // `base + 2^width - 1` must fit the type. Where this lowers the base, all offsets fit the
    // width.
    let base = least.min(mask(N::BITS) - mask(width));
    let offsets = || numbers.iter().map(|&number| number.into() - base);
    let exceptions: Vec<(u8, u64)> = (0u8..=u8::MAX)
        .zip(offsets())
        .filter_map(|(position, offset)| {
            let excess = offset.checked_shr(width).unwrap_or(0);
            (excess > 0).then_some((position, excess))
        })
        .collect();
    let base_len = bit_length(base).div_ceil(8) as usize;
    bytes.extend([width as u8, exceptions.len() as u8, base_len as u8 | excess_len << 4]);
    bytes.extend(&base.to_le_bytes()[..base_len]);
    for (plane, width) in planes(width) {
        let mut rows = [[0; LANES]; ROWS];
        let row_count = numbers.len().div_ceil(LANES);
        for (cell, offset) in rows.as_flattened_mut().iter_mut().zip(offsets()) {
            *cell = ((offset >> plane) & mask(width)) as u32;
        }
        pack(&rows[..row_count], width, bytes);
    }
    bytes.extend(exceptions.iter().map(|&(position, _)| position));
    for (_, excess) in exceptions {
        bytes.extend(&excess.to_le_bytes()[..usize::from(excess_len)]);
    }
}

/// The division of offsets into planes and exceptions.
struct Division {
    width: u32,
    /// Bytes of each excess; 0 if there is no exception.
    excess_len: u8,
}

/// Finds the division that takes the fewest bytes.
fn divide<N: Number>(numbers: &[N], base: u64) -> Division {
    let mut counts = [0usize; u64::BITS as usize + 1];
    for &number in numbers {
        counts[bit_length(number.into() - base) as usize] += 1;
    }
    let widest = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as u32;
    let rows = numbers.len().div_ceil(LANES);
    let size_of = |width: u32| planes(width).map(|(_, width)| words(rows, width)).sum::<usize>();
    let mut best = (WORDS_SIZE * size_of(widest), Division { width: widest, excess_len: 0 });
    let mut exceptions = 0;
    for width in (0..widest).rev() {
        exceptions += counts[width as usize + 1];
        if exceptions > EXCEPTIONS_MAX {
            break;
        }
        let excess_len = (widest - width).div_ceil(8) as u8;
        let size = WORDS_SIZE * size_of(width) + exceptions * (1 + usize::from(excess_len));
        if size < best.0 {
            best = (size, Division { width, excess_len });
        }
    }
    best.1
}

/// The planes of offsets: the lower 32 bits, then the higher ones, if any. Each with its first bit
/// and its number of bits.
fn planes(width: u32) -> impl Iterator<Item = (u32, u32)> {
    let low = width.min(u32::BITS);
    [(0, low), (u32::BITS, width - low)].into_iter().filter(|&(_, width)| width > 0)
}

/// Fills `numbers` from the blocks at the front of `bytes`, and advances `bytes` behind them.
pub(crate) fn decode<N: Number>(bytes: &mut &[u8], numbers: &mut [N]) -> Result<(), Fault> {
    numbers.chunks_mut(BLOCK).try_for_each(|block| decode_block(bytes, block))
}

fn decode_block<N: Number>(bytes: &mut &[u8], numbers: &mut [N]) -> Result<(), Fault> {
    let head = bytes.split_off(..3).and_then(<[u8]>::as_array).ok_or(CUT_OFF)?;
    let &[width, exceptions, lengths] = head;
    let (width, exceptions) = (u32::from(width), usize::from(exceptions));
    let (base_len, excess_len) = (usize::from(lengths & 15), usize::from(lengths >> 4));
    let has_excess = excess_len > 0;
    if width > N::BITS || base_len.max(excess_len) > 8 || has_excess != (exceptions > 0) {
        return Err("the head of a block of packed numbers makes no sense");
    }
    // With such a base, no sum with an offset exceeds the type.
    let base = Some(little_endian(bytes.split_off(..base_len).ok_or(CUT_OFF)?))
        .filter(|&base| base <= mask(N::BITS) - mask(width))
        .and_then(N::checked)
        .ok_or(TOO_LARGE)?;
    numbers.fill(base);
    for (plane, width) in planes(width) {
        let row_count = numbers.len().div_ceil(LANES);
        let lanes = bytes.split_off(..WORDS_SIZE * words(row_count, width)).ok_or(CUT_OFF)?;
        let (lanes, _) = lanes.as_chunks();
        let mut rows: [Row; ROWS] = [[0; LANES]; ROWS];
        unpack(lanes, width, &mut rows[..row_count]);
        let parts = numbers.iter_mut().zip(rows.as_flattened());
        if plane == 0 {
            parts.for_each(|(number, &low)| *number = number.plus(low));
        } else {
            parts.for_each(|(number, &high)| *number = number.plus_high(high));
        }
    }
    let positions = bytes.split_off(..exceptions).ok_or(CUT_OFF)?;
    let excesses = bytes.split_off(..exceptions * excess_len).ok_or(CUT_OFF)?;
    // Without exceptions there are no bytes, and chunks of 0 bytes would panic.
    for (&position, excess) in positions.iter().zip(excesses.chunks_exact(excess_len.max(1))) {
        let excess = little_endian(excess);
        let number = numbers.get_mut(usize::from(position)).ok_or("an exception has no number")?;
        // The shift must not lose a bit.
        let raised = excess.checked_shl(width).filter(|&raised| raised >> width == excess);
        let sum = raised.and_then(|raised| raised.checked_add((*number).into()));
        *number = sum.and_then(N::checked).ok_or(TOO_LARGE)?;
    }
    Ok(())
}

const CUT_OFF: Fault = "it ends within a block of packed numbers";
const TOO_LARGE: Fault = "a packed number is too large for its type";

/// A number from up to 8 bytes.
#[inline]
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
