//! The records of the tile table in the file.

use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A batch: its targets.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct BatchRecord {
    pub target_first: U64,
    pub log2: U32,
    pub reserved: U32,
    pub edge_count: U64,
}

/// A cell that has a tile.
#[derive(Debug, Clone, Copy, Default, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct CellRecord {
    pub column: U32,
    pub segment: U32,
    /// Number of its tiles; they follow the tiles of the cell before.
    pub tile_count: U64,
    pub edge_count: U64,
    /// First byte of its list in `tiles.sources`.
    pub sources_offset: U64,
    /// Number of sources with an edge in the cell; 0 in a graph with one segment.
    pub source_count: U32,
    /// Bytes of the list; 0 if sources are not listed.
    pub sources_size: U32,
    pub sources_checksum: U32,
    pub reserved: U32,
}

/// A tile: its place, checksums and summary. Sources and targets count from the origin of its cell.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(super) struct TileRecord {
    pub offset: U64,
    pub weights_offset: U64,
    pub source_mask: U64,
    pub size: U32,
    pub checksum: U32,
    pub weights_checksum: U32,
    /// Number of weights, which is the number of entries; 0 in an unweighted graph.
    pub weight_count: U32,
    pub edge_count: U32,
    pub source_first: U32,
    pub source_last: U32,
    pub target_first: U32,
    pub target_last: U32,
    pub reserved: U32,
}

pub(super) const BATCH_RECORD_SIZE: usize = 24;
pub(super) const CELL_RECORD_SIZE: usize = 48;
pub(super) const TILE_RECORD_SIZE: usize = 64;
const _: () = assert!(size_of::<BatchRecord>() == BATCH_RECORD_SIZE);
const _: () = assert!(size_of::<CellRecord>() == CELL_RECORD_SIZE);
const _: () = assert!(size_of::<TileRecord>() == TILE_RECORD_SIZE);
