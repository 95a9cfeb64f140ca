//! The oracles reproduce known numbers of real graphs.

use std::collections::HashMap;

use tegula_testkit::data;
use tegula_testkit::facts::{ALL, Facts};
use tegula_testkit::{bfs, pagerank, verify_bfs, verify_wcc, wcc};

/// Graphs of different kinds, small enough for every test run.
const QUICK: [&str; 6] = [
    "wiki-Vote",
    "ca-HepPh",
    "com-dblp.ungraph",
    "cnr-2000",
    "soc-sign-Slashdot090221",
    "cal.weighted",
];

#[test]
fn oracles_reproduce_known_answers() {
    for name in QUICK {
        check(Facts::of(name));
    }
}

#[test]
#[ignore = "long"]
fn oracles_reproduce_all_known_answers() {
    ALL.iter().filter(|facts| !QUICK.contains(&facts.name)).for_each(check);
}

fn check(facts: &Facts) {
    let Some(graph) = facts.graph() else { return };
    let name = facts.name;
    assert_eq!(graph.vertices().len() as u64, facts.vertices, "{name}");
    let loops = graph.edges.iter().filter(|(source, target)| source == target).count() as u64;
    assert_eq!(loops, facts.loops, "{name}");
    let doubled = if facts.directed { 0 } else { facts.lines - facts.loops };
    assert_eq!(graph.edges.len() as u64, facts.lines + doubled, "{name}");

    let components = wcc(&graph);
    verify_wcc(&graph, &components).unwrap();
    let mut sizes: HashMap<u64, u64> = HashMap::new();
    components.iter().for_each(|&(_, component)| *sizes.entry(component).or_default() += 1);
    assert_eq!(sizes.len() as u64, facts.components, "{name}");
    assert_eq!(sizes.into_values().max(), Some(facts.largest_component), "{name}");

    let distances = bfs(&graph, facts.bfs.source);
    verify_bfs(&graph, facts.bfs.source, &distances, None).unwrap();
    let reached: Vec<u64> = distances.iter().filter_map(|&(_, distance)| distance).collect();
    let found =
        (reached.len() as u64, reached.iter().max().copied().unwrap(), reached.iter().sum());
    assert_eq!(found, (facts.bfs.reached, facts.bfs.depth, facts.bfs.sum), "{name}");

    let mut ranks = pagerank(&graph, 0.85, 10);
    ranks.sort_by(|one, two| two.1.total_cmp(&one.1).then(one.0.cmp(&two.0)));
    for (&(expected_vertex, expected), &(_, actual)) in facts.top_ranks.iter().zip(&ranks) {
        let at_vertex = ranks.iter().find(|&&(vertex, _)| vertex == expected_vertex).unwrap().1;
        assert!(
            (at_vertex / expected - 1.0).abs() < 1e-9,
            "{name}: {expected_vertex} has {at_vertex}"
        );
        assert!(
            (actual / expected - 1.0).abs() < 1e-9,
            "{name}: {actual} is in the place of {expected}"
        );
    }
}

#[test]
fn a_missing_graph_is_skipped() {
    assert_eq!(data::find("no-such-graph.txt.zst"), None);
}
