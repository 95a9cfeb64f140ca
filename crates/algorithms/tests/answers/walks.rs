//! Random walks follow edges with the right probabilities, and do not depend on the threads.

use std::collections::{BTreeMap, BTreeSet};
use tegula_algorithms::side_table::LocalPaths;

use crate::support::small::on_small_graphs;
use crate::support::tables::{answer, summary};
use crate::support::{import_with, open, threads};
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use serde_json::{Value, json};
use tegula_algorithms::find;
use tegula_engine::{Graph, RunOptions};
use tegula_import::ImportConfig;
use tegula_store::rows::RowEncoding;
use tegula_testkit::{EdgeList, Scratch};

/// The vertices of each walk.
fn walks(graph: &Graph, wanted: Value, options: &RunOptions<'_>) -> Vec<Vec<u64>> {
    let mut walks: Vec<Vec<u64>> = Vec::new();
    for rows in answer(graph, "random-walks", wanted, options) {
        let ids = |index: usize| rows.column(index).as_primitive::<UInt64Type>().values();
        let steps = rows.column(1).as_primitive::<UInt32Type>().values();
        for ((&walk, &step), &vertex) in ids(0).iter().zip(steps).zip(ids(2)) {
            if step == 0 {
                assert_eq!(walks.len() as u64, walk);
                walks.push(Vec::new());
            }
            let walk = walks.last_mut().unwrap();
            assert_eq!(walk.len(), step as usize);
            walk.push(vertex);
        }
    }
    walks
}

#[test]
#[ignore = "long"]
fn walks_go_along_edges_until_there_is_none() {
    on_small_graphs(|name, arcs, graph| {
        let arcs: BTreeSet<(u64, u64)> = arcs.edges.iter().copied().collect();
        let has_next = |vertex: u64| arcs.range((vertex, 0)..=(vertex, u64::MAX)).next().is_some();
        for wanted in [
            json!({ "length": 9, "walks": 2 }),
            json!({ "length": 5, "walks": 3, "p": 0.2, "q": 4.0, "seed": 3 }),
            json!({ "length": 4, "walks": 1, "p": 1e9, "q": 1e-9 }),
        ] {
            let found = walks(graph, wanted.clone(), &threads(2));
            assert_eq!(walks(graph, wanted.clone(), &threads(5)), found, "{name}");
            let each = wanted["walks"].as_u64().unwrap();
            assert_eq!(found.len() as u64, each * graph.vertex_count(), "{name}");
            let length = wanted["length"].as_u64().unwrap() + 1;
            for walk in &found {
                assert!(walk.windows(2).all(|pair| arcs.contains(&(pair[0], pair[1]))), "{name}");
                let last = *walk.last().unwrap();
                let is_whole = walk.len() as u64 == length;
                assert!(is_whole || !has_next(last), "{name}: {walk:?}");
                assert!(walk.len() as u64 <= length, "{name}: {walk:?}");
            }
            let sources: Vec<u64> = found.iter().map(|walk| walk[0]).collect();
            assert!(sources.is_sorted(), "{name}");
            let said = summary(graph, "random-walks", wanted, &threads(1));
            let steps: usize = found.iter().map(|walk| walk.len() - 1).sum();
            assert_eq!((&said["walks"], &said["steps"]), (&json!(found.len()), &json!(steps)));
        }
    });
}

/// Counts how often walks go from two consecutive vertices to each third.
fn frequencies(walks: &[Vec<u64>]) -> BTreeMap<(u64, u64), BTreeMap<u64, f64>> {
    let mut counts: BTreeMap<(u64, u64), BTreeMap<u64, f64>> = BTreeMap::new();
    for step in walks.iter().flat_map(|walk| walk.windows(3)) {
        *counts.entry((step[0], step[1])).or_default().entry(step[2]).or_default() += 1.0;
    }
    counts
}

