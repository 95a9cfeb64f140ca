//! Shortest paths between two vertices, along the edges' direction.

use crate::{Compact, EdgeList, Table, sssp, verify_sssp};

/// The vertices of a shortest path and the sum of weights up to each; none where there is no path. An edge of
/// a graph without weights counts 1. No weight is below 0.
///
/// Of several it is the one on which, seen from the target, each vertex comes from the smallest one that is
/// nearer; or, where none is nearer, over the fewest edges of no length from one that has such a neighbour.
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
    // Edges that are part of shortest paths, and whether they have a length.
    let mut tight = Vec::new();
    for (edge, &(from, to)) in compact.edges.iter().enumerate() {
        let (near, far) = (distances[from as usize], distances[to as usize]);
        if near.is_finite() && near + weight(&compact, edge) == far && to != source {
            tight.push((from, to, near < far));
        }
    }
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

/// Checks a path by what makes it one: it begins at the source with 0 and ends at the target, each step is
/// along an edge of just that length, and no path is shorter. The distances that tell the last come from an
/// oracle, but are not taken on trust: [`verify_sssp`] proves them.
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
