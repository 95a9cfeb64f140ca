//! Algorithms on the neighbours of each vertex, against oracles: on every small graph, directed and
//! undirected, in every order, encoding and grid; on real graphs; and on those of LDBC
//! Graphalytics.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::small::on_small_graphs;
use crate::support::tables::{counts, numbers};
use crate::support::{import_with, open, threads};
use serde_json::json;
use tegula_algorithms::algorithm::Needs;
use tegula_algorithms::clustering::triangles::{self, Closing};
use tegula_algorithms::find;
use tegula_algorithms::side_table::LocalPaths;
use tegula_engine::{Cancel, RunOptions, open_graph};
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_import::input::Vertices;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::facts::Facts;
use tegula_testkit::matching::{GRAPHALYTICS_EPSILON, epsilon, equivalent, exact};
use tegula_testkit::{EdgeList, Scratch, XorShift, graphalytics, neighbourhoods, scc};

#[test]
#[ignore = "long"]
fn triangles_and_coefficients_match_those_computed_from_sets() {
    on_small_graphs(|name, arcs, graph| {
        let found = counts(graph, "triangles", json!({}), &threads(2));
        exact(&neighbourhoods::triangles(arcs), &found).expect(name);
        let found = numbers(graph, "lcc", json!({}), &threads(2));
        epsilon(&neighbourhoods::lcc(arcs), &found, 1e-12).expect(name);
    });
}

#[test]
#[ignore = "long"]
fn labels_match_those_set_one_vertex_at_a_time() {
    on_small_graphs(|name, arcs, graph| {
        for iterations in [0, 1, 2, 10] {
            let found = counts(graph, "cdlp", json!({ "iterations": iterations }), &threads(2));
            let is_directed = !graph.manifest().undirected;
            exact(&neighbourhoods::cdlp(arcs, is_directed, iterations), &found).expect(name);
        }
    });
}

#[test]
#[ignore = "long"]
fn cores_match_those_of_peeling_one_vertex_at_a_time() {
    on_small_graphs(|name, arcs, graph| {
        let found = counts(graph, "kcore", json!({}), &threads(2));
        exact(&neighbourhoods::kcore(arcs), &found).expect(name);
    });
}

/// A round with thousands of vertices has several workers. They lower the same numbers: each leaf has
/// edges to three hubs, of which some have no other edges.
#[test]
fn cores_do_not_depend_on_the_workers_of_a_round() {
    const LEAVES: u64 = 5000;
    let mut random = XorShift::new(3);
    let mut hub = |count| LEAVES + random.below(count);
    let leaves = (0..3 * LEAVES).map(|edge| (edge / 3, hub(1000))).collect::<Vec<_>>();
    let hubs = (0..8000).map(|_| (hub(800), hub(800))).collect();
    let arcs = EdgeList::new([leaves, hubs].concat());
    let scratch = Scratch::new();
    let config =
        ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "g", &arcs));
    let expected = neighbourhoods::kcore(&arcs);
    for workers in [1, 2, 5] {
        let found = counts(&graph, "kcore", json!({}), &threads(workers));
        exact(&expected, &found).unwrap();
    }
}

#[test]
#[ignore = "long"]
fn strong_components_match_two_searches_from_each_vertex() {
    on_small_graphs(|name, arcs, graph| {
        let found = counts(graph, "scc", json!({}), &threads(2));
        exact(&scc(arcs), &found).expect(name);
    });
}

/// Sources, sinks, loops and vertices without an edge, which are trimmed or fill whole chunks.
#[test]
fn strong_components_of_trimmed_vertices_are_as_by_two_searches() {
    const LAST: u64 = 199_999;
    // A source, a cycle of two with a way out, a sink, loops, and another cycle at the far end.
    let edges = vec![(1, 2), (2, 3), (3, 2), (3, 4), (5, 5), (6, 6), (6, 4), (7, 6)];
    let far = vec![(LAST, 8), (8, LAST), (8, LAST), (LAST, LAST), (9, LAST), (LAST, 10)];
    let arcs = EdgeList::new([edges, far].concat());
    let mut expected = scc(&arcs);
    let known: BTreeSet<u64> = expected.iter().map(|row| row.0).collect();
    expected.extend((0..=LAST).filter(|id| !known.contains(id)).map(|id| (id, id)));
    expected.sort_unstable();
    let config = ImportConfig {
        rows: Some(RowEncoding::Gap),
        order: Some(VertexOrder::Given),
        vertices: Some(Vertices::Count(LAST + 1)),
        ..Default::default()
    };
    let scratch = Scratch::new();
    let graph = open(&import_with(config, scratch.path(), "ends", &arcs));
    exact(&expected, &counts(&graph, "scc", json!({}), &threads(2))).unwrap();
}

