//! Graphs as files that other programs draw: GraphML, GEXF and DOT, with columns of tables as attributes of vertices.
//!
//! `write` has the vertices and the edges told, `attributes` finds what is said of vertices. How a format spells both
//! is its [`Syntax`](syntax::Syntax), one file each: `graphml`, `gexf`, `dot`. A file is made for eyes, so its size is
//! bounded.

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
