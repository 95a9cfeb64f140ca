//! Random words with random access by number.
//!
//! SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) passes a counter through a mixer, so its `i`-th
//! word costs the same as its next one. So every edge can be made on its own.

/// 2^64 divided by the golden ratio: SplitMix64's step.
const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of random words. Streams of different seeds or purposes are unrelated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RandomWords {
    start: u64,
}

impl RandomWords {
    /// Makes the stream for `seed` and a purpose: any name that no other stream of the same seed
    /// has.
    pub(crate) fn new(seed: u64, purpose: &[u8; 8]) -> Self {
        Self { start: mix(mix(seed.wrapping_add(GOLDEN_GAMMA)) ^ u64::from_le_bytes(*purpose)) }
    }

    /// Returns word number `index`, uniform in 64 bits.
    #[inline]
    pub(crate) fn word(self, index: u64) -> u64 {
        mix(self.start.wrapping_add(index.wrapping_mul(GOLDEN_GAMMA)))
    }
}

/// SplitMix64's output function, a bijection on 64-bit words.
#[inline]
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// Maps a random word to a uniform number in `0..bound`. The bias is below `bound / 2^64` (Lemire
/// 2019).
#[inline]
pub(crate) fn below(word: u64, bound: u64) -> u64 {
    ((u128::from(word) * u128::from(bound)) >> 64) as u64
}

/// Maps a random word to a uniform number in `[0, 1)`.
#[inline]
pub(crate) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * (-53f64).exp2()
}

/// Returns the weight of edge number `edge`: uniform in `(0, 1]`, a multiple of 2^-24, the same for
/// any generator.
#[inline]
pub fn weight(seed: u64, edge: u64) -> f32 {
    positive_unit(RandomWords::new(seed, b"weights.").word(edge))
}

/// Maps a random word to a uniform multiple of 2^-24 in `(0, 1]`, given by its highest 24 bits. If
/// these are 0, the result is 1, because some algorithms take no weight of 0.
#[inline]
fn positive_unit(word: u64) -> f32 {
    let bits = word >> 40;
    (if bits == 0 { 1 << 24 } else { bits }) as f32 * (-24f32).exp2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_uniform_in_the_unit_interval_and_never_0() {
        let mut buckets = [0u32; 10];
        for edge in 0..100_000 {
            let weight = weight(7, edge);
            assert!(weight > 0.0 && weight <= 1.0, "{weight}");
            buckets[((weight * 10.0) as usize).min(9)] += 1;
        }
        assert!(buckets.iter().all(|&count| count.abs_diff(10_000) < 500), "{buckets:?}");
        let step = (-24f32).exp2();
        for (word, weight) in
            [(0, 1.0), ((1 << 40) - 1, 1.0), (1 << 40, step), (u64::MAX, 1.0 - step)]
        {
            assert_eq!(positive_unit(word), weight, "{word:x}");
        }
    }

    #[test]
    fn numbers_stay_below_their_bound_and_reach_it() {
        let words = RandomWords::new(1, b"the test");
        let mut seen = [false; 7];
        (0..1000).for_each(|index| seen[below(words.word(index), 7) as usize] = true);
        assert_eq!(seen, [true; 7]);
        assert_eq!(below(u64::MAX, 7), 6);
        assert!(unit(u64::MAX) < 1.0);
    }
}
