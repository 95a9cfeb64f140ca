//! Similarities against those computed from sets of neighbours, in every way to run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tegula_algorithms::side_table::LocalPaths;

use crate::support::ways::{GRIDS, edges, with_rows};
use crate::support::{AMPLE, import_with, open, tables, threads};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use tegula_engine::{Graph, RunOptions, open_graph};
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch};

const MEASURES: [&str; 3] = ["jaccard", "overlap", "adamic-adar"];

/// The neighbours of each vertex in the simple undirected graph.
fn neighbours(graph: &EdgeList) -> BTreeMap<u64, BTreeSet<u64>> {
    let mut all: BTreeMap<u64, BTreeSet<u64>> =
        graph.vertices().into_iter().map(|vertex| (vertex, BTreeSet::new())).collect();
    for &(one, other) in graph.edges.iter().filter(|(one, other)| one != other) {
        all.get_mut(&one).unwrap().insert(other);
        all.get_mut(&other).unwrap().insert(one);
    }
    all
}

fn similarity(all: &BTreeMap<u64, BTreeSet<u64>>, measure: &str, u: u64, v: u64) -> f64 {
    let common: Vec<u64> = all[&u].intersection(&all[&v]).copied().collect();
    let of = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
    match measure {
        "jaccard" => of(common.len() as f64, all[&u].union(&all[&v]).count() as f64),
        "overlap" => of(common.len() as f64, all[&u].len().min(all[&v].len()) as f64),
        _ => common
            .iter()
            .map(|w| all[w].len())
            .filter(|&degree| degree > 1)
            .map(|degree| 1.0 / (degree as f64).ln())
            .sum(),
    }
}

/// The rows of an answer, checked to be the same in all ways.
#[track_caller]
fn rows(graph: &Graph, wanted: Value) -> Vec<(u64, u64, f64)> {
    let mut found = None;
    for options in [threads(1), threads(3), RunOptions { memory: 40 << 20, ..threads(2) }] {
        let batches = tables::answer(graph, "similarity", wanted.clone(), &options);
        let mut rows = Vec::new();
        for batch in batches {
            let [u, v] = [0, 1].map(|column| batch.column(column).as_primitive::<UInt64Type>());
            let values = batch.column(2).as_primitive::<Float64Type>();
            rows.extend((0..u.len()).map(|row| (u.value(row), v.value(row), values.value(row))));
        }
        assert_eq!(*found.get_or_insert_with(|| rows.clone()), rows, "{wanted}");
    }
    found.unwrap()
}

