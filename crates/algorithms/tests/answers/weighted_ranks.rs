//! PageRank by weights: precision against double, the same bits in all ways, and refusals.

use std::num::NonZeroUsize;
use tegula_algorithms::side_table::LocalPaths;

use crate::support::ways::GRIDS;
use crate::support::{AMPLE, find, import_edges, import_with, open, table, tables, threads};
use serde_json::{Value, json};
use tegula_algorithms::centrality::pagerank::{self, PageRank, Stop};
use tegula_algorithms::{Error, algorithm::Prepared};
use tegula_engine::{Arrays, Cancel, Graph, Instructions, RunOptions, Tuning, open_graph};
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::tiles::Grid;
use tegula_testkit::{
    EdgeList, Scratch, XorShift, match_weighted_pagerank, matching, small_graphs, weighted_pagerank,
};

const ITERATIONS: u64 = 20;
const STOP: Stop = Stop::Iterations(ITERATIONS);

/// Weights from the least above 0 to the greatest, and 0.
fn extreme(edges: &EdgeList, seed: u64) -> EdgeList {
    let mut random = XorShift::new(seed);
    let mut weigh = || match random.below(8) {
        0 => 0.0,
        1 => f32::MAX,
        2 => 1e-38,
        _ => f32::from_bits(random.below(f32::INFINITY.to_bits().into()) as u32),
    };
    let weights = edges.edges.iter().map(|_| weigh()).collect();
    EdgeList { weights: Some(weights), ..edges.clone() }
}

/// Runs a check on every small graph with weights, directed or not, in every order and on each grid
/// in turn.
fn on_small_graphs(check: impl Fn(&EdgeList, &Graph)) {
    let mut grids = GRIDS.into_iter().cycle();
    let orders = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs];
    let mut orders = orders.into_iter().cycle();
    for seed in 0..2 {
        let scratch = Scratch::new();
        for (name, edges) in small_graphs(seed) {
            for (number, edges) in [edges.weighted(seed), extreme(&edges, seed)].iter().enumerate()
            {
                for undirected in [false, true] {
                    let order = orders.next();
                    let mut config = ImportConfig { order, undirected, ..Default::default() };
                    config.tuning.grid = grids.next().unwrap_or_default();
                    let name = format!("{name}-{number}-{undirected}");
                    let graph = open(&import_with(config, scratch.path(), &name, edges));
                    let arcs = if undirected { edges.undirected() } else { edges.clone() };
                    check(&arcs, &graph);
                }
            }
        }
    }
}

fn ranks(graph: &Graph, walk: PageRank, options: &RunOptions<'_>) -> Vec<f32> {
    pagerank::run_weighted(graph, walk, options).unwrap().states.into_vec().unwrap()
}

#[test]
fn ranks_are_within_1e_5_of_double_precision_for_any_weights() {
    on_small_graphs(|edges, graph| {
        let walk = PageRank::new(STOP, graph.vertex_count());
        let found = ranks(graph, walk.clone(), &threads(2));
        match_weighted_pagerank(edges, 0.85, 20, &[], &table(graph, &found, f64::from)).unwrap();
        let on_disk = RunOptions { arrays: Arrays::OnDisk, ..threads(3) };
        assert_eq!(ranks(graph, walk, &on_disk), found);
    });
}

#[test]
fn personalized_ranks_are_within_1e_5_where_an_f32_can_hold_them() {
    on_small_graphs(|edges, graph| {
        let vertices = edges.vertices();
        let Some((&first, &last)) = vertices.first().zip(vertices.last()) else { return };
        let seeds = [(first, 1.0), (last, 2.5), (first, 1e-3)];
        let dense = seeds.map(|(id, weight)| (find(graph, id), weight));
        let walk = PageRank::personalized(STOP, graph.vertex_count(), &dense).unwrap();
        let found = table(graph, &ranks(graph, walk, &threads(2)), f64::from);
        // Far from any seed, ranks may be products of tiny weights.
        let is_normal = |rank: f64| rank >= f64::from(f32::MIN_POSITIVE);
        let expected = weighted_pagerank(edges, 0.85, 20, &seeds);
        let (normal, rest): (Vec<_>, Vec<_>) =
            expected.into_iter().zip(found).partition(|(expected, _)| is_normal(expected.1));
        let (expected, found): (Vec<_>, Vec<_>) = normal.into_iter().unzip();
        matching::epsilon(&expected, &found, 1e-5).unwrap();
        assert!(rest.iter().all(|(_, found)| !is_normal(found.1 / 1.001)));
    });
}

/// A skewed graph of several segments and columns, with a hub of 2^16 edges of any weight.
fn skewed(scratch: &Scratch) -> std::path::PathBuf {
    let mut skewed = edges(&Rmat::new(14, 12, 3).unwrap());
    skewed.extend((0..1 << 16).map(|leaf| (7, leaf)));
    let grid = Grid { segment_log2: 14, column_log2: 13 };
    let mut config = ImportConfig { order: Some(VertexOrder::Degree), ..Default::default() };
    config.tuning.grid = grid;
    import_with(config, scratch.path(), "skewed", &extreme(&EdgeList::new(skewed), 5))
}

/// Runs `pagerank` by name and returns its rows as text.
fn rows(graph: &Graph, wanted: &Value, options: &RunOptions<'_>) -> Result<String, Error> {
    let request = tegula_algorithms::find("pagerank").unwrap().request(wanted.clone()).unwrap();
    let found = request.prepare(graph, options, &LocalPaths)?.run(graph, options)?;
    let mut kept = tables::Kept::default();
    found.answer.write_rows(graph, &mut kept, &Cancel::default())?;
    Ok(format!("{:?}", kept.0))
}

