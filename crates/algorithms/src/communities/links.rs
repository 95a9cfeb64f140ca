//! The weights between a unit and what is around it.

use tegula_machine::threads::Stash;

/// Sums of weights by number, of which few are not 0.
pub(super) struct Links {
    sums: Vec<f64>,
    /// Whose sum was added to, in the order of that.
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl Links {
    fn new(count: u32) -> Links {
        Links {
            sums: vec![0.0; count as usize],
            touched: Vec::with_capacity(count as usize),
            is_touched: vec![false; count as usize],
        }
    }

    #[inline]
    pub(super) fn add(&mut self, number: u32, weight: f64) {
        let index = number as usize;
        if !self.is_touched[index] {
            self.is_touched[index] = true;
            self.touched.push(number);
        }
        self.sums[index] += weight;
    }

    /// The sum of a number.
    pub(super) fn to(&self, number: u32) -> f64 {
        self.sums[number as usize]
    }

    /// The numbers that were added to, each with its sum.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f64)> {
        self.touched.iter().map(|&number| (number, self.sums[number as usize]))
    }

    /// All sums are 0 again.
    pub(super) fn clear(&mut self) {
        for number in self.touched.drain(..) {
            self.sums[number as usize] = 0.0;
            self.is_touched[number as usize] = false;
        }
    }
}

/// Those that workers are done with.
pub(super) struct SpareLinks {
    count: u32,
    spare: Stash<Links>,
}

impl SpareLinks {
    /// Of numbers below `count`.
    pub(super) fn new(count: u32) -> SpareLinks {
        SpareLinks { count, spare: Stash::default() }
    }

    /// Bytes that each worker takes.
    pub(super) fn size(count: u64) -> u64 {
        13 * count
    }

    /// Lends one, whose sums are 0, for some work that leaves it so.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Links) -> T) -> T {
        self.spare.with(|| Links::new(self.count), work)
    }
}
