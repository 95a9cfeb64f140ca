//! Watts-Strogatz: a small world, which lies between a ring lattice and a random graph (Nature 393,
//! 1998).

use crate::random::{RandomWords, below, unit};
use crate::{Edge, Generator, ParameterError};

/// A ring in which each vertex is joined to its `neighbours` nearest ones. Then each edge is
/// rewired to a uniform target with probability `rewiring`. Undirected: each edge is listed once.
///
/// Edges are rewired independently, so a rewired edge may, rarely, duplicate another. It is never a
/// loop.
#[derive(Debug, Clone)]
pub struct WattsStrogatz {
    vertex_count: u64,
    /// Edges that a vertex lists: half its neighbours in the lattice.
    edges_per_vertex: u64,
    rewiring: f64,
    words: RandomWords,
}

impl WattsStrogatz {
    /// Makes a ring of `vertex_count` vertices of degree `neighbours` (even, below `vertex_count`).
    /// `rewiring` is a probability.
    pub fn new(
        vertex_count: u64,
        neighbours: u64,
        rewiring: f64,
        seed: u64,
    ) -> Result<Self, ParameterError> {
        if !neighbours.is_multiple_of(2) || neighbours >= vertex_count.max(1) {
            return Err(ParameterError::new(format!(
                "neighbours are {neighbours}, must be even and fewer than the {vertex_count} vertices"
            )));
        }
        if !(0.0..=1.0).contains(&rewiring) {
            return Err(ParameterError::new(format!("rewiring is {rewiring}, must be in 0..=1")));
        }
        if vertex_count.checked_mul(neighbours).is_none() {
            return Err(ParameterError::new(format!(
                "{vertex_count} vertices of {neighbours} neighbours have too many edges"
            )));
        }
        let words = RandomWords::new(seed, b"watts-st");
        Ok(Self { vertex_count, edges_per_vertex: neighbours / 2, rewiring, words })
    }

    fn edge(&self, number: u64) -> Edge {
        let source = number / self.edges_per_vertex;
        // Each edge has two words, so that it does not depend on whether others are rewired.
        let rewired = unit(self.words.word(2 * number)) < self.rewiring;
        let distance = if rewired {
            1 + below(self.words.word(2 * number + 1), self.vertex_count - 1)
        } else {
            1 + number % self.edges_per_vertex
        };
        let to_the_end = self.vertex_count - source;
        (source, if distance < to_the_end { source + distance } else { distance - to_the_end })
    }
}

impl Generator for WattsStrogatz {
    fn vertex_count(&self) -> u64 {
        self.vertex_count
    }

    fn edge_count(&self) -> u64 {
        self.vertex_count * self.edges_per_vertex
    }

    fn fill(&self, first: u64, edges: &mut [Edge]) {
        for (number, edge) in (first..).zip(edges) {
            *edge = self.edge(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;

    fn degrees(edges: &[Edge], vertex_count: usize) -> Vec<u32> {
        let mut degrees = vec![0; vertex_count];
        for &(source, target) in edges {
            degrees[source as usize] += 1;
            degrees[target as usize] += 1;
        }
        degrees
    }

    #[test]
    fn without_rewiring_the_graph_is_the_ring_lattice() {
        let ring = edges(&WattsStrogatz::new(100, 6, 0.0, 1).unwrap());
        assert_eq!(degrees(&ring, 100), vec![6; 100]);
        assert!(ring.iter().all(|&(u, v)| (v + 100 - u) % 100 <= 3 && u != v));
    }

    #[test]
    fn rewiring_moves_the_given_share_of_targets_and_makes_no_loop() {
        let graph = edges(&WattsStrogatz::new(10_000, 10, 0.2, 1).unwrap());
        assert_eq!(graph.len(), 50_000);
        assert!(graph.iter().all(|&(u, v)| u != v && v < 10_000));
        let moved = graph.iter().filter(|&&(u, v)| (v + 10_000 - u) % 10_000 > 5).count();
        assert!((9_500..10_500).contains(&moved), "{moved} of 50,000 edges were rewired");
        assert_eq!(degrees(&graph, 10_000).iter().sum::<u32>(), 100_000);
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(WattsStrogatz::new(10, 3, 0.1, 1).is_err());
        assert!(WattsStrogatz::new(10, 10, 0.1, 1).is_err());
        assert!(WattsStrogatz::new(10, 4, f64::NAN, 1).is_err());
        assert_eq!(edges(&WattsStrogatz::new(0, 0, 0.1, 1).unwrap()), []);
    }
}
