//! Modularity, and whether communities are connected.

use std::collections::{BTreeMap, BTreeSet};

use crate::{EdgeList, Table};

/// Returns the modularity of communities in the undirected graph of these edges, each given once.
/// The weight of a loop counts at both of its ends. 0 if all weights are 0 or there are no edges.
pub fn modularity(edges: &EdgeList, communities: &Table<u64>, resolution: f64) -> f64 {
    let community: BTreeMap<u64, u64> = communities.iter().copied().collect();
    let weight =
        |edge: usize| edges.weights.as_ref().map_or(1.0, |weights| f64::from(weights[edge]));
    let (mut total, mut within, mut at) = (0.0, 0.0, BTreeMap::<u64, f64>::new());
    for (number, (source, target)) in edges.edges.iter().enumerate() {
        let (one, other) = (community[source], community[target]);
        total += 2.0 * weight(number);
        within += if one == other { 2.0 * weight(number) } else { 0.0 };
        *at.entry(one).or_default() += weight(number);
        *at.entry(other).or_default() += weight(number);
    }
    let expected = at.values().map(|weights| weights * weights / total).sum::<f64>();
    if total == 0.0 { 0.0 } else { (within - resolution * expected) / total }
}

/// Returns whether each community is connected, with edges read as undirected.
pub fn are_connected(edges: &EdgeList, communities: &Table<u64>) -> bool {
    let community: BTreeMap<u64, u64> = communities.iter().copied().collect();
    let mut around: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (source, target) in
        edges.edges.iter().filter(|(one, other)| community[one] == community[other])
    {
        around.entry(*source).or_default().push(*target);
        around.entry(*target).or_default().push(*source);
    }
    let mut left: BTreeSet<u64> = community.keys().copied().collect();
    let mut seen = BTreeSet::new();
    while let Some(first) = left.pop_first() {
        if !seen.insert(community[&first]) {
            return false;
        }
        let mut waiting = vec![first];
        while let Some(vertex) = waiting.pop() {
            let next = around.get(&vertex).into_iter().flatten();
            waiting.extend(next.filter(|next| left.remove(next)));
        }
    }
    true
}
