//! Centralities: eigenvector and Katz against double precision, hubs and authorities, and measures
//! based on distances.

use crate::support::small::on_small_graphs;
use crate::support::tables::{answer, counts, floats, numbers, summary, try_answer};
use crate::support::ways::{GRIDS, with_rows};
use crate::support::{import_with, open, threads};
use serde_json::json;
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{Error, find};
use tegula_engine::{Arrays, Executor, Graph, RunOptions};
use tegula_import::ImportConfig;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::matching::{epsilon, exact};
use tegula_testkit::{EdgeList, Scratch, Table, XorShift, centrality, distances, small_graphs};

/// For values with the Euclidean norm 1: the error of single precision after many iterations.
const TOLERANCE: f64 = 2e-5;

#[track_caller]
fn assert_near(name: &str, expected: &Table<f64>, found: &Table<f64>) {
    assert_eq!(expected.len(), found.len(), "{name}");
    for (expected, found) in expected.iter().zip(found) {
        assert_eq!(expected.0, found.0, "{name}");
        assert!((expected.1 - found.1).abs() < TOLERANCE, "{name}: {expected:?} {found:?}");
    }
}

/// Imports in one of the orders and grids, by the seed.
fn import(scratch: &Scratch, name: &str, edges: &EdgeList, seed: usize) -> Graph {
    let order = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs][seed % 3];
    let grid = GRIDS[seed % GRIDS.len()];
    let mut config = ImportConfig { order: Some(order), ..Default::default() };
    config.tuning.grid = grid;
    open(&import_with(config, scratch.path(), name, edges))
}

#[test]
fn katz_matches_double_precision() {
    let scratch = Scratch::new();
    for (seed, (name, edges)) in small_graphs(3).into_iter().enumerate() {
        let graph = import(&scratch, name, &edges, seed);
        let degrees = edges.compact().in_edges();
        let most = (0..edges.vertices().len() as u32).map(|vertex| degrees.degree(vertex)).max();
        let alpha = 0.85 / most.unwrap_or(0).max(1) as f64;
        let expected = centrality::katz(&edges, alpha);
        let wanted = json!({ "tolerance": 1e-7, "max_iterations": 2000 });
        let found = numbers(&graph, "katz", wanted.clone(), &threads(2));
        assert_near(name, &expected, &found);
        let on_disk = RunOptions { arrays: Arrays::OnDisk, ..threads(3) };
        assert_eq!(numbers(&graph, "katz", wanted, &on_disk), found, "{name}");
    }
}

