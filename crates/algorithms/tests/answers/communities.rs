//! Communities by modularity: the summary is correct, planted ones are found, and those of Leiden
//! are connected.

use std::collections::BTreeMap;

use crate::support::small::on_small_graphs;
use crate::support::tables::{counts, summary};
use crate::support::{import_with, open, threads};
use serde_json::{Value, json};
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{Error, find};
use tegula_engine::Graph;
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::modularity::{are_connected, modularity};
use tegula_testkit::{EdgeList, Scratch, Table, XorShift, data, small_graphs};

const METHODS: [&str; 2] = ["louvain", "leiden"];

/// Runs a method and checks the summary of its communities in these edges, each given once. Returns
/// the modularity.
fn check(name: &str, method: &str, wanted: &Value, edges: &EdgeList, graph: &Graph) -> f64 {
    let found = counts(graph, method, wanted.clone(), &threads(2));
    assert_eq!(counts(graph, method, wanted.clone(), &threads(3)), found, "{name}");
    let said = summary(graph, method, wanted.clone(), &threads(1));
    let resolution = wanted["resolution"].as_f64().unwrap_or(1.0);
    let expected = modularity(edges, &found, resolution);
    let modularity = said["modularity"].as_f64().unwrap();
    assert!((expected - modularity).abs() < 1e-6, "{name} {method}: {expected} {said}");
    let mut communities: Vec<u64> = found.iter().map(|row| row.1).collect();
    communities.sort_unstable();
    communities.dedup();
    assert_eq!(said["communities"], communities.len(), "{name}");
    for community in communities {
        let smallest = found.iter().find(|row| row.1 == community);
        assert_eq!(smallest, Some(&(community, community)), "{name}: named by its smallest");
    }
    let levels = said["levels"].as_array().unwrap();
    let rises = |pair: &[Value]| pair[0]["modularity"].as_f64() < pair[1]["modularity"].as_f64();
    assert!(levels.windows(2).all(rises), "{name}: {said}");
    assert!(method == "louvain" || are_connected(edges, &found), "{name}");
    modularity
}

#[test]
#[ignore = "long"]
fn the_summary_of_communities_is_correct() {
    on_small_graphs(|name, arcs, graph| {
        // An undirected graph has both arcs of each edge, and one of a loop.
        let is_once = |&&(source, target): &&(u64, u64)| source <= target;
        let (edges, loops): (Vec<_>, Vec<_>) = match graph.manifest().undirected {
            true => arcs.edges.iter().filter(is_once).partition(|(one, other)| one != other),
            false => (arcs.edges.clone(), Vec::new()),
        };
        let edges = EdgeList::new(edges.into_iter().chain(loops).collect());
        for method in METHODS {
            for wanted in [json!({}), json!({ "resolution": 2.5, "seed": 7 })] {
                check(name, method, &wanted, &edges, graph);
            }
        }
    });
}

#[test]
fn weights_count() {
    let scratch = Scratch::new();
    for (name, edges) in small_graphs(4) {
        let edges = edges.weighted(6);
        for undirected in [false, true] {
            let rows = Some(RowEncoding::Gap);
            let config = ImportConfig { undirected, rows, reverse: rows, ..Default::default() };
            let directory = format!("{name}-{undirected}");
            let graph = open(&import_with(config, scratch.path(), &directory, &edges));
            for method in METHODS {
                check(name, method, &json!({}), &edges, &graph);
            }
        }
    }
}

/// A ring of `count` cliques of `size` vertices, each joined to the next by an edge.
fn cliques(count: u64, size: u64) -> EdgeList {
    let within = (0..count).flat_map(move |clique| {
        let first = clique * size;
        (0..size).flat_map(move |one| (0..one).map(move |other| (first + one, first + other)))
    });
    let between = (0..count).map(|clique| (clique * size, (clique + 1) % count * size + 1));
    EdgeList::new(within.chain(between).collect())
}

