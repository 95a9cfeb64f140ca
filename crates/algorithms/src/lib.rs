//! Graph algorithms on the engine: one file an algorithm.

pub mod bfs;
pub mod pagerank;
pub mod wcc;

pub use tegula_engine as engine;
