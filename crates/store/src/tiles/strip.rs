//! A strip: the edges of a tile whose targets lie in one aligned range of 2^w targets, by ascending
//! source.
//!
//! The sources of a strip are coded as gaps of a fixed width. Beside each gap stand the bits that
//! tell the targets apart within the strip. Entries have one of two shapes:
//!
//! * **single**: each edge has an entry of a gap and the low `w` bits of the target;
//! * **mask**: each source has an entry of a gap and a bit for each of the strip's 8 or 16 targets.
//!
//! `w` is the only parameter that fits the code to the density: 0 in the densest rows (one byte an
//! edge), 16 where a whole window of targets is thin (three bytes). See `docs/FORMAT.md`.

use zerocopy::little_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// How the entries of a strip are coded. The discriminant is the number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Encoding {
    /// Single edges, 1-byte gaps, one target.
    Gap8Low0 = 0,
    /// Single edges, 1-byte gaps, 16 targets.
    Gap8Low4 = 1,
    /// Single edges, 1-byte gaps, 256 targets.
    Gap8Low8 = 2,
    /// Single edges, 1-byte gaps, 4096 targets.
    Gap8Low12 = 3,
    /// Single edges, 1-byte gaps, 65536 targets.
    Gap8Low16 = 4,
    /// Single edges, 2-byte gaps, one target.
    Gap16Low0 = 5,
    /// Single edges, 2-byte gaps, 16 targets.
    Gap16Low4 = 6,
    /// Single edges, 2-byte gaps, 256 targets.
    Gap16Low8 = 7,
    /// Single edges, 2-byte gaps, 4096 targets.
    Gap16Low12 = 8,
    /// Single edges, 2-byte gaps, 65536 targets.
    Gap16Low16 = 9,
    /// Sources with a mask of 8 targets, 1-byte gaps.
    Mask8 = 10,
    /// Sources with a mask of 16 targets, 1-byte gaps.
    Mask16 = 11,
}

/// Every encoding, by its number in the file.
pub const ENCODINGS: [Encoding; 12] = [
    Encoding::Gap8Low0,
    Encoding::Gap8Low4,
    Encoding::Gap8Low8,
    Encoding::Gap8Low12,
    Encoding::Gap8Low16,
    Encoding::Gap16Low0,
    Encoding::Gap16Low4,
    Encoding::Gap16Low8,
    Encoding::Gap16Low12,
    Encoding::Gap16Low16,
    Encoding::Mask8,
    Encoding::Mask16,
];

/// The most entries of one strip. Further edges continue in another strip.
pub const ENTRY_COUNT_MAX: usize = u16::MAX as usize;

impl Encoding {
    /// The encoding with this number in the file; `None` if there is none.
    pub fn from_number(number: u8) -> Option<Encoding> {
        ENCODINGS.get(number as usize).copied()
    }

    /// The encoding of single edges to `2^width` targets, where `width` is 0, 4, 8, 12 or 16.
    pub(super) fn single(width: u32, is_wide: bool) -> Encoding {
        ENCODINGS[width as usize / 4 + if is_wide { 5 } else { 0 }]
    }

    /// log2 of the number of targets of a strip.
    pub fn width_log2(self) -> u32 {
        match self {
            Encoding::Mask8 => 3,
            Encoding::Mask16 => 4,
            single => (single as u32 % 5) * 4,
        }
    }

    /// Whether an entry is a source with a mask of targets, not a single edge.
    pub fn is_mask(self) -> bool {
        matches!(self, Encoding::Mask8 | Encoding::Mask16)
    }

    /// Bytes of a gap: 1 or 2.
    pub fn gap_size(self) -> usize {
        match self {
            Encoding::Mask8 | Encoding::Mask16 => 1,
            single => 1 + single as usize / 5,
        }
    }

    /// The gap that only skips: a single entry with this gap is no edge. (A mask entry skips with
    /// an empty mask instead, so all its gaps are ordinary.)
    pub fn skip(self) -> u32 {
        (1 << (8 * self.gap_size())) - 1
    }

    /// Bytes of `count` entries: gaps first, then the planes that tell targets apart.
    pub fn payload_size(self, count: usize) -> usize {
        let targets = match self {
            Encoding::Mask8 => count,
            Encoding::Mask16 => 2 * count,
            single => match single.width_log2() {
                0 => 0,
                4 => count.div_ceil(2),
                8 => count,
                12 => count + count.div_ceil(2),
                _ => 2 * count,
            },
        };
        count * self.gap_size() + targets
    }
}

/// The header of a strip in a tile.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct StripHeader {
    /// The source from which the first gap counts: `tile.source_base + (source_start <<
    /// tile.source_shift)`.
    pub source_start: U16,
    /// First target of the strip within the window; a multiple of the strip's width.
    pub target_start: U16,
    /// Entries, skips included; at least 1.
    pub count: U16,
    /// Number of the [`Encoding`].
    pub encoding: u8,
    /// Zero.
    pub reserved: u8,
}

pub(crate) const STRIP_HEADER_SIZE: usize = 8;
const _: () = assert!(size_of::<StripHeader>() == STRIP_HEADER_SIZE);

/// The header of a tile in the file.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct TileHeader {
    /// The source from which the strips count.
    pub source_base: zerocopy::little_endian::U32,
    /// Number of strips.
    pub strip_count: zerocopy::little_endian::U32,
    /// Number of edges, without skips.
    pub edge_count: zerocopy::little_endian::U32,
    /// Shift of `StripHeader::source_start`; 0 in a tile of one source window.
    pub source_shift: u8,
    /// Zero.
    pub reserved: [u8; 3],
}

pub(crate) const TILE_HEADER_SIZE: usize = 16;
const _: () = assert!(size_of::<TileHeader>() == TILE_HEADER_SIZE);