#[test]
fn planted_communities_are_found() {
    let scratch = Scratch::new();
    for (count, size) in [(8, 5), (30, 12), (200, 20)] {
        let edges = cliques(count, size);
        let config =
            ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), &count.to_string(), &edges));
        for method in METHODS {
            // A higher resolution, as plain modularity would join many small cliques in pairs.
            let wanted = json!({ "resolution": count as f64 / 8.0, "seed": 3 });
            let found = counts(&graph, method, wanted.clone(), &threads(2));
            assert!(found.iter().all(|&(vertex, community)| vertex / size * size == community));
            check(&format!("{count} cliques"), method, &wanted, &edges, &graph);
        }
    }
}

#[test]
fn leiden_finds_at_least_what_louvain_does() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(edges(&Rmat::new(13, 8, 4).unwrap()));
    let config =
        ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "skewed", &edges));
    let [louvain, leiden] =
        METHODS.map(|method| check("skewed", method, &json!({}), &edges, &graph));
    assert!(leiden > louvain - 0.005, "{leiden} {louvain}");
}

/// Returns the most weight that a vertex would gain by joining the community of a neighbour, or by
/// being alone.
fn greatest_gain(edges: &EdgeList, found: &Table<u64>) -> f64 {
    let community: BTreeMap<u64, u64> = found.iter().copied().collect();
    let mut strengths: BTreeMap<u64, f64> = BTreeMap::new();
    let mut links: BTreeMap<(u64, u64), f64> = BTreeMap::new();
    for &(one, other) in &edges.edges {
        for (vertex, neighbour) in [(one, other), (other, one)] {
            *strengths.entry(vertex).or_default() += 1.0;
            if one != other {
                *links.entry((vertex, community[&neighbour])).or_default() += 1.0;
            }
        }
    }
    let mut totals: BTreeMap<u64, f64> = BTreeMap::new();
    for (vertex, strength) in &strengths {
        *totals.entry(community[vertex]).or_default() += strength;
    }
    let total: f64 = totals.values().sum();
    let to = |vertex: u64, other: u64| {
        let (strength, own) = (strengths[&vertex], community[&vertex]);
        let rest = totals[&other] - if other == own { strength } else { 0.0 };
        links.get(&(vertex, other)).copied().unwrap_or(0.0) - strength * rest / total
    };
    let joining =
        links.keys().map(|&(vertex, other)| to(vertex, other) - to(vertex, community[&vertex]));
    let alone = strengths.keys().map(|&vertex| -to(vertex, community[&vertex]));
    joining.chain(alone).fold(0.0, f64::max)
}

/// Communities of 50 vertices. Each vertex has about 10 edges within its community and 4 to others.
fn planted(communities: u64) -> (EdgeList, Table<u64>) {
    const SIZE: u64 = 50;
    let vertices = communities * SIZE;
    let mut random = XorShift::new(7);
    let mut edges = Vec::new();
    for vertex in 0..vertices {
        let first = vertex / SIZE * SIZE;
        edges.extend((0..5).map(|_| (vertex, first + random.below(SIZE))));
        edges.extend((0..2).map(|_| (vertex, random.below(vertices))));
    }
    edges.retain(|(one, other)| one != other);
    (EdgeList::new(edges), (0..vertices).map(|vertex| (vertex, vertex / SIZE)).collect())
}

#[test]
fn leiden_rests_where_no_vertex_gains_by_a_move() {
    let scratch = Scratch::new();
    let skewed = EdgeList::new(edges(&Rmat::new(12, 8, 5).unwrap()));
    for (name, edges) in [("skewed", skewed), ("planted", planted(40).0)] {
        let config =
            ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), name, &edges));
        let qualities = [1, 2, 0]
            .map(|iterations| json!({ "iterations": iterations, "seed": 1 }))
            .map(|wanted| check(name, "leiden", &wanted, &edges, &graph));
        assert!(qualities.is_sorted(), "{name}: {qualities:?}");
        let found = counts(&graph, "leiden", json!({ "iterations": 0, "seed": 1 }), &threads(2));
        let gain = greatest_gain(&edges, &found);
        assert!(gain < 1e-9, "{name}: {gain}");
        let again = json!({ "iterations": 1000, "seed": 1 });
        assert_eq!(counts(&graph, "leiden", again, &threads(2)), found, "{name}");
    }
}