#[test]
fn eigenvectors_match_double_precision() {
    let scratch = Scratch::new();
    // The other graphs have several components with the same greatest eigenvalue, or only the
    // eigenvalue 0.
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
#[ignore = "long"]
fn hubs_and_authorities_match_the_oracle() {
    on_small_graphs(|name, arcs, graph| {
        for iterations in [1, 7] {
            let wanted = json!({ "tolerance": 0.0, "max_iterations": iterations });
            let rows = answer(graph, "hits", wanted, &threads(2));
            let (hubs, authorities) = centrality::hits(arcs, iterations);
            for (column, expected) in [(1, hubs), (2, authorities)] {
                let found = rows.iter().flat_map(|rows| floats(rows.column(column)));
                for (expected, found) in expected.iter().zip(found) {
                    assert!((expected.1 - found).abs() < 1e-12, "{name}: {expected:?} {found}");
                }
            }
        }
    });
}

#[test]
#[ignore = "long"]
fn closeness_and_harmonic_match_a_search_from_each_vertex() {
    on_small_graphs(|name, arcs, graph| {
        let found = numbers(graph, "closeness", json!({}), &threads(2));
        epsilon(&distances::closeness(arcs), &found, 1e-12).expect(name);
        let found = numbers(graph, "harmonic", json!({}), &threads(3));
        epsilon(&distances::harmonic(arcs), &found, 1e-12).expect(name);
    });
}

#[test]
fn closeness_and_harmonic_have_the_same_bits_from_tiles_and_along_rows() {
    let oracles: [(_, fn(&EdgeList) -> Table<f64>); 2] =
        [("closeness", distances::closeness), ("harmonic", distances::harmonic)];
    let (scratch, scratch_of_rows) = (Scratch::new(), Scratch::new());
    for (seed, (name, edges)) in small_graphs(2).into_iter().enumerate() {
        let without_rows = import(&scratch, name, &edges, seed);
        let config = with_rows(VertexOrder::Degree, false);
        let with_rows = open(&import_with(config, scratch_of_rows.path(), name, &edges));
        for (algorithm, oracle) in oracles {
            let expected = numbers(&without_rows, algorithm, json!({}), &threads(1));
            epsilon(&oracle(&edges), &expected, 1e-12).expect(name);
            for (executor, count) in [
                (Executor::Scan, 1),
                (Executor::Scan, 3),
                (Executor::Seek, 1),
                (Executor::Seek, 2),
                (Executor::Auto, 3),
            ] {
                let options = RunOptions { executor, ..threads(count) };
                let found = numbers(&with_rows, algorithm, json!({}), &options);
                assert_eq!(found, expected, "{name}: {algorithm}, {executor:?}, {count} threads");
            }
        }
    }
}

#[test]
#[ignore = "long"]
fn the_diameter_is_the_greatest_distance() {
    on_small_graphs(|name, arcs, graph| {
        // With several largest components, any of them may be taken.
        if name.starts_with("the smallest") || graph.vertex_count() == 0 {
            return;
        }
        let said = summary(graph, "diameter", json!({}), &threads(2));
        let expected = distances::diameter(arcs);
        assert_eq!(
            (&said["lower"], &said["upper"]),
            (&json!(expected), &json!(expected)),
            "{name}"
        );
        let rows = answer(graph, "diameter", json!({}), &threads(3));
        assert_eq!(rows.len(), 1, "{name}");
        for most in 1..=5 {
            let few = summary(graph, "diameter", json!({ "max_searches": most }), &threads(2));
            let bounds = [&few["lower"], &few["upper"]].map(|bound| bound.as_u64().unwrap());
            assert!(bounds[0] <= expected && expected <= bounds[1], "{name}: {few}");
            assert_eq!(few["exact"], bounds[0] == bounds[1], "{name}: {few}");
            assert!(few["searches"].as_u64().unwrap() <= most, "{name}: {few}");
        }
    });
}

#[test]
#[ignore = "long"]
fn k_hop_finds_the_vertices_within_k_hops_of_a_source() {
    on_small_graphs(|name, arcs, graph| {
        let vertices = arcs.vertices();
        let Some(&last) = vertices.last() else { return };
        for hops in [0, 1, 3, 1000] {
            let found = counts(
                graph,
                "k-hop",
                json!({ "source": last.to_string(), "hops": hops }),
                &threads(2),
            );
            exact(&distances::within_hops(arcs, &[last], hops), &found).expect(name);
            let sources = [last, vertices[0], vertices[vertices.len() / 2]];
            let scratch = Scratch::new();
            let file = scratch.join("sources.txt");
            std::fs::write(&file, sources.map(|source| format!("{source}\n")).concat()).unwrap();
            let found =
                counts(graph, "k-hop", json!({ "sources": file, "hops": hops }), &threads(3));
            exact(&distances::within_hops(arcs, &sources, hops), &found).expect(name);
        }
    });
}

#[test]
#[ignore = "long"]
fn betweenness_matches_paths_between_all_pairs() {
    on_small_graphs(|name, arcs, graph| {
        let pairs = distances::betweenness(arcs);
        let part = |scale: f64| -> Table<f64> {
            pairs.iter().map(|&(vertex, sum)| (vertex, sum * scale)).collect()
        };
        let found = numbers(graph, "betweenness", json!({}), &threads(2));
        let of_each_pair = if graph.manifest().undirected { 0.5 } else { 1.0 };
        assert_near(name, &part(of_each_pair), &found);
        let found = numbers(graph, "betweenness", json!({ "normalized": true }), &threads(3));
        let count = pairs.len() as f64;
        assert_near(name, &part(1.0 / ((count - 1.0) * (count - 2.0)).max(1.0)), &found);
    });
}

/// A dense core whose vertices have leaves: most edges are between the first levels of a search.
fn core_with_leaves() -> EdgeList {
    let core = (0..60u64).flat_map(|a| (0..a).map(move |b| (7 * a, 7 * b)));
    let leaves = (0..200u64).map(|leaf| (7 * (leaf * leaf % 60), 1000 + leaf));
    let chain = (0..20u64).map(|link| (1000 + 3 * link, 5000 + link));
    EdgeList::new(core.chain(leaves).chain(chain).collect())
}

#[test]
fn betweenness_has_the_bits_of_searches_that_are_top_down_only() {
    let scratch = Scratch::new();
    let graphs = small_graphs(7).into_iter().chain([("core", core_with_leaves())]);
    for (name, edges) in graphs {
        let arcs = edges.undirected();
        let config = |undirected| ImportConfig {
            rows: Some(RowEncoding::Gap),
            order: Some(VertexOrder::Given),
            undirected,
            ..Default::default()
        };
        // The same arcs, of which the import does not know that they stand both ways.
        let [both, along] =
            [(true, &edges, "both"), (false, &arcs, "along")].map(|(undirected, edges, file)| {
                let name = format!("{name}-{file}");
                let graph = open(&import_with(config(undirected), scratch.path(), &name, edges));
                numbers(&graph, "betweenness", json!({}), &threads(2))
            });
        let half: Table<f64> = along.iter().map(|&(vertex, sum)| (vertex, sum / 2.0)).collect();
        assert_eq!(both, half, "{name}");
        if name == "core" {
            let pairs = distances::betweenness(&arcs);
            let exact = pairs.iter().map(|&(vertex, sum)| (vertex, sum / 2.0)).collect();
            assert_near(name, &exact, &both);
        }
    }
}

#[test]
#[ignore = "long"]
fn weighted_betweenness_matches_paths_between_all_pairs() {
    for (seed, (name, edges)) in small_graphs(3).into_iter().enumerate() {
        let mut random = XorShift::new(seed as u64);
        // Few different weights, so that many paths have the same length.
        let weights = edges.edges.iter().map(|_| (1 + random.below(3)) as f32).collect();
        let edges = EdgeList { weights: Some(weights), ..edges };
        for undirected in [false, true] {
            let scratch = Scratch::new();
            let order = [VertexOrder::Given, VertexOrder::Degree][seed % 2];
            let config = with_rows(order, undirected);
            let graph = open(&import_with(config, scratch.path(), name, &edges));
            let arcs = if undirected { edges.undirected() } else { edges.clone() };
            let mut expected = distances::weighted_betweenness(&arcs);
            if undirected {
                expected.iter_mut().for_each(|(_, sum)| *sum /= 2.0);
            }
            let wanted = json!({ "weighted": true });
            let found = numbers(&graph, "betweenness", wanted.clone(), &threads(1));
            assert_near(name, &expected, &found);
            assert_eq!(numbers(&graph, "betweenness", wanted, &threads(3)), found, "{name}");
        }
    }
}

#[test]
fn betweenness_refuses_weights_that_are_no_lengths() {
    for (weight, is_refused) in [(0.0, true), (-1.0, true), (1e-30, false)] {
        let weights = Some(vec![2.0, weight, 1.0]);
        let edges = EdgeList { weights, ..EdgeList::new(vec![(1, 2), (2, 3), (3, 4)]) };
        let scratch = Scratch::new();
        let config = with_rows(VertexOrder::Given, false);
        let graph = open(&import_with(config, scratch.path(), "g", &edges));
        let found = try_answer(&graph, "betweenness", json!({ "weighted": true }), &threads(2));
        assert_eq!(found.is_err(), is_refused, "{weight}");
        if let Err(error) = found {
            assert!(matches!(error, Error::NotPositiveWeight { .. }), "{error}");
        }
    }
}

#[test]
fn betweenness_from_given_sources_adds_up_to_that_from_all() {
    let scratch = Scratch::new();
    let path = scratch.path().join("sources.txt");
    let from = |graph: &Graph, sources: &[u64], threads_: usize| {
        let lines: String = sources.iter().map(|source| format!("{source}\n")).collect();
        std::fs::write(&path, lines).unwrap();
        numbers(graph, "betweenness", json!({ "sources": path }), &threads(threads_))
    };
    for (name, edges) in small_graphs(3) {
        for undirected in [false, true] {
            let folder = Scratch::new();
            let config = with_rows(VertexOrder::Degree, undirected);
            let graph = open(&import_with(config, folder.path(), name, &edges));
            let vertices = edges.vertices();
            let all = numbers(&graph, "betweenness", json!({}), &threads(2));
            let mut repeated = vertices.clone();
            repeated.extend(&vertices);
            assert_eq!(from(&graph, &repeated, 3), all, "{name}: each counts once");
            let (some, others) = vertices.split_at(vertices.len() / 3);
            let parts = [from(&graph, some, 1), from(&graph, others, 2)];
            for ((one, other), (vertex, whole)) in parts[0].iter().zip(&parts[1]).zip(&all) {
                let sum = one.1 + other.1;
                assert!((sum - whole).abs() <= 1e-9 * whole.max(1.0), "{name}: {vertex}");
            }
        }
    }
}

#[test]
fn samples_estimate_the_exact_values() {
    let scratch = Scratch::new();
    let (_, edges) = small_graphs(1).into_iter().find(|graph| graph.0 == "small world").unwrap();
    let mut closeness: Option<Table<f64>> = None;
    for order in [VertexOrder::Given, VertexOrder::Degree] {
        let (name, rows) = (order.name(), Some(RowEncoding::Gap));
        let config =
            ImportConfig { order: Some(order), rows, undirected: true, ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), name, &edges));
        let wanted = json!({ "samples": 9 });
        let found = numbers(&graph, "closeness", wanted, &threads(2));
        assert_eq!(
            *closeness.get_or_insert_with(|| found.clone()),
            found,
            "the order is no matter"
        );
        for name in ["closeness", "harmonic", "betweenness"] {
            let of = |samples: u64, seed: u64| {
                let wanted = json!({ "samples": samples, "seed": seed });
                numbers(&graph, name, wanted, &threads(2))
            };
            let exact = numbers(&graph, name, json!({}), &threads(2));
            assert_eq!(of(200, 5), exact, "{name}: all are drawn");
            assert_eq!(of(20, 5), of(20, 5), "{name}");
            assert_ne!(of(20, 5), of(20, 6), "{name}");
            // The mean of many estimates is near the exact value.
            let mut sums = vec![0.0; exact.len()];
            for seed in 0..300 {
                let found = of(20, seed);
                sums.iter_mut().zip(found).for_each(|(sum, row)| *sum += row.1 / 300.0);
            }
            let scale = exact.iter().map(|row| row.1).fold(0.0, f64::max);
            for (found, (vertex, exact)) in sums.iter().zip(&exact) {
                let off = (found - exact).abs() / scale;
                assert!(off < 0.06, "{name} of {vertex}: {found} {exact}");
            }
        }
    }
}

