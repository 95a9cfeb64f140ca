//! Graphs as files that other programs draw: GraphML, GEXF and DOT, with columns of tables as
//! attributes of vertices.
//!
//! `write` writes the vertices and edges, and `attributes` reads the attributes. Each format is a
//! [`Syntax`](syntax::Syntax) in a file of its own: `graphml`, `gexf`, `dot`. A file is made to be
//! looked at, so its size is bounded.

mod args;
mod attributes;
mod dot;
mod gexf;
mod graphml;
mod kind;
mod rows;
mod syntax;
mod write;
mod xml;

pub use args::GraphFileArgs;
pub use write::{Parts, write};
