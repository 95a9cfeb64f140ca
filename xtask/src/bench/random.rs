//! Random choices that are the same in every run.

use std::f64::consts::LN_2;

/// A generator of random numbers: splitmix64 (Steele, Lea, Flood 2014).
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Begins with a seed.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns a number of 64 bits.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a number below `end`, which is above 0.
    pub fn below(&mut self, end: u64) -> u64 {
        // The remainder favours small numbers by less than `end` in 2^64.
        self.number() % end
    }

    /// Returns the time to the next event, where events have a mean distance of `mean`.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * LN_2 * (1.0 - self.fraction()).log2()
    }
}

/// Draws `count` things of a sequence of unknown length, each with the same probability.
pub fn sample<T>(things: impl Iterator<Item = T>, count: usize, random: &mut Random) -> Vec<T> {
    let mut drawn = Vec::with_capacity(count);
    for (index, thing) in things.enumerate() {
        if index < count {
            drawn.push(thing);
        } else if let Some(place) = drawn.get_mut(random.below(index as u64 + 1) as usize) {
            *place = thing;
        }
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_means() {
        let mut random = Random::new(1);
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        assert!((mean((0..10_000).map(|_| random.fraction()).collect()) - 0.5).abs() < 0.02);
        assert!((mean((0..10_000).map(|_| random.exponential(3.0)).collect()) - 3.0).abs() < 0.15);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }

    #[test]
    fn a_sample_holds_late_things_too() {
        let drawn = sample(0..1000, 100, &mut Random::new(2));
        assert_eq!(drawn.len(), 100);
        assert!(drawn.iter().filter(|&&thing| thing >= 500).count() > 20);
        assert_eq!(sample(0..3, 100, &mut Random::new(2)), [0, 1, 2]);
    }
}
