//! Searches on a graph whose rows are open and unpacked, as a service holds them. They give the
//! bits of a scan and the distances of the oracle, wherever the horizon is.

use crate::support::ways::{graphs, with_rows};
use crate::support::{find, import_with, open, table, with_executor};
use proptest::prelude::*;
use tegula_algorithms::Error;
use tegula_algorithms::paths::bfs::Bfs;
use tegula_algorithms::paths::sssp::{self, SsspConfig};
use tegula_engine::{Executor, Graph, RowReader, RunOptions};
use tegula_machine::disk::Targets;
use tegula_machine::threads::{Cancel, Workers};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::Direction;
use tegula_testkit::{EdgeList, Scratch, Table, XorShift, small_graphs, sssp as oracle};

/// Bucket widths: from one bucket per distance to one for all.
const DELTAS: [Option<f64>; 5] = [None, Some(1e-300), Some(0.01), Some(1.0), Some(1e9)];

/// Opens all rows as plain lists.
fn unpacked(graph: &Graph, has_weights: bool) -> RowReader {
    unpacked_of(graph, Direction::Forward, has_weights)
}

fn unpacked_of(graph: &Graph, direction: Direction, has_weights: bool) -> RowReader {
    let cache = RowReader::cache_size_max(graph, direction, has_weights);
    let rows = RowReader::open(graph, direction, has_weights, cache, &Targets::default());
    let rows = rows.unwrap().unwrap();
    Workers::scope(2, |workers| rows.unpack(workers, &Cancel::default())).unwrap();
    rows
}

fn distances(
    graph: &Graph,
    source: u64,
    delta: Option<f64>,
    options: &RunOptions<'_>,
) -> Result<Table<f64>, Error> {
    let config = SsspConfig { delta, ..Default::default() };
    let found = sssp::run(graph, find(graph, source), config, options)?;
    Ok(table(graph, &found.distances, |distance| distance))
}

/// A dense component with many parallel edges, and a second one: most edges are in long rows, and
/// most are of no use.
fn dense(vertices: u64, edges: usize, weight: impl Fn(u64) -> f32) -> EdgeList {
    let mut random = XorShift::new(vertices);
    let mut pick = |first| (first + random.below(vertices), first + random.below(vertices));
    let mut pairs: Vec<_> = (0..edges).map(|_| pick(0)).collect();
    pairs.extend((0..edges / 2).map(|_| pick(1_000)));
    let mut random = XorShift::new(edges as u64);
    let weights = pairs.iter().map(|_| weight(random.below(1 << 20))).collect();
    EdgeList { weights: Some(weights), ..EdgeList::new(pairs) }
}

/// Searches from one vertex along unpacked rows with every bucket width, against a scan and the
/// oracle.
fn search_in_every_way(name: &str, edges: &EdgeList, undirected: bool) {
    let scratch = Scratch::new();
    let config = with_rows(VertexOrder::Degree, undirected);
    let graph = open(&import_with(config, scratch.path(), "searched", edges));
    let Some(&source) = edges.vertices().first() else { return };
    let stored = if undirected { edges.undirected() } else { edges.clone() };
    let expected = oracle(&stored, source);
    let scanned = distances(&graph, source, None, &with_executor(Executor::Scan, 2)).unwrap();
    assert_eq!(scanned, expected, "{name}: a scan");
    let rows = unpacked(&graph, true);
    for delta in DELTAS {
        for (executor, threads) in [(Executor::Seek, 1), (Executor::Seek, 3), (Executor::Auto, 2)] {
            let options = RunOptions { rows: Some(&rows), ..with_executor(executor, threads) };
            let found = distances(&graph, source, delta, &options).unwrap();
            assert_eq!(found, expected, "{name}: {delta:?}, {executor:?}, {threads} threads");
        }
    }
}

#[test]
fn distances_are_those_of_a_scan_and_of_the_oracle() {
    for (name, edges) in small_graphs(3) {
        search_in_every_way(name, &edges.weighted(7), true);
        search_in_every_way(name, &edges.weighted(8), false);
    }
}

#[test]
fn distances_are_right_where_most_edges_are_beyond_the_horizon() {
    let uniform = |number: u64| number as f32 / 1e6;
    for (name, edges) in [
        ("uniform", dense(60, 6_000, uniform)),
        ("many of the same weight", dense(60, 6_000, |number| (number % 3) as f32)),
        ("far apart", dense(200, 9_000, |number| 2f32.powi((number % 60) as i32 - 30))),
        ("nothing weighs anything", dense(50, 3_000, |_| 0.0)),
        ("one long row", dense(1, 400, uniform)),
    ] {
        search_in_every_way(name, &edges, true);
        search_in_every_way(name, &edges, false);
    }
}

