//! Reads gaps in blocks of eight, with AVX-512. One instruction separates the classes, another
//! extracts the offsets from 64 bytes, and two running sums give positions and neighbours.
//!
//! A block gives what eight single codes would, or fewer. It ends at anything unusual, and the code
//! there is read alone.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ops::ControlFlow;
#[cfg(target_arch = "x86_64")]
use std::ops::Range;

use super::{GapCode, Numbering};
use crate::rows::bits::RowBits;
use crate::rows::class_code::{CLASSES, ClassCode};
use crate::rows::codes::Codes;

/// Codes in a block.
pub(super) const BLOCK: usize = 8;

/// Tables to read gaps in blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Blocks {
    /// Bits of an offset for each class, twice.
    widths: [u8; 16],
    /// The least gap of each class.
    gaps: [u64; CLASSES],
}

impl Blocks {
    /// The tables of a code. `None` if the processor lacks the instructions, or if the bits of
    /// eight offsets may not fit in a byte.
    pub(super) fn new(code: &ClassCode, gap_min: u64) -> Option<Self> {
        let mut widths = [0; 16];
        for (class, width) in widths.iter_mut().zip(code.to_bytes().into_iter().cycle()) {
            *class = width;
        }
        let are_narrow = widths.iter().all(|&width| u32::from(width) * BLOCK as u32 <= 255);
        let gaps = code.bases().map(|base| base + gap_min);
        (are_narrow && is_supported()).then_some(Self { widths, gaps })
    }

    /// As [`GapCode::try_fold`], in blocks.
    #[inline(always)]
    pub(super) fn try_fold<A>(
        &self,
        code: &GapCode,
        source: u32,
        row: RowBits<'_>,
        vertex_count: u32,
        init: A,
        step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        #[cfg(target_arch = "x86_64")]
        {
            let RowBits { bytes, start, end } = row;
            // SAFETY: a value of this type exists only where the processor has the instructions.
            unsafe {
                self.try_fold_avx512(code, source, bytes, start..end, vertex_count, init, step)
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        code.try_fold_with(OneByOne, source, row, vertex_count, init, step)
    }
}

/// A reader of several gaps at a time.
pub(super) trait ReadBlock: Copy {
    /// Reads gaps behind the neighbour numbered `number`, up to the first number that is at least
    /// `limit`, and stores the last number in `number`. Returns how many neighbours were written; 0
    /// if the next code must be read alone.
    fn read(
        self,
        codes: &mut Codes<'_>,
        numbering: &Numbering,
        bounds: Bounds,
        number: &mut u64,
        targets: &mut [u32; BLOCK],
    ) -> usize;
}

/// Reads no gaps.
#[derive(Clone, Copy)]
pub(super) struct OneByOne;

impl ReadBlock for OneByOne {
    #[inline(always)]
    fn read(
        self,
        _: &mut Codes<'_>,
        _: &Numbering,
        _: Bounds,
        _: &mut u64,
        _: &mut [u32; BLOCK],
    ) -> usize {
        0
    }
}

/// Reads gaps in blocks, within a function compiled for the instructions.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy)]
struct InBlocks<'b>(&'b Blocks);

#[cfg(target_arch = "x86_64")]
impl ReadBlock for InBlocks<'_> {
    #[inline(always)]
    fn read(
        self,
        codes: &mut Codes<'_>,
        numbering: &Numbering,
        bounds: Bounds,
        number: &mut u64,
        targets: &mut [u32; BLOCK],
    ) -> usize {
        // SAFETY: blocks exist only where the processor has the instructions.
        unsafe { self.0.read_avx512(codes, numbering, bounds, number, targets) }
    }
}

/// The limits of a block.
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "only a processor that reads blocks looks at it")
)]
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// The block ends with the first number that is not less.
    pub limit: u64,
    /// All neighbours are less.
    pub vertex_count: u32,
}

pub(super) fn is_supported() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// 0, 1, 2, and so on.
#[cfg(target_arch = "x86_64")]
const PLACES: [u8; 64] = {
    let mut places = [0; 64];
    let mut place = 0;
    while place < places.len() {
        places[place] = place as u8;
        place += 1;
    }
    places
};

/// Says for each byte of 8 words where its word's lowest byte lies within the same 16 bytes.
#[cfg(target_arch = "x86_64")]
const LOWEST: [u8; 64] = {
    let mut lowest = PLACES;
    let mut place = 0;
    while place < lowest.len() {
        lowest[place] = place as u8 % 16 / 8 * 8;
        place += 1;
    }
    lowest
};

