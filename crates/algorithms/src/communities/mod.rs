//! Communities of high modularity: what `louvain` and `leiden` share.
//!
//! Vertices are units at first. In a level units move to the communities by which modularity gains most, until none
//! gains; then communities, or groups of units within them, are the units of the next level. No graph of units is ever
//! made: the links of a unit are added up along the rows of its vertices, so memory does not depend on how many links
//! there are, and the budget holds.
//!
//! Units are looked at in steps of some thousand that follow each other, by all workers, and moved one after the other
//! in the order of their numbers; so what is found depends on the graph and the seed, and on no thread. Sums of weights
//! are `f64`.

mod arcs;
mod links;
mod moving;
mod network;
mod partition;
mod refining;
mod search;

pub use search::{Communities, Level, Method, run};
pub(crate) use search::{answer, estimate};
