//! Random numbers that are the same in every run.

/// Marsaglia's xorshift: good enough to vary the cases of tests.
#[derive(Debug, Clone)]
pub struct XorShift(u64);

impl XorShift {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> XorShift {
        // Zero would stay zero; multiplying by an odd factor keeps different seeds different.
        XorShift(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns the next number, in `0..end`.
    ///
    /// # Panics
    /// When `end` is 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }

    /// Returns the next fraction, in `0.0..1.0`.
    pub fn fraction(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 20)
    }
}