#[test]
fn more_paths_than_a_float_can_count_are_counted() {
    // A chain of forks that close again: 2^1100 paths from the first vertex to the last.
    const FORKS: u64 = 1100;
    let fork = |first| {
        [(first, first + 1), (first, first + 2), (first + 1, first + 3), (first + 2, first + 3)]
    };
    let edges = EdgeList::new((0..FORKS).flat_map(|fork_number| fork(3 * fork_number)).collect());
    let scratch = Scratch::new();
    let config = ImportConfig { rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "forks", &edges));
    for (vertex, found) in numbers(&graph, "betweenness", json!({}), &threads(2)) {
        let (fork, before) = (vertex / 3, vertex);
        let expected = match vertex % 3 {
            0 => (before * (3 * FORKS - vertex)) as f64,
            // A vertex on one of the two branches.
            _ => ((3 * fork + 1) * (3 * (FORKS - fork - 1) + 1)) as f64 / 2.0,
        };
        assert!((found - expected).abs() <= 1e-9 * expected, "{vertex}: {found} {expected}");
    }
}

#[test]
fn few_paths_count_beside_many_more_of_the_same_level() {
    // From vertex 0 one way leads through layers of two vertices, each with edges to both of the
    // next layer: 2^1199 paths to the last layer. The other way is a path of the same length.
    const LENGTH: u64 = 1200;
    let layer = |layer: u64| (1 + 2 * layer, 2 + 2 * layer);
    let alone = |number: u64| 2 * LENGTH + number;
    let layers = (1..LENGTH).flat_map(|number| {
        let ((a, b), (c, d)) = (layer(number - 1), layer(number));
        [(a, c), (a, d), (b, c), (b, d)]
    });
    let path = (2..=LENGTH).map(|number| (alone(number - 1), alone(number)));
    let begin = [(0, 1), (0, 2), (0, alone(1))];
    let edges = EdgeList::new(begin.into_iter().chain(layers).chain(path).collect());
    let scratch = Scratch::new();
    let config = ImportConfig { rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "ways", &edges));
    let found = numbers(&graph, "betweenness", json!({}), &threads(2));
    for number in 1..=LENGTH {
        // The vertices before it times the vertices behind it.
        let expected = (number * (LENGTH - number)) as f64;
        let found = found[alone(number) as usize].1;
        assert!((found - expected).abs() <= 1e-9 * expected, "{number}: {found} {expected}");
    }
}

