//! A generator for edges that are already in memory.

use crate::{Edge, Generator};

/// The edges of a slice, in its order.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    vertex_count: u64,
    edges: &'a [Edge],
}

impl<'a> Listed<'a> {
    /// Makes a graph of these edges. Its vertices end with the largest id in the edges.
    ///
    /// # Panics
    /// If an edge names the id `u64::MAX`, which no vertex count can exceed.
    pub fn new(edges: &'a [Edge]) -> Self {
        let largest = edges.iter().map(|&(source, target)| source.max(target)).max();
        let vertex_count = largest.map_or(0, |id| id.checked_add(1).expect("ids below 2^64 - 1"));
        Self { vertex_count, edges }
    }
}

impl Generator for Listed<'_> {
    fn vertex_count(&self) -> u64 {
        self.vertex_count
    }

    fn edge_count(&self) -> u64 {
        self.edges.len() as u64
    }

    fn fill(&self, first: u64, edges: &mut [Edge]) {
        let first = first as usize;
        edges.copy_from_slice(&self.edges[first..first + edges.len()]);
    }
}
