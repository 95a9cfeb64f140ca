//! A graph directory: immutable files, and a manifest that names them.

mod check;
pub mod contents;
mod edge_facts;
mod manifest;
mod opened;
mod order;
mod records;
mod table;
mod tile_read;
mod vertices;
mod writer;

pub use check::Checked;
pub use manifest::{FORMAT_VERSION, FileEntry, IdType, Manifest, OrderChoice, RowLayout};
pub use opened::{Graph, TileEntry};
pub use order::VertexOrder;
pub use tile_read::{CheckedTiles, TileRead};
pub use vertices::{IdChunk, OriginalIds, Strings};
pub use writer::GraphWriter;

/// Names of the files of a graph directory.
pub mod file_names {
    use super::{IdType, Manifest};

    /// The manifest: JSON with its checksum in it.
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

    /// All block files that a graph may have.
    pub(crate) const BLOCK_FILES: [&str; 10] = [
        TILE_TABLE,
        OUT_DEGREES,
        IN_DEGREES,
        IDS,
        STRINGS,
        STRING_ENDS,
        ORDER,
        ROWS,
        ROW_INDEX,
        ROW_WEIGHTS,
    ];
    /// All files that are not.
    const OTHER_FILES: [&str; 3] = [MANIFEST, TILES, WEIGHTS];

    /// All files that a graph may have.
    pub(crate) fn all() -> impl Iterator<Item = &'static str> {
        BLOCK_FILES.into_iter().chain(OTHER_FILES)
    }

    /// The files that a graph has to have, by what its manifest says of it. A further one is [`ORDER`],
    /// which depends on how its ids turn out.
    pub(super) fn of(manifest: &Manifest) -> Vec<&'static str> {
        let mut names = vec![TILES, TILE_TABLE, OUT_DEGREES, IN_DEGREES];
        names.extend(manifest.weighted.then_some(WEIGHTS));
        match manifest.ids {
            IdType::Range => {}
            IdType::Integer => names.push(IDS),
            IdType::String => names.extend([STRINGS, STRING_ENDS]),
        }
        if manifest.rows.is_some() {
            names.extend([ROWS, ROW_INDEX]);
            names.extend(manifest.weighted.then_some(ROW_WEIGHTS));
        }
        names
    }
}
