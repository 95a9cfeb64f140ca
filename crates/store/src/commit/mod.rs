//! Commits: a graph directory, or rows in one, appear all at once.
//!
//! Files are written under hidden names and synced. Then one rename makes them visible, and a sync
//! of the folder makes the rename durable. A process killed before that leaves only hidden names,
//! which the next run removes.

mod graph;
mod rows;

pub use graph::{UnfinishedGraph, check_output};
pub(crate) use rows::commit_rows;
