//! Values of vertices that spread along edges.

pub mod belief_propagation;
pub mod spmv;
