//! Tables with a row for each vertex, of which a few columns are read.

mod batches;
mod columns;
mod layout;
mod lines;
mod parquet;
mod table;

pub(super) use columns::{ID_NAMES, Places};
pub use columns::{Presence, VALUES_MAX, ValueColumn, VertexColumns, VertexRow};
pub(super) use lines::{VertexLines, cell};
pub(super) use table::VertexFile;
pub use table::{TablePlace, VertexTable};