#[test]
fn steps_have_the_probabilities_of_node2vec() {
    let edges = vec![(1, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 5), (2, 6)];
    let weights = vec![1.0f32, 2.0, 0.5, 3.0, 1.0, 1.0, 4.0];
    let weighted = EdgeList { weights: Some(weights), ..EdgeList::new(edges) };
    let scratch = Scratch::new();
    for rows in [RowEncoding::Gap, RowEncoding::Ceesor] {
        let config = ImportConfig { undirected: true, rows: Some(rows), ..Default::default() };
        let graph = open(&import_with(config, scratch.path(), &format!("{rows:?}"), &weighted));
        let arcs = weighted.undirected();
        let weight: BTreeMap<(u64, u64), f64> = arcs
            .edges
            .iter()
            .copied()
            .zip(arcs.weights.unwrap())
            .map(|(edge, weight)| (edge, f64::from(weight)))
            .collect();
        // The last two are drawn exactly, after the maximum number of draws.
        for (p, q) in [(1.0, 1.0), (0.25, 4.0), (3.0, 0.5), (500.0, 300.0), (400.0, 0.001)] {
            let wanted = json!({ "length": 60, "walks": 500, "p": p, "q": q, "seed": 8 });
            let found = walks(&graph, wanted, &threads(2));
            for ((before, at), counts) in frequencies(&found) {
                let all: f64 = counts.values().sum();
                if all < 2000.0 {
                    continue;
                }
                let likely = |next: u64| {
                    let factor = match next {
                        next if next == before => 1.0 / p,
                        next if weight.contains_key(&(before, next)) => 1.0,
                        _ => 1.0 / q,
                    };
                    weight[&(at, next)] * factor
                };
                let targets = weight.keys().filter(|edge| edge.0 == at).map(|edge| edge.1);
                let sum: f64 = targets.clone().map(likely).sum();
                for next in targets {
                    let expected = likely(next) / sum;
                    let found = counts.get(&next).copied().unwrap_or(0.0) / all;
                    // Five standard deviations.
                    let off = 5.0 * (expected * (1.0 - expected) / all).sqrt() + 1e-9;
                    assert!(
                        (found - expected).abs() <= off,
                        "p {p}, q {q}: {before} {at} {next}: {found} for {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn more_walks_than_any_memory_holds_are_refused() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(vec![(1, 2), (2, 1)]);
    let graph = open(&import_with(ImportConfig::default(), scratch.path(), "two", &edges));
    for (walks, length) in [(u64::MAX, 1), (1 << 63, 80), (1 << 62, 3), (1 << 20, u32::MAX)] {
        let wanted = json!({ "walks": walks, "length": length });
        let request = find("random-walks").unwrap().request(wanted).unwrap();
        let prepared = request.prepare(&graph, &threads(1), &LocalPaths).unwrap();
        let told = prepared.estimate(&graph, 1).err().map(|error| error.to_string());
        assert!(told.is_some_and(|told| told.contains("all walks")), "{walks} {length}");
    }
    for (p, q) in [(1e-320, 1.0), (1.0, 1e10), (0.0, 1.0)] {
        let request = find("random-walks").unwrap().request(json!({ "p": p, "q": q }));
        assert!(request.is_err(), "{p} {q}");
    }
}

#[test]
fn walks_begin_at_the_given_sources() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(vec![(1, 2), (2, 3), (3, 1), (3, 9)]);
    let config = ImportConfig { rows: Some(RowEncoding::Gap), ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "graph", &edges));
    let file = scratch.join("sources.csv");
    std::fs::write(&file, "vertex,other\n9,x\n1,y\n9,z\n").unwrap();
    let wanted = json!({ "sources": file, "walks": 2, "length": 3 });
    let found = walks(&graph, wanted, &threads(2));
    let sources: Vec<u64> = found.iter().map(|walk| walk[0]).collect();
    assert_eq!(sources, [9, 9, 1, 1, 9, 9]);
    assert!(found.iter().all(|walk| walk.len() == if walk[0] == 9 { 1 } else { 4 }), "{found:?}");
}
