//! Conductance: how well sets of vertices are separated from the rest.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::EdgeList;

/// A set: its number, its vertices, its volume, its cut.
pub type SetRow = (u64, u64, u64, u64);

/// Returns the figures of sets, ascending by number. `sets` has rows `(vertex, set)`. The volume of
/// a set counts the ends of edges in it; its cut counts the edges with one end in it. A loop has
/// one end in an undirected graph. A vertex may be in several sets.
pub fn conductance(graph: &EdgeList, undirected: bool, sets: &[(u64, u64)]) -> Vec<SetRow> {
    let mut sets_of: HashMap<u64, BTreeSet<u64>> = HashMap::new();
    for &(vertex, set) in sets {
        sets_of.entry(vertex).or_default().insert(set);
    }
    let mut rows: BTreeMap<u64, (u64, u64, u64)> = BTreeMap::new();
    for &set in sets_of.values().flatten() {
        rows.entry(set).or_default().0 += 1;
    }
    let none = BTreeSet::new();
    for &(one, other) in &graph.edges {
        let own = sets_of.get(&one).unwrap_or(&none);
        let beyond = sets_of.get(&other).unwrap_or(&none);
        let second = if undirected && one == other { &none } else { beyond };
        for set in own.iter().chain(second) {
            let row = rows.get_mut(set).expect("every set has a row");
            row.1 += 1;
            row.2 += u64::from(own.contains(set) != beyond.contains(set));
        }
    }
    rows.into_iter().map(|(set, (vertices, volume, cut))| (set, vertices, volume, cut)).collect()
}

/// A weighted set: its number, its vertices, its volume, its cut, and its conductance if it has
/// one.
pub type WeighedSetRow = (u64, u64, f64, f64, Option<f64>);

/// Like [`conductance`], but edges count by their weights. Computes each set separately.
pub fn weighted_conductance(
    graph: &EdgeList,
    undirected: bool,
    sets: &[(u64, u64)],
) -> Vec<WeighedSetRow> {
    let mut members: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for &(vertex, set) in sets {
        members.entry(set).or_default().insert(vertex);
    }
    let weigh = |members: &BTreeSet<u64>| {
        let (mut volume, mut rest, mut cut) = (0.0, 0.0, 0.0);
        for (index, &(one, other)) in graph.edges.iter().enumerate() {
            let weight = graph.weights.as_ref().map_or(1.0, |weights| f64::from(weights[index]));
            let ends = if undirected && one == other { &[one][..] } else { &[one, other] };
            for end in ends {
                *if members.contains(end) { &mut volume } else { &mut rest } += weight;
            }
            if members.contains(&one) != members.contains(&other) {
                cut += weight;
            }
        }
        let least = f64::min(volume, rest);
        (volume, cut, (least > 0.0).then(|| cut / least))
    };
    let rows = members.iter().map(|(&set, members)| {
        let (volume, cut, conductance) = weigh(members);
        (set, members.len() as u64, volume, cut, conductance)
    });
    rows.collect()
}

/// Checks the figures of each set separately: volume = cut + ends of edges within the set.
pub fn verify_conductance(
    graph: &EdgeList,
    undirected: bool,
    sets: &[(u64, u64)],
    rows: &[SetRow],
) -> Result<(), String> {
    let mut numbers: Vec<u64> = sets.iter().map(|&(_, set)| set).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if !rows.iter().map(|row| row.0).eq(numbers) {
        return Err("other sets than were asked for".to_owned());
    }
    for &(set, vertices, volume, cut) in rows {
        let mut members: Vec<u64> =
            sets.iter().filter(|(_, other)| *other == set).map(|&(vertex, _)| vertex).collect();
        members.sort_unstable();
        members.dedup();
        let is_in = |vertex: u64| members.binary_search(&vertex).is_ok();
        let mut within = 0;
        let mut leaving = 0;
        for &(one, other) in &graph.edges {
            match (is_in(one), is_in(other)) {
                (true, true) if undirected && one == other => within += 1,
                (true, true) => within += 2,
                (false, false) => {}
                _ => leaving += 1,
            }
        }
        if (vertices, volume, cut) != (members.len() as u64, within + leaving, leaving) {
            return Err(format!("set {set}: {vertices} vertices, volume {volume}, cut {cut}"));
        }
    }
    Ok(())
}