#[test]
fn a_list_may_be_longer_than_the_room_for_marked_entries() {
    const COUNT: u64 = 1200;
    let edges = (0..COUNT).flat_map(|one| (0..one).map(move |other| (one, other))).collect();
    let scratch = Scratch::new();
    let config =
        ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "complete", &EdgeList::new(edges)));
    let found = counts(&graph, "triangles", json!({}), &threads(2));
    assert!(found.iter().all(|&(_, triangles)| triangles == (COUNT - 1) * (COUNT - 2) / 2));
}

#[test]
fn lists_that_do_not_fit_are_taken_in_ranges() {
    // Every vertex has edges to the next forty: many triangles, which are not those of a few
    // vertices.
    let edges = (0..40_000u64)
        .flat_map(|vertex| (1..=40).map(move |step| (vertex, (vertex + step) % 40_000)));
    let scratch = Scratch::new();
    let config =
        ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
    let directory = import_with(config, scratch.path(), "ring", &EdgeList::new(edges.collect()));
    let least = triangles::estimate(&open(&directory), 2).unwrap().needed();
    let mut passes = Vec::new();
    for memory in [least, least + (1 << 20), least + (20 << 20)] {
        let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
        let options = RunOptions { memory, threads: 2, ..Default::default() };
        let found = triangles::run(&graph, Closing::Triangles, &options).unwrap();
        assert!(found.closed.iter().all(|&triangles| triangles == 3 * 40 * 39 / 2));
        assert!(found.neighbours.iter().all(|&neighbours| neighbours == 80));
        passes.push(found.statistics.iterations - 1);
    }
    assert!(passes[0] > 9 && passes[1] < passes[0] && passes[2] == 1, "{passes:?}");
}

#[test]
fn errors_of_triangle_estimates_are_as_stated() {
    const HASHES: usize = 32;
    const SEEDS: usize = 100;
    let arcs = EdgeList::new(edges(&Rmat::new(8, 8, 4).unwrap()));
    let scratch = Scratch::new();
    let config =
        ImportConfig { undirected: true, rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "g", &arcs));
    let mut around: BTreeMap<u64, BTreeSet<u64>> = BTreeMap::new();
    for (one, other) in arcs.edges.iter().copied().filter(|(one, other)| one != other) {
        around.entry(one).or_default().insert(other);
        around.entry(other).or_default().insert(one);
    }
    let truth = neighbourhoods::triangles(&arcs);
    let of_edge = |own: &BTreeSet<u64>, other: &BTreeSet<u64>| {
        let (both, all) = (own.intersection(other).count(), own.union(other).count());
        let by_chance = 1.0 / 11_000.0;
        let coefficient = (both as f64 / all as f64 + by_chance).min(1.0);
        let deviation = (coefficient * (1.0 - coefficient) / HASHES as f64).sqrt();
        (own.len() + other.len()) as f64 * deviation / 2.0
    };
    let bound = |id: &u64| match around.get(id) {
        Some(own) => own.iter().map(|other| of_edge(own, &around[other])).sum(),
        None => 0.0,
    };
    let bounds: Vec<f64> = truth.iter().map(|(id, _)| bound(id)).collect();
    // The most that chance adds to the squared errors of a vertex: hashes agree by chance once in
    // thousands of times, and three such cases are allowed.
    let by_chance = |id: &u64| {
        let own = around.get(id).into_iter().flatten();
        let ends = own.map(|other| around[id].len() + around[other].len()).max().unwrap_or(0);
        3.0 * (ends as f64 / 2.0 / HASHES as f64).powi(2)
    };
    let total = truth.iter().map(|row| row.1).sum::<u64>() as f64 / 3.0;

    let mut squares = vec![0.0; truth.len()];
    let (mut all_errors, mut all_squares, mut told_squares) = (0.0, 0.0, 0.0);
    for seed in 0..SEEDS {
        let wanted = json!({ "approximate": true, "hashes": HASHES, "seed": seed });
        let request = find("triangles").unwrap().request(wanted.clone()).unwrap();
        let found = request
            .prepare(&graph, &threads(1), &LocalPaths)
            .unwrap()
            .run(&graph, &threads(1))
            .unwrap();
        let summary = found.answer.summary(&graph, 0, &Cancel::default()).unwrap();
        let summary = serde_json::to_value(summary).unwrap();
        let figure = |name: &str| summary[name].as_f64().unwrap();
        all_errors += figure("triangles") - total;
        all_squares += (figure("triangles") - total).powi(2);
        told_squares += figure("standard_error").powi(2);
        let found = numbers(&graph, "triangles", wanted, &threads(2));
        for ((square, found), truth) in squares.iter_mut().zip(&found).zip(&truth) {
            assert_eq!(found.0, truth.0);
            *square += (found.1 - truth.1 as f64).powi(2);
        }
    }
    for ((square, bound), (id, _)) in squares.iter().zip(&bounds).zip(&truth) {
        let most = SEEDS as f64 * (bound * 1.1).powi(2) + by_chance(id);
        assert!(*square <= most, "{id}: {square} beyond {most}");
    }
    let [error, told] = [all_squares, told_squares].map(|sum| (sum / SEEDS as f64).sqrt());
    assert!(error <= bounds.iter().sum::<f64>() / 3.0, "{error}");
    assert!((0.7..1.4).contains(&(told / error)), "{told} is said of {error}");
    // The mean of `SEEDS` estimates deviates by this much; the mean bias of an estimate adds to it.
    let bias = all_errors / SEEDS as f64;
    let by_chance = 3.0 * error / (SEEDS as f64).sqrt();
    assert!(bias.abs() < by_chance + 0.002 * total, "{bias} of {error}");
}