#[cfg(target_arch = "x86_64")]
impl Blocks {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    #[expect(
        clippy::too_many_arguments,
        reason = "a row that comes in registers is not waited for"
    )]
    fn try_fold_avx512<A>(
        &self,
        code: &GapCode,
        source: u32,
        bytes: &[u8],
        bits: Range<u64>,
        vertex_count: u32,
        init: A,
        step: impl FnMut(A, u32) -> ControlFlow<A, A>,
    ) -> Result<A, String> {
        let row = RowBits { bytes, start: bits.start, end: bits.end };
        code.try_fold_with(InBlocks(self), source, row, vertex_count, init, step)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
    fn read_avx512(
        &self,
        codes: &mut Codes<'_>,
        numbering: &Numbering,
        bounds: Bounds,
        number: &mut u64,
        targets: &mut [u32; BLOCK],
    ) -> usize {
        let bytes_as_words = |bytes: u64| _mm512_cvtepu8_epi64(_mm_cvtsi64_si128(bytes as i64));
        // SAFETY: each array has the length of the load from it; no load needs an alignment.
        let (places, gaps, widths) = unsafe {
            (
                _mm512_loadu_si512(PLACES.as_ptr().cast()),
                _mm512_loadu_si512(self.gaps.as_ptr().cast()),
                _mm_loadu_si128(self.widths.as_ptr().cast()),
            )
        };
        // A byte for each class: the position of its stop bit, then the zeros before it, which are
        // the class. Bytes behind the last stop in the word are meaningless.
        let word = codes.row.bits(codes.front);
        let stops = _mm512_maskz_compress_epi8(word, places);
        let stops = _mm_cvtsi128_si64(_mm512_castsi512_si128(stops)) as u64;
        let classes = stops.wrapping_sub(stops << 8).wrapping_sub(0x0101_0101_0101_0100);
        let classes = _mm_cvtsi64_si128(classes as i64);
        let widths = _mm_cvtsi128_si64(_mm_shuffle_epi8(widths, classes)) as u64;
        let sums = widths.wrapping_mul(0x0101_0101_0101_0101);
        // Where offsets begin and end, as bits in the 64 bytes before the last offset read.
        let end = codes.back.div_ceil(8) as usize;
        let origin = end.saturating_sub(64);
        let [front, back] = [codes.front, codes.back].map(|at| at.wrapping_sub(8 * origin as u64));
        let fronts = _mm512_add_epi64(bytes_as_words(stops), words(front.wrapping_add(1)));
        let ends = _mm512_sub_epi64(words(back), bytes_as_words(sums << 8));
        let starts = _mm512_sub_epi64(words(back), bytes_as_words(sums));
        // The last offset of the row takes what the classes leave.
        let has_next = _mm512_cmpgt_epi64_mask(starts, fronts);
        let starts = _mm512_max_epi64(starts, fronts);
        let lens = _mm512_sub_epi64(ends, starts);
        let is_cut_off = _mm512_cmplt_epi64_mask(lens, _mm512_setzero_si512());
        let offsets = bits_at(codes.row.bytes_from(origin), starts, lens);
        let gaps = _mm512_permutexvar_epi64(_mm512_cvtepu8_epi64(classes), gaps);
        let numbers = running_sums(_mm512_add_epi64(offsets, gaps));
        let numbers = _mm512_add_epi64(numbers, words(*number));
        let is_at_limit = _mm512_cmpge_epu64_mask(numbers, words(bounds.limit));
        let is_behind = _mm512_cmpge_epu64_mask(numbers, words(numbering.source));
        let found = _mm512_mask_add_epi64(numbers, is_behind, numbers, words(numbering.skip));
        let is_no_vertex = _mm512_cmpge_epu64_mask(found, words(u64::from(bounds.vertex_count)));

        // SAFETY: the array is 32 bytes long; the store needs no alignment.
        unsafe { _mm256_storeu_si256(targets.as_mut_ptr().cast(), _mm512_cvtepi64_epi32(found)) };
        // These are branches, so that the next block need not wait for them. The end of the row
        // comes first: its branch is mispredicted most often.
        let mut count = (word.count_ones() as usize).min(BLOCK);
        if has_next != u8::MAX {
            count = count.min(1 + has_next.trailing_ones() as usize);
        }
        let is_special =
            (is_at_limit | is_no_vertex | is_cut_off) & (u8::MAX >> (BLOCK - count).min(7));
        if is_special != 0 {
            count = count.min(1 + is_at_limit.trailing_zeros() as usize);
            // Damaged codes are read alone.
            count = count.min((is_cut_off | is_no_vertex).trailing_zeros() as usize);
        }
        let Some(last) = count.checked_sub(1) else { return 0 };
        let byte = |bytes: u64| bytes >> (8 * last) & 0xff;
        let front = codes.front + byte(stops) + 1;
        codes.go_to(front, codes.back.saturating_sub(byte(sums)).max(front));
        let last = _mm512_permutexvar_epi64(words(last as u64), numbers);
        *number = _mm_cvtsi128_si64(_mm512_castsi512_si128(last)) as u64;
        count
    }
}

/// A word eight times.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn words(word: u64) -> __m512i {
    _mm512_set1_epi64(word as i64)
}

/// Extracts up to 31 bits at each of eight positions; `lens` gives their number. The positions are
/// in the first 64 bytes. Bytes beyond the slice read as zeros.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn bits_at(bytes: &[u8], places: __m512i, lens: __m512i) -> __m512i {
    let mask = u64::MAX.checked_shr(64 - bytes.len().min(64) as u32).unwrap_or(0);
    // SAFETY: the mask keeps the load within the slice; the array has the length of the load from
    // it.
    let (block, lowest) = unsafe {
        (
            _mm512_maskz_loadu_epi8(mask, bytes.as_ptr().cast()),
            _mm512_loadu_si512(LOWEST.as_ptr().cast()),
        )
    };
    let at = _mm512_shuffle_epi8(_mm512_srli_epi64::<3>(places), lowest);
    let at = _mm512_add_epi8(at, words(0x0706_0504_0302_0100));
    let bits = _mm512_permutexvar_epi8(at, block);
    let bits = _mm512_srlv_epi64(bits, _mm512_and_si512(places, words(7)));
    _mm512_andnot_si512(_mm512_sllv_epi64(words(u64::MAX), lens), bits)
}

/// For each word, the sum of the words up to it.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn running_sums(words: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let sums = _mm512_add_epi64(words, _mm512_alignr_epi64::<7>(words, zero));
    let sums = _mm512_add_epi64(sums, _mm512_alignr_epi64::<6>(sums, zero));
    _mm512_add_epi64(sums, _mm512_alignr_epi64::<4>(sums, zero))
}
