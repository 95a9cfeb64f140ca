//! The product of a transposed adjacency matrix and a vector, in double precision, edge by edge.

use std::collections::BTreeMap;

use crate::{EdgeList, Table};

/// Computes `y(v) = sum over edges u -> v of weight * x(u)`, `iterations` times. Vertices missing
/// in the vector have 0. Without a vector, all have 1; without weights, all edges weigh 1.
pub fn spmv(graph: &EdgeList, vector: Option<&[(u64, f64)]>, iterations: usize) -> Table<f64> {
    let start = if vector.is_some() { 0.0 } else { 1.0 };
    let mut values: BTreeMap<u64, f64> =
        graph.vertices().into_iter().map(|vertex| (vertex, start)).collect();
    for &(vertex, value) in vector.unwrap_or_default() {
        *values.get_mut(&vertex).expect("a vertex") += value;
    }
    for _ in 0..iterations {
        let mut next: BTreeMap<u64, f64> = values.keys().map(|&vertex| (vertex, 0.0)).collect();
        for (index, &(source, target)) in graph.edges.iter().enumerate() {
            let weight = graph.weights.as_ref().map_or(1.0, |weights| f64::from(weights[index]));
            *next.get_mut(&target).expect("a vertex") += weight * values[&source];
        }
        values = next;
    }
    values.into_iter().collect()
}
