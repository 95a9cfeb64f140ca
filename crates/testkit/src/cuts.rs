//! Oracles of bridges and articulation points: remove each edge and each vertex in turn.

use std::collections::{BTreeMap, BTreeSet};

use crate::{EdgeList, Table};

/// Returns the edges of the simple undirected graph of these arcs, the smaller end first.
fn edges(arcs: &EdgeList) -> BTreeSet<(u64, u64)> {
    let edges = arcs.edges.iter().filter(|(source, target)| source != target);
    edges.map(|&(source, target)| (source.min(target), source.max(target))).collect()
}

/// Returns the number of components of these vertices with these edges.
fn components(vertices: &[u64], edges: impl Iterator<Item = (u64, u64)>) -> usize {
    let mut neighbours: BTreeMap<u64, Vec<u64>> =
        vertices.iter().map(|&vertex| (vertex, Vec::new())).collect();
    for (one, other) in edges {
        neighbours.entry(one).or_default().push(other);
        neighbours.entry(other).or_default().push(one);
    }
    let mut count = 0;
    while let Some((first, own)) = neighbours.pop_first() {
        debug_assert!(!own.contains(&first));
        let mut waiting = own;
        while let Some(vertex) = waiting.pop() {
            waiting.extend(neighbours.remove(&vertex).into_iter().flatten());
        }
        count += 1;
    }
    count
}

/// Returns the edges whose removal increases the number of components, ascending, the smaller end
/// first.
pub fn bridges(arcs: &EdgeList) -> Vec<(u64, u64)> {
    let (vertices, edges) = (arcs.vertices(), edges(arcs));
    let before = components(&vertices, edges.iter().copied());
    let is_bridge = |bridge: &(u64, u64)| {
        components(&vertices, edges.iter().copied().filter(|edge| edge != bridge)) > before
    };
    edges.iter().copied().filter(is_bridge).collect()
}

/// Returns the vertices whose removal increases the number of components, each with the number of
/// parts that it joins.
pub fn articulation_points(arcs: &EdgeList) -> Table<u64> {
    let (vertices, edges) = (arcs.vertices(), edges(arcs));
    let before = components(&vertices, edges.iter().copied());
    let parts = |vertex: u64| {
        let others: Vec<u64> = vertices.iter().copied().filter(|&other| other != vertex).collect();
        let left = edges.iter().copied().filter(|&(one, other)| one != vertex && other != vertex);
        components(&others, left) + 1 - before
    };
    let points = vertices.iter().map(|&vertex| (vertex, parts(vertex) as u64));
    points.filter(|&(_, parts)| parts > 1).collect()
}
