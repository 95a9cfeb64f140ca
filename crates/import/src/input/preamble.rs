//! What a file tells of its graph before the first edge.

use std::ops::Range;

/// What the first lines of a file, or another file that belongs to it, tell of its graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Preamble {
    /// The ids of all vertices, with or without an edge.
    pub vertices: Option<Range<u64>>,
    /// How many edges are read; where it is one of several numbers, these. Empty where nothing is told.
    pub edges: Vec<u64>,
    /// Whether each edge leads both ways.
    pub undirected: Option<bool>,
    /// Whether an edge that leads both ways is there twice. Of those of an undirected graph one is read.
    pub has_both_ways: bool,
}
