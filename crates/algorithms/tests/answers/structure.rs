//! Bridges, articulation points, topological order and stable labels, against oracles or their
//! defining properties.

use std::collections::{BTreeMap, HashMap};
use tegula_algorithms::side_table::LocalPaths;

use crate::support::small::on_small_graphs;
use crate::support::tables::{answer, counts, summary};
use crate::support::ways::graphs;
use crate::support::{import_with, open, threads};
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use proptest::prelude::*;
use serde_json::json;
use tegula_algorithms::original_ids::Name;
use tegula_algorithms::{Error, find};
use tegula_engine::{Graph, RunOptions};
use tegula_import::ImportConfig;
use tegula_store::rows::RowEncoding;
use tegula_testkit::matching::exact;
use tegula_testkit::{EdgeList, Scratch, cuts};

fn bridges(graph: &Graph, options: &RunOptions<'_>) -> Vec<(u64, u64)> {
    let rows = answer(graph, "bridges", json!({}), options);
    let column = |rows: &arrow_array::RecordBatch, index: usize| -> Vec<u64> {
        rows.column(index).as_primitive::<UInt64Type>().values().to_vec()
    };
    rows.iter().flat_map(|rows| column(rows, 0).into_iter().zip(column(rows, 1))).collect()
}

#[test]
#[ignore = "long"]
fn bridges_and_articulation_points_match_the_oracle() {
    on_small_graphs(|name, arcs, graph| {
        assert_eq!(bridges(graph, &threads(3)), cuts::bridges(arcs), "{name}");
        let wanted = json!({ "articulation_points": true });
        let found = counts(graph, "bridges", wanted, &threads(2));
        exact(&cuts::articulation_points(arcs), &found).expect(name);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn cuts_of_sparse_graphs_match_the_oracle(edges in graphs(1..=40, 1..=2)) {
        let scratch = Scratch::new();
        let graph = open(&import_with(ImportConfig::default(), scratch.path(), "graph", &edges));
        prop_assert_eq!(bridges(&graph, &threads(2)), cuts::bridges(&edges));
        let wanted = json!({ "articulation_points": true });
        let found = counts(&graph, "bridges", wanted, &threads(2));
        prop_assert_eq!(found, cuts::articulation_points(&edges));
    }
}

/// The position of each vertex: by the length of the longest path to it, then by id. `None` where
/// there is a cycle.
fn positions(arcs: &EdgeList) -> Option<Vec<(u64, u64)>> {
    let vertices = arcs.vertices();
    let mut lengths: BTreeMap<u64, usize> = vertices.iter().map(|&vertex| (vertex, 0)).collect();
    for _ in 0..vertices.len() {
        let before = lengths.clone();
        for (source, target) in &arcs.edges {
            let length = lengths[source] + 1;
            let known = lengths.entry(*target).or_default();
            *known = length.max(*known);
        }
        if lengths == before {
            let mut order: Vec<(usize, u64)> =
                lengths.into_iter().map(|(vertex, length)| (length, vertex)).collect();
            order.sort_unstable();
            let positions = (0..).zip(order).map(|(position, (_, vertex))| (vertex, position));
            let mut positions: Vec<(u64, u64)> = positions.collect();
            positions.sort_unstable();
            return Some(positions);
        }
    }
    // If the last round still changed something, there is a path longer than the number of
    // vertices.
    vertices.is_empty().then(Vec::new)
}

/// Checks the order of a graph, or the cycle that the error names.
fn check_order(name: &str, arcs: &EdgeList, graph: &Graph) {
    let request = find("topological-order").unwrap().request(json!({})).unwrap();
    let found = request.prepare(graph, &threads(2), &LocalPaths).unwrap().run(graph, &threads(2));
    match (positions(arcs), found) {
        (Some(expected), Ok(_)) => {
            let found = counts(graph, "topological-order", json!({}), &threads(2));
            exact(&expected, &found).expect(name);
        }
        (None, Err(Error::Cycle { vertices, length, .. })) => {
            assert_eq!(vertices.len(), length.min(10), "{name}");
            let ids: Vec<u64> = vertices
                .iter()
                .map(|vertex| match vertex {
                    Name::Integer(id) => *id,
                    Name::String(id) => panic!("{id}"),
                })
                .collect();
            let pairs = ids.windows(2).map(|pair| (pair[0], pair[1]));
            let closing = (length == ids.len()).then(|| (ids[length - 1], ids[0]));
            for edge in pairs.chain(closing) {
                assert!(arcs.edges.contains(&edge), "{name}: {edge:?} in {vertices:?}");
            }
            // A cycle begins at its least vertex, so that is the least of the named vertices.
            assert_eq!(ids.iter().min(), ids.first(), "{name}");
        }
        (expected, found) => panic!("{name}: {expected:?}, {:?}", found.map(|_| "an order").err()),
    }
}

#[test]
#[ignore = "long"]
fn an_order_has_every_edge_forward_and_a_cycle_is_named() {
    on_small_graphs(check_order);
    // Without its edges backward every graph has an order.
    for seed in 0..3 {
        let scratch = Scratch::new();
        for (name, edges) in tegula_testkit::small_graphs(seed) {
            let forward = edges.edges.iter().copied().filter(|(source, target)| source < target);
            let arcs = EdgeList::new(forward.collect());
            let config = ImportConfig { rows: Some(RowEncoding::Gap), ..Default::default() };
            let graph = open(&import_with(config, scratch.path(), name, &arcs));
            assert!(positions(&arcs).is_some());
            check_order(name, &arcs, &graph);
        }
    }
}

#[test]
fn a_message_names_the_cycle() {
    let scratch = Scratch::new();
    let ring = |length: u64| EdgeList::new((0..length).map(|id| (id, (id + 1) % length)).collect());
    for (name, edges, message) in [
        ("loop", EdgeList::new(vec![(1, 2), (2, 2)]), "has a cycle: `2` -> `2`"),
        ("three", ring(3), "has a cycle: `0` -> `1` -> `2` -> `0`"),
        ("many", ring(30), "`8` -> `9` -> 20 more -> `0`"),
    ] {
        let config = ImportConfig { rows: Some(RowEncoding::Gap), ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), name, &edges));
        let request = find("topological-order").unwrap().request(json!({})).unwrap();
        let error = request
            .prepare(&graph, &threads(2), &LocalPaths)
            .unwrap()
            .run(&graph, &threads(2))
            .err();
        let error = error.unwrap();
        assert!(error.to_string().ends_with(message), "{error}");
        assert!(error.is_of_graph());
    }
}

