//! Tiles: the adjacency matrix sorted by target, cut so that each tile fits a cache.

mod batch;
mod builder;
mod decode;
mod divide;
mod edge;
mod encode;
mod entry_coder;
mod grid;
mod instructions;
mod region;
mod repeats;
mod source_list;
mod strip;
mod strip_edges;
mod summary;
mod visit;

#[cfg(test)]
mod tests;

pub use batch::{BATCH_EDGES_MAX, BATCH_LOG2_MAX, BATCH_LOG2_MIN, Batch, TileOrder};
pub use builder::EncodedTile;
pub use decode::{Strips, Tile};
pub use edge::{DenseEdge, Edge, EdgeWeight, VertexNumber};
pub use encode::Encoder;
pub use grid::{Cell, Grid, Origin, SLICE_LOG2, WINDOW_LOG2, WINDOW_SIZE};
#[cfg(target_arch = "x86_64")]
pub use instructions::{Avx2, Avx512};
pub use instructions::{InstructionSet, Portable};
pub(crate) use repeats::Repeats;
pub use source_list::WindowSources;
pub(crate) use source_list::{LISTED_AT_ONCE, SourceSet, add_listed, is_listed, words_of};
pub use strip::{ENCODINGS, Encoding};
pub use summary::TileSummary;
pub use visit::{BLOCK_SIZE, Block, BlockVisitor, Entries, MaskVisitor, Strip};
