//! Parts of a graph with a property, and orders of its vertices.

pub mod mis;
pub mod mst;
pub mod subgraph;
pub mod topological_order;
