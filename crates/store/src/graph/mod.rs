//! A graph directory: immutable files, and a manifest that names them.

mod cells;
pub mod contents;
mod degrees;
mod directory;
mod equal_weight;
pub mod file_names;
mod manifest;
mod opened;
mod order;
mod partition;
mod records;
mod source_lists;
mod table;
mod tile_check;
mod tile_pass;
mod tile_read;
mod vertices;
mod writer;

pub use cells::CellEntry;
pub use degrees::DegreeReader;
pub use directory::{directory_around, is_directory};
pub(crate) use equal_weight::EqualWeight;
pub use manifest::{
    FORMAT_VERSION, FileEntry, IdType, Manifest, OrderChoice, RowLayout, edge_count,
};
pub use opened::Graph;
pub use order::VertexOrder;
pub use partition::{Partition, shard_name};
pub use source_lists::ListedSources;
pub use table::TileEntry;
pub(crate) use tile_pass::{PASS_READ_SIZE, PASS_READS_AHEAD};
pub use tile_read::{CheckedTiles, ReadSize, TileRead};
pub use vertices::{IdChunk, OriginalIds, Strings};
pub use writer::GraphWriter;