/// The distant vertices have few edges, and reach each other over a hub or along a path.
#[test]
fn distances_are_right_where_vertices_pull_edges_that_were_held_back() {
    let mut pairs = Vec::new();
    let mut weights = Vec::new();
    for leaf in 1..400u64 {
        pairs.push((0, leaf));
        weights.push(1.0 + leaf as f32);
        for other in 1..40 {
            pairs.push((leaf, (leaf + other * other) % 400));
            weights.push(((leaf * other) % 17) as f32 * 0.125 + 0.5);
        }
        pairs.push((10_000 + leaf, 10_001 + leaf));
        weights.push(0.25);
    }
    pairs.push((399, 10_200));
    weights.push(64.0);
    let edges = EdgeList { weights: Some(weights), ..EdgeList::new(pairs) };
    search_in_every_way("a hub and a path", &edges, true);
}

#[test]
fn a_negative_weight_is_found_wherever_it_stands() {
    let scratch = Scratch::new();
    for at in [0, 50, 99] {
        let pairs: Vec<_> = (1..=100).map(|leaf| (0, leaf)).collect();
        let weight = |leaf| if leaf == at { -1.0 } else { leaf as f32 + 1.0 };
        let weights = (0..100).map(weight).collect();
        let edges = EdgeList { weights: Some(weights), ..EdgeList::new(pairs) };
        let config = with_rows(VertexOrder::Given, true);
        let graph = open(&import_with(config, scratch.path(), &format!("{at}"), &edges));
        let rows = unpacked(&graph, true);
        for (executor, delta) in
            [(Executor::Seek, 1e-3), (Executor::Seek, 1e3), (Executor::Auto, 1.0)]
        {
            let options = RunOptions { rows: Some(&rows), ..with_executor(executor, 2) };
            let found = distances(&graph, 5, Some(delta), &options);
            assert!(matches!(found, Err(Error::NegativeWeight { .. })), "{at}: {found:?}");
        }
    }
}

#[test]
fn buckets_are_wider_where_rows_do_not_stay_in_memory() {
    let scratch = Scratch::new();
    let edges = dense(300, 9_000, |n| n as f32);
    let config = with_rows(VertexOrder::Degree, true);
    let graph = open(&import_with(config, scratch.path(), "searched", &edges));
    let source = find(&graph, edges.vertices()[0]);
    let delta_and_distances = |rows: &RowReader| {
        let options = RunOptions { rows: Some(rows), ..with_executor(Executor::Seek, 2) };
        let found = sssp::run(&graph, source, SsspConfig::default(), &options).unwrap();
        (found.delta.unwrap(), found.distances)
    };
    let (narrow, distances) = delta_and_distances(&unpacked(&graph, true));
    let streamed = RowReader::open(&graph, Direction::Forward, true, 0, &Targets::default());
    let (wide, same) = delta_and_distances(&streamed.unwrap().unwrap());
    assert!(wide > narrow, "{wide} and {narrow}");
    assert!(same == distances);
}

/// Rows that are opened with their weights do not ascend; the parent is still the smallest.
#[test]
fn parents_are_those_of_a_scan() {
    let graphs = [(300, 9_000), (40, 2_000)];
    for (graph, undirected) in graphs.into_iter().flat_map(|graph| [(graph, false), (graph, true)])
    {
        let scratch = Scratch::new();
        let edges = dense(graph.0, graph.1, |n| n as f32);
        let config = with_rows(VertexOrder::Degree, undirected);
        let graph = open(&import_with(config, scratch.path(), "searched", &edges));
        let source = find(&graph, edges.vertices()[0]);
        let scanned = Bfs::run(&graph, source, &with_executor(Executor::Scan, 2)).unwrap();
        for has_weights in [false, true] {
            let rows = unpacked(&graph, has_weights);
            let reverse = unpacked_of(&graph, Direction::Reverse, has_weights);
            for executor in [Executor::Seek, Executor::Auto] {
                for reverse in [None, Some(&reverse)] {
                    let rows = Some(&rows);
                    let options = RunOptions { rows, reverse, ..with_executor(executor, 2) };
                    let found = Bfs::run(&graph, source, &options).unwrap();
                    assert!(found.states == scanned.states, "{undirected}, {executor:?}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn distances_agree(edges in graphs(2..=60, 0..=60), seed in any::<u64>(), undirected: bool) {
        search_in_every_way("any", &edges.weighted(seed), undirected);
    }
}
