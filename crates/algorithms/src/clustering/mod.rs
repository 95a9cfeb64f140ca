//! How dense the graph is around each vertex.

pub mod kcore;
pub mod lcc;
pub mod triangles;
