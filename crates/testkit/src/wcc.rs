//! Weakly connected components: vertices joined by edges in either direction.

use crate::matching::same_vertices;
use crate::{EdgeList, Table};

/// Returns the smallest original id in every vertex's component (union-find, where the smaller root
/// wins).
pub fn wcc(graph: &EdgeList) -> Table<u64> {
    let compact = graph.compact();
    let mut parents: Vec<u32> = (0..compact.vertices.len() as u32).collect();
    for &(source, target) in &compact.edges {
        let (source, target) = (root(&mut parents, source), root(&mut parents, target));
        parents[source.max(target) as usize] = source.min(target);
    }
    let roots: Vec<u32> =
        (0..parents.len() as u32).map(|vertex| root(&mut parents, vertex)).collect();
    compact.table(roots.into_iter().map(|root| compact.vertices[root as usize]))
}

/// Returns the root of a vertex's tree, and halves the path to it on the way.
fn root(parents: &mut [u32], mut vertex: u32) -> u32 {
    while parents[vertex as usize] != vertex {
        parents[vertex as usize] = parents[parents[vertex as usize] as usize];
        vertex = parents[vertex as usize];
    }
    vertex
}

/// Checks component labels by flooding, like GAPBS' `CCVerifier`: the smallest id of a component is
/// its label, and all vertices reachable from there have the same label. It follows that labels of
/// different components differ.
pub fn verify_wcc(graph: &EdgeList, components: &[(u64, u64)]) -> Result<(), String> {
    let compact = graph.undirected().compact();
    same_vertices(&compact.table(std::iter::repeat(())), components)?;
    let neighbours = compact.out_edges();
    let mut flooded = vec![false; components.len()];
    for (first, &(vertex, label)) in components.iter().enumerate() {
        if flooded[first] {
            continue;
        }
        // Ids ascend, so the first vertex seen of a component is its smallest.
        if label != vertex {
            return Err(format!(
                "vertex {vertex} is the smallest of its component, but has label {label}"
            ));
        }
        flooded[first] = true;
        let mut stack = vec![first as u32];
        while let Some(reached) = stack.pop() {
            let (id, found) = components[reached as usize];
            if found != label {
                return Err(format!("vertex {id} has label {found}, but is connected to {label}"));
            }
            for &neighbour in neighbours.of(reached) {
                if !std::mem::replace(&mut flooded[neighbour as usize], true) {
                    stack.push(neighbour);
                }
            }
        }
    }
    Ok(())
}
