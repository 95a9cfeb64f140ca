//! Searches from several sources, up to a cutoff, with parents, and with paths to targets.

use std::collections::HashMap;
use std::path::Path;
use tegula_algorithms::side_table::LocalPaths;

use crate::support::ways::{GRIDS, edges, with_rows};
use crate::support::{AMPLE, import_with, open, tables, threads, with_executor};
use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use tegula_engine::{Arrays, Executor, Graph, RunOptions, open_graph};
use tegula_import::ImportConfig;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch};

/// A graph with some edges of weight 0 or too small to change a sum, and the options of a search.
#[derive(Debug)]
struct Case {
    graph: EdgeList,
    order: VertexOrder,
    grid: usize,
    sources: Vec<u64>,
    targets: Vec<u64>,
    cutoff: Option<u32>,
}

fn cases() -> impl Strategy<Value = Case> {
    let weights =
        prop::collection::vec(select(&[0.0f32, 0.0, 1e-30, 0.25, 1.0, 1.0, 3.5][..]), 900);
    let some = || prop::collection::vec(any::<Index>(), 1..5);
    let orders = select(&[VertexOrder::Given, VertexOrder::Degree][..]);
    let choices = (orders, 0..GRIDS.len(), prop::option::of(0u32..5));
    (edges(1..=80, 1..=3), weights, some(), some(), choices).prop_filter_map(
        "a graph with an edge",
        |(edges, weights, sources, targets, (order, grid, cutoff))| {
            // Vertex 0 gets the id 1000, so that original ids and dense ids differ.
            let id = |vertex: u64| if vertex == 0 { 1000 } else { vertex };
            let edges: Vec<_> = edges.into_iter().take(900).map(|(u, v)| (id(u), id(v))).collect();
            let weights = weights[..edges.len()].to_vec();
            let graph = EdgeList { weights: Some(weights), ..EdgeList::new(edges) };
            let vertices = graph.vertices();
            let pick = |all: Vec<Index>| all.iter().map(|index| *index.get(&vertices)).collect();
            let is_there = !vertices.is_empty();
            is_there.then(|| Case {
                sources: pick(sources),
                targets: pick(targets),
                graph,
                order,
                grid,
                cutoff,
            })
        },
    )
}

/// The distances of all vertices reached, by weights or hops, from relaxing all edges until nothing
/// changes.
fn distances(case: &Case, has_weights: bool) -> HashMap<u64, f64> {
    let cutoff = case.cutoff.map_or(f64::INFINITY, f64::from);
    let mut distances: HashMap<u64, f64> =
        case.sources.iter().map(|&source| (source, 0.0)).collect();
    loop {
        let before = distances.clone();
        for (from, to, weight) in weighted(case, has_weights) {
            let Some(through) = distances.get(&from).map(|distance| distance + weight) else {
                continue;
            };
            let known = distances.get(&to).copied().unwrap_or(f64::INFINITY);
            if through < known && through <= cutoff {
                distances.insert(to, through);
            }
        }
        if before == distances {
            return distances;
        }
    }
}

fn weighted(case: &Case, has_weights: bool) -> impl Iterator<Item = (u64, u64, f64)> {
    let weights = case.graph.weights.as_ref().unwrap();
    let weight = move |weight: f32| if has_weights { f64::from(weight) } else { 1.0 };
    case.graph.edges.iter().zip(weights).map(move |(&(from, to), &w)| (from, to, weight(w)))
}

/// Writes a file with an id in each line.
fn listed(folder: &Path, name: &str, ids: &[u64]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, ids.iter().map(|id| format!("{id}\n")).collect::<String>()).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Ways to run; the answer must not depend on them.
fn ways() -> [RunOptions<'static>; 4] {
    let scan = with_executor(Executor::Scan, 2);
    [
        with_executor(Executor::Seek, 3),
        RunOptions { arrays: Arrays::OnDisk, ..scan.clone() },
        scan,
        threads(1),
    ]
}