#[test]
#[ignore = "long"]
fn every_final_label_is_a_most_frequent_one_around_its_vertex() {
    on_small_graphs(|name, arcs, graph| {
        let mut around: HashMap<u64, Vec<u64>> = HashMap::new();
        for &(source, target) in &arcs.edges {
            around.entry(source).or_default().push(target);
            if !graph.manifest().undirected {
                around.entry(target).or_default().push(source);
            }
        }
        for seed in [0, 9] {
            let wanted = json!({ "seed": seed, "max_iterations": 1000 });
            let found = counts(graph, "label-propagation", wanted.clone(), &threads(2));
            assert_eq!(counts(graph, "label-propagation", wanted, &threads(3)), found, "{name}");
            let labels: HashMap<u64, u64> = found.iter().copied().collect();
            for (vertex, label) in &found {
                let ends = around.get(vertex).map_or(&[][..], Vec::as_slice);
                let times = |label: u64| ends.iter().filter(|end| labels[end] == label).count();
                let most = ends.iter().map(|end| times(labels[end])).max().unwrap_or(0);
                assert_eq!(times(*label), most, "{name}: the label {label} of {vertex}");
            }
        }
    });
}

#[test]
fn labels_stop_early_when_few_vertices_might_change() {
    let scratch = Scratch::new();
    // Along a ring, labels travel far.
    let edges = EdgeList::new((0..4000).map(|vertex| (vertex, (vertex + 1) % 4000)).collect());
    let rows = Some(RowEncoding::default());
    let config = ImportConfig { rows, undirected: true, ..ImportConfig::default() };
    let graph = open(&import_with(config, scratch.path(), "ring", &edges));
    let found = |tolerance: f64, iterations: u64| {
        let wanted = json!({ "tolerance": tolerance, "max_iterations": iterations });
        let summary = summary(&graph, "label-propagation", wanted, &threads(2));
        (summary["converged"] == true, summary["unstable"].as_u64().unwrap())
    };
    assert_eq!(found(0.0, 1000), (true, 0));
    let (is_stable, unstable) = found(0.0, 2);
    assert!(!is_stable && unstable > 0, "{unstable} vertices");
    let (is_stable, unstable) = found(0.1, 1000);
    assert!(is_stable && (1..=400).contains(&unstable), "{unstable} vertices");
}
