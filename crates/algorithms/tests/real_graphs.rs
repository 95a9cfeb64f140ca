//! Real graphs with known answers, and the Graphalytics reference outputs.

mod support;

use support::{components, find, import_edges, open, table, threads};
use tegula_algorithms::bfs::Bfs;
use tegula_algorithms::pagerank::{PageRank, PageRankConfig, Stop};
use tegula_algorithms::wcc::{self, WccConfig};
use tegula_store::import::VertexOrder;
use tegula_testkit::facts::Facts;
use tegula_testkit::graphalytics::{self, UNREACHED};
use tegula_testkit::{Scratch, matching};

fn ten_rounds() -> PageRankConfig {
    PageRankConfig { stop: Stop::Iterations(10), ..Default::default() }
}

#[test]
fn known_facts_hold_in_every_order() {
    for name in ["wiki-Vote", "email-Enron", "com-dblp.ungraph", "USA-road-BAY", "cnr-2000"] {
        let facts = Facts::of(name);
        let Some(edges) = facts.graph() else { continue };
        for order in [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs] {
            let scratch = Scratch::new();
            let graph = open(&import_edges(scratch.path(), name, &edges, order));
            assert_eq!(u64::from(graph.vertex_count()), facts.vertices, "{name}");

            let source = find(&graph, facts.bfs.source);
            let bfs = Bfs::run(&graph, source, &threads(2)).unwrap();
            let levels = bfs.states.iter().filter_map(|state| state.distance());
            let (mut reached, mut depth, mut sum) = (0, 0, 0);
            for level in levels.map(u64::from) {
                (reached, depth, sum) = (reached + 1, depth.max(level), sum + level);
            }
            let expected = (facts.bfs.reached, facts.bfs.depth, facts.bfs.sum);
            assert_eq!((reached, depth, sum), expected, "{name}");

            let found = wcc::run(&graph, WccConfig::default(), &threads(2)).unwrap();
            assert_eq!(found.count() as u64, facts.components, "{name}");
            let largest = found.sizes().into_iter().max().unwrap();
            assert_eq!(u64::from(largest), facts.largest_component, "{name}");

            let outcome = PageRank::run(&graph, ten_rounds(), &threads(2)).unwrap();
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
    let graph = open(&import_edges(scratch.path(), "p2p-31", &edges, VertexOrder::Degree));

    let expected = graphalytics::reference::<f64>("p2p-Gnutella31/p2p-31-PR.zst").unwrap();
    let outcome = PageRank::run(&graph, ten_rounds(), &threads(2)).unwrap();
    let ranks = table(&graph, &outcome.states, f64::from);
    matching::epsilon(&expected, &ranks, matching::GRAPHALYTICS_EPSILON).unwrap();

    let expected = graphalytics::reference::<u64>("p2p-Gnutella31/p2p-31-BFS.zst").unwrap();
    let outcome = Bfs::run(&graph, find(&graph, 6), &threads(2)).unwrap();
    let levels =
        table(&graph, &outcome.states, |state| state.distance().map_or(UNREACHED, u64::from));
    matching::exact(&expected, &levels).unwrap();

    let expected = graphalytics::reference::<u64>("p2p-Gnutella31/p2p-31-WCC.zst").unwrap();
    let found = wcc::run(&graph, WccConfig::default(), &threads(2)).unwrap();
    matching::equivalent(&expected, &components(&graph, &found.roots)).unwrap();
}
