//! A star: the highest degree that a graph can have.

use crate::{Edge, Generator};

/// A star with edges from vertex 0 to each of `1, .. n - 1`.
#[derive(Debug, Clone)]
pub struct Star {
    /// The number of vertices.
    pub vertex_count: u64,
}

impl Generator for Star {
    fn vertex_count(&self) -> u64 {
        self.vertex_count
    }

    fn edge_count(&self) -> u64 {
        self.vertex_count.saturating_sub(1)
    }

    fn fill(&self, first: u64, edges: &mut [Edge]) {
        for (number, edge) in (first..).zip(edges) {
            *edge = (0, number + 1);
        }
    }
}
