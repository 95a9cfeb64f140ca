//! Numbers whose sums do not depend on the order of the additions.

use tegula_engine::Aggregate;

/// The number of shares in 1. A sum has 128 bits, so there is room for 2^47 values of up to 1.
const IN_ONE: f64 = (1u128 << 80) as f64;

/// Returns a value from 0 to 1 in shares, rounded down.
#[inline(always)]
pub(super) fn shares(value: f64) -> u128 {
    const HALF: f64 = (1u64 << 40) as f64;
    // Two short conversions are quicker than a long one.
    let high = (value * HALF) as u64;
    let low = ((value * HALF - high as f64) * HALF) as u64;
    u128::from(high) << 40 | u128::from(low)
}

/// Returns the value of shares, rounded to the nearest number.
#[inline(always)]
pub(super) fn value_of(shares: u128) -> f64 {
    shares as f64 / IN_ONE
}

/// Returns the factor that makes sums with this total add up to 1.
pub(super) fn scale(total: &Total) -> f64 {
    if total.0 > 0 { 1.0 / value_of(total.0) } else { 0.0 }
}

/// A sum of shares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Total(pub u128);

impl Aggregate for Total {
    fn merge(&mut self, next: Total) {
        self.0 += next.0;
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_le_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Total> {
        Some(Total(u128::from_le_bytes(bytes.try_into().ok()?)))
    }
}
