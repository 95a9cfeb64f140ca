//! Rows: the adjacency matrix sorted by source. Iterations with few active vertices, and
//! traversals, seek the rows that they need.
//!
//! ```text
//!  rows.data      rows of vertex 0, 1, 2, ..., each from the bit where the one before ends;
//!                 a chunk of vertices begins at a whole byte, and so does each piece of a long row
//!  rows.index     for each vertex where its row ends (Elias-Fano), by chunk; kept in memory
//!  rows.weights   the weight of each edge, in the order of the rows
//! ```
//!
//! A directed graph may also have rows by target, in the files `reverse.*`. These are the rows of
//! the graph with all edges reversed: a source here is a target there.
//!
//! The graph's [`RowEncoding`] says how neighbours are coded. Modules above this one do not depend
//! on it.

mod aside;
mod bits;
mod build;
mod ceesor;
mod class_code;
mod codes;
mod copy;
mod cut;
mod direction;
mod elias_fano;
mod encoding;
mod extent;
mod fit_code;
mod gap;
mod index;
mod opened;
mod plain;
mod reader;
mod references;
mod row;
mod unpacked;
mod writer;

#[cfg(test)]
mod tests;

pub use aside::{RowsAside, build_aside};
pub use build::{RowsConfig, build};
pub use cut::ChunkCut;
pub use direction::{Direction, RowFiles};
pub use encoding::RowEncoding;
pub use extent::{RowExtent, RowPiece};
pub use index::IndexWalk;
pub use opened::Rows;
pub use reader::{RowBatch, RowReader};
pub use row::Row;
pub use unpacked::{BY_WEIGHT_MIN, UnpackedRows, coarse_weight};
