//! A code for numbers of unknown distribution: start-step-stop codes (Fiala and Greene, *Data
//! compression with finite windows*, CACM 32(4), 1989) with steps of any size.
//!
//! A number is in one of eight classes. Class `h` holds the next `2^w[h]` numbers. A code is the
//! class in unary (`h` zeros and a 1) and an offset of `w[h]` bits in the class; [`super::gap`]
//! says where they stand. The widths are fitted to the numbers. Gamma, zeta and Golomb-Rice codes
//! are special cases, as far as eight classes reach.

/// Number of classes.
pub(super) const CLASSES: usize = 8;

/// Greatest width: a class can hold every difference of two ids, with a sign.
const WIDTH_MAX: u8 = 33;

/// A class of numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Class {
    /// Its first number.
    pub(super) base: u64,
    /// Bits of an offset.
    pub(super) width: u64,
    /// A mask of `width` ones.
    pub(super) mask: u64,
}

/// The classes of a code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Widths([Class; CLASSES]);

impl Widths {
    /// The code of these widths. None if one is more than 33.
    pub(super) fn new(widths: [u8; CLASSES]) -> Option<Self> {
        if widths.iter().any(|&width| width > WIDTH_MAX) {
            return None;
        }
        let mut base = 0;
        Some(Self(widths.map(|width| {
            let class = Class { base, width: u64::from(width), mask: (1 << width) - 1 };
            base += 1 << width;
            class
        })))
    }

    /// Finds a short code for the numbers in `histogram`, by descent along single widths. Returns
    /// the approximate bits of all numbers and the code. Evaluates the cost some ten thousand times
    /// for any histogram: 1 to 3 ms.
    pub(super) fn fit(histogram: &Histogram) -> (u64, Self) {
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
        let code = Self::new(widths);
        (bits, code.unwrap_or_else(|| unreachable!("a descent stays within the widths")))
    }

    /// The stored widths.
    pub(super) fn to_bytes(&self) -> [u8; CLASSES] {
        self.0.map(|class| class.width as u8)
    }

    /// The least number of each class.
    pub(super) fn bases(&self) -> [u64; CLASSES] {
        self.0.map(|class| class.base)
    }

    /// The class of `number` and its index. None if no class reaches it.
    pub(super) fn class_of(&self, number: u64) -> Option<(usize, Class)> {
        // All classes are compared, since a branch on the number would be mispredicted.
        let index = self.0.iter().filter(|class| class.base <= number).count().checked_sub(1)?;
        let class = self.0[index];
        (number - class.base <= class.mask).then_some((index, class))
    }

    /// Bits of a number, and leading zeros of its offset. `(64, 0)` if no class holds it.
    pub(super) fn bits_of(&self, number: u64) -> (u32, u32) {
        match self.class_of(number) {
            Some((index, class)) => {
                let rank_bits = 64 - (number - class.base).leading_zeros();
                (index as u32 + 1 + class.width as u32, class.width as u32 - rank_bits)
            }
            None => (64, 0),
        }
    }

    /// The class at this index modulo 8.
    #[inline(always)]
    pub(super) fn class(&self, index: u64) -> &Class {
        &self.0[index as usize % CLASSES]
    }
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
