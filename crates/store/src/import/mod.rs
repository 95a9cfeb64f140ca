//! From an edge list to a graph directory.

pub mod input;
