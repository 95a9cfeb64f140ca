//! Oracles from the neighbours of each vertex: triangles, clustering, cores, labels. They use sets
//! of ids, one vertex after the other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;

use crate::{EdgeList, Table};

/// Returns the neighbours of each vertex in the simple undirected graph of these arcs.
fn neighbours(arcs: &EdgeList) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut neighbours: BTreeMap<u64, BTreeSet<u64>> =
        arcs.vertices().into_iter().map(|vertex| (vertex, BTreeSet::new())).collect();
    for &(source, target) in arcs.edges.iter().filter(|(source, target)| source != target) {
        neighbours.entry(source).or_default().insert(target);
        neighbours.entry(target).or_default().insert(source);
    }
    neighbours
}

/// Returns the smallest id within some hops of each vertex, whatever the direction of edges.
pub fn smallest_within(arcs: &EdgeList, hops: u64) -> Table<u64> {
    let all = neighbours(arcs);
    let around = |vertex: u64| {
        let mut reached = BTreeSet::from([vertex]);
        for _ in 0..hops {
            let beyond: Vec<u64> = reached.iter().flat_map(|one| all[one].clone()).collect();
            reached.extend(beyond);
        }
        reached.first().copied().unwrap_or(vertex)
    };
    all.keys().map(|&vertex| (vertex, around(vertex))).collect()
}

/// Returns the triangles at each vertex: pairs of its neighbours that are neighbours of each other.
pub fn triangles(arcs: &EdgeList) -> Table<u64> {
    let all = neighbours(arcs);
    let at = |own: &BTreeSet<u64>| {
        own.iter()
            .map(|one| {
                all[one]
                    .range((Bound::Excluded(*one), Bound::Unbounded))
                    .filter(|other| own.contains(other))
                    .count() as u64
            })
            .sum()
    };
    all.iter().map(|(&vertex, own)| (vertex, at(own))).collect()
}

/// Returns the local clustering coefficient of LDBC Graphalytics: the share of possible arcs
/// between neighbours that exist. An undirected graph has both arcs of each edge.
pub fn lcc(arcs: &EdgeList) -> Table<f64> {
    let all = neighbours(arcs);
    let mut targets: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for &(source, target) in arcs.edges.iter().filter(|(source, target)| source != target) {
        targets.entry(source).or_default().insert(target);
    }
    let coefficient = |own: &BTreeSet<u64>| {
        let count = own.len();
        let leading = own.iter().filter_map(|vertex| targets.get(vertex));
        let between: usize = leading
            .map(|targets| targets.iter().filter(|target| own.contains(target)).count())
            .sum();
        if count < 2 { 0.0 } else { between as f64 / (count * (count - 1)) as f64 }
    };
    all.iter().map(|(&vertex, own)| (vertex, coefficient(own))).collect()
}

/// Returns core numbers: repeatedly removes a vertex with the fewest neighbours.
pub fn kcore(arcs: &EdgeList) -> Table<u64> {
    let mut left = neighbours(arcs);
    let (mut cores, mut core) = (Table::new(), 0);
    while let Some((&vertex, own)) = left.iter().min_by_key(|(_, own)| own.len()) {
        core = own.len().max(core);
        cores.push((vertex, core as u64));
        for neighbour in left.remove(&vertex).unwrap_or_default() {
            left.entry(neighbour).or_default().remove(&vertex);
        }
    }
    cores.sort_unstable();
    cores
}

/// Detects communities by label propagation as in LDBC Graphalytics. In an undirected graph, which
/// has both arcs of each edge, only out-arcs lead to neighbours. In a directed graph, in-arcs do,
/// too.
pub fn cdlp(arcs: &EdgeList, is_directed: bool, iterations: u64) -> Table<u64> {
    let mut ends: BTreeMap<u64, Vec<u64>> =
        arcs.vertices().into_iter().map(|vertex| (vertex, Vec::new())).collect();
    for &(source, target) in &arcs.edges {
        ends.entry(source).or_default().push(target);
        if is_directed {
            ends.entry(target).or_default().push(source);
        }
    }
    let mut labels: HashMap<u64, u64> = ends.keys().map(|&vertex| (vertex, vertex)).collect();
    for _ in 0..iterations {
        let next = |(&vertex, ends): (&u64, &Vec<u64>)| {
            let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
            ends.iter().for_each(|end| *counts.entry(labels[end]).or_default() += 1);
            let most = counts.values().max().copied();
            let label = counts.into_iter().find(|&(_, count)| Some(count) == most);
            (vertex, label.map_or(labels[&vertex], |(label, _)| label))
        };
        labels = ends.iter().map(next).collect();
    }
    ends.into_keys().map(|vertex| (vertex, labels[&vertex])).collect()
}
