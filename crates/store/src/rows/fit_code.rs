//! Fits a code to numbers: finds widths of its classes that take few bits.

use super::class_code::{CLASSES, ClassCode, WIDTH_MAX};

/// Finds a short code for the numbers in `histogram`, by descent along single widths. Returns
/// the approximate bits of all numbers and the code. Evaluates the cost some ten thousand times
/// for any histogram: 1 to 3 ms.
pub(super) fn fit_code(histogram: &Histogram) -> (u64, ClassCode) {
    let sums = Sums::new(histogram);
    let bits_max = (64 - (histogram.max + 1).leading_zeros()) as u8;
    // A descent may end in a local minimum, so several are tried.
    let starts = [(0, 1), (0, 2), (0, 3), (2, 2), (4, 1), (4, 3)];
    let found = starts.map(|(start, step)| {
        let mut widths = std::array::from_fn(|class| start + step * class as u8);
        // Some class must reach the greatest number.
        widths[CLASSES - 1] = widths[CLASSES - 1].max(bits_max).min(WIDTH_MAX);
        sums.descend(widths)
    });
    let (bits, widths) = found.into_iter().min().unwrap_or_default();
    let code = ClassCode::new(widths);
    (bits, code.unwrap_or_else(|| unreachable!("a descent stays within the widths")))
}

/// Frequency of numbers, in eight ranges an octave.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    max: u64,
}

/// Ranges of numbers below 2^34.
const RANGES: usize = 16 + 30 * 8;

impl Histogram {
    pub(super) fn new() -> Self {
        Self { counts: vec![0; RANGES], max: 0 }
    }

    /// Counts `number`, which is below 2^34.
    pub(super) fn add(&mut self, number: u64) {
        self.counts[range_of(number)] += 1;
        self.max = self.max.max(number);
    }

    /// Adds what `other` has counted.
    pub(super) fn merge(&mut self, other: &Self) {
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
        self.cover(other);
    }

    /// Makes a code hold the numbers of `other` without counting them.
    pub(super) fn cover(&mut self, other: &Self) {
        self.max = self.max.max(other.max);
    }
}

/// The range of `number`: exact below 16, an eighth of an octave from there.
fn range_of(number: u64) -> usize {
    if number < 16 {
        return number as usize;
    }
    let octave = number.ilog2();
    16 + (octave - 4) as usize * 8 + ((number >> (octave - 3)) & 7) as usize
}

/// The least number of a range.
fn range_start(range: usize) -> u64 {
    match range.checked_sub(16) {
        None => range as u64,
        Some(above) => (8 + above as u64 % 8) << (above / 8 + 1),
    }
}

/// Prefix sums of a histogram, to evaluate codes.
struct Sums {
    /// Number of numbers in the ranges before each range.
    before: Vec<u64>,
    max: u64,
}

impl Sums {
    fn new(histogram: &Histogram) -> Self {
        let mut before = vec![0];
        let mut sum = 0;
        for count in &histogram.counts {
            sum += count;
            before.push(sum);
        }
        Self { before, max: histogram.max }
    }

    /// Approximate number of numbers below `bound`.
    fn below(&self, bound: u64) -> u64 {
        let range = range_of(bound);
        if bound > self.max || range + 1 >= self.before.len() {
            return self.before[self.before.len() - 1];
        }
        let (start, next) = (range_start(range), range_start(range + 1));
        let within = u128::from(self.before[range + 1] - self.before[range]);
        let part = within * u128::from(bound - start) / u128::from(next - start);
        self.before[range] + part as u64
    }

    /// Bits of all numbers in a code of these widths; `u64::MAX` if the code cannot hold the
    /// greatest.
    fn cost(&self, widths: &[u8; CLASSES]) -> u64 {
        let (mut base, mut done, mut bits) = (0_u64, 0, 0);
        for (class, &width) in widths.iter().enumerate() {
            base += 1 << width;
            let below = self.below(base);
            bits += (below - done) * (class as u64 + 1 + u64::from(width));
            done = below;
            if base > self.max {
                return bits;
            }
        }
        u64::MAX
    }

    /// Changes one width, or moves a bit from one to another, as long as the code gets shorter.
    fn descend(&self, mut widths: [u8; CLASSES]) -> (u64, [u8; CLASSES]) {
        let mut cost = self.cost(&widths);
        loop {
            let before = cost;
            for class in 0..CLASSES {
                for other in 0..CLASSES {
                    for (step, other_step) in [(-1, 1), (-1, 0), (1, 0), (-2, 0), (2, 0)] {
                        let mut next = widths;
                        next[class] = next[class].saturating_add_signed(step).min(WIDTH_MAX);
                        next[other] = (next[other] + other_step).min(WIDTH_MAX);
                        let next_cost = self.cost(&next);
                        if next_cost < cost {
                            (cost, widths) = (next_cost, next);
                        }
                    }
                }
            }
            if cost == before {
                return (cost, widths);
            }
        }
    }
}
