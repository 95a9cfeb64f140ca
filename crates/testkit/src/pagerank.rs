//! PageRank by LDBC Graphalytics' rule, in double precision.
//!
//! Ranks start at 1/V. Each round computes `rank'(v) = (1 - d)/V + d * sum over edges u -> v of
//! rank(u)/outdegree(u) + d/V * sum of dangling ranks`, where a dangling vertex has no out-edges.
//! Duplicate edges and loops count as given.
//!
//! Personalized ranks replace `1/V` by `weight(v)/sum of weights` in both terms. Ranks still start
//! at 1/V.
//!
//! Weighted ranks replace `rank(u)/outdegree(u)` by `rank(u) * weight/W(u)`, where `W(u)` is the
//! sum of the weights of all out-edges of `u`. A vertex with a sum of 0 is dangling.

use rayon::prelude::*;

use crate::graph::Adjacency;
use crate::matching::{epsilon, same_vertices};
use crate::{Compact, EdgeList, Table};

/// The relative error allowed to a single-precision engine at every vertex, after the same number
/// of rounds as the oracle.
pub const TOLERANCE: f64 = 1e-5;

/// Returns the ranks after exactly `iterations` rounds.
pub fn pagerank(graph: &EdgeList, damping: f64, iterations: usize) -> Table<f64> {
    State::new(graph).ranks_after(damping, iterations)
}

/// Returns the personalized ranks after exactly `iterations` rounds. If a seed repeats, all its
/// weights count.
///
/// # Panics
/// If a seed is no vertex.
pub fn personalized_pagerank(
    graph: &EdgeList,
    damping: f64,
    iterations: usize,
    seeds: &[(u64, f64)],
) -> Table<f64> {
    let mut state = State::new(graph);
    let sum: f64 = seeds.iter().map(|(_, weight)| weight).sum();
    state.jumps.fill(0.0);
    for &(seed, weight) in seeds {
        let seed = state.compact.dense(seed).expect("a seed is a vertex");
        state.jumps[seed as usize] += weight / sum;
    }
    state.ranks_after(damping, iterations)
}

/// Returns the weighted ranks after exactly `iterations` rounds, edge by edge. Without seeds, all
/// vertices are equal seeds; without weights, all edges weigh 1.
///
/// # Panics
/// If a seed is no vertex.
pub fn weighted_pagerank(
    graph: &EdgeList,
    damping: f64,
    iterations: usize,
    seeds: &[(u64, f64)],
) -> Table<f64> {
    let compact = graph.compact();
    let count = compact.vertices.len();
    let weight = |edge: usize| compact.weights.as_ref().map_or(1.0, |all| f64::from(all[edge]));
    let mut out_weights = vec![0.0; count];
    for (edge, &(source, _)) in compact.edges.iter().enumerate() {
        out_weights[source as usize] += weight(edge);
    }
    let seed_sum: f64 = seeds.iter().map(|(_, weight)| weight).sum();
    let mut jumps = vec![if seeds.is_empty() { 1.0 / count as f64 } else { 0.0 }; count];
    for &(seed, weight) in seeds {
        jumps[compact.dense(seed).expect("a seed is a vertex") as usize] += weight / seed_sum;
    }
    let mut ranks = vec![1.0 / count as f64; count];
    for _ in 0..iterations {
        let lost = ranks.iter().zip(&out_weights).filter(|&(_, &out_weight)| out_weight == 0.0);
        let jumping = 1.0 - damping + damping * lost.map(|(rank, _)| rank).sum::<f64>();
        let mut next: Vec<f64> = jumps.iter().map(|jump| jumping * jump).collect();
        for (edge, &(source, target)) in compact.edges.iter().enumerate() {
            let source = source as usize;
            if out_weights[source] > 0.0 {
                let part = weight(edge) / out_weights[source];
                next[target as usize] += damping * ranks[source] * part;
            }
        }
        ranks = next;
    }
    compact.table(ranks)
}

/// Returns the ranks once a round changes them by at most `tolerance` in all (L1), or after
/// `iterations_max` rounds; and the number of rounds done.
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

/// Checks that ranks are within [`TOLERANCE`] of the oracle's after exactly `iterations` rounds.
pub fn match_pagerank(
    graph: &EdgeList,
    damping: f64,
    iterations: usize,
    ranks: &[(u64, f64)],
) -> Result<(), String> {
    epsilon(&pagerank(graph, damping, iterations), ranks, TOLERANCE)
}

/// Like [`match_pagerank`], for personalized ranks.
pub fn match_personalized_pagerank(
    graph: &EdgeList,
    damping: f64,
    iterations: usize,
    seeds: &[(u64, f64)],
    ranks: &[(u64, f64)],
) -> Result<(), String> {
    epsilon(&personalized_pagerank(graph, damping, iterations, seeds), ranks, TOLERANCE)
}

