//! Running sums of gaps, with the instructions that the processor has.
//!
//! A value of an [`InstructionSet`] type proves that the processor has these instructions: only
//! [`detect`](Avx512::detect) makes one. All sets give the same sums.

/// Adds up gaps, 16 at a time.
pub trait InstructionSet: Copy {
    /// For each of 16 one-byte gaps, writes `start` plus the sum of the gaps up to and including
    /// it, or `skip_source` if the gap is 255. Returns `start` plus all gaps.
    fn sums_of_bytes(
        self,
        gaps: &[u8; 16],
        start: u32,
        skip_source: u32,
        out: &mut [u32; 16],
    ) -> u32;
}

/// Only instructions that every processor has. About 1 ns an entry.
#[derive(Debug, Clone, Copy)]
pub struct Portable;

impl InstructionSet for Portable {
    #[inline(always)]
    fn sums_of_bytes(
        self,
        gaps: &[u8; 16],
        start: u32,
        skip_source: u32,
        out: &mut [u32; 16],
    ) -> u32 {
        let mut source = start;
        for (out, &gap) in out.iter_mut().zip(gaps) {
            source = source.wrapping_add(u32::from(gap));
            *out = if gap == u8::MAX { skip_source } else { source };
        }
        source
    }
}

/// AVX-512 F, BW, DQ, VL, and AVX2 with BMI2. About 0.1 ns an entry.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub struct Avx512(());

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Returns the proof on a processor that has these instructions.
    pub fn detect() -> Option<Avx512> {
        let has_all = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && Avx2::detect().is_some();
        has_all.then_some(Avx512(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl InstructionSet for Avx512 {
    #[inline(always)]
    fn sums_of_bytes(
        self,
        gaps: &[u8; 16],
        start: u32,
        skip_source: u32,
        out: &mut [u32; 16],
    ) -> u32 {
        // SAFETY: `self` proves that the processor has AVX-512 F.
        unsafe { sums_avx512(gaps, start, skip_source, out) }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
fn sums_avx512(gaps: &[u8; 16], start: u32, skip_source: u32, out: &mut [u32; 16]) -> u32 {
    use std::arch::x86_64::*;
    let zero = _mm512_setzero_si512();
    // SAFETY: the array is 16 bytes long; the load needs no alignment.
    let bytes = unsafe { _mm_loadu_si128(gaps.as_ptr().cast()) };
    let gaps = _mm512_cvtepu8_epi32(bytes);
    let mut sums = gaps;
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<15>(sums, zero));
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<14>(sums, zero));
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<12>(sums, zero));
    sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<8>(sums, zero));
    sums = _mm512_add_epi32(sums, _mm512_set1_epi32(start as i32));
    let is_skip = _mm512_cmpeq_epi32_mask(gaps, _mm512_set1_epi32(255));
    let sources = _mm512_mask_mov_epi32(sums, is_skip, _mm512_set1_epi32(skip_source as i32));
    // SAFETY: the array is 64 bytes long; the store needs no alignment.
    unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), sources) };
    let last = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), sums);
    _mm512_cvtsi512_si32(last) as u32
}

/// AVX2, BMI1 and BMI2. About 0.2 ns an entry.
#[cfg(target_arch = "x86_64")]
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Returns the proof on a processor that has these instructions.
    pub fn detect() -> Option<Avx2> {
        let has_all = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        has_all.then_some(Avx2(()))
    }
}

#[cfg(target_arch = "x86_64")]
impl InstructionSet for Avx2 {
    #[inline(always)]
    fn sums_of_bytes(
        self,
        gaps: &[u8; 16],
        start: u32,
        skip_source: u32,
        out: &mut [u32; 16],
    ) -> u32 {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { sums_avx2(gaps, start, skip_source, out) }
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
fn sums_avx2(gaps: &[u8; 16], start: u32, skip_source: u32, out: &mut [u32; 16]) -> u32 {
    use std::arch::x86_64::*;
    let mut carry = _mm256_set1_epi32(start as i32);
    let skip = _mm256_set1_epi32(skip_source as i32);
    for (gaps, out) in gaps.as_chunks::<8>().0.iter().zip(out.as_chunks_mut::<8>().0) {
        // SAFETY: the chunk is 8 bytes long; the load needs no alignment.
        let bytes = unsafe { _mm_loadl_epi64(gaps.as_ptr().cast()) };
        let gaps = _mm256_cvtepu8_epi32(bytes);
        let mut sums = _mm256_add_epi32(gaps, _mm256_slli_si256::<4>(gaps));
        sums = _mm256_add_epi32(sums, _mm256_slli_si256::<8>(sums));
        // The upper half takes the last sum of the lower one.
        let last_low = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(3));
        let zero = _mm256_setzero_si256();
        sums = _mm256_add_epi32(sums, _mm256_blend_epi32::<0xF0>(zero, last_low));
        sums = _mm256_add_epi32(sums, carry);
        let is_skip = _mm256_cmpeq_epi32(gaps, _mm256_set1_epi32(255));
        let sources = _mm256_blendv_epi8(sums, skip, is_skip);
        // SAFETY: the chunk is 32 bytes long; the store needs no alignment.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), sources) };
        carry = _mm256_permutevar8x32_epi32(sums, _mm256_set1_epi32(7));
    }
    _mm256_cvtsi256_si32(carry) as u32
}

/// The sum of fewer than 2^24 bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn byte_sum(bytes: &[u8]) -> u32 {
    use std::arch::x86_64::*;
    let (blocks, rest) = bytes.as_chunks::<16>();
    // SAFETY: every x86-64 processor has SSE2; the loads need no alignment and read 16 bytes each.
    let sums = unsafe {
        let zero = _mm_setzero_si128();
        let mut sums = zero;
        for block in blocks {
            let bytes = _mm_loadu_si128(block.as_ptr().cast());
            sums = _mm_add_epi64(sums, _mm_sad_epu8(bytes, zero));
        }
        _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums))
    };
    // SAFETY: as above.
    let blocks = unsafe { _mm_cvtsi128_si32(sums) } as u32;
    blocks + rest.iter().map(|&byte| u32::from(byte)).sum::<u32>()
}

/// The sum of fewer than 2^24 bytes.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn byte_sum(bytes: &[u8]) -> u32 {
    bytes.iter().map(|&byte| u32::from(byte)).sum()
}
