//! The interface of all generators, and generation in parallel.

use rayon::prelude::*;

/// An edge from `.0` (the source) to `.1` (the target).
pub type Edge = (u64, u64);

/// Edges that one thread makes at a time: 1 MiB, which stays in a cache.
pub const BLOCK_EDGES: u64 = 1 << 16;

/// A graph whose edges are numbered `0..edge_count()` and can be made in any order.
///
/// Vertices are `0..vertex_count()`; some of them may have no edge.
pub trait Generator: Sync {
    /// Returns one more than the largest id that a vertex may have.
    fn vertex_count(&self) -> u64;

    /// Returns the number of edges (arcs; an undirected graph lists each edge once).
    fn edge_count(&self) -> u64;

    /// Fills `edges` with the edges numbered `first..first + edges.len()`.
    ///
    /// # Panics
    /// May panic if that range exceeds `0..edge_count()`.
    fn fill(&self, first: u64, edges: &mut [Edge]);
}

/// Returns all edges in the order of their numbers. Makes them in parallel.
pub fn edges(generator: &dyn Generator) -> Vec<Edge> {
    let mut edges = vec![(0, 0); generator.edge_count() as usize];
    edges
        .par_chunks_mut(BLOCK_EDGES as usize)
        .enumerate()
        .for_each(|(block, edges)| generator.fill(block as u64 * BLOCK_EDGES, edges));
    edges
}

/// Calls `visit(first, edges)` for every block of at most [`BLOCK_EDGES`] edges, in parallel and in
/// no particular order. `first` is the number of the block's first edge. Keeps no edges.
pub fn for_each_block(generator: &dyn Generator, visit: impl Fn(u64, &[Edge]) + Sync) {
    let edge_count = generator.edge_count();
    (0..edge_count.div_ceil(BLOCK_EDGES)).into_par_iter().for_each_init(
        Vec::new,
        |buffer, block| {
            let first = block * BLOCK_EDGES;
            buffer.resize(BLOCK_EDGES.min(edge_count - first) as usize, (0, 0));
            generator.fill(first, buffer);
            visit(first, buffer);
        },
    );
}
