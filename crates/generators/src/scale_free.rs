//! A scale-free graph by preferential attachment (Barabasi and Albert, Science 286, 1999).

use crate::random::{RandomWords, below};
use crate::{Edge, Generator, ParameterError};

/// A graph whose vertices arrive one after the other. Each brings `edges_per_vertex` edges. Each
/// edge leads to a uniformly drawn end of the existing edges, so to a vertex with a probability in
/// proportion to its degree. The number of vertices of degree `k` falls with `k^-3`. Undirected:
/// each edge is listed once. There may be duplicates, but no loops.
///
/// The drawn end may be the target of an earlier edge, which is itself a draw. The number of that
/// edge determines its draw, so it is drawn again (Sanders and Schulz, *Scalable generation of
/// scale-free graphs*, Information Processing Letters 116, 2016). This takes two steps on average,
/// as each step is the last with probability 1/2.
#[derive(Debug, Clone)]
pub struct ScaleFree {
    vertex_count: u64,
    edges_per_vertex: u64,
    words: RandomWords,
}

impl ScaleFree {
    /// Makes a graph of `vertex_count` vertices, each of which, except the first, brings
    /// `edges_per_vertex` edges.
    ///
    /// # Errors
    /// Refuses sizes at which the number of edges overflows.
    pub fn new(
        vertex_count: u64,
        edges_per_vertex: u64,
        seed: u64,
    ) -> Result<Self, ParameterError> {
        let ends =
            vertex_count.checked_mul(edges_per_vertex).and_then(|edges| edges.checked_mul(2));
        if ends.is_none() {
            return Err(ParameterError::new(format!(
                "{vertex_count} vertices that bring {edges_per_vertex} edges have too many edges"
            )));
        }
        Ok(Self { vertex_count, edges_per_vertex, words: RandomWords::new(seed, b"scalefre") })
    }

    /// Returns the vertex that brings an edge.
    fn source(&self, number: u64) -> u64 {
        1 + number / self.edges_per_vertex
    }

    fn target(&self, mut number: u64) -> u64 {
        loop {
            let earlier = self.source(number) - 1;
            if earlier == 0 {
                return 0;
            }
            let ends = 2 * self.edges_per_vertex * earlier;
            let end = below(self.words.word(number), ends);
            number = end / 2;
            if end.is_multiple_of(2) {
                return self.source(number);
            }
        }
    }
}

impl Generator for ScaleFree {
    fn vertex_count(&self) -> u64 {
        self.vertex_count
    }

    fn edge_count(&self) -> u64 {
        self.vertex_count.saturating_sub(1) * self.edges_per_vertex
    }

    fn fill(&self, first: u64, edges: &mut [Edge]) {
        for (number, edge) in (first..).zip(edges) {
            *edge = (self.source(number), self.target(number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;

    #[test]
    fn every_vertex_but_the_first_brings_its_edges_to_earlier_ones() {
        let graph = edges(&ScaleFree::new(1_000, 3, 1).unwrap());
        assert_eq!(graph.len(), 2_997);
        assert!(graph.iter().all(|&(source, target)| target < source && source < 1_000));
        for source in 1..1_000 {
            assert_eq!(graph.iter().filter(|edge| edge.0 == source).count(), 3);
        }
    }

    #[test]
    fn degrees_follow_preferential_attachment() {
        let vertices = 200_000;
        let mut degrees = vec![0u64; vertices];
        for (source, target) in edges(&ScaleFree::new(vertices as u64, 4, 1).unwrap()) {
            degrees[source as usize] += 1;
            degrees[target as usize] += 1;
        }
        // With m edges per vertex, the share of vertices of degree k or more is m (m + 1) / (k (k +
        // 1)).
        for (degree, share) in [(8, 0.2778), (16, 0.0735), (64, 0.0048)] {
            let found = degrees.iter().filter(|&&own| own >= degree).count() as f64;
            let found = found / vertices as f64;
            assert!((found / share - 1.0).abs() < 0.15, "{degree}: {found}, not {share}");
        }
        assert!(
            degrees[..10].iter().sum::<u64>() > 1_000,
            "the first ones have most: {:?}",
            &degrees[..10]
        );
    }

    #[test]
    fn the_smallest_graphs_are_made_and_too_large_ones_are_refused() {
        assert_eq!(edges(&ScaleFree::new(0, 4, 1).unwrap()), []);
        assert_eq!(edges(&ScaleFree::new(1, 4, 1).unwrap()), []);
        assert_eq!(edges(&ScaleFree::new(2, 2, 1).unwrap()), [(1, 0), (1, 0)]);
        assert!(ScaleFree::new(u64::MAX / 2, 4, 1).is_err());
    }
}
