//! A code for numbers of unknown distribution: start-step-stop codes (Fiala and Greene, *Data
//! compression with finite windows*, CACM 32(4), 1989) with steps of any size.
//!
//! A number is in one of eight classes. Class `h` holds the next `2^w[h]` numbers. A code is the
//! class in unary (`h` zeros and a 1) and an offset of `w[h]` bits in the class; [`super::gap`]
//! says where they stand. [`super::fit_code`] fits the widths to numbers. Gamma, zeta and
//! Golomb-Rice codes are special cases, as far as eight classes reach.

/// Number of classes.
pub(super) const CLASSES: usize = 8;

/// Greatest width: a class can hold every difference of two ids, with a sign.
pub(super) const WIDTH_MAX: u8 = 33;

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
pub(super) struct ClassCode([Class; CLASSES]);

impl ClassCode {
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