/// The rows of an answer, checked to be the same in all ways.
#[track_caller]
fn rows(graph: &Graph, name: &str, wanted: &Value) -> Vec<RecordBatch> {
    let mut found: Option<Vec<RecordBatch>> = None;
    for options in ways() {
        let rows = tables::answer(graph, name, wanted.clone(), &options);
        let found = found.get_or_insert_with(|| rows.clone());
        assert_eq!(*found, rows, "{name} {wanted}");
    }
    found.unwrap()
}

fn ids(batch: &RecordBatch, column: &str) -> Vec<Option<u64>> {
    batch.column_by_name(column).unwrap().as_primitive::<UInt64Type>().iter().collect()
}

fn far(batch: &RecordBatch, has_weights: bool) -> Vec<Option<f64>> {
    let column = batch.column_by_name("distance").unwrap();
    match has_weights {
        true => column.as_primitive::<Float64Type>().iter().collect(),
        false => {
            column.as_primitive::<UInt32Type>().iter().map(|hops| hops.map(f64::from)).collect()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    #[ignore = "long"]
    fn every_distance_is_the_smallest_and_every_parent_leads_back(case in cases()) {
        let scratch = Scratch::new();
        let mut config = with_rows(case.order, false);
        config.tuning.grid = GRIDS[case.grid];
        let graph = open(&import_with(config, scratch.path(), "g", &case.graph));
        let sources = listed(scratch.path(), "sources.txt", &case.sources);
        let targets = listed(scratch.path(), "targets.txt", &case.targets);
        for (name, has_weights) in [("bfs", false), ("sssp", true)] {
            let expected = distances(&case, has_weights);
            let asked = json!({ "sources": sources, "cutoff": case.cutoff, "parents": true });
            let mut parents = HashMap::new();
            for batch in rows(&graph, name, &asked) {
                let (vertices, far) = (ids(&batch, "vertex"), far(&batch, has_weights));
                for ((vertex, far), parent) in vertices.iter().zip(far).zip(ids(&batch, "parent")) {
                    let vertex = vertex.unwrap();
                    prop_assert_eq!(far, expected.get(&vertex).copied());
                    prop_assert_eq!(parent.is_some(), far.is_some());
                    parents.extend(parent.map(|parent| (vertex, parent)));
                }
            }
            prop_assert_eq!(parents.len(), expected.len());
            check_parents(&case, has_weights, &expected, &parents)?;
            let asked = json!({ "sources": sources, "cutoff": case.cutoff, "targets": targets });
            check_paths(&case, has_weights, &expected, &parents, rows(&graph, name, &asked))?;
            // Without parents, and with Dijkstra, distances are the same.
            let plain = json!({ "sources": sources, "cutoff": case.cutoff });
            let mut methods = vec![plain.clone()];
            if has_weights {
                methods.push(json!({
                    "sources": sources, "cutoff": case.cutoff, "method": "dijkstra"
                }));
            }
            for asked in methods {
                for batch in tables::answer(&graph, name, asked, &with_executor(Executor::Auto, 2)) {
                    for (vertex, far) in ids(&batch, "vertex").iter().zip(far(&batch, has_weights)) {
                        prop_assert_eq!(far, expected.get(&vertex.unwrap()).copied());
                    }
                }
            }
        }
    }
}

/// Checks that each parent is one edge nearer, and that parents lead to a source.
fn check_parents(
    case: &Case,
    has_weights: bool,
    distances: &HashMap<u64, f64>,
    parents: &HashMap<u64, u64>,
) -> Result<(), TestCaseError> {
    for (&vertex, &parent) in parents {
        if case.sources.contains(&vertex) {
            prop_assert_eq!(vertex, parent);
            continue;
        }
        let is_tight = |(from, to, weight): (u64, u64, f64)| {
            (from, to) == (parent, vertex) && distances[&from] + weight == distances[&to]
        };
        prop_assert!(weighted(case, has_weights).any(is_tight), "{} to {}", parent, vertex);
        let mut at = vertex;
        for _ in 0..parents.len() {
            at = parents[&at];
        }
        prop_assert!(case.sources.contains(&at), "{} does not lead back", vertex);
    }
    Ok(())
}

/// Checks that paths follow the parents, nearest first.
fn check_paths(
    case: &Case,
    has_weights: bool,
    distances: &HashMap<u64, f64>,
    parents: &HashMap<u64, u64>,
    batches: Vec<RecordBatch>,
) -> Result<(), TestCaseError> {
    let mut expected = Vec::new();
    let mut targets: Vec<u64> =
        case.targets.iter().copied().filter(|target| distances.contains_key(target)).collect();
    targets.sort_unstable();
    targets.dedup();
    targets.sort_by(|one, other| distances[one].total_cmp(&distances[other]));
    for target in targets {
        let mut path = vec![target];
        while let Some(&parent) = path.last().and_then(|last| parents.get(last)) {
            if path.last() == Some(&parent) {
                break;
            }
            path.push(parent);
        }
        path.reverse();
        let steps = (0..).zip(path).map(|(position, vertex)| (target, position, vertex));
        expected.extend(
            steps.map(|(target, position, vertex)| (target, position, vertex, distances[&vertex])),
        );
    }
    let mut found = Vec::new();
    for batch in batches {
        let columns = ["target", "position", "vertex"].map(|name| ids(&batch, name));
        for (row, far) in far(&batch, has_weights).into_iter().enumerate() {
            let [target, position, vertex] = [0, 1, 2].map(|column| columns[column][row].unwrap());
            found.push((target, position, vertex, far.unwrap()));
        }
    }
    prop_assert_eq!(found, expected);
    Ok(())
}

#[test]
fn the_nearest_targets_come_first_and_those_without_a_path_are_counted() {
    let scratch = Scratch::new();
    let edges = vec![(1, 2), (2, 3), (3, 4), (9, 1)];
    let config = ImportConfig::default();
    let graph = open(&import_with(config, scratch.path(), "path", &EdgeList::new(edges)));
    let targets = listed(scratch.path(), "targets.txt", &[4, 9, 2, 4]);
    for name in ["bfs", "sssp"] {
        let asked = json!({ "source": "1", "targets": targets });
        let summary = tables::summary(&graph, name, asked, &threads(2));
        assert_eq!(
            (summary["reached"].as_u64(), summary["unreached"].as_u64()),
            (Some(2), Some(1))
        );
        let nearest = summary["nearest"].as_array().unwrap();
        let nearest: Vec<_> = nearest.iter().map(|near| near["target"].as_u64()).collect();
        assert_eq!(nearest, [Some(2), Some(4)], "{name}");
    }
}

#[test]
fn the_estimated_memory_is_enough_for_paths_and_parents() {
    let scratch = Scratch::new();
    let chain = EdgeList::new((0..300_000u64).map(|v| (v, v + 1)).collect());
    let directory = import_with(ImportConfig::default(), scratch.path(), "chain", &chain);
    let targets = listed(scratch.path(), "targets.txt", &[300, 250]);
    let sources = listed(scratch.path(), "sources.txt", &[290_000, 20]);
    for name in ["bfs", "sssp"] {
        for wanted in [
            json!({ "sources": sources, "targets": targets, "cutoff": 400 }),
            json!({ "sources": sources, "parents": true, "cutoff": 100 }),
        ] {
            let request = tegula_algorithms::find(name).unwrap().request(wanted.clone()).unwrap();
            let graph = open_graph(&directory, AMPLE, Backend::Auto).unwrap();
            let prepared = request.prepare(&graph, &threads(2), &LocalPaths).unwrap();
            let needed = prepared.estimate(&graph, 2).unwrap().needed();
            let expected = tables::answer(&graph, name, wanted.clone(), &threads(2));
            let graph = open_graph(&directory, needed, Backend::Auto).unwrap();
            let options = RunOptions { memory: needed, ..threads(2) };
            assert_eq!(tables::answer(&graph, name, wanted, &options), expected, "{name}");
        }
    }
}
