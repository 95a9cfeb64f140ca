//! A keyed bijection of `0..2^bits`, which hides how ids were made.

use crate::random::RandomWords;

const ROUNDS: usize = 3;

/// A pseudo-random permutation of `0..2^bits`. A round adds a key, multiplies by an odd number and
/// folds the upper half onto the lower one. Each of these is a bijection modulo `2^bits`.
///
/// Graph500 calls this scrambling. Without it, the id of an R-MAT vertex reveals its degree.
#[derive(Debug, Clone)]
pub struct Scramble {
    mask: u64,
    fold: u32,
    rounds: [(u64, u64); ROUNDS],
}

impl Scramble {
    /// Makes the permutation of `0..2^bits` for this seed. `bits` above 64 count as 64.
    pub fn new(bits: u32, seed: u64) -> Self {
        let bits = bits.min(64);
        let words = RandomWords::new(seed, b"scramble");
        Self {
            // For no bits, the shift by all 64 would overflow.
            mask: u64::MAX.checked_shr(64 - bits).unwrap_or(0),
            fold: bits.div_ceil(2),
            rounds: std::array::from_fn(|round| {
                let index = 2 * round as u64;
                (words.word(index), words.word(index + 1) | 1)
            }),
        }
    }

    /// Returns the image of `id`, which must be below `2^bits`.
    #[inline]
    pub fn apply(&self, mut id: u64) -> u64 {
        for (summand, factor) in self.rounds {
            id = id.wrapping_add(summand).wrapping_mul(factor) & self.mask;
            id ^= id >> self.fold;
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_has_exactly_one_image() {
        for bits in 0..=14 {
            let scramble = Scramble::new(bits, 5);
            let mut images: Vec<u64> = (0..1 << bits).map(|id| scramble.apply(id)).collect();
            images.sort_unstable();
            assert!(images.into_iter().eq(0..1 << bits), "bits {bits}");
        }
    }

    #[test]
    fn most_neighbours_are_separated() {
        let scramble = Scramble::new(20, 5);
        let close = (0..(1 << 20) - 1)
            .filter(|&id| scramble.apply(id).abs_diff(scramble.apply(id + 1)) < 1 << 10)
            .count();
        // In a random permutation, about 2^20 * 2 * 2^10 / 2^20 pairs stay close.
        assert!(close < 4096, "{close} pairs of neighbours stayed close");
    }

    #[test]
    fn a_permutation_of_all_64_bit_words_is_allowed() {
        let scramble = Scramble::new(64, 5);
        assert_ne!(scramble.apply(u64::MAX), scramble.apply(0));
    }
}
