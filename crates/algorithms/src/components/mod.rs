//! Which vertices are connected.

pub mod bridges;
pub mod scc;
pub mod wcc;
