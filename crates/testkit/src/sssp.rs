//! Shortest paths: the smallest sum of weights from a source, along the edges' direction.

use crate::matching::same_vertices;
use crate::{Compact, EdgeList, Table};

/// Returns the distance of every vertex from `source`, infinite where there is no path.
/// Bellman-Ford: relaxes all edges until nothing changes. In an unweighted graph, an edge counts 1.
/// Weights are not negative.
///
/// Sums are `f64`, added from the source on. A longer path never has a smaller sum, even when
/// rounded, so the smallest sums are well defined, to the bit.
pub fn sssp(graph: &EdgeList, source: u64) -> Table<f64> {
    let compact = graph.compact();
    let mut distances = vec![f64::INFINITY; compact.vertices.len()];
    if let Some(source) = compact.dense(source) {
        distances[source as usize] = 0.0;
    }
    let mut has_changed = true;
    while has_changed {
        has_changed = false;
        for (edge, &(from, to)) in compact.edges.iter().enumerate() {
            let through = distances[from as usize] + weight(&compact, edge);
            if through < distances[to as usize] {
                distances[to as usize] = through;
                has_changed = true;
            }
        }
    }
    compact.table(distances)
}

/// Checks distances by the properties that define them, without another search:
///
/// * the source has distance 0;
/// * no edge leads to a vertex that it would bring nearer, including an unreached one;
/// * tight edges, which give their target exactly its distance, lead from the source to every
///   reached vertex. One tight edge per vertex would not suffice: around a cycle of weight 0, all
///   edges may be tight.
pub fn verify_sssp(graph: &EdgeList, source: u64, distances: &[(u64, f64)]) -> Result<(), String> {
    let compact = graph.compact();
    same_vertices(&compact.table(std::iter::repeat(())), distances)?;
    let distance = |vertex: u32| distances[vertex as usize].1;
    let mut tight = EdgeList::default();
    for (edge, &(from, to)) in compact.edges.iter().enumerate() {
        let through = distance(from) + weight(&compact, edge);
        if through.is_nan() || through < distance(to) {
            let (from, to) = graph.edges[edge];
            return Err(format!("vertex {to} would have distance {through} through {from}"));
        }
        if through == distance(to) && through.is_finite() {
            tight.edges.push((u64::from(from), u64::from(to)));
        }
    }
    let mut is_reached = vec![false; distances.len()];
    if let Some(start) = compact.dense(source) {
        if distance(start) != 0.0 {
            return Err(format!("the source {source} has distance {}", distance(start)));
        }
        flood(&tight, start, &mut is_reached);
    }
    for (&(vertex, distance), is_reached) in distances.iter().zip(is_reached) {
        if is_reached != (distance < f64::INFINITY) {
            return Err(format!("no path from {source} to {vertex} has length {distance}"));
        }
    }
    Ok(())
}

/// Marks all vertices that these edges, between dense ids, reach from `start`.
fn flood(edges: &EdgeList, start: u32, is_reached: &mut [bool]) {
    let mut targets = vec![Vec::new(); is_reached.len()];
    for &(from, to) in &edges.edges {
        targets[from as usize].push(to as usize);
    }
    is_reached[start as usize] = true;
    let mut stack = vec![start as usize];
    while let Some(vertex) = stack.pop() {
        for &target in &targets[vertex] {
            if !std::mem::replace(&mut is_reached[target], true) {
                stack.push(target);
            }
        }
    }
}

fn weight(graph: &Compact, edge: usize) -> f64 {
    graph.weights.as_ref().map_or(1.0, |weights| f64::from(weights[edge]))
}
