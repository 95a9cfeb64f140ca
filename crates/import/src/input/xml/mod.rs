//! Graphs in XML: GraphML and GEXF.
//!
//! Both list vertices and edges, each with values that refer to columns. What an element tells is read by a file for
//! each form (`graphml`, `gexf`); the rest is the same. The vertices, which may have no edge, are read in a pass of
//! their own, so that none of them is held. What is wrong with an element is wrong at its line.

mod counts;
mod document;
mod edges;
mod gexf;
mod graphml;
mod layout;
mod told;

pub(super) use self::edges::EdgeReader;
pub(super) use self::layout::{Layout, Source};