/// Every edge of the mesh has the same number of triangles, so chance has little influence.
#[test]
fn errors_of_triangle_estimates_of_a_mesh_are_at_most_as_stated() {
    const SIDE: u64 = 150;
    let vertex = |row: u64, column: u64| (row % SIDE) * SIDE + column % SIDE;
    let steps = [(0, 1), (1, 0), (1, 1)];
    let cells = (0..SIDE).flat_map(|row| (0..SIDE).map(move |column| (row, column)));
    let edges = cells.flat_map(|(row, column)| {
        steps.map(|(down, right)| (vertex(row, column), vertex(row + down, column + right)))
    });
    let scratch = Scratch::new();
    let rows = Some(RowEncoding::Gap);
    let config = ImportConfig { rows, reverse: rows, ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "mesh", &EdgeList::new(edges.collect())));
    for seed in 0..10 {
        let wanted = json!({ "approximate": true, "seed": seed });
        let request = find("triangles").unwrap().request(wanted).unwrap();
        let found = request
            .prepare(&graph, &threads(2), &LocalPaths)
            .unwrap()
            .run(&graph, &threads(2))
            .unwrap();
        let summary = found.answer.summary(&graph, 0, &Cancel::default()).unwrap();
        let summary = serde_json::to_value(summary).unwrap();
        let figure = |name: &str| summary[name].as_f64().unwrap();
        let (off, said) =
            (figure("triangles") - (2 * SIDE * SIDE) as f64, figure("standard_error"));
        assert!(off.abs() < 4.0 * said, "{seed}: {off}, where {said} is said");
    }
}

#[test]
fn signatures_that_do_not_fit_are_taken_in_blocks() {
    let edges = (0..70_000u64)
        .flat_map(|vertex| (1..=8).map(move |step| (vertex, (vertex + step) % 70_000)));
    let scratch = Scratch::new();
    let rows = Some(RowEncoding::Gap);
    let config = ImportConfig { rows, reverse: rows, ..Default::default() };
    let directory = import_with(config, scratch.path(), "ring", &EdgeList::new(edges.collect()));
    let wanted = || json!({ "approximate": true, "hashes": 50, "seed": 3 });
    let request = find("triangles").unwrap().request(wanted()).unwrap();
    let needed = {
        let graph = open(&directory);
        let prepared = request.prepare(&graph, &threads(2), &LocalPaths).unwrap();
        Needs::of(&prepared, &graph, 2, true).unwrap().needed()
    };
    let expected = numbers(&open(&directory), "triangles", wanted(), &threads(1));
    let mut passes = Vec::new();
    for memory in [needed, needed + (4 << 20), needed + (40 << 20)] {
        let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
        let options = RunOptions { memory, threads: 2, ..Default::default() };
        assert_eq!(numbers(&graph, "triangles", wanted(), &options), expected);
        let found =
            request.prepare(&graph, &options, &LocalPaths).unwrap().run(&graph, &options).unwrap();
        passes.push(found.statistics.iterations);
    }
    // One pass finds signatures, and one more reads each block of at least 8192 vertices.
    assert!(passes[0] == 10 && (3..10).contains(&passes[1]) && passes[2] == 2, "{passes:?}");
}

