//! The layout of a block file, which is written once and checked on each read. Vertex arrays and
//! tables are stored as block files.
//!
//! ```text
//!  payload   blocks of 2^b bytes (1 MiB), the last one may be shorter
//!  footer    CRC-32C of each block, 4 bytes each
//!  trailer    0   8  magic "TEGULABF"
//!             8   4  format version, 1
//!            12   4  b
//!            16   8  bytes of payload
//!            24   4  zero
//!            28   4  CRC-32C of the footer and of the 28 bytes before this
//! ```
//!
//! All numbers are little-endian. The parts follow each other without gaps and the file ends with
//! the trailer, so a checksum covers every bit of it. Later versions will keep the trailer's layout
//! and its checksum, so that a newer file is not mistaken for a damaged one.

use std::ops::RangeInclusive;

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::checksum::crc32c;

pub(super) const MAGIC: [u8; 8] = *b"TEGULABF";
pub(super) const VERSION: u32 = 1;
/// Blocks have 1 MiB, except in tests.
pub const BLOCK_LOG2: u32 = 20;
/// At least whole pages, so that blocks start on the grid of direct I/O.
pub(super) const BLOCK_LOG2_RANGE: RangeInclusive<u32> = 12..=30;
pub(super) const TRAILER_LEN: usize = 32;
pub(super) const CHECKSUM_LEN: u64 = 4;
const _: () = assert!(size_of::<Trailer>() == TRAILER_LEN);
const _: () = assert!(cfg!(target_endian = "little"), "typed arrays are read as they are stored");

/// The last bytes of a block file.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable)]
#[repr(C)]
pub(super) struct Trailer {
    pub(super) magic: [u8; 8],
    pub(super) version: U32,
    pub(super) block_log2: U32,
    pub(super) payload_len: U64,
    pub(super) reserved: U32,
    checksum: U32,
}

impl Trailer {
    pub(super) fn new(footer: &[u8], block_log2: u32, payload_len: u64) -> Trailer {
        let mut trailer = Trailer {
            magic: MAGIC,
            version: U32::new(VERSION),
            block_log2: U32::new(block_log2),
            payload_len: U64::new(payload_len),
            reserved: U32::ZERO,
            checksum: U32::ZERO,
        };
        let mut covered = footer.to_vec();
        covered.extend_from_slice(&trailer.as_bytes()[..TRAILER_LEN - 4]);
        trailer.checksum = U32::new(crc32c(&covered));
        trailer
    }

    pub(super) fn checksum(&self) -> u32 {
        self.checksum.get()
    }
}
