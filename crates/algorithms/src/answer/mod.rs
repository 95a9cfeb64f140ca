//! What an algorithm found, in original ids: a table, figures about all of it, and a warning if it
//! is less than was asked for.

mod convergence;
mod edges;
mod figures;
mod groups;
mod ids;
mod interface;
mod listing;
mod neighbours;
mod scores;
mod smallest;
mod table;
mod tiles;
mod top;
mod values;
mod vertex_ids;
mod words;

pub use convergence::Convergence;
pub use edges::EdgeTable;
pub use figures::{Figures, NoFigures};
pub use groups::{Called, Groups};
pub use ids::{BATCH_ROWS, GroupSize, find_ids, id_array, id_type};
pub(crate) use interface::CHUNK;
pub use interface::{Answer, Facts, List, Summary};
pub use listing::Listing;
pub use neighbours::NeighbourTable;
pub use scores::{Score, Scores};
pub(crate) use smallest::{by_smallest, by_smallest_size};
pub use table::{Columns, Table, write_arrays, write_in_batches};
pub use tegula_machine::{count, counted};
pub use tegula_tables::{RowSink, decimal};
pub use top::{TotalOrder, greatest};
pub use values::{TableRows, Values};
pub use vertex_ids::VertexIds;
pub use words::{number, rounded};