#[test]
fn triangles_and_clustering_of_real_graphs_are_as_known() {
    for name in ["wiki-Vote", "ca-HepPh", "email-Enron", "com-dblp.ungraph", "soc-Epinions1"] {
        let facts = Facts::of(name);
        let Some(arcs) = facts.graph() else { continue };
        let scratch = Scratch::new();
        let rows = Some(RowEncoding::Gap);
        let config = ImportConfig { rows, reverse: rows, ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), name, &arcs));
        let found = counts(&graph, "triangles", json!({}), &threads(2));
        assert_eq!(found.iter().map(|row| row.1).sum::<u64>() / 3, facts.triangles, "{name}");
        // Arcs in both directions make a directed coefficient an undirected one.
        if !facts.directed {
            let found = numbers(&graph, "lcc", json!({}), &threads(2));
            let average = found.iter().map(|row| row.1).sum::<f64>() / found.len() as f64;
            assert!((average - facts.average_clustering).abs() < 1e-6, "{name}: {average}");
        }
    }
}

#[test]
fn components_of_real_graphs_are_as_known() {
    for (name, components, largest) in [
        ("wiki-Vote", 5816, 1300),
        ("soc-Epinions1", 42_176, 32_223),
        ("cnr-2000", 100_977, 112_023),
        ("git-dag-polars", 651_987, 1),
    ] {
        let Some(arcs) = Facts::of(name).graph() else { continue };
        let scratch = Scratch::new();
        let rows = Some(RowEncoding::Gap);
        let config = ImportConfig { rows, reverse: rows, ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), name, &arcs));
        let found = counts(&graph, "scc", json!({}), &threads(2));
        let mut sizes = std::collections::HashMap::new();
        found.iter().for_each(|row| *sizes.entry(row.1).or_insert(0) += 1);
        assert_eq!((sizes.len(), sizes.into_values().max()), (components, Some(largest)), "{name}");
    }
}

#[test]
fn graphalytics_references_are_matched() {
    const GNUTELLA: &str = "p2p-Gnutella31/p2p-31";
    for (stem, is_directed, algorithm, iterations, output) in [
        ("graphalytics/example-directed", true, "cdlp", 2, "graphalytics/example-directed-CDLP"),
        (
            "graphalytics/example-undirected",
            false,
            "cdlp",
            2,
            "graphalytics/example-undirected-CDLP",
        ),
        (
            "graphalytics/test-cdlp-undirected",
            false,
            "cdlp",
            5,
            "graphalytics/test-cdlp-undirected-CDLP",
        ),
        (GNUTELLA, false, "cdlp", 10, "p2p-Gnutella31/p2p-31-CDLP"),
        (GNUTELLA, true, "cdlp", 10, "p2p-Gnutella31/p2p-31-CDLP-directed.computed"),
        ("graphalytics/example-directed", true, "lcc", 0, "graphalytics/example-directed-LCC"),
        ("graphalytics/example-undirected", false, "lcc", 0, "graphalytics/example-undirected-LCC"),
        ("graphalytics/test-lcc-directed", true, "lcc", 0, "graphalytics/test-lcc-directed-LCC"),
        (GNUTELLA, false, "lcc", 0, "p2p-Gnutella31/p2p-31-LCC"),
        (GNUTELLA, true, "lcc", 0, "p2p-Gnutella31/p2p-31-LCC-directed.computed"),
    ] {
        let Some(edges) = graphalytics::graph(stem, true) else { continue };
        let scratch = Scratch::new();
        let rows = Some(RowEncoding::Gap);
        let config = ImportConfig {
            undirected: !is_directed,
            rows,
            reverse: rows.filter(|_| is_directed),
            ..Default::default()
        };
        let graph = open(&import_with(config, scratch.path(), "graph", &edges));
        match algorithm {
            "lcc" => {
                let expected = graphalytics::reference::<f64>(output).unwrap();
                let found = numbers(&graph, "lcc", json!({}), &threads(2));
                epsilon(&expected, &found, GRAPHALYTICS_EPSILON).expect(output);
            }
            _ => {
                let expected = graphalytics::reference::<u64>(output).unwrap();
                let options = json!({ "iterations": iterations });
                let found = counts(&graph, "cdlp", options, &threads(2));
                // The rule compares which vertices share a label; here even the labels themselves
                // are equal.
                equivalent(&expected, &found).expect(output);
                exact(&expected, &found).expect(output);
            }
        }
    }
}
