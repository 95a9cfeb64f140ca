//! G(n, m): `m` distinct arcs between different vertices, where all such sets are equally likely
//! (Erdos and Renyi, Publicationes Mathematicae 1959; here directed).

use crate::{Edge, Generator, ParameterError, Scramble};

/// A uniform random directed graph without loops or duplicates.
///
/// The `n (n - 1)` possible arcs are numbered, and the graph takes the first `m` numbers of a
/// pseudo-random permutation. So the arcs are distinct, and none needs to be remembered.
#[derive(Debug, Clone)]
pub struct ErdosRenyi {
    vertex_count: u64,
    edge_count: u64,
    scramble: Scramble,
}

impl ErdosRenyi {
    /// The largest number of vertices, whose pairs still have 64-bit numbers.
    pub const VERTEX_COUNT_MAX: u64 = 1 << 32;

    /// Makes a graph of `vertex_count <= 2^32` vertices and `edge_count <= vertex_count *
    /// (vertex_count - 1)` arcs.
    pub fn new(vertex_count: u64, edge_count: u64, seed: u64) -> Result<Self, ParameterError> {
        if vertex_count > Self::VERTEX_COUNT_MAX {
            return Err(ParameterError::new(format!(
                "vertex count is {vertex_count}, must be at most {}",
                Self::VERTEX_COUNT_MAX
            )));
        }
        let pair_count = pair_count(vertex_count);
        if edge_count > pair_count {
            return Err(ParameterError::new(format!(
                "edge count is {edge_count}, but {vertex_count} vertices have only {pair_count} distinct arcs"
            )));
        }
        let bits = u64::BITS - pair_count.leading_zeros();
        Ok(Self { vertex_count, edge_count, scramble: Scramble::new(bits, seed) })
    }
}

/// Returns the number of ordered pairs of different vertices.
fn pair_count(vertex_count: u64) -> u64 {
    vertex_count * vertex_count.saturating_sub(1)
}

impl Generator for ErdosRenyi {
    fn vertex_count(&self) -> u64 {
        self.vertex_count
    }

    fn edge_count(&self) -> u64 {
        self.edge_count
    }

    fn fill(&self, first: u64, edges: &mut [Edge]) {
        let pair_count = pair_count(self.vertex_count);
        for (number, edge) in (first..).zip(edges) {
            // Following the permutation's cycle until it is back in range gives a permutation of
            // the range. The range is at least half of `0..2^bits`, so this takes less than two
            // steps on average.
            let mut pair = self.scramble.apply(number);
            while pair >= pair_count {
                pair = self.scramble.apply(pair);
            }
            let (source, other) = (pair / (self.vertex_count - 1), pair % (self.vertex_count - 1));
            // The other ends skip the source, so there is no loop.
            *edge = (source, other + u64::from(other >= source));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;

    #[test]
    fn arcs_are_distinct_and_none_is_a_loop() {
        let mut arcs = edges(&ErdosRenyi::new(1000, 200_000, 3).unwrap());
        assert!(
            arcs.iter().all(|&(source, target)| source != target && source < 1000 && target < 1000)
        );
        arcs.sort_unstable();
        arcs.dedup();
        assert_eq!(arcs.len(), 200_000);
    }

    #[test]
    fn the_complete_graph_is_the_largest_graph() {
        let mut arcs = edges(&ErdosRenyi::new(5, 20, 3).unwrap());
        arcs.sort_unstable();
        arcs.dedup();
        assert_eq!(arcs.len(), 20);
        assert!(ErdosRenyi::new(5, 21, 3).is_err());
        assert!(ErdosRenyi::new(0, 1, 3).is_err());
        assert!(ErdosRenyi::new((1 << 32) + 1, 1, 3).is_err());
        assert_eq!(edges(&ErdosRenyi::new(0, 0, 3).unwrap()), []);
    }

    #[test]
    fn degrees_follow_a_uniform_graph() {
        let mut out_degrees = vec![0u32; 1000];
        let mut in_degrees = vec![0u32; 1000];
        for (source, target) in edges(&ErdosRenyi::new(1000, 100_000, 9).unwrap()) {
            out_degrees[source as usize] += 1;
            in_degrees[target as usize] += 1;
        }
        for degrees in [out_degrees, in_degrees] {
            // Mean 100, standard deviation 9.5: the variance is 90, estimated from 1000 vertices to
            // within about 4.
            let variance: f64 =
                degrees.iter().map(|&degree| (f64::from(degree) - 100.0).powi(2)).sum::<f64>()
                    / 1000.0;
            assert!((70.0..110.0).contains(&variance), "variance {variance}");
        }
    }
}
