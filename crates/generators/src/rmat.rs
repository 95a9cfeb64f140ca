//! R-MAT: a recursive matrix with skewed degrees (Chakrabarti, Zhan and Faloutsos, SDM 2004).
//!
//! The adjacency matrix is divided into quadrants `scale` times. Each time, an edge falls into one
//! of them with the probabilities a, b, c, d. Loops and duplicates occur and are kept, as in
//! Graph500.

use crate::random::RandomWords;
use crate::{Edge, Generator, ParameterError, Scramble};

/// Levels that one random word decides: one in each of its four 16-bit lanes.
const LANES: u32 = 4;
/// Random bits that decide a level. The lane's highest bit is reserved for the comparison.
const LEVEL_BITS: u32 = 15;
/// 1 in every lane.
const ONES: u64 = 0x0001_0001_0001_0001;
/// The highest bit of every lane.
const HIGHEST: u64 = ONES << LEVEL_BITS;

/// The probabilities of three quadrants; the fourth one has the rest. They are rounded to multiples
/// of 2^-15.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probabilities {
    /// Both ends in the lower half.
    pub a: f64,
    /// Source in the lower half, target in the upper one.
    pub b: f64,
    /// Source in the upper half, target in the lower one.
    pub c: f64,
}

impl Probabilities {
    /// Graph500's probabilities: 0.57, 0.19, 0.19, which leaves 0.05.
    pub const GRAPH500: Self = Self { a: 0.57, b: 0.19, c: 0.19 };
}

/// An R-MAT graph with `2^scale` vertices and `edge_factor * 2^scale` edges.
#[derive(Debug, Clone)]
pub struct Rmat {
    scale: u32,
    edge_count: u64,
    words: RandomWords,
    /// Cumulative probabilities of the quadrants a, b and c in units of 2^-15, in every lane.
    thresholds: [u64; 3],
    scramble: Option<Scramble>,
}

impl Rmat {
    /// Graph500's edges per vertex.
    pub const EDGE_FACTOR: u64 = 16;
    /// The largest scale.
    pub const SCALE_MAX: u32 = 48;

    /// Makes a graph with Graph500's probabilities and scrambled ids. `scale` is in `0..=48`.
    pub fn new(scale: u32, edge_factor: u64, seed: u64) -> Result<Self, ParameterError> {
        if scale > Self::SCALE_MAX {
            return Err(ParameterError::new(format!(
                "scale is {scale}, must be at most {}",
                Self::SCALE_MAX
            )));
        }
        let edge_count = edge_factor.checked_mul(1 << scale).ok_or_else(|| {
            ParameterError::new(format!(
                "edge factor is {edge_factor}, too large for scale {scale}"
            ))
        })?;
        Ok(Self {
            scale,
            edge_count,
            words: RandomWords::new(seed, b"r-mat..."),
            thresholds: thresholds(Probabilities::GRAPH500)?,
            scramble: Some(Scramble::new(scale, seed)),
        })
    }

    /// Returns the same graph with other probabilities.
    pub fn with_probabilities(self, probabilities: Probabilities) -> Result<Self, ParameterError> {
        Ok(Self { thresholds: thresholds(probabilities)?, ..self })
    }

    /// Returns the same graph with the original ids of the recursion: small ids have the most
    /// edges.
    pub fn unscrambled(self) -> Self {
        Self { scramble: None, ..self }
    }

    /// Descends the levels of one edge, four at a time. Levels are alike and independent, so any
    /// lane may decide any bit of the ids.
    ///
    /// Takes 20 operations for four levels and no branch on random bits: 18 ns per edge at scale
    /// 22, including scrambling.
    #[inline]
    fn edge(&self, number: u64) -> Edge {
        let words = self.words_per_edge();
        let first = number.wrapping_mul(u64::from(words));
        let (mut source, mut target) = (0, 0);
        for index in 0..u64::from(words) {
            let drawn = self.words.word(first.wrapping_add(index)) | HIGHEST;
            // A lane's highest bit survives the subtraction if the lane drew at least the
            // threshold. Quadrants a, b, c and d pass 0, 1, 2 and 3 of the thresholds. The source
            // is upper in c and d, the target in b and d.
            let [past_a, past_b, past_c] = self.thresholds.map(|threshold| drawn - threshold);
            source = source << 1 | (past_b & HIGHEST) >> LEVEL_BITS;
            target = target << 1 | ((past_a ^ past_b ^ past_c) & HIGHEST) >> LEVEL_BITS;
        }
        (self.id(source), self.id(target))
    }

    fn words_per_edge(&self) -> u32 {
        self.scale.div_ceil(LANES)
    }

