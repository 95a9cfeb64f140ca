//! The codes of a row: classes from its front, offsets from its end.

use super::bits::{BitWriter, RowBits};
use super::class_code::ClassCode;

/// Writes the codes of a row: each class at once, the offsets after all classes.
#[derive(Debug)]
pub(super) struct CodeWriter {
    /// The offsets so far with their widths, 8 bytes each.
    offsets: Vec<u64>,
}

impl CodeWriter {
    /// Begins a row of about `codes` codes.
    pub fn new(codes: usize) -> Self {
        Self { offsets: Vec::with_capacity(codes) }
    }

    /// Appends a number. The code must hold it.
    pub fn write(&mut self, code: &ClassCode, number: u64, out: &mut BitWriter) {
        let (index, class) = code
            .class_of(number)
            .unwrap_or_else(|| unreachable!("the code was fitted to this row"));
        out.write(1 << index, index as u32 + 1);
        self.offsets.push(packed(number - class.base, class.width as u32));
    }

    /// Appends the offsets, the last one without leading zeros.
    pub fn finish(mut self, out: &mut BitWriter) {
        if let Some(last) = self.offsets.last_mut() {
            let offset = *last >> 6;
            *last = packed(offset, 64 - offset.leading_zeros());
        }
        for packed in self.offsets.into_iter().rev() {
            out.write(packed >> 6, (packed & 63) as u32);
        }
    }
}

/// An offset of up to 33 bits, packed with its width.
fn packed(offset: u64, width: u32) -> u64 {
    offset << 6 | u64::from(width)
}

#[cold]
pub(super) fn cut_off() -> String {
    "a code that runs over the end of its row".to_owned()
}

/// Reads the codes of a row from both ends.
#[derive(Clone)]
pub(super) struct Codes<'a> {
    pub row: RowBits<'a>,
    /// The bits from `word_start` on, less the classes already read. Offsets and the next row may
    /// follow the classes; no valid row has a class there.
    stops: u64,
    word_start: u64,
    /// Where the next class begins.
    pub front: u64,
    /// Where the last offset begins.
    pub back: u64,
}

impl<'a> Codes<'a> {
    #[inline(always)]
    pub fn new(row: RowBits<'a>) -> Self {
        let (front, back) = (row.start(), row.end());
        Self { row, stops: row.bits(front), word_start: front, front, back }
    }

    /// The part between the classes and the offsets read so far: empty, or an enclosed row.
    #[inline(always)]
    pub fn rest(&self) -> RowBits<'a> {
        RowBits { bytes: self.row.bytes, start: self.front, end: self.back }
    }

    /// Continues with the class at `front` and the offset before `back`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn go_to(&mut self, front: u64, back: u64) {
        (self.stops, self.front, self.back) = (0, front, back);
    }

    #[inline(always)]
    pub fn is_at_end(&self) -> bool {
        self.front == self.back
    }

    /// The next number; `None` if the row ends within its code. Must not be called at the end of
    /// the row.
    #[inline(always)]
    pub fn next(&mut self, code: &ClassCode) -> Option<u64> {
        if self.stops == 0 {
            self.word_start = self.front;
            self.stops = self.row.bits(self.front);
        }
        // If there is no further 1, the row is invalid. Then the position is behind the word and
        // the class modulo 8 is arbitrary, which is harmless.
        let stop = self.word_start + u64::from(self.stops.trailing_zeros());
        let class = code.class(stop - self.front);
        self.stops &= self.stops.wrapping_sub(1);
        self.front = stop + 1;
        if self.front + class.width < self.back {
            self.back -= class.width;
            return Some(class.base + (self.row.bits(self.back) & class.mask));
        }
        // The last offset has no leading zeros, so it may be shorter than its class says.
        let len = self.back.checked_sub(self.front)?;
        self.back = self.front;
        Some(class.base + (self.row.bits(self.front) & !(u64::MAX << len)))
    }
}
