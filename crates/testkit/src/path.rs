//! Shortest paths between two vertices, along the edges' direction.

use crate::{Compact, EdgeList, Table, sssp, verify_sssp};

/// Returns the vertices of a shortest path, each with the sum of weights up to it; empty where
/// there is no path. In an unweighted graph, an edge counts 1. Weights are not negative.
///
/// Of several paths, it returns the following one. Going back from the target, each step takes the
/// smallest neighbour that is nearer to the source. Where no neighbour is nearer, the path follows
/// the fewest edges of weight 0 to a vertex that has such a neighbour.
pub fn shortest_path(graph: &EdgeList, source: u64, target: u64) -> Table<f64> {
    let compact = graph.compact();
    let distances: Vec<f64> =
        sssp(graph, source).into_iter().map(|(_, distance)| distance).collect();
    let (Some(source), Some(target)) = (compact.dense(source), compact.dense(target)) else {
        return Vec::new();
    };
    if distances[target as usize].is_infinite() {
        return Vec::new();
    }
    // Edges on shortest paths, and whether they have a positive length.
    let mut tight = Vec::new();
    for (edge, &(from, to)) in compact.edges.iter().enumerate() {
        let (near, far) = (distances[from as usize], distances[to as usize]);
        if near.is_finite() && near + weight(&compact, edge) == far && to != source {
            tight.push((from, to, near < far));
        }
    }
    // Sorted, so that the first edge found comes from the smallest neighbour.
    tight.sort_unstable();
    let mut levels = vec![usize::MAX; distances.len()];
    levels[source as usize] = 0;
    tight.iter().filter(|edge| edge.2).for_each(|edge| levels[edge.1 as usize] = 0);
    for level in 1..=levels.len() {
        for &(from, to, _) in tight.iter().filter(|edge| !edge.2) {
            if levels[from as usize] == level - 1 && levels[to as usize] > level {
                levels[to as usize] = level;
            }
        }
    }
    let mut path = vec![target];
    let mut vertex = target;
    while vertex != source {
        let level = levels[vertex as usize];
        let leads_here = |&&(from, to, is_long): &&(u32, u32, bool)| {
            let is_next = if is_long { level == 0 } else { levels[from as usize] + 1 == level };
            to == vertex && is_next
        };
        vertex = tight.iter().find(leads_here).expect("a tight edge leads to what is reached").0;
        path.push(vertex);
    }
    let row = |vertex: u32| (compact.vertices[vertex as usize], distances[vertex as usize]);
    path.into_iter().rev().map(row).collect()
}

/// Checks a path: it begins at the source with 0 and ends at the target, each step follows an edge
/// of exactly that length, and no path is shorter. The oracle's distances that prove the last point
/// are themselves checked by [`verify_sssp`].
pub fn verify_path(
    graph: &EdgeList,
    source: u64,
    target: u64,
    path: &[(u64, f64)],
) -> Result<(), String> {
    let distances = sssp(graph, source);
    verify_sssp(graph, source, &distances)?;
    let row = distances.binary_search_by_key(&target, |row| row.0).map_err(|_| "no such target")?;
    let length = distances[row].1;
    let (Some(&first), Some(&last)) = (path.first(), path.last()) else {
        return match length.is_infinite() {
            true => Ok(()),
            false => Err(format!("there is a path of length {length}")),
        };
    };
    if first != (source, 0.0) || last != (target, length) {
        return Err(format!("it goes from {first:?} to {last:?}, at {length}"));
    }
    let compact = graph.compact();
    for step in path.windows(2) {
        let ((from, near), (to, far)) = (step[0], step[1]);
        let mut edges = graph.edges.iter().enumerate().filter(|(_, edge)| **edge == (from, to));
        if !edges.any(|(edge, _)| near + weight(&compact, edge) == far) {
            return Err(format!("no edge leads from {from} at {near} to {to} at {far}"));
        }
    }
    Ok(())
}

fn weight(graph: &Compact, edge: usize) -> f64 {
    graph.weights.as_ref().map_or(1.0, |weights| f64::from(weights[edge]))
}
