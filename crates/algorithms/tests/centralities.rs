//! Eigenvector and Katz centrality against double precision.

mod support;

use serde_json::json;
use support::tables::numbers;
use support::ways::GRIDS;
use support::{import_with, open, threads};
use tegula_algorithms::find;
use tegula_engine::{Arrays, Graph, RunOptions};
use tegula_import::ImportConfig;
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch, Table, centrality, small_graphs};

/// Of values whose Euclidean norm is 1: what rounding to single precision leaves after many iterations.
const TOLERANCE: f64 = 2e-5;

#[track_caller]
fn assert_near(name: &str, expected: &Table<f64>, found: &Table<f64>) {
    assert_eq!(expected.len(), found.len(), "{name}");
    for (expected, found) in expected.iter().zip(found) {
        assert_eq!(expected.0, found.0, "{name}");
        assert!((expected.1 - found.1).abs() < TOLERANCE, "{name}: {expected:?} {found:?}");
    }
}

/// Imports in each order and grid in turn.
fn import(scratch: &Scratch, name: &str, edges: &EdgeList, seed: usize) -> Graph {
    let order = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs][seed % 3];
    let grid = GRIDS[seed % GRIDS.len()];
    let config = ImportConfig { order: Some(order), grid, ..Default::default() };
    open(&import_with(config, scratch.path(), name, edges))
}

#[test]
fn katz_is_that_of_double_precision() {
    let scratch = Scratch::new();
    for (seed, (name, edges)) in small_graphs(3).into_iter().enumerate() {
        let graph = import(&scratch, name, &edges, seed);
        let degrees = edges.compact().in_edges();
        let most = (0..edges.vertices().len() as u32).map(|vertex| degrees.degree(vertex)).max();
        let alpha = 1.0 / (1 + most.unwrap_or(0)) as f64;
        let expected = centrality::katz(&edges, alpha);
        let wanted = json!({ "tolerance": 1e-7, "max_iterations": 2000 });
        let found = numbers(&graph, "katz", wanted.clone(), &threads(2));
        assert_near(name, &expected, &found);
        let on_disk = RunOptions { arrays: Arrays::OnDisk, ..threads(3) };
        assert_eq!(numbers(&graph, "katz", wanted, &on_disk), found, "{name}");
    }
}

#[test]
fn eigenvectors_are_those_of_double_precision() {
    let scratch = Scratch::new();
    // Others have several components of the same greatest eigenvalue, or none but 0.
    let graphs = small_graphs(5).into_iter().enumerate();
    for (seed, (name, edges)) in graphs.filter(|(_, (name, _))| {
        ["grid", "dense", "complete", "small world", "star"].contains(name)
    }) {
        let edges = edges.undirected();
        let graph = import(&scratch, name, &edges, seed);
        let expected = centrality::eigenvector(&edges);
        let wanted = json!({ "tolerance": 2e-7, "max_iterations": 3000 });
        let found = numbers(&graph, "eigenvector", wanted.clone(), &threads(2));
        assert_near(name, &expected, &found);
        let on_disk = RunOptions { arrays: Arrays::OnDisk, ..threads(1) };
        assert_eq!(numbers(&graph, "eigenvector", wanted, &on_disk), found, "{name}");
    }
}

#[test]
fn what_does_not_come_to_rest_says_so() {
    let scratch = Scratch::new();
    let edges =
        EdgeList::new((0..50).map(|vertex| (vertex, (vertex + 1) % 50)).chain([(0, 7)]).collect());
    let graph = import(&scratch, "ring", &edges, 0);
    for (name, wanted, is_warned) in [
        ("katz", json!({}), false),
        ("katz", json!({ "alpha": 3.0 }), true),
        ("katz", json!({ "max_iterations": 0 }), true),
        ("eigenvector", json!({ "max_iterations": 1 }), true),
        ("eigenvector", json!({ "max_iterations": 1, "tolerance": 2.0 }), false),
    ] {
        let request = find(name).unwrap().request(wanted).unwrap();
        let found = request.prepare(&graph, &threads(2)).unwrap().run(&graph, &threads(2)).unwrap();
        let told = found.answer.warning().map(|warning| warning.message);
        assert_eq!(told.is_some(), is_warned, "{name}: {told:?}");
        let summary = found.answer.summary(&graph, 1, &threads(1).cancel).unwrap();
        let summary = serde_json::to_value(&*summary).unwrap();
        assert_eq!(summary["converged"], !is_warned, "{name}: {summary}");
    }
}