#[test]
fn leiden_finds_communities_as_good_as_noisy_planted_ones() {
    let scratch = Scratch::new();
    let (edges, communities) = planted(100);
    let config =
        ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "planted", &edges));
    let of_planted = modularity(&edges, &communities, 1.0);
    for seed in 0..3 {
        let found = check("planted", "leiden", &json!({ "seed": seed }), &edges, &graph);
        assert!(found > of_planted - 0.002, "{found} {of_planted}");
    }
}

#[test]
#[ignore = "long"]
fn communities_of_real_graphs_are_good() {
    let scratch = Scratch::new();
    // On `wave`, igraph finds 0.887 by Louvain, and 0.903 by Leiden in two iterations.
    for (name, expected) in [("email-Enron", [0.611, 0.623]), ("wave", [0.883, 0.9])] {
        let Some(path) = data::find(&format!("{name}.txt.zst")) else { continue };
        let edges = data::read_edge_list(&path).unwrap();
        let config =
            ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), name, &edges));
        for (method, expected) in METHODS.into_iter().zip(expected) {
            let found = check(name, method, &json!({}), &edges, &graph);
            assert!(found > expected, "{name} {method}: {found}");
        }
    }
}

#[test]
fn long_thin_graphs_have_good_communities() {
    const VERTICES: u64 = 6000;
    let ring = (0..VERTICES).map(|vertex| (vertex, (vertex + 1) % VERTICES)).collect();
    let path = (1..VERTICES).map(|vertex| (vertex - 1, vertex)).collect();
    let tree = (1..VERTICES).map(|vertex| ((vertex - 1) / 2, vertex)).collect();
    let rungs = |step: u64| {
        [(2 * step, 2 * step + 1), (2 * step, 2 * step + 2), (2 * step + 1, 2 * step + 3)]
    };
    let ladder = (0..VERTICES / 2 - 1).flat_map(rungs).collect();
    let scratch = Scratch::new();
    for (name, edges) in [("ring", ring), ("path", path), ("tree", tree), ("ladder", ladder)] {
        let edges = EdgeList::new(edges);
        for order in [VertexOrder::Given, VertexOrder::Dfs] {
            let rows = Some(RowEncoding::Gap);
            let config =
                ImportConfig { undirected: true, rows, order: Some(order), ..Default::default() };
            let directory = format!("{name}-{order:?}");
            let graph = open(&import_with(config, scratch.path(), &directory, &edges));
            for method in METHODS {
                // Stretches of sqrt(edges) edges would have modularity 1 - 2 / sqrt(edges), about
                // 0.97.
                let found = check(name, method, &json!({}), &edges, &graph);
                assert!(found > 0.95, "{directory} {method}: {found}");
            }
        }
    }
}

#[test]
fn a_resolution_beyond_all_weights_leaves_every_vertex_alone() {
    let scratch = Scratch::new();
    let edges = cliques(3, 4);
    let config =
        ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "cliques", &edges));
    for method in METHODS {
        let wanted = json!({ "resolution": 1e12 });
        let found = counts(&graph, method, wanted.clone(), &threads(2));
        assert!(found.iter().all(|(vertex, community)| vertex == community), "{method}");
        assert_eq!(summary(&graph, method, wanted, &threads(1))["communities"], 12);
        let beyond = find(method).unwrap().request(json!({ "resolution": 1e13 }));
        assert!(beyond.is_err(), "{method}");
    }
}

#[test]
fn weights_below_zero_are_refused() {
    let scratch = Scratch::new();
    let weights = Some(vec![2.0, -1.0]);
    let edges = EdgeList { weights, ..EdgeList::new(vec![(1, 2), (2, 3)]) };
    let config =
        ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "negative", &edges));
    for method in METHODS {
        let request = find(method).unwrap().request(json!({})).unwrap();
        let found =
            request.prepare(&graph, &threads(2), &LocalPaths).unwrap().run(&graph, &threads(2));
        match found.err() {
            Some(error @ Error::NegativeWeight { .. }) => {
                assert!(error.to_string().ends_with("communities need weights of at least 0"));
            }
            other => panic!("{other:?}"),
        }
    }
}
