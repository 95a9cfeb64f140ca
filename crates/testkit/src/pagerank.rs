//! PageRank by LDBC Graphalytics' rule, in double precision.
//!
//! Ranks start at 1/V; then in each round
//! `rank'(v) = (1 - d)/V + d * sum over edges u -> v of rank(u)/outdegree(u) + d/V * sum of dangling ranks`,
//! where a dangling vertex is one without out-edges. Duplicate edges and loops count as given.

use rayon::prelude::*;

use crate::graph::Adjacency;
use crate::matching::epsilon;
use crate::{Compact, EdgeList, Table};

/// The relative error that a single-precision engine is allowed at every vertex.
pub const TOLERANCE: f64 = 1e-5;

/// The ranks after exactly `iterations` rounds.
pub fn pagerank(graph: &EdgeList, damping: f64, iterations: usize) -> Table<f64> {
    let mut state = State::new(graph);
    for _ in 0..iterations {
        state.iterate(damping);
    }
    state.compact.table(state.ranks)
}

/// The ranks once a round changes them by at most `tolerance` in all (L1), or after `iterations_max`
/// rounds; and the number of rounds done.
pub fn pagerank_until(
    graph: &EdgeList,
    damping: f64,
    tolerance: f64,
    iterations_max: usize,
) -> (Table<f64>, usize) {
    let mut state = State::new(graph);
    let mut iterations = 0;
    while iterations < iterations_max {
        iterations += 1;
        if state.iterate(damping) <= tolerance {
            break;
        }
    }
    (state.compact.table(state.ranks), iterations)
}

/// Checks ranks after exactly `iterations` rounds: within [`TOLERANCE`] of the oracle at every vertex.
pub fn verify_pagerank(
    graph: &EdgeList,
    damping: f64,
    iterations: usize,
    ranks: &[(u64, f64)],
) -> Result<(), String> {
    epsilon(&pagerank(graph, damping, iterations), ranks, TOLERANCE)
}

struct State {
    compact: Compact,
    columns: Adjacency,
    out_degrees: Vec<u32>,
    ranks: Vec<f64>,
}

impl State {
    fn new(graph: &EdgeList) -> Self {
        let compact = graph.compact();
        let mut out_degrees = vec![0; compact.vertices.len()];
        for &(source, _) in &compact.edges {
            out_degrees[source as usize] += 1;
        }
        let ranks = vec![1.0 / compact.vertices.len() as f64; compact.vertices.len()];
        Self { columns: compact.in_edges(), compact, out_degrees, ranks }
    }

    /// One round; returns the L1 change.
    fn iterate(&mut self, damping: f64) -> f64 {
        let vertex_count = self.ranks.len() as f64;
        let shares = self.ranks.iter().zip(&self.out_degrees);
        let dangling: f64 =
            shares.clone().filter(|&(_, &degree)| degree == 0).map(|(rank, _)| rank).sum();
        let contributions: Vec<f64> =
            shares.map(|(rank, &degree)| rank / f64::from(degree)).collect();
        let base = (1.0 - damping + damping * dangling) / vertex_count;
        let next: Vec<f64> = (0..self.ranks.len() as u32)
            .into_par_iter()
            .map(|vertex| {
                let sources = self.columns.of(vertex);
                base + damping
                    * sources.iter().map(|&source| contributions[source as usize]).sum::<f64>()
            })
            .collect();
        let change = self.ranks.iter().zip(&next).map(|(old, new)| (old - new).abs()).sum();
        self.ranks = next;
        change
    }
}
