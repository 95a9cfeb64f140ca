//! Breadth-first search: how many hops a vertex is from a source, along the edges' direction.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::matching::same_vertices;
use crate::{EdgeList, Table};

/// Returns the hops from `source` to every vertex, `None` where it cannot be reached.
pub fn bfs(graph: &EdgeList, source: u64) -> Table<Option<u64>> {
    let compact = graph.compact();
    let rows = compact.out_edges();
    let mut distances = vec![None; compact.vertices.len()];
    let mut queue = VecDeque::new();
    if let Some(source) = compact.dense(source) {
        distances[source as usize] = Some(0);
        queue.push_back((source, 0));
    }
    while let Some((vertex, distance)) = queue.pop_front() {
        for &neighbour in rows.of(vertex) {
            if distances[neighbour as usize].is_none() {
                distances[neighbour as usize] = Some(distance + 1);
                queue.push_back((neighbour, distance + 1));
            }
        }
    }
    compact.table(distances)
}

/// Checks distances, and parents if given, by the properties that define them, without another
/// search:
///
/// * the source, and nothing else, has distance 0;
/// * no edge leads more than one hop farther, or from a reached vertex to an unreached one;
/// * every other reached vertex has an edge from a vertex one hop closer, which is its parent if
///   parents are given.
///
/// So no distance is too large or too small. The parent of the source is none or itself, and
/// unreached vertices have none.
pub fn verify_bfs(
    graph: &EdgeList,
    source: u64,
    distances: &[(u64, Option<u64>)],
    parents: Option<&[(u64, Option<u64>)]>,
) -> Result<(), String> {
    let compact = graph.compact();
    same_vertices(&compact.table(std::iter::repeat(())), distances)?;
    if let Some(parents) = parents {
        same_vertices(distances, parents)?;
    }
    let distance: HashMap<u64, Option<u64>> = distances.iter().copied().collect();
    let parent: Option<HashMap<u64, Option<u64>>> =
        parents.map(|parents| parents.iter().copied().collect());

    let mut has_closer_parent = HashSet::new();
    for &(from, to) in &graph.edges {
        let Some(hops) = distance[&from] else {
            continue;
        };
        match distance[&to] {
            None => {
                return Err(format!(
                    "vertex {to} is unreached, but {from} with an edge to it has distance {hops}"
                ));
            }
            Some(found) if found > hops + 1 => {
                return Err(format!(
                    "vertex {to} has distance {found}, but {from} with an edge to it {hops}"
                ));
            }
            Some(found)
                if found == hops + 1
                    && parent.as_ref().is_none_or(|parent| parent[&to] == Some(from)) =>
            {
                has_closer_parent.insert(to);
            }
            Some(_) => {}
        }
    }
    for &(vertex, hops) in distances {
        let named = parent.as_ref().and_then(|parent| parent[&vertex]);
        let right = match hops {
            Some(0) => vertex == source && named.is_none_or(|parent| parent == source),
            Some(_) => vertex != source && has_closer_parent.contains(&vertex),
            None => vertex != source && named.is_none(),
        };
        if !right {
            return Err(format!(
                "vertex {vertex} has distance {hops:?} and parent {named:?} from source {source}"
            ));
        }
    }
    Ok(())
}
