//! How important each vertex is.

pub mod betweenness;
pub mod closeness;
pub mod degree;
mod distances;
pub mod eigenvector;
pub mod harmonic;
pub mod hits;
pub mod katz;
pub mod pagerank;
