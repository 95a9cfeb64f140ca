//! Graphs in XML: GraphML and GEXF.
//!
//! Both list vertices and edges with values, which refer to columns. `graphml` and `gexf` interpret
//! the elements; all else is shared. The vertices, which may have no edges, are read in their own
//! pass, so that none is held. A fault of an element is reported with its line.

mod counts;
mod document;
mod edges;
mod gexf;
mod graphml;
mod item;
mod layout;

pub(super) use self::edges::EdgeReader;
pub(super) use self::layout::{Layout, Source};
