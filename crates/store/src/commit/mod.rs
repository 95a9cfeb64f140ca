//! Commits: how a graph directory, or rows in one, appear all at once.
//!
//! Files are written under hidden names and synced. Then one rename makes them visible, and a sync of the folder makes
//! that durable. A process that is killed before leaves hidden names alone, which the next run removes.

mod graph;
mod rows;

pub use graph::UnfinishedGraph;
pub(crate) use rows::commit_rows;
