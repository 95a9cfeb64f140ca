//! The weights between a unit and its surroundings.

use tegula_engine::huge;
use tegula_machine::memory::prefetch;
use tegula_machine::threads::Stash;

/// Sums of weights by number; few sums are not 0.
pub(super) struct Links {
    sums: Vec<f64>,
    /// The numbers whose sums are not 0, in the order in which they became so, and one free place.
    touched: Vec<u32>,
    touched_count: usize,
}

impl Links {
    fn new(count: u32) -> Links {
        let count = count as usize;
        Links { sums: huge::zeroes(count), touched: vec![0; count + 1], touched_count: 0 }
    }

    /// Prefetches the sum of a number.
    #[inline]
    pub(super) fn prefetch(&self, number: u32) {
        prefetch(&self.sums, number as usize);
    }

    /// Adds a weight to the sum of a number. Takes no branch: whether a number is new is
    /// unpredictable.
    #[inline]
    pub(super) fn add(&mut self, number: u32, weight: f64) {
        let sum = &mut self.sums[number as usize];
        self.touched[self.touched_count] = number;
        // A weight of 0 leaves the sum at 0, so its number would be listed again and again.
        self.touched_count += usize::from((*sum == 0.0) & (weight != 0.0));
        *sum += weight;
    }

    /// Returns the sum of a number.
    pub(super) fn to(&self, number: u32) -> f64 {
        self.sums[number as usize]
    }

    /// Returns the numbers whose sums are not 0, each with its sum.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f64)> {
        let touched = &self.touched[..self.touched_count];
        touched.iter().map(|&number| (number, self.sums[number as usize]))
    }

    /// Sets all sums to 0 again.
    pub(super) fn clear(&mut self) {
        for &number in &self.touched[..self.touched_count] {
            self.sums[number as usize] = 0.0;
        }
        self.touched_count = 0;
    }
}

/// Links that no worker uses at the moment.
pub(super) struct SpareLinks {
    count: u32,
    spare: Stash<Links>,
}

impl SpareLinks {
    /// Makes links for numbers below `count`.
    pub(super) fn new(count: u32) -> SpareLinks {
        SpareLinks { count, spare: Stash::default() }
    }

    /// Returns the bytes that each worker takes.
    pub(super) fn size(count: u64) -> u64 {
        12 * count + 4
    }

    /// Lends links whose sums are 0 for some work, which must leave them so.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Links) -> T) -> T {
        self.spare.with(|| Links::new(self.count), work)
    }
}
