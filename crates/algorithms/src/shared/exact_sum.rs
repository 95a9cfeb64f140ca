//! Exact sums of weights, which do not depend on the order of the additions.
//!
//! A sum is a whole number of units of 2^-149, the least `f32` above 0. Its 320 bits hold any
//! weight, and the sum of 2^43 of the greatest: more than there are edges on any disk. (A long
//! accumulator: Kulisch, *Computer Arithmetic and Validity*, 2013.)

use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicU64};

use serde::{Serialize, Serializer};
use zerocopy::FromZeros;
use zerocopy::little_endian::U64;

/// The number of words in a sum.
const WORDS: usize = 5;

/// The exponent of the lowest bit of a sum.
const LAST_BIT: i32 = -149;

/// A sum of finite weights of at least 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExactSum(
    /// The lowest word first.
    [u64; WORDS],
);

/// A sum that several threads add to.
#[derive(Debug, Default, FromZeros)]
#[repr(transparent)]
pub struct SharedSum([AtomicU64; WORDS]);

/// Returns the first word of a sum that a weight changes, and what to add to this word and to the
/// next one. Ignores the sign.
#[inline(always)]
fn place(weight: f32) -> (usize, [u64; 2]) {
    let bits = weight.to_bits() & (u32::MAX >> 1);
    let exponent = bits >> (f32::MANTISSA_DIGITS - 1);
    // All weights but the subnormal ones have a leading bit that is not stored.
    let stored = bits & ((1 << (f32::MANTISSA_DIGITS - 1)) - 1);
    let digits = stored | u32::from(exponent > 0) << (f32::MANTISSA_DIGITS - 1);
    let shift = exponent.max(1) - 1;
    let placed = u128::from(digits) << (shift % 64);
    ((shift / 64) as usize, [placed as u64, (placed >> 64) as u64])
}

impl ExactSum {
    /// Bytes of a sum.
    pub(crate) const SIZE: usize = 8 * WORDS;

