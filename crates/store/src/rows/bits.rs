//! Streams of bits: the first bit is the lowest of the first byte.

use std::ops::Range;

/// The least number of bits in a word, wherever in a byte it begins.
pub(super) const WINDOW_BITS_MIN: u32 = 57;

/// Appends bits. Rows stand one after the other without padding.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, from the lowest on.
    pending: u64,
    /// Number of pending bits, 0 to 7.
    pending_len: u32,
}

impl BitWriter {
    /// Bits written so far: where the next row begins.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64 * 8 + u64::from(self.pending_len)
    }

    /// Appends the low `len` bits of `bits`, the lowest first. `len` is at most 57, and all higher
    /// bits are zero.
    pub fn write(&mut self, bits: u64, len: u32) {
        debug_assert!(len <= WINDOW_BITS_MIN && bits < 1 << len, "{bits:#x} in {len} bits");
        self.pending |= bits << self.pending_len;
        let total = self.pending_len + len;
        let full = total / 8;
        self.bytes.extend_from_slice(&self.pending.to_le_bytes()[..full as usize]);
        // A shift by all 64 bits would overflow.
        self.pending = if full == 8 { 0 } else { self.pending >> (8 * full) };
        self.pending_len = total % 8;
    }

    /// The bytes; zeros fill up the last.
    pub fn into_bytes(mut self) -> Vec<u8> {
        if self.pending_len > 0 {
            self.bytes.push(self.pending.to_le_bytes()[0]);
        }
        self.bytes
    }
}

/// The bits of one row, among bytes of several rows.
///
/// A row is read in words of 8 bytes. Where 8 bytes or more follow it in the slice, every word is
/// one load. At the end of the slice it takes longer, with the same result.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowBits<'a> {
    pub bytes: &'a [u8],
    pub start: u64,
    pub end: u64,
}

impl<'a> RowBits<'a> {
    /// The row at `range`, in bits from the start of `bytes`. `None` if the range is outside.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], range: Range<u64>) -> Option<Self> {
        let within = range.start <= range.end && range.end <= bytes.len() as u64 * 8;
        within.then_some(Self { bytes, start: range.start, end: range.end })
    }

    /// Where the row begins, in bits.
    #[inline]
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Where the row ends, in bits.
    #[inline]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Bits of the row.
    #[inline]
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether the row has no bits, and so no neighbours.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Returns the bits from `position` on, and how many of them are known: 57 or more. Behind the
    /// row all bits are zero, so a word that reaches its end has all 64 bits known. `position` is
    /// at most the row's end.
    #[inline(always)]
    pub fn word(&self, position: u64) -> (u64, u32) {
        let shift = (position % 8) as u32;
        let bits = self.load((position / 8) as usize) >> shift;
        let known = 64 - shift;
        let rest = self.end - position;
        if rest < u64::from(known) { (bits & !(u64::MAX << rest), 64) } else { (bits, known) }
    }

    /// 57 bits or more from `position` on, also behind the row.
    #[inline(always)]
    pub fn bits(&self, position: u64) -> u64 {
        self.load((position / 8) as usize) >> (position % 8)
    }

    /// The bytes from `index` on, also behind the row; empty beyond the slice.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub fn bytes_from(&self, index: usize) -> &'a [u8] {
        self.bytes.get(index..).unwrap_or_default()
    }

    /// The 8 bytes at `index`; zeros behind the last.
    #[inline(always)]
    fn load(&self, index: usize) -> u64 {
        match self.bytes.get(index..index + 8).map(TryInto::try_into) {
            Some(Ok(bytes)) => u64::from_le_bytes(bytes),
            _ => load_at_end(self.bytes, index),
        }
    }
}

/// As [`RowBits::load`], where fewer than 8 bytes are left.
#[cold]
fn load_at_end(bytes: &[u8], index: usize) -> u64 {
    let tail = bytes.get(index..).unwrap_or_default();
    let mut word = [0; 8];
    word[..tail.len()].copy_from_slice(tail);
    u64::from_le_bytes(word)
}

/// The error for a row that leads to `target`.
#[cold]
pub(super) fn no_vertex(target: u64, vertex_count: u32) -> String {
    format!("a neighbour {target} of {vertex_count} vertices")
}