    /// Closes the gaps between the lanes' bits, and keeps the lowest `scale` bits.
    #[inline]
    fn id(&self, lanes: u64) -> u64 {
        let width = self.words_per_edge();
        let lane = |index: u32| (lanes >> (16 * index) & 0xFFFF) << (width * index);
        (lane(0) | lane(1) | lane(2) | lane(3)) & ((1 << self.scale) - 1)
    }
}

/// Checks the probabilities, and returns their cumulative sums in every lane.
fn thresholds(Probabilities { a, b, c }: Probabilities) -> Result<[u64; 3], ParameterError> {
    let valid = |probability| (0.0..=1.0).contains(&probability);
    if !(valid(a) && valid(b) && valid(c) && a + b + c <= 1.0 + 1e-9) {
        return Err(ParameterError::new(format!(
            "probabilities are {a}, {b} and {c}, must be in 0..=1 and sum to at most 1"
        )));
    }
    let one = f64::from(1u32 << LEVEL_BITS);
    // Rounding must not take the sum beyond 1, or lanes would borrow from each other.
    Ok([a, a + b, a + b + c].map(|end| (end.min(1.0) * one).round() as u64 * ONES))
}

impl Generator for Rmat {
    fn vertex_count(&self) -> u64 {
        1 << self.scale
    }

    fn edge_count(&self) -> u64 {
        self.edge_count
    }

    fn fill(&self, first: u64, edges: &mut [Edge]) {
        for (number, edge) in (first..).zip(edges.iter_mut()) {
            *edge = self.edge(number);
        }
        if let Some(scramble) = &self.scramble {
            for (source, target) in edges {
                (*source, *target) = (scramble.apply(*source), scramble.apply(*target));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges;

    fn out_degrees(graph: &Rmat) -> Vec<u64> {
        let mut degrees = vec![0; graph.vertex_count() as usize];
        edges(graph).iter().for_each(|&(source, _)| degrees[source as usize] += 1);
        degrees
    }

    #[test]
    fn quadrants_have_their_probabilities() {
        let mut counts = [0; 4];
        for (source, target) in edges(&Rmat::new(1, 500_000, 1).unwrap().unscrambled()) {
            counts[(2 * source + target) as usize] += 1;
        }
        for (count, probability) in counts.into_iter().zip([0.57, 0.19, 0.19, 0.05]) {
            let share = f64::from(count) / 1e6;
            assert!(
                (share - probability).abs() < 0.003,
                "{share} of the edges instead of {probability}"
            );
        }
    }

    #[test]
    fn degrees_are_skewed_and_many_vertices_have_none() {
        let mut degrees = out_degrees(&Rmat::new(14, 16, 1).unwrap());
        degrees.sort_unstable();
        let heaviest: u64 = degrees.iter().rev().take(degrees.len() / 100).sum();
        assert!(heaviest * 100 > 16 * 16384 * 20, "1 % of the vertices have {heaviest} edges");
        let without = degrees.iter().filter(|&&degree| degree == 0).count();
        assert!((4_000..10_000).contains(&without), "{without} of 16384 vertices have no out-edge");
    }

    #[test]
    fn scrambling_permutes_the_degrees() {
        let graph = Rmat::new(10, 16, 1).unwrap();
        let (mut scrambled, mut plain) = (out_degrees(&graph), out_degrees(&graph.unscrambled()));
        assert_eq!(plain.iter().max(), plain.first());
        assert_ne!(scrambled, plain);
        scrambled.sort_unstable();
        plain.sort_unstable();
        assert_eq!(scrambled, plain);
    }

    #[test]
    fn uniform_probabilities_make_a_uniform_graph() {
        let uniform = Probabilities { a: 0.25, b: 0.25, c: 0.25 };
        let degrees =
            out_degrees(&Rmat::new(10, 100, 1).unwrap().with_probabilities(uniform).unwrap());
        assert!(degrees.iter().all(|&degree| (50..150).contains(&degree)));
    }

    #[test]
    fn wrong_parameters_are_refused() {
        assert!(Rmat::new(49, 16, 1).is_err());
        assert!(Rmat::new(48, 1 << 20, 1).is_err());
        for (a, b, c) in [(0.5, 0.5, 0.1), (-0.1, 0.5, 0.5), (f64::NAN, 0.1, 0.1)] {
            assert!(
                Rmat::new(5, 16, 1).unwrap().with_probabilities(Probabilities { a, b, c }).is_err()
            );
        }
        assert_eq!(edges(&Rmat::new(0, 3, 1).unwrap()), [(0, 0); 3]);
    }
}