/// Like [`match_pagerank`], for weighted ranks.
pub fn match_weighted_pagerank(
    graph: &EdgeList,
    damping: f64,
    iterations: usize,
    seeds: &[(u64, f64)],
    ranks: &[(u64, f64)],
) -> Result<(), String> {
    epsilon(&weighted_pagerank(graph, damping, iterations, seeds), ranks, TOLERANCE)
}

/// Checks ranks after a round that changed them by at most `tolerance` in all (L1), which is where
/// a run with a tolerance stops. A round brings two tables of ranks closer by the factor `damping`,
/// so the next round changes these by at most `damping * tolerance`. So much, plus [`ROUNDING`],
/// may they miss the equation of PageRank. Without seeds, all vertices are equal seeds.
pub fn verify_pagerank(
    graph: &EdgeList,
    damping: f64,
    seeds: &[(u64, f64)],
    tolerance: f64,
    ranks: &[(u64, f64)],
) -> Result<(), String> {
    let vertices = graph.vertices();
    same_vertices(&vertices.iter().map(|&vertex| (vertex, ())).collect::<Vec<_>>(), ranks)?;
    if let Some((vertex, rank)) = ranks.iter().find(|(_, rank)| !(0.0..=1.001).contains(rank)) {
        return Err(format!("vertex {vertex} has rank {rank}"));
    }
    let place = |vertex: u64| vertices.binary_search(&vertex).expect("a seed is a vertex");
    let mut out_degrees = vec![0.0; vertices.len()];
    let edges: Vec<(usize, usize)> =
        graph.edges.iter().map(|&(source, target)| (place(source), place(target))).collect();
    edges.iter().for_each(|&(source, _)| out_degrees[source] += 1.0);
    // The residual: what each vertex receives, minus its rank.
    let mut residual: Vec<f64> = ranks.iter().map(|(_, rank)| -rank).collect();
    let mut jumping = 1.0 - damping;
    for (&(_, rank), &degree) in ranks.iter().zip(&out_degrees) {
        jumping += if degree == 0.0 { damping * rank } else { 0.0 };
    }
    for (source, target) in edges {
        residual[target] += damping * ranks[source].1 / out_degrees[source];
    }
    let even: Vec<(u64, f64)> = vertices.iter().map(|&vertex| (vertex, 1.0)).collect();
    let seeds = if seeds.is_empty() { &even } else { seeds };
    let weight: f64 = seeds.iter().map(|(_, weight)| weight).sum();
    for &(seed, own) in seeds {
        residual[place(seed)] += jumping * own / weight;
    }
    let change: f64 = residual.iter().map(|residual| residual.abs()).sum();
    let change_max = damping * tolerance + ROUNDING;
    if change > change_max {
        return Err(format!("a further round changes the ranks by {change:e}, not {change_max:e}"));
    }
    Ok(())
}

/// The most that rounding to single precision changes all ranks, whose sum is 1, in a round.
const ROUNDING: f64 = 5e-7;

struct State {
    compact: Compact,
    columns: Adjacency,
    out_degrees: Vec<u32>,
    ranks: Vec<f64>,
    /// The probability that a jump leads to each vertex.
    jumps: Vec<f64>,
}

impl State {
    fn new(graph: &EdgeList) -> Self {
        let compact = graph.compact();
        let mut out_degrees = vec![0; compact.vertices.len()];
        for &(source, _) in &compact.edges {
            out_degrees[source as usize] += 1;
        }
        let even = vec![1.0 / compact.vertices.len() as f64; compact.vertices.len()];
        Self { columns: compact.in_edges(), compact, out_degrees, ranks: even.clone(), jumps: even }
    }

    fn ranks_after(mut self, damping: f64, iterations: usize) -> Table<f64> {
        for _ in 0..iterations {
            self.iterate(damping);
        }
        self.compact.table(self.ranks)
    }

    /// Computes one round, and returns the L1 change.
    fn iterate(&mut self, damping: f64) -> f64 {
        let shares = self.ranks.iter().zip(&self.out_degrees);
        let dangling: f64 =
            shares.clone().filter(|&(_, &degree)| degree == 0).map(|(rank, _)| rank).sum();
        // No edge leads on from a vertex of degree 0, so its quotient is never read.
        let contributions: Vec<f64> =
            shares.map(|(rank, &degree)| rank / f64::from(degree)).collect();
        let next: Vec<f64> = (0..self.ranks.len() as u32)
            .into_par_iter()
            .map(|vertex| {
                let sources = self.columns.of(vertex);
                let jumped = (1.0 - damping + damping * dangling) * self.jumps[vertex as usize];
                jumped
                    + damping
                        * sources.iter().map(|&source| contributions[source as usize]).sum::<f64>()
            })
            .collect();
        let change = self.ranks.iter().zip(&next).map(|(old, new)| (old - new).abs()).sum();
        self.ranks = next;
        change
    }
}