    /// Adds a weight.
    #[inline(always)]
    pub fn add(&mut self, weight: f32) {
        let (word, [low, high]) = place(weight);
        self.add_at(word, low);
        self.add_at(word + 1, high);
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(mut self, other: ExactSum) -> ExactSum {
        other.0.into_iter().enumerate().for_each(|(word, amount)| self.add_at(word, amount));
        self
    }

    /// Returns what is left without `part`, which is a part of this sum.
    #[must_use]
    pub fn minus(mut self, part: ExactSum) -> ExactSum {
        let mut borrowed = false;
        for (word, part) in self.0.iter_mut().zip(part.0) {
            let (rest, is_below) = word.overflowing_sub(part);
            let (rest, is_below_too) = rest.overflowing_sub(borrowed.into());
            (*word, borrowed) = (rest, is_below || is_below_too);
        }
        self
    }

    /// Returns the bytes of the sum, for [`ExactSum::from_bytes`].
    pub(crate) fn to_bytes(self) -> [u8; ExactSum::SIZE] {
        zerocopy::transmute!(self.0.map(U64::new))
    }

    /// Returns the sum with these bytes.
    pub(crate) fn from_bytes(bytes: [u8; ExactSum::SIZE]) -> ExactSum {
        let words: [U64; WORDS] = zerocopy::transmute!(bytes);
        ExactSum(words.map(U64::get))
    }

    /// Returns whether nothing but zeroes was added.
    pub fn is_zero(&self) -> bool {
        self.0 == [0; WORDS]
    }

    /// Returns the nearest `f64`.
    pub fn to_f64(self) -> f64 {
        let first = self.0.iter().rposition(|&word| word > 0).unwrap_or(0).max(1);
        let digits = u128::from(self.0[first]) << 64 | u128::from(self.0[first - 1]);
        // The lower words only decide the rounding, so one bit stands for all of them.
        let has_more = self.0[..first - 1].iter().any(|&word| word > 0);
        let exponent = 64 * (first as i32 - 1) + LAST_BIT;
        let scale =
            f64::from_bits(((f64::MAX_EXP - 1 + exponent) as u64) << (f64::MANTISSA_DIGITS - 1));
        // The scale is a power of two, so only the conversion rounds.
        (digits | u128::from(has_more)) as f64 * scale
    }

    #[inline(always)]
    fn add_at(&mut self, first: usize, mut amount: u64) {
        for word in &mut self.0[first..] {
            if amount == 0 {
                return;
            }
            let (sum, is_carried) = word.overflowing_add(amount);
            *word = sum;
            amount = is_carried.into();
        }
    }
}

/// Serializes the sum as a number.
impl Serialize for ExactSum {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

impl Ord for ExactSum {
    fn cmp(&self, other: &ExactSum) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}

impl PartialOrd for ExactSum {
    fn partial_cmp(&self, other: &ExactSum) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl SharedSum {
    /// Adds a weight, mostly by one or two additions to words.
    #[inline(always)]
    pub(crate) fn add(&self, weight: f32) {
        let (word, [low, high]) = place(weight);
        self.add_at(word, low);
        self.add_at(word + 1, high);
    }

    /// Adds a sum.
    pub(crate) fn add_sum(&self, sum: ExactSum) {
        sum.0.into_iter().enumerate().for_each(|(word, amount)| self.add_at(word, amount));
    }

    /// Returns the sum so far.
    pub(crate) fn now(&mut self) -> ExactSum {
        ExactSum(self.0.each_mut().map(|word| *word.get_mut()))
    }

    /// Returns the sum, after all additions.
    pub(crate) fn into_inner(self) -> ExactSum {
        ExactSum(self.0.map(AtomicU64::into_inner))
    }

    /// Words and carries may come in any order: each changes the whole sum by its own amount.
    #[inline(always)]
    fn add_at(&self, first: usize, mut amount: u64) {
        for word in &self.0[first..] {
            if amount == 0 {
                return;
            }
            let before = word.fetch_add(amount, atomic::Ordering::Relaxed);
            amount = before.overflowing_add(amount).1.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum_of(weights: &[f32]) -> ExactSum {
        let mut sum = ExactSum::default();
        weights.iter().for_each(|&weight| sum.add(weight));
        sum
    }

    /// Draws any weights; each bit of an exponent is equally likely to be set.
    fn weights() -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec((0..f32::INFINITY.to_bits()).prop_map(f32::from_bits), 0..50)
    }

    proptest! {
        #[test]
        fn a_weight_alone_is_its_own_sum(bits in 0..f32::INFINITY.to_bits()) {
            let weight = f32::from_bits(bits);
            prop_assert_eq!(sum_of(&[weight]).to_f64(), f64::from(weight));
            prop_assert_eq!(sum_of(&[-weight]).to_f64(), f64::from(weight));
        }

        #[test]
        fn sums_of_whole_numbers_are_exact(numbers in prop::collection::vec(0u32..1 << 24, 0..200)) {
            let weights: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
            let expected: u64 = numbers.iter().map(|&number| u64::from(number)).sum();
            prop_assert_eq!(sum_of(&weights).to_f64(), expected as f64);
        }

        #[test]
        fn subtraction_undoes_additions_in_any_order(one in weights(), other in weights()) {
            let (first, second) = (sum_of(&one), sum_of(&other));
            let mut all = [one, other].concat();
            all.reverse();
            prop_assert_eq!(sum_of(&all), first.plus(second));
            prop_assert_eq!(sum_of(&all).minus(second), first);
            prop_assert_eq!(first.cmp(&second), first.plus(second).cmp(&second.plus(second)));
        }

        #[test]
        fn threads_find_the_same_sum_as_one(weights in weights()) {
            let shared = SharedSum::default();
            shared.add_sum(sum_of(&weights));
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| weights.iter().for_each(|&weight| shared.add(weight)));
                }
            });
            let one = sum_of(&weights);
            prop_assert_eq!(shared.into_inner(), one.plus(one).plus(one.plus(one)));
        }
    }

    #[test]
    fn the_lowest_bit_decides_the_rounding_to_f64() {
        // The second weight is half a unit in the last place of the first as an `f64`. Then the
        // least weight is added.
        let half = sum_of(&[2f32.powi(100), 2f32.powi(47)]);
        assert_eq!(half.to_f64(), 2f64.powi(100));
        let more = half.plus(sum_of(&[f32::from_bits(1)]));
        assert_eq!(more.to_f64(), 2f64.powi(100) * (1.0 + f64::EPSILON));
        assert!(more > half && !more.is_zero() && sum_of(&[0.0, -0.0]).is_zero());
    }

    #[test]
    fn trillions_of_the_greatest_weights_have_room() {
        let mut sum = sum_of(&[f32::MAX]);
        for _ in 0..42 {
            sum = sum.plus(sum);
        }
        assert_eq!(sum.to_f64(), f64::from(f32::MAX) * 2f64.powi(42));
    }
}
