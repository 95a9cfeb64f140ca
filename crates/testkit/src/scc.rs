//! Strongly connected components by two searches from each vertex.

use std::collections::{HashMap, HashSet};

use crate::{EdgeList, Table};

/// Returns the smallest id of the component of each vertex.
pub fn scc(arcs: &EdgeList) -> Table<u64> {
    let (mut out, mut into): (HashMap<u64, Vec<u64>>, HashMap<u64, Vec<u64>>) = Default::default();
    for &(source, target) in &arcs.edges {
        out.entry(source).or_default().push(target);
        into.entry(target).or_default().push(source);
    }
    let mut components: HashMap<u64, u64> = HashMap::new();
    let vertices = arcs.vertices();
    // Ids ascend, so the first vertex of a component has its smallest id.
    for &vertex in &vertices {
        if !components.contains_key(&vertex) {
            let (after, before) = (reached(&out, vertex), reached(&into, vertex));
            components.extend(after.intersection(&before).map(|&other| (other, vertex)));
        }
    }
    vertices.into_iter().map(|vertex| (vertex, components[&vertex])).collect()
}

fn reached(edges: &HashMap<u64, Vec<u64>>, from: u64) -> HashSet<u64> {
    let (mut reached, mut waiting) = (HashSet::from([from]), vec![from]);
    while let Some(vertex) = waiting.pop() {
        let next = edges.get(&vertex).into_iter().flatten().copied();
        let new: Vec<u64> = next.filter(|&next| reached.insert(next)).collect();
        waiting.extend(new);
    }
    reached
}
