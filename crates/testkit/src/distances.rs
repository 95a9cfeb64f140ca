//! Oracles from the distances between all vertices: closeness, harmonic centrality, betweenness.
//! They use sets of ids, and a search from each vertex.

use std::collections::{BTreeMap, BTreeSet};

use crate::{EdgeList, Table};

/// The distance of each vertex from one source, and the number of shortest paths.
type Reached = BTreeMap<u64, (u64, f64)>;

/// Searches from every vertex, in the simple graph of the arcs.
fn from_each(arcs: &EdgeList) -> BTreeMap<u64, Reached> {
    let mut targets: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for &(source, target) in arcs.edges.iter().filter(|(source, target)| source != target) {
        targets.entry(source).or_default().insert(target);
    }
    arcs.vertices().into_iter().map(|vertex| (vertex, search(&targets, vertex))).collect()
}

fn search(targets: &BTreeMap<u64, BTreeSet<u64>>, source: u64) -> Reached {
    let mut reached = Reached::from([(source, (0, 1.0))]);
    let mut level = BTreeMap::from([(source, 1.0)]);
    for distance in 1.. {
        let mut next: BTreeMap<u64, f64> = BTreeMap::new();
        for (vertex, paths) in &level {
            let targets = targets.get(vertex).into_iter().flatten();
            for target in targets.filter(|target| !reached.contains_key(target)) {
                *next.entry(*target).or_default() += paths;
            }
        }
        if next.is_empty() {
            break;
        }
        reached.extend(next.iter().map(|(&vertex, &paths)| (vertex, (distance, paths))));
        level = next;
    }
    reached
}

/// Returns the greatest distance between two vertices of the largest component, with edges read as
/// undirected. Of equally large components, the one with the smallest id counts.
pub fn diameter(arcs: &EdgeList) -> u64 {
    let all = from_each(&arcs.undirected());
    let largest =
        all.iter().max_by_key(|(vertex, reached)| (reached.len(), std::cmp::Reverse(**vertex)));
    let within = largest.into_iter().flat_map(|(_, reached)| reached.keys());
    let farthest = within.filter_map(|vertex| all[vertex].values().map(|reached| reached.0).max());
    farthest.max().unwrap_or(0)
}

/// Returns the vertices within `hops` hops of any source, and their distances.
pub fn within_hops(arcs: &EdgeList, sources: &[u64], hops: u64) -> Table<u64> {
    let all = from_each(arcs);
    let nearest = |vertex: u64| {
        let distances = sources.iter().filter_map(|source| all[source].get(&vertex));
        distances.map(|reached| reached.0).min().filter(|&distance| distance <= hops)
    };
    all.keys().filter_map(|&vertex| Some((vertex, nearest(vertex)?))).collect()
}

/// Closeness by the distances to each vertex, times the part of all others that come there.
pub fn closeness(arcs: &EdgeList) -> Table<f64> {
    let all = from_each(arcs);
    let others = all.len().saturating_sub(1) as f64;
    let of = |vertex: u64| {
        let distances = all.values().filter_map(|reached| reached.get(&vertex));
        // The vertex itself is reached too, and does not count.
        let (count, sum) =
            distances.fold((-1.0, 0), |(count, sum), (distance, _)| (count + 1.0, sum + distance));
        if sum == 0 { 0.0 } else { count / sum as f64 * count / others }
    };
    all.keys().map(|&vertex| (vertex, of(vertex))).collect()
}

/// Returns the sum of the inverse distances to each vertex.
pub fn harmonic(arcs: &EdgeList) -> Table<f64> {
    let all = from_each(arcs);
    let of = |vertex: u64| {
        let distances = all.values().filter_map(|reached| reached.get(&vertex));
        let others = distances.filter(|(distance, _)| *distance > 0);
        others.map(|(distance, _)| 1.0 / *distance as f64).sum()
    };
    all.keys().map(|&vertex| (vertex, of(vertex))).collect()
}

/// Returns for each vertex the share of shortest paths through it, summed over all ordered pairs of
/// other vertices. The length of a path is its number of arcs.
pub fn betweenness(arcs: &EdgeList) -> Table<f64> {
    lead_through(&from_each(arcs))
}

/// Like [`betweenness`], but the length of a path is the sum of its weights, which are integers
/// above 0. Of parallel arcs, the lightest counts.
pub fn weighted_betweenness(arcs: &EdgeList) -> Table<f64> {
    let weights = arcs.weights.as_ref().expect("weights");
    let mut lightest: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    for (&(source, target), &weight) in arcs.edges.iter().zip(weights) {
        if source != target {
            let least = lightest.entry((source, target)).or_insert(u64::MAX);
            *least = (*least).min(weight as u64);
        }
    }
    let all = arcs.vertices().into_iter().map(|vertex| (vertex, relax(&lightest, vertex)));
    lead_through(&all.collect())
}

/// Relaxes all arcs until no distance changes, then counts paths, the nearest vertices first.
fn relax(lightest: &BTreeMap<(u64, u64), u64>, source: u64) -> Reached {
    let mut distances = BTreeMap::from([(source, 0)]);
    loop {
        let before = distances.clone();
        for (&(from, to), weight) in lightest {
            if let Some(distance) = distances.get(&from).map(|distance| distance + weight) {
                let least = distances.entry(to).or_insert(u64::MAX);
                *least = (*least).min(distance);
            }
        }
        if distances == before {
            break;
        }
    }
    let mut nearest_first: Vec<(u64, u64)> =
        distances.iter().map(|(&vertex, &distance)| (distance, vertex)).collect();
    nearest_first.sort_unstable();
    let mut reached = Reached::from([(source, (0, 1.0))]);
    for &(distance, vertex) in &nearest_first[1..] {
        let last = lightest.iter().filter(|((_, to), _)| *to == vertex);
        let paths = last.filter_map(|((from, _), weight)| {
            let (before, paths) = reached.get(from)?;
            (before + weight == distance).then_some(paths)
        });
        let paths = paths.sum();
        reached.insert(vertex, (distance, paths));
    }
    reached
}

fn lead_through(all: &BTreeMap<u64, Reached>) -> Table<f64> {
    let mut sums: BTreeMap<u64, f64> = all.keys().map(|&vertex| (vertex, 0.0)).collect();
    for (source, reached) in all {
        for (through, &(to_through, paths)) in
            reached.iter().filter(|(vertex, _)| *vertex != source)
        {
            let onwards = all[through].iter().filter(|(target, _)| *target != through);
            let part = onwards.filter_map(|(target, (distance, paths_on))| {
                let (whole, all_paths) = reached[target];
                (to_through + distance == whole).then(|| paths * paths_on / all_paths)
            });
            *sums.entry(*through).or_default() += part.sum::<f64>();
        }
    }
    sums.into_iter().collect()
}
