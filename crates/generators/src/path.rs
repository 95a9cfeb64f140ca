//! A path: the largest diameter that a graph can have.

use crate::{Edge, Generator};

/// A path of the vertices `0, 1, .. n - 1`, each with an edge to the next.
#[derive(Debug, Clone)]
pub struct Path {
    /// The number of vertices.
    pub vertex_count: u64,
}

impl Generator for Path {
    fn vertex_count(&self) -> u64 {
        self.vertex_count
    }

    fn edge_count(&self) -> u64 {
        self.vertex_count.saturating_sub(1)
    }

    fn fill(&self, first: u64, edges: &mut [Edge]) {
        for (vertex, edge) in (first..).zip(edges) {
            *edge = (vertex, vertex + 1);
        }
    }
}
