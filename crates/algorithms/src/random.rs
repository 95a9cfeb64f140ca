//! Numbers that look drawn at random, and are the same in every run.

use tegula_machine::mix;

/// Number `index` of the sequence of a seed: that of SplitMix64 (Steele, Lea, Flood, *Fast Splittable Pseudorandom
/// Number Generators*, OOPSLA 2014). Any thread may ask for any of them. No two of a seed are equal.
#[inline]
pub(crate) fn number(seed: u64, index: u64) -> u64 {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    mix(seed.wrapping_add(index.wrapping_mul(GOLDEN)))
}

/// The same, below `end`: uniform but for one in 2^64 / `end`.
#[inline]
pub(crate) fn number_below(seed: u64, index: u64, end: u64) -> u64 {
    ((u128::from(number(seed, index)) * u128::from(end)) >> 64) as u64
}
