//! Tiles: the adjacency matrix sorted by target, cut into pieces that fit a cache.

mod batch;
mod builder;
mod decode;
mod divide;
mod encode;
mod entry_coder;
mod instructions;
mod strip;
mod strip_edges;
mod summary;
mod visit;

#[cfg(test)]
mod tests;

pub use batch::{BATCH_EDGES_MAX, BATCH_LOG2_MAX, BATCH_LOG2_MIN, Batch};
pub use decode::{Strips, Tile};

pub use encode::{EdgeWeight, EncodedTile, Encoder, SLICE_LOG2, TileEdge};
#[cfg(target_arch = "x86_64")]
pub use instructions::{Avx2, Avx512};
pub use instructions::{InstructionSet, Portable};
pub use strip::{ENCODINGS, Encoding};
pub use summary::TileSummary;
pub use visit::{BLOCK_SIZE, Block, BlockVisitor, Entries, MaskVisitor, Strip};

/// log2 of the number of vertices of a window.
pub const WINDOW_LOG2: u32 = 16;

/// Vertices of a window: ids in it are 2-byte local ids.
pub const WINDOW_SIZE: usize = 1 << WINDOW_LOG2;
