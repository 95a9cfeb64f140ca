//! Traversals: rows in an order that unfolds while they are read. The rows of upcoming vertices are
//! read ahead.
//!
//! ```text
//!  RunAhead ---- take --------> Traversal ---- row, order --> the algorithm
//!    | what comes next              |                            |
//!    | what is upcoming ----------> prefetch                     | push
//!    +<----------------------------------------------------------+
//! ```
//!
//! An order ([`RunAhead`]) knows nothing of the graph, and the [`Traversal`] that drives it knows
//! nothing of the algorithm. This is the upper half of the run-ahead prefetcher of RASP (A. Roy et
//! al., University of Cambridge Computer Laboratory, Technical Report 823, 2012). The lower half is
//! the page cache beneath [`RowReader`](tegula_store::rows::RowReader), which keeps the number of
//! reads in flight at its target and knows which pages it holds.

mod best_first;
mod combine;
mod depth_first;
mod edge_states;
mod frontier;
mod neighbours;
mod order;
mod traversal;
mod vertex_set;
mod vertex_states;
mod wanted;

#[cfg(test)]
mod tests;

pub use crate::job::traversal::{RANGE_SIZE, RowsJob, run, run_rereading};
pub use crate::memory::{Held, estimate_rows, long_rows_size, row_pieces_size};
pub use best_first::BestFirst;
pub use combine::{Filter, Interleaved, Nested};
pub use depth_first::DepthFirst;
pub use edge_states::{EdgeStates, EdgeStatesLayout, StateValue, UnitStates};
pub use frontier::{FRONTIER_STRETCH, Listed};
pub use neighbours::{Neighbour, Neighbourhoods, Neighbours, edges_of_a_vertex_max};
pub(crate) use order::ROWS_AHEAD;
pub use order::{BreadthFirst, RunAhead, Sequential};
pub use traversal::{Traversal, TraversalStatistics};
pub use vertex_set::VertexSet;
pub use vertex_states::{VertexStates, VertexStatesLayout};
pub use wanted::{Directions, RowsWanted};
