//! Oracles of centralities that are fixed points of a matrix, in double precision.

use std::collections::BTreeMap;

use crate::{EdgeList, Table};

/// Iterations after which values no longer change on the graphs of the tests.
const ITERATIONS: usize = 2000;

/// Repeats `x = step(x, A'x)`, starting from ones. Scales `x` to the norm 1 after each iteration if
/// `is_scaled`, and always at the end.
fn iterate(arcs: &EdgeList, is_scaled: bool, step: impl Fn(f64, f64) -> f64) -> Table<f64> {
    let mut values: BTreeMap<u64, f64> =
        arcs.vertices().into_iter().map(|vertex| (vertex, 1.0)).collect();
    for _ in 0..ITERATIONS {
        let mut sums: BTreeMap<u64, f64> = values.keys().map(|&vertex| (vertex, 0.0)).collect();
        for (source, target) in &arcs.edges {
            *sums.entry(*target).or_default() += values[source];
        }
        values = values
            .into_iter()
            .map(|(vertex, value)| (vertex, step(value, sums[&vertex])))
            .collect();
        if is_scaled {
            scale(&mut values);
        }
    }
    scale(&mut values);
    values.into_iter().collect()
}

/// Returns hubs and authorities, each of sum 1, after `iterations` from equal hubs.
pub fn hits(arcs: &EdgeList, iterations: usize) -> (Table<f64>, Table<f64>) {
    let vertices = arcs.vertices();
    let mut hubs: BTreeMap<u64, f64> =
        vertices.iter().map(|&vertex| (vertex, 1.0 / vertices.len() as f64)).collect();
    let mut authorities = BTreeMap::new();
    let add_up = |along: &dyn Fn((u64, u64)) -> (u64, u64), values: &BTreeMap<u64, f64>| {
        let mut sums: BTreeMap<u64, f64> = values.keys().map(|&vertex| (vertex, 0.0)).collect();
        for (from, to) in arcs.edges.iter().map(|&edge| along(edge)) {
            *sums.entry(to).or_default() += values[&from];
        }
        let sum: f64 = sums.values().sum();
        sums.values_mut().for_each(|value| *value /= if sum > 0.0 { sum } else { 1.0 });
        sums
    };
    for _ in 0..iterations {
        authorities = add_up(&|edge| edge, &hubs);
        hubs = add_up(&|(source, target)| (target, source), &authorities);
    }
    (hubs.into_iter().collect(), authorities.into_iter().collect())
}

fn scale(values: &mut BTreeMap<u64, f64>) {
    let norm = values.values().map(|value| value * value).sum::<f64>().sqrt();
    values.values_mut().for_each(|value| *value /= norm);
}

/// Returns the eigenvector centrality by the power method on `A' + 1`, with norm 1.
pub fn eigenvector(arcs: &EdgeList) -> Table<f64> {
    iterate(arcs, true, |value, sum| value + sum)
}

/// Returns the Katz centrality, with norm 1.
pub fn katz(arcs: &EdgeList, alpha: f64) -> Table<f64> {
    iterate(arcs, false, |_, sum| 1.0 + alpha * sum)
}
