//! Real graphs with known answers, and the Graphalytics reference outputs.

use crate::support::{
    EXECUTORS, components, find, import_with, open, table, threads, with_executor,
};
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::components::wcc::{self, Method};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_algorithms::paths::sssp::{self, SsspConfig};
use tegula_engine::{Executor, Graph};
use tegula_import::ImportConfig;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::facts::Facts;
use tegula_testkit::graphalytics::{self, UNREACHED};
use tegula_testkit::{EdgeList, Scratch, Table, data, matching, verify_sssp};

const STOP: Stop = Stop::Iterations(10);

/// Distances by original id.
fn lengths(graph: &Graph, source: u64, executor: Executor) -> Table<f64> {
    let options = with_executor(executor, 2);
    let found = sssp::run(graph, find(graph, source), SsspConfig::default(), &options).unwrap();
    table(graph, &found.distances, |distance| distance)
}

/// Imports with rows, in a vertex order.
fn import_with_rows(
    scratch: &Scratch,
    name: &str,
    edges: &EdgeList,
    order: VertexOrder,
    rows: RowEncoding,
) -> Graph {
    let config = ImportConfig { order: Some(order), rows: Some(rows), ..Default::default() };
    open(&import_with(config, scratch.path(), &format!("{name}-{order:?}-{rows:?}"), edges))
}

#[test]
#[ignore = "long"]
fn known_facts_hold_in_every_order() {
    for name in ["wiki-Vote", "email-Enron", "com-dblp.ungraph", "USA-road-BAY", "cnr-2000"] {
        let facts = Facts::of(name);
        let Some(edges) = facts.graph() else { continue };
        let orders = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs];
        for (order, rows) in orders.into_iter().cycle().zip(RowEncoding::ALL) {
            let scratch = Scratch::new();
            let graph = import_with_rows(&scratch, name, &edges, order, rows);
            assert_eq!(graph.vertex_count(), facts.vertices, "{name}");

            let source = find(&graph, facts.bfs.source);
            for executor in [Executor::Auto, Executor::Scan] {
                let bfs = Bfs::run(&graph, source, &with_executor(executor, 2)).unwrap();
                let levels = bfs.states.iter().filter_map(|state| state.distance());
                let (mut reached, mut depth, mut sum) = (0, 0, 0);
                for level in levels.map(u64::from) {
                    (reached, depth, sum) = (reached + 1, depth.max(level), sum + level);
                }
                let expected = (facts.bfs.reached, facts.bfs.depth, facts.bfs.sum);
                assert_eq!((reached, depth, sum), expected, "{name}, {executor:?}");
            }

            let found = wcc::run(&graph, Method::default(), &threads(2)).unwrap();
            assert_eq!(found.count() as u64, facts.components, "{name}");
            let largest = found.sizes().into_iter().max().unwrap();
            assert_eq!(u64::from(largest), facts.largest_component, "{name}");

            let outcome = PageRank::run(&graph, STOP, &threads(2)).unwrap();
            let ranks = table(&graph, &outcome.states, f64::from);
            for &(vertex, expected) in facts.top_ranks {
                let row = ranks.binary_search_by_key(&vertex, |row| row.0).unwrap();
                let error = (ranks[row].1 - expected).abs() / expected;
                assert!(error < 1e-5, "{name}: vertex {vertex} is off by {error:e}");
            }
        }
    }
}

#[test]
fn graphalytics_reference_outputs_match() {
    let Some(edges) = graphalytics::graph("p2p-Gnutella31/p2p-31", false) else { return };
    let edges = edges.undirected();
    let scratch = Scratch::new();
    let (order, rows) = (VertexOrder::Degree, RowEncoding::Gap);
    let graph = import_with_rows(&scratch, "p2p-31", &edges, order, rows);

    for executor in EXECUTORS {
        let expected = graphalytics::reference::<f64>("p2p-Gnutella31/p2p-31-SSSP.zst").unwrap();
        matching::exact(&expected, &lengths(&graph, 6, executor)).unwrap();
    }

    let expected = graphalytics::reference::<f64>("p2p-Gnutella31/p2p-31-PR.zst").unwrap();
    let outcome = PageRank::run(&graph, STOP, &threads(2)).unwrap();
    let ranks = table(&graph, &outcome.states, f64::from);
    matching::epsilon(&expected, &ranks, matching::GRAPHALYTICS_EPSILON).unwrap();

    let expected = graphalytics::reference::<u64>("p2p-Gnutella31/p2p-31-BFS.zst").unwrap();
    let outcome = Bfs::run(&graph, find(&graph, 6), &threads(2)).unwrap();
    let levels =
        table(&graph, &outcome.states, |state| state.distance().map_or(UNREACHED, u64::from));
    matching::exact(&expected, &levels).unwrap();

    let expected = graphalytics::reference::<u64>("p2p-Gnutella31/p2p-31-WCC.zst").unwrap();
    let found = wcc::run(&graph, Method::default(), &threads(2)).unwrap();
    matching::equivalent(&expected, &components(&graph, &found.roots)).unwrap();
}

#[test]
fn shortest_paths_are_those_of_the_graphalytics_references() {
    for (stem, is_directed, source) in [
        ("graphalytics/example-directed", true, 1),
        ("graphalytics/example-undirected", false, 2),
        ("graphalytics/test-sssp-directed", true, 1),
    ] {
        let Some(edges) = graphalytics::graph(stem, is_directed) else { continue };
        let expected = graphalytics::reference::<f64>(&format!("{stem}-SSSP")).unwrap();
        for rows in RowEncoding::ALL {
            let scratch = Scratch::new();
            let graph = import_with_rows(&scratch, "g", &edges, VertexOrder::Given, rows);
            for executor in EXECUTORS {
                let found = lengths(&graph, source, executor);
                matching::epsilon(&expected, &found, matching::GRAPHALYTICS_EPSILON).unwrap();
            }
        }
    }
    let Some(edges) = graphalytics::graph("p2p-Gnutella31/p2p-31", true) else { return };
    let expected = "p2p-Gnutella31/p2p-31-SSSP-directed.zst";
    let expected = graphalytics::reference::<f64>(expected).unwrap();
    let scratch = Scratch::new();
    let (order, rows) = (VertexOrder::Dfs, RowEncoding::Ceesor);
    let graph = import_with_rows(&scratch, "p2p-31", &edges, order, rows);
    for executor in EXECUTORS {
        matching::exact(&expected, &lengths(&graph, 6, executor)).unwrap();
    }
}

#[test]
fn shortest_paths_along_the_roads_of_california_have_their_known_lengths() {
    let Some(path) = data::find("cal.weighted.txt.zst") else { return };
    let edges = data::read_edge_list(&path).unwrap().undirected();
    for rows in RowEncoding::ALL {
        let scratch = Scratch::new();
        let graph = import_with_rows(&scratch, "cal", &edges, VertexOrder::Dfs, rows);
        for executor in EXECUTORS {
            let found = lengths(&graph, 0, executor);
            verify_sssp(&edges, 0, &found).unwrap();
            assert_eq!(found.len(), 21_048);
            let (farthest, length) = *found.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
            let sum: f64 = found.iter().map(|row| row.1).sum();
            // Weights here are in single precision, those of the known answer in double.
            let is_near = |found: f64, known: f64| (found - known).abs() < 1e-6 * known;
            assert_eq!(farthest, 20_600);
            assert!(is_near(length, 14.836895) && is_near(sum, 154_519.021_677_999_35));
        }
    }
}