#[test]
fn bits_are_the_same_for_all_threads_instructions_backends_and_budgets() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    let wanted = json!({ "iterations": 3, "weighted": true });
    let request = tegula_algorithms::find("pagerank").unwrap().request(wanted.clone()).unwrap();
    let graph = open(&directory);
    let expected = rows(&graph, &wanted, &threads(1)).unwrap();
    for instructions in Instructions::all() {
        let options =
            RunOptions { tuning: Tuning { instructions, ..Tuning::default() }, ..threads(3) };
        assert!(rows(&graph, &wanted, &options).unwrap() == expected, "{instructions:?}");
    }
    let prepared: Prepared<'_> = request.prepare(&graph, &threads(2), &LocalPaths).unwrap();
    let estimate = prepared.estimate(&graph, 2).unwrap();
    let on_disk = estimate.on_disk.as_ref().unwrap().least().bytes;
    let others = estimate.stream_bytes_min + estimate.overhead_bytes;
    let in_memory = estimate.needed_in_memory();
    for (memory, arrays) in [
        (in_memory, Arrays::Auto),
        (in_memory, Arrays::InMemory),
        (in_memory + (1 << 20), Arrays::Auto),
        (on_disk + others, Arrays::OnDisk),
        (on_disk + others + (4 << 20), Arrays::OnDisk),
    ] {
        for backend in [Backend::Auto, Backend::Threads(NonZeroUsize::MIN)] {
            let graph = open_graph(&directory, memory, backend).unwrap();
            let options = RunOptions { memory, threads: 2, arrays, ..Default::default() };
            let found = rows(&graph, &wanted, &options).unwrap();
            assert!(found == expected, "{memory}, {arrays:?}");
        }
    }
    let memory = estimate.needed() - 1;
    let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
    let options = RunOptions { memory, threads: 2, ..Default::default() };
    match rows(&graph, &wanted, &options) {
        Err(Error::Run(tegula_engine::Error::Machine(MachineError::OverBudget { .. }))) => {}
        other => panic!("{:?}", other.map(|_| "it ran")),
    }
}

#[test]
#[ignore = "long"]
fn the_estimated_memory_is_enough_on_the_smallest_graphs() {
    let wanted = json!({ "iterations": 3, "weighted": true });
    let request = tegula_algorithms::find("pagerank").unwrap().request(wanted.clone()).unwrap();
    on_small_graphs(|_, graph| {
        let prepared = request.prepare(graph, &threads(2), &LocalPaths).unwrap();
        let memory = prepared.estimate(graph, 2).unwrap().needed();
        let small = open_graph(graph.directory(), memory, Backend::Auto).unwrap();
        let found = rows(&small, &wanted, &RunOptions { memory, ..threads(2) });
        assert_eq!(found.unwrap(), rows(graph, &wanted, &threads(2)).unwrap());
    });
}

#[test]
fn without_weights_all_edges_weigh_the_same() {
    let scratch = Scratch::new();
    let plain = EdgeList::new(edges(&Rmat::new(10, 8, 2).unwrap()));
    let alike = EdgeList { weights: Some(vec![3e-30; plain.edges.len()]), ..plain.clone() };
    let open_as = |name: &str, graph: &EdgeList| {
        open(&import_edges(scratch.path(), name, graph, VertexOrder::Degree))
    };
    let unweighted = open_as("plain", &plain);
    let by_degree = rows(&unweighted, &json!({}), &threads(2)).unwrap();
    let weighted = rows(&unweighted, &json!({ "weighted": true }), &threads(2)).unwrap();
    assert_eq!(by_degree, weighted);
    let weighed_alike = open_as("alike", &alike);
    let walk = PageRank::new(STOP, weighed_alike.vertex_count());
    let found = ranks(&weighed_alike, walk, &threads(2));
    let expected = PageRank::run(&unweighted, STOP, &threads(2)).unwrap().states;
    let as_table = |graph: &Graph, ranks: &[f32]| table(graph, ranks, f64::from);
    let expected = as_table(&unweighted, &expected);
    matching::epsilon(&expected, &as_table(&weighed_alike, &found), 1e-6).unwrap();
}

#[test]
fn a_weight_below_0_is_refused_with_its_edge() {
    let scratch = Scratch::new();
    let mut graph = EdgeList::new(edges(&Rmat::new(12, 8, 2).unwrap())).weighted(3);
    let count = graph.edges.len() as u64;
    graph.edges.push((count, count + 1));
    graph.edges.push((count + 2, count));
    graph.weights.as_mut().unwrap().extend([-1e-30, -0.0]);
    let directory = import_edges(scratch.path(), "negative", &graph, VertexOrder::Degree);
    for count in [1, 3] {
        for arrays in [Arrays::Auto, Arrays::OnDisk] {
            let options = RunOptions { arrays, memory: AMPLE, ..threads(count) };
            let error =
                rows(&open(&directory), &json!({ "weighted": true }), &options).unwrap_err();
            assert!(matches!(error, Error::NegativeWeight { .. }) && error.is_of_graph());
            let message = error.to_string();
            let named = format!("from `{}` to `{}`", graph.edges.len() - 2, graph.edges.len() - 1);
            assert!(message.contains(&named), "{message}");
        }
    }
    // A run that ignores weights does not check them.
    rows(&open(&directory), &json!({}), &threads(1)).unwrap();
}
