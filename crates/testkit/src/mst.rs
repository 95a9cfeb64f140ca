//! Minimum spanning forests of undirected graphs.

use std::collections::{HashMap, HashSet};

use crate::EdgeList;

/// An edge of a forest: its smaller end, its greater end, its weight.
pub type WeightedEdge = (u64, u64, f32);

/// Returns the edges with the smaller end first, without loops. An unweighted edge weighs 1.
fn normalised(graph: &EdgeList) -> Vec<WeightedEdge> {
    let weight = |edge: usize| graph.weights.as_ref().map_or(1.0, |weights| weights[edge]);
    let edges = graph.edges.iter().enumerate().filter(|(_, (one, other))| one != other);
    edges.map(|(edge, &(one, other))| (one.min(other), one.max(other), weight(edge))).collect()
}

/// Returns the forest, by ascending ends (Kruskal). Of edges of equal weight, the one with the
/// smaller ends comes first, so the forest is unique. Weights must not be NaN.
pub fn mst(graph: &EdgeList) -> Vec<WeightedEdge> {
    let mut edges = normalised(graph);
    edges.sort_by(|one, other| {
        one.2
            .partial_cmp(&other.2)
            .expect("weights are numbers")
            .then((one.0, one.1).cmp(&(other.0, other.1)))
    });
    let mut tree_of: HashMap<u64, u64> = graph.vertices().into_iter().map(|v| (v, v)).collect();
    let root = |tree_of: &HashMap<u64, u64>, mut vertex: u64| {
        while tree_of[&vertex] != vertex {
            vertex = tree_of[&vertex];
        }
        vertex
    };
    let mut forest = Vec::new();
    for edge in edges {
        let (one, other) = (root(&tree_of, edge.0), root(&tree_of, edge.1));
        if one != other {
            tree_of.insert(one, other);
            forest.push(edge);
        }
    }
    forest.sort_by_key(|edge| (edge.0, edge.1));
    forest
}

/// Checks that a forest has least weight: its edges are edges of the graph, it has no cycle, and
/// for every other edge, the path between its ends in the forest has no heavier edge.
pub fn verify_mst(graph: &EdgeList, forest: &[WeightedEdge]) -> Result<(), String> {
    let edges = normalised(graph);
    let known: HashSet<(u64, u64, u32)> =
        // Adding 0.0 turns -0.0 into 0.0, which has other bits.
        edges.iter().map(|&(one, other, weight)| (one, other, (weight + 0.0).to_bits())).collect();
    let mut neighbours: HashMap<u64, Vec<(u64, f32)>> = HashMap::new();
    for &(one, other, weight) in forest {
        if !known.contains(&(one, other, (weight + 0.0).to_bits())) {
            return Err(format!("the graph has no edge {one} - {other} of weight {weight}"));
        }
        neighbours.entry(one).or_default().push((other, weight));
        neighbours.entry(other).or_default().push((one, weight));
    }
    // Each vertex hangs below another one by an edge. Meeting a vertex twice means a cycle.
    let mut above: HashMap<u64, (u64, f32, usize)> = HashMap::new();
    for start in graph.vertices() {
        if above.contains_key(&start) {
            continue;
        }
        above.insert(start, (start, f32::NEG_INFINITY, 0));
        let mut stack = vec![start];
        while let Some(vertex) = stack.pop() {
            let (parent, _, depth) = above[&vertex];
            // A second edge to the parent closes a cycle.
            let mut is_parent_seen = vertex == start;
            for &(other, weight) in neighbours.get(&vertex).map_or(&[][..], |edges| edges) {
                if other == parent && !is_parent_seen {
                    is_parent_seen = true;
                } else if above.insert(other, (vertex, weight, depth + 1)).is_some() {
                    return Err(format!("{other} is on a cycle"));
                } else {
                    stack.push(other);
                }
            }
        }
    }
    for (one, other, weight) in edges {
        let Some(heaviest) = heaviest_between(&above, one, other) else {
            return Err(format!("{one} and {other} are not connected"));
        };
        if heaviest > weight {
            let edge = format!("{one} - {other} of weight {weight}");
            return Err(format!("{edge} would replace one of weight {heaviest}"));
        }
    }
    Ok(())
}

/// Returns the greatest weight on the path between two vertices, if there is a path.
fn heaviest_between(
    above: &HashMap<u64, (u64, f32, usize)>,
    mut one: u64,
    mut other: u64,
) -> Option<f32> {
    let mut heaviest = f32::NEG_INFINITY;
    while one != other {
        if above[&one].2 < above[&other].2 {
            std::mem::swap(&mut one, &mut other);
        }
        let (parent, weight, depth) = above[&one];
        if depth == 0 {
            return None;
        }
        heaviest = heaviest.max(weight);
        one = parent;
    }
    Some(heaviest)
}
