//! The content of blocks: sizes, checksums and periods.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::disk::buffer::GRID;
use crate::disk::checksum::crc32c;
use crate::disk::pool::Pool;

/// The blocks that a store is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// The content, for error messages: "states".
    pub what: &'static str,
    /// Number of blocks.
    pub count: usize,
    /// Bytes of the largest block.
    pub size: usize,
}

impl Blocks {
    /// Returns the bytes of the file that holds them.
    pub fn file_size(&self) -> u64 {
        (self.count * self.slot_size()) as u64
    }

    /// Returns the bytes of memory to read or write a block.
    pub fn frame_size(&self) -> u64 {
        Pool::size_class(self.slot_size()) as u64
    }

    /// Returns the bytes from one block to the next.
    pub(super) fn slot_size(&self) -> usize {
        self.size.max(1).next_multiple_of(GRID)
    }
}

/// The expected length and checksum of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Sum {
    pub len: u32,
    pub checksum: u32,
}

impl Sum {
    pub fn of(bytes: &[u8]) -> Sum {
        Sum { len: bytes.len() as u32, checksum: crc32c(bytes) }
    }
}

/// The bytes that a part repeats.
pub(super) type Period = [u8; 8];

/// The most parts of a block.
pub(super) const PARTS_MAX: usize = 2;

/// Returns the period of each non-empty part of a block, if all of them are periodic. Stops at the
/// first difference.
pub(super) fn periods_of(parts: &[&[u8]]) -> Option<[Period; PARTS_MAX]> {
    let mut periods = [Period::default(); PARTS_MAX];
    for (part, period) in parts.iter().filter(|part| !part.is_empty()).zip(&mut periods) {
        let len = part.len().min(period.len());
        period[..len].copy_from_slice(&part[..len]);
        if part[len..] != part[..part.len() - len] {
            return None;
        }
    }
    (parts.len() <= PARTS_MAX).then_some(periods)
}

/// Fills a part with its period.
pub(super) fn repeat(period: &Period, part: &mut [u8]) {
    let (whole, rest) = part.as_chunks_mut();
    whole.fill(*period);
    rest.copy_from_slice(&period[..rest.len()]);
}

/// Copies bytes into parts of the same total length.
pub(super) fn scatter(mut bytes: &[u8], parts: &mut [&mut [u8]]) {
    for part in parts {
        let (these, rest) = bytes.split_at(part.len());
        part.copy_from_slice(these);
        bytes = rest;
    }
}

/// Copies parts into bytes of the same total length.
pub(super) fn gather(parts: &[&[u8]], mut bytes: &mut [u8]) {
    for part in parts {
        let (these, rest) = bytes.split_at_mut(part.len());
        these.copy_from_slice(part);
        bytes = rest;
    }
}