fn write(folder: &Path, name: &str, lines: impl Iterator<Item = String>) -> String {
    let path = folder.join(name);
    std::fs::write(&path, lines.map(|line| line + "\n").collect::<String>()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-12 * expected.max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn similarities_match_those_of_sets_of_neighbours(
        edges in edges(2..=60, 1..=4),
        picks in prop::collection::vec(any::<[Index; 2]>(), 1..40),
        choices in (any::<bool>(), 0..GRIDS.len(), 1usize..8, 0usize..3),
        order in select(&[VertexOrder::Given, VertexOrder::Degree][..]),
    ) {
        let (undirected, grid, top, measure) = choices;
        let edges: Vec<_> = edges.into_iter().map(|(u, v)| (3 * u + 5, 3 * v + 5)).collect();
        prop_assume!(!edges.is_empty());
        let list = EdgeList::new(edges);
        let (all, measure) = (neighbours(&list), MEASURES[measure]);
        let vertices = list.vertices();
        let scratch = Scratch::new();
        let mut config = with_rows(order, undirected);
        config.tuning.grid = GRIDS[grid];
        let graph = open(&import_with(config, scratch.path(), "g", &list));
        let pairs: Vec<[u64; 2]> =
            picks.iter().map(|pair| pair.map(|index| *index.get(&vertices))).collect();
        let lines = pairs.iter().map(|[u, v]| format!("{u} {v}"));
        let file = write(scratch.path(), "pairs.txt", lines);
        let found = rows(&graph, json!({ "pairs": file, "measure": measure }));
        prop_assert_eq!(found.len(), pairs.len());
        for (&[u, v], found) in pairs.iter().zip(found) {
            prop_assert_eq!((u, v), (found.0, found.1));
            let expected = similarity(&all, measure, u, v);
            prop_assert!(close(found.2, expected), "{} of {} and {}, not {}", found.2, u, v, expected);
        }

        let sources: Vec<u64> = pairs.iter().take(5).map(|&[u, _]| u).collect();
        let file = write(scratch.path(), "sources.txt", sources.iter().map(u64::to_string));
        let wanted = json!({ "sources": file, "top": top, "measure": measure });
        let mut found = rows(&graph, wanted).into_iter();
        for &u in &sources {
            let others = vertices.iter().filter(|&&v| v != u);
            let mut expected: Vec<(u64, f64)> =
                others.map(|&v| (v, similarity(&all, measure, u, v))).collect();
            expected.retain(|(_, value)| *value > 0.0);
            expected.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
            expected.truncate(top);
            for (_, value) in expected {
                let (source, v, similar) = found.next().unwrap();
                prop_assert_eq!(source, u);
                // Rounding may decide between nearly equal vertices; each must have its own
                // similarity.
                prop_assert!(close(similar, value), "{} not {}", similar, value);
                prop_assert!(close(similar, similarity(&all, measure, u, v)));
            }
        }
        prop_assert_eq!(found.next(), None);
    }
}

#[test]
fn equally_similar_vertices_come_by_ascending_id() {
    let scratch = Scratch::new();
    // All leaves of a star have the same neighbour.
    let star = EdgeList::new((1..40u64).map(|leaf| (leaf * 7 % 40, 100)).collect());
    for order in [VertexOrder::Given, VertexOrder::Degree] {
        let name = order.name();
        let graph = open(&import_with(with_rows(order, false), scratch.path(), name, &star));
        let file = write(scratch.path(), "sources.txt", ["20".to_owned()].into_iter());
        let found = rows(&graph, json!({ "sources": file, "top": 3 }));
        assert_eq!(found, [(20, 1, 1.0), (20, 2, 1.0), (20, 3, 1.0)]);
        let none = rows(&graph, json!({ "sources": file, "top": 0 }));
        assert_eq!(none, []);
    }
}

#[test]
fn a_pair_with_an_unknown_vertex_is_refused_with_its_line() {
    let scratch = Scratch::new();
    let path = EdgeList::new(vec![(0, 1), (1, 2)]);
    let config = with_rows(VertexOrder::Given, true);
    let graph = open(&import_with(config, scratch.path(), "path", &path));
    for (lines, words) in
        [(["0 2", "1 9"], ["line 2", "no vertex `9`"]), (["0 2", "8 1"], ["line 2", "`8`"])]
    {
        let file = write(scratch.path(), "pairs.txt", lines.into_iter().map(str::to_owned));
        let error = tables::try_answer(&graph, "similarity", json!({ "pairs": file }), &threads(1));
        let error = error.unwrap_err().to_string();
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
}

#[test]
fn the_estimated_memory_is_enough() {
    let scratch = Scratch::new();
    let ring = EdgeList::new((0..100_000u64).flat_map(|v| [(v, v + 1), (v, v + 2)]).collect());
    let config = with_rows(VertexOrder::Degree, true);
    let directory = import_with(config, scratch.path(), "ring", &ring);
    let pairs = write(scratch.path(), "pairs.txt", (0..30_000).map(|v| format!("{v} {}", v + 2)));
    let sources = write(scratch.path(), "sources.txt", (0..20_000).map(|v| format!("{v}")));
    for wanted in [json!({ "pairs": pairs }), json!({ "sources": sources, "top": 4 })] {
        let request = tegula_algorithms::find("similarity").unwrap().request(wanted.clone());
        let graph = open_graph(&directory, AMPLE, Backend::Auto).unwrap();
        let request = request.unwrap();
        let prepared = request.prepare(&graph, &threads(2), &LocalPaths).unwrap();
        let needed = prepared.estimate(&graph, 2).unwrap().needed();
        let expected = tables::answer(&graph, "similarity", wanted.clone(), &threads(2));
        let graph = open_graph(&directory, needed, Backend::Auto).unwrap();
        let options = RunOptions { memory: needed, ..threads(2) };
        assert_eq!(tables::answer(&graph, "similarity", wanted, &options), expected);
    }
}
