//! Names of the files of a graph directory.

/// The manifest: JSON that contains its checksum.
pub const MANIFEST: &str = "manifest.json";
/// All tiles, one behind the other.
pub const TILES: &str = "tiles.data";
/// The weights of all tiles, one behind the other.
pub const WEIGHTS: &str = "tiles.weights";
/// The lists of sources of all cells, one behind the other, where a graph has several segments.
pub const SOURCES: &str = "tiles.sources";
/// A block file with a record per batch, per cell and per tile.
pub const TILE_TABLE: &str = "tiles.table";
/// A block file of pages with all rows, one behind the other.
pub const ROWS: &str = "rows.data";
/// A block file with the place of each row.
pub const ROW_INDEX: &str = "rows.index";
/// A block file of pages that hold the weights of all rows, 4 bytes each.
pub const ROW_WEIGHTS: &str = "rows.weights";
/// As [`ROWS`], by target.
pub const REVERSE: &str = "reverse.data";
/// As [`ROW_INDEX`], by target.
pub const REVERSE_INDEX: &str = "reverse.index";
/// As [`ROW_WEIGHTS`], by target.
pub const REVERSE_WEIGHTS: &str = "reverse.weights";
/// An array of the original integer ids in ascending order.
pub const IDS: &str = "vertices.ids";
/// A block file that holds the original string ids in byte order, one behind the other.
pub const STRINGS: &str = "vertices.strings";
/// An array with the end of each string.
pub const STRING_ENDS: &str = "vertices.string-ends";
/// An array with the dense id of each id position.
pub const ORDER: &str = "vertices.order";
/// An array of the out-degree of each dense id.
pub const OUT_DEGREES: &str = "degrees.out";
/// An array of the in-degree of each dense id. It may be absent if in-degrees equal out-degrees.
pub const IN_DEGREES: &str = "degrees.in";

/// As [`OUT_DEGREES`], of the graph of which this one is a shard.
pub const WHOLE_OUT_DEGREES: &str = "whole.degrees.out";
/// As [`IN_DEGREES`], of the graph of which this one is a shard.
pub const WHOLE_IN_DEGREES: &str = "whole.degrees.in";

/// A folder, under a hidden name, in which a run builds a graph for itself alone.
pub const OWN_GRAPH: &str = "tegula-run";

/// Files whose presence does not follow from the manifest's other fields: the order is absent where
/// id positions are dense ids, and in-degrees may be where they equal out-degrees.
pub(super) const OPTIONAL: [&str; 2] = [ORDER, IN_DEGREES];
/// All block files that a graph may have.
pub(crate) const BLOCK_FILES: [&str; 15] = [
    TILE_TABLE,
    OUT_DEGREES,
    IN_DEGREES,
    WHOLE_OUT_DEGREES,
    WHOLE_IN_DEGREES,
    IDS,
    STRINGS,
    STRING_ENDS,
    ORDER,
    ROWS,
    ROW_INDEX,
    ROW_WEIGHTS,
    REVERSE,
    REVERSE_INDEX,
    REVERSE_WEIGHTS,
];
/// All files that are no block files.
const OTHER_FILES: [&str; 4] = [MANIFEST, TILES, SOURCES, WEIGHTS];

/// All files that a graph may have.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    BLOCK_FILES.into_iter().chain(OTHER_FILES)
}
