//! Graph algorithms on the engine: one file an algorithm.

mod error;

pub mod astar;
pub mod bfs;
pub mod conductance;
pub mod mis;
pub mod mst;
pub mod pagerank;
pub mod sssp;
pub mod wcc;

pub use error::{Error, Result};
pub use tegula_engine as engine;
