//! A graph directory: immutable files, and a manifest that names them.

mod check;
mod manifest;
mod opened;
mod records;
mod table;
mod vertices;
mod writer;

pub use check::Checked;
pub use manifest::{FORMAT_VERSION, FileEntry, IdType, Manifest, OrderChoice, RowLayout};
pub use opened::{Graph, TileEntry};
pub use vertices::{IdChunk, OriginalIds, Strings};
pub use writer::GraphWriter;

/// Names of the files of a graph directory.
pub mod file_names {
    /// The manifest: JSON, then a line with its checksum.
    pub const MANIFEST: &str = "manifest.json";
    /// All tiles, one behind the other.
    pub const TILES: &str = "tiles.data";
    /// The weights of all tiles, one behind the other.
    pub const WEIGHTS: &str = "tiles.weights";
    /// A block file with a record per batch and per tile.
    pub const TILE_TABLE: &str = "tiles.table";
    /// A block file of pages with all rows, one behind the other.
    pub const ROWS: &str = "rows.data";
    /// A block file with where each row lies.
    pub const ROW_INDEX: &str = "rows.index";
    /// A block file of pages with the weights of all rows, 4 bytes each.
    pub const ROW_WEIGHTS: &str = "rows.weights";
    /// A block file with the original integer ids in ascending order, 8 bytes each.
    pub const IDS: &str = "vertices.ids";
    /// A block file with the original string ids in byte order, one behind the other.
    pub const STRINGS: &str = "vertices.strings";
    /// A block file with where each string ends, 8 bytes each.
    pub const STRING_ENDS: &str = "vertices.string-ends";
    /// A block file with the dense id of each vertex in the order of the original ids, 4 bytes each.
    pub const ORDER: &str = "vertices.order";
    /// A block file with the out-degree of each dense id, 4 bytes each.
    pub const OUT_DEGREES: &str = "degrees.out";
    /// A block file with the in-degree of each dense id, 4 bytes each.
    pub const IN_DEGREES: &str = "degrees.in";
}
