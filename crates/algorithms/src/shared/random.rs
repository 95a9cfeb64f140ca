//! Pseudorandom numbers that are the same in every run.

use tegula_machine::mix;

/// Returns number `index` of the SplitMix64 sequence of a seed (Steele, Lea, Flood, *Fast
/// Splittable Pseudorandom Number Generators*, OOPSLA 2014). Threads may ask for numbers in any
/// order. All numbers of a seed differ.
#[inline]
pub(crate) fn number(seed: u64, index: u64) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    mix(seed.wrapping_add(index.wrapping_mul(GOLDEN)))
}

/// Returns the same number scaled to less than `end`. It is uniform up to a relative error of `end`
/// / 2^64.
#[inline]
pub(crate) fn number_below(seed: u64, index: u64, end: u64) -> u64 {
    ((u128::from(number(seed, index)) * u128::from(end)) >> 64) as u64
}
