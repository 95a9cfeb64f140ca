//! Random numbers that are the same in every run.

/// Marsaglia's xorshift: enough to spread tests over what they try.
#[derive(Debug, Clone)]
pub struct XorShift(u64);

impl XorShift {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> XorShift {
        // Zero would stay zero; an odd factor keeps seeds apart.
        XorShift(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number, in `0..end`.
    ///
    /// # Panics
    /// When there is no such number.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// The next fraction, in `0.0..1.0`.
    pub fn fraction(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}