#[test]
fn values_that_grow_without_bound_are_an_error() {
    let scratch = Scratch::new();
    let edges = EdgeList::new((0..50).map(|vertex| (vertex, (vertex + 1) % 50)).collect());
    let graph = import(&scratch, "ring", &edges, 0);
    for alpha in [3.0, 1e12] {
        let request = find("katz").unwrap().request(json!({ "alpha": alpha })).unwrap();
        let failed = request
            .prepare(&graph, &threads(2), &LocalPaths)
            .unwrap()
            .run(&graph, &threads(2))
            .err();
        let told = failed.map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains("without bound"), "{told}");
    }
}

#[test]
fn values_that_do_not_converge_cause_a_warning() {
    let scratch = Scratch::new();
    let edges =
        EdgeList::new((0..50).map(|vertex| (vertex, (vertex + 1) % 50)).chain([(0, 7)]).collect());
    let graph = import(&scratch, "ring", &edges, 0);
    for (name, wanted, is_warned) in [
        ("katz", json!({}), false),
        ("katz", json!({ "alpha": 1.5 }), true),
        ("katz", json!({ "max_iterations": 0 }), true),
        ("eigenvector", json!({ "max_iterations": 1 }), true),
        ("eigenvector", json!({ "max_iterations": 1, "tolerance": 2.0 }), false),
    ] {
        let request = find(name).unwrap().request(wanted).unwrap();
        let found = request
            .prepare(&graph, &threads(2), &LocalPaths)
            .unwrap()
            .run(&graph, &threads(2))
            .unwrap();
        let told = found.answer.warning().map(|warning| warning.message);
        assert_eq!(told.is_some(), is_warned, "{name}: {told:?}");
        let summary = found.answer.summary(&graph, 1, &threads(1).cancel).unwrap();
        let summary = serde_json::to_value(&*summary).unwrap();
        assert_eq!(summary["converged"], !is_warned, "{name}: {summary}");
    }
}
