//! Communities of high modularity: what `louvain` and `leiden` share.
//!
//! At first, each vertex is a unit. In a level, units move to the communities by which modularity
//! gains most, until none gains. Then communities, or groups of units within them, become the units
//! of the next level. The links of a unit are added up along the rows of its vertices. Once a level
//! has few links, they are kept as a graph, and rows are no longer read: at most 2^19 links, or
//! half the number of vertices if that is more. So memory does not depend on the number of links,
//! and the budget holds.
//!
//! All workers together look at the units of a step, which are some thousand. The units then move
//! one after the other, in the order of their numbers. So the result depends on the graph and the
//! seed, and not on the threads. Sums of weights are `f64`.

mod arcs;
mod contracted;
mod links;
mod moving;
mod network;
mod partition;
mod refining;
mod search;

pub use search::{Communities, Level, Method, run};
pub(crate) use search::{answer, estimate};
