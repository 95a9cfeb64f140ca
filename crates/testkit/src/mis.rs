//! Maximal independent sets of the undirected graph of the edges, without loops.

use std::collections::HashMap;

use crate::matching::same_vertices;
use crate::{EdgeList, Table};

/// Returns the set that a greedy pass finds: it visits vertices by ascending random number, and
/// takes each one without a taken neighbour. The i-th vertex by ascending id gets the i-th number
/// of SplitMix64, started with `seed`.
pub fn mis(graph: &EdgeList, seed: u64) -> Table<bool> {
    let vertices = graph.vertices();
    let mut state = seed;
    let mut numbered: Vec<(u64, u64)> =
        vertices.iter().map(|&vertex| (split_mix(&mut state), vertex)).collect();
    numbered.sort_unstable();
    let mut neighbours: HashMap<u64, Vec<u64>> = HashMap::new();
    for &(one, other) in graph.edges.iter().filter(|(one, other)| one != other) {
        neighbours.entry(one).or_default().push(other);
        neighbours.entry(other).or_default().push(one);
    }
    let mut is_member: HashMap<u64, bool> = HashMap::new();
    for (_, vertex) in numbered {
        let beside = neighbours.get(&vertex).map_or(&[][..], |neighbours| neighbours);
        let is_free = beside.iter().all(|other| is_member.get(other) != Some(&true));
        is_member.insert(vertex, is_free);
    }
    vertices.into_iter().map(|vertex| (vertex, is_member[&vertex])).collect()
}

/// Returns the next number of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let one = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let two = (one ^ (one >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    two ^ (two >> 31)
}

/// Checks that no edge has both ends in the set, and that every vertex outside of it has a
/// neighbour inside.
pub fn verify_mis(graph: &EdgeList, members: &[(u64, bool)]) -> Result<(), String> {
    same_vertices(&graph.compact().table(std::iter::repeat(())), members)?;
    let is_member: HashMap<u64, bool> = members.iter().copied().collect();
    let mut is_covered = is_member.clone();
    for &(one, other) in graph.edges.iter().filter(|(one, other)| one != other) {
        if is_member[&one] && is_member[&other] {
            return Err(format!("{one} and {other} are neighbours, and both in the set"));
        }
        for (vertex, beside) in [(one, other), (other, one)] {
            if is_member[&beside] {
                is_covered.insert(vertex, true);
            }
        }
    }
    match members.iter().find(|(vertex, _)| !is_covered[vertex]) {
        Some((vertex, _)) => Err(format!("{vertex} could be added to the set")),
        None => Ok(()),
    }
}
