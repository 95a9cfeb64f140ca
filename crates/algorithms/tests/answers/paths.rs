//! Dijkstra's algorithm and A* against oracles, in every vertex order, with the same answers for
//! every number of threads, budget and backend; refusals; faults.

use std::num::NonZeroUsize;
use std::path::Path;

use crate::support::ways::{Way, assert_modest, fail_each_read, graphs, with_rows};
use crate::support::{find, import_with, open, original_of, table, threads};
use proptest::prelude::*;
use tegula_algorithms::algorithm::EdgeDirection;
use tegula_algorithms::paths::astar::{self, AstarConfig, ShortestPath};
use tegula_algorithms::paths::sssp::{self, Method, SsspConfig};
use tegula_algorithms::{Error, Result};
use tegula_engine::traverse::Directions;
use tegula_engine::{Executor, Graph, RunOptions};
use tegula_generators::Grid;
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::{
    EdgeList, Scratch, XorShift, data, shortest_path, small_graphs, sssp as oracle, verify_path,
    verify_sssp,
};

const ORDERS: [VertexOrder; 3] = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs];
const DIJKSTRA: SsspConfig = SsspConfig {
    method: Method::Dijkstra,
    delta: None,
    cutoff: None,
    direction: EdgeDirection::Out,
};
const BLIND: AstarConfig<'static> = AstarConfig { coordinates: None, heuristic_scale: None };

/// The graph as it is stored.
fn stored(edges: &EdgeList, undirected: bool) -> EdgeList {
    if undirected { edges.undirected() } else { edges.clone() }
}

/// Places for the vertices, determined by their ids, on a coarse lattice, so that some share a
/// place.
fn places(graph: &Graph) -> Vec<[f64; 2]> {
    let place = |id: u64| {
        let mut random = XorShift::new(id);
        [random.below(20) as f64 - 7.0, random.below(20) as f64 * 0.1]
    };
    original_of(graph).into_iter().map(place).collect()
}

/// A path in original ids.
fn named(graph: &Graph, found: &ShortestPath) -> Vec<(u64, f64)> {
    let mut ids = original_of(graph);
    ids.sort_unstable();
    found.steps.iter().map(|step| (ids[step.id_position.0 as usize], step.distance)).collect()
}

/// Some pairs of vertices, some with equal ends.
fn pairs(edges: &EdgeList, count: usize) -> Vec<(u64, u64)> {
    let vertices = edges.vertices();
    if vertices.is_empty() {
        return Vec::new();
    }
    let mut random = XorShift::new(vertices.len() as u64);
    let mut pick = || vertices[random.below(vertices.len() as u64) as usize];
    (0..count)
        .map(|_| (pick(), pick()))
        .chain(vertices.first().map(|&first| (first, first)))
        .collect()
}

fn distances(graph: &Graph, source: u64, options: &RunOptions<'_>) -> Result<Vec<(u64, f64)>> {
    let found = sssp::run(graph, find(graph, source), DIJKSTRA, options)?;
    Ok(table(graph, &found.distances, |distance| distance))
}

fn path(
    graph: &Graph,
    (source, target): (u64, u64),
    config: &AstarConfig<'_>,
    options: &RunOptions<'_>,
) -> Result<ShortestPath> {
    astar::run(graph, find(graph, source), find(graph, target), config, options)
}

#[test]
#[ignore = "long"]
fn dijkstra_gives_the_bits_of_delta_stepping_and_of_the_oracle() {
    let scratch = Scratch::new();
    for (name, edges) in small_graphs(3) {
        let Some(&source) = edges.vertices().last() else { continue };
        for (edges, undirected) in
            [(edges.weighted(1), false), (edges.weighted(2), true), (edges, true)]
        {
            for order in ORDERS {
                let name =
                    format!("{name}-{undirected}-{}-{}", edges.weights.is_some(), order.name());
                let config = with_rows(order, undirected);
                let graph = open(&import_with(config, scratch.path(), &name, &edges));
                let found = distances(&graph, source, &threads(2)).unwrap();
                let edges = stored(&edges, undirected);
                verify_sssp(&edges, source, &found)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                assert_eq!(found, oracle(&edges, source), "{name}");
                let default = SsspConfig::default();
                let other = sssp::run(&graph, find(&graph, source), default, &threads(2)).unwrap();
                assert_eq!(found, table(&graph, &other.distances, |distance| distance), "{name}");
            }
        }
    }
}

#[test]
fn a_vertex_may_come_nearer_at_every_step() {
    const STEPS: u64 = 40;
    let scratch = Scratch::new();
    let (mut edges, mut weights) = (Vec::new(), Vec::new());
    for step in 0..STEPS {
        edges.push((step, step + 1));
        weights.push(1.0);
        edges.extend((0..300).map(|target| (step, 1000 + target)));
        weights.extend((0..300).map(|target| (3 * (STEPS - step)) as f32 + target as f32 / 16.0));
    }
    let edges = EdgeList { weights: Some(weights), ..EdgeList::new(edges) };
    let config = with_rows(VertexOrder::Given, false);
    let graph = open(&import_with(config, scratch.path(), "nearer", &edges));
    for (workers, delta) in [(1, 0.5), (2, 0.5), (2, 4.0), (1, 1000.0)] {
        let config = SsspConfig { delta: Some(delta), ..Default::default() };
        let options = RunOptions { executor: Executor::Seek, ..threads(workers) };
        let found = sssp::run(&graph, find(&graph, 0), config, &options).unwrap();
        let found = table(&graph, &found.distances, |distance| distance);
        assert_eq!(found, oracle(&edges, 0), "{workers} workers, buckets of {delta}");
    }
}

#[test]
#[ignore = "long"]
fn paths_match_the_oracle_in_every_order_with_and_without_coordinates() {
    let scratch = Scratch::new();
    for (name, edges) in small_graphs(5) {
        for (edges, undirected) in
            [(edges.weighted(1), false), (edges.weighted(2), true), (edges, true)]
        {
            let (stored, pairs) = (stored(&edges, undirected), pairs(&edges, 6));
            for order in ORDERS {
                let name =
                    format!("{name}-{undirected}-{}-{}", edges.weights.is_some(), order.name());
                let config = with_rows(order, undirected);
                let graph = open(&import_with(config, scratch.path(), &name, &edges));
                let places = places(&graph);
                let seeing = AstarConfig { coordinates: Some(&places), heuristic_scale: None };
                for &(source, target) in &pairs {
                    let expected = shortest_path(&stored, source, target);
                    for config in [&BLIND, &seeing] {
                        let found = path(&graph, (source, target), config, &threads(2)).unwrap();
                        let found = named(&graph, &found);
                        assert_eq!(verify_path(&stored, source, target, &found), Ok(()), "{name}");
                        assert_eq!(found, expected, "{name}: {source} to {target}");
                    }
                }
            }
        }
    }
}

/// A square grid; `weigh` gives the weight of an edge by its number.
fn grid(side: u64, weigh: impl Fn(u64) -> f32) -> EdgeList {
    let edges = tegula_generators::edges(&Grid::new(side, side).unwrap());
    let weights = (0..edges.len() as u64).map(weigh).collect();
    EdgeList { weights: Some(weights), ..EdgeList::new(edges) }
}

fn places_on_grid(graph: &Graph, side: u64) -> Vec<[f64; 2]> {
    let place = |id: u64| [(id % side) as f64, (id / side) as f64];
    original_of(graph).into_iter().map(place).collect()
}

#[test]
fn coordinates_save_visits_to_most_of_a_grid() {
    let scratch = Scratch::new();
    let side = 120;
    // Weights are slightly more than a step, so most edges have a detour around them.
    let edges = grid(side, |edge| 1.0 + XorShift::new(edge).fraction() as f32 / 4.0);
    let graph = open(&import_with(with_rows(VertexOrder::Dfs, true), scratch.path(), "g", &edges));
    let places = places_on_grid(&graph, side);
    let ends = (30 * side + 20, 80 * side + 90);
    let blind = path(&graph, ends, &BLIND, &threads(1)).unwrap();
    let seeing = AstarConfig { coordinates: Some(&places), heuristic_scale: None };
    let found = path(&graph, ends, &seeing, &threads(1)).unwrap();
    assert_eq!(found.steps, blind.steps);
    assert_eq!(named(&graph, &found), shortest_path(&edges.undirected(), ends.0, ends.1));
    assert!(2 * found.expanded < blind.expanded, "{} {}", found.expanded, blind.expanded);
    // The search stops before it has seen all vertices.
    assert!(blind.expanded < graph.vertex_count() * 9 / 10, "{}", blind.expanded);
    assert!((1.0..1.01).contains(&found.heuristic_scale), "{}", found.heuristic_scale);
    assert_eq!((found.statistics.iterations, blind.statistics.iterations), (2, 1));
    let given = AstarConfig { heuristic_scale: Some(0.5), ..seeing };
    let slower = path(&graph, ends, &given, &threads(1)).unwrap();
    assert_eq!(slower.steps, found.steps);
    assert!(slower.expanded > found.expanded && slower.expanded < blind.expanded);
}

#[test]
fn rounding_does_not_change_the_path() {
    // Sums of tenths depend on their order: here all detours are ties up to the last bits.
    let scratch = Scratch::new();
    let side = 40;
    for weigh in [|_| 0.1f32, |edge| [0.1f32, 0.3, 0.7][edge as usize % 3], |_| 0.0] {
        let edges = grid(side, weigh);
        let config = with_rows(VertexOrder::Given, true);
        let graph = open(&import_with(config, scratch.path(), "g", &edges));
        let places = places_on_grid(&graph, side);
        let seeing = AstarConfig { coordinates: Some(&places), heuristic_scale: None };
        for ends in [(0, side * side - 1), (side - 1, side * (side - 1)), (7 * side + 3, 35)] {
            let expected = shortest_path(&edges.undirected(), ends.0, ends.1);
            for config in [&BLIND, &seeing] {
                let found = path(&graph, ends, config, &threads(1)).unwrap();
                assert_eq!(named(&graph, &found), expected, "{ends:?}");
            }
        }
        std::fs::remove_dir_all(graph.directory()).unwrap();
    }
}

#[test]
fn the_same_vertex_needs_no_edge_and_one_that_is_unreached_has_no_path() {
    let scratch = Scratch::new();
    let edges =
        EdgeList { weights: Some(vec![0.0; 3]), ..EdgeList::new(vec![(1, 2), (2, 1), (3, 1)]) };
    let graph =
        open(&import_with(with_rows(VertexOrder::Given, false), scratch.path(), "g", &edges));
    let found = path(&graph, (2, 2), &BLIND, &threads(1)).unwrap();
    assert_eq!((named(&graph, &found), found.expanded), (vec![(2, 0.0)], 0));
    let found = path(&graph, (2, 3), &BLIND, &threads(1)).unwrap();
    assert_eq!((found.steps, found.expanded), (vec![], 2));
}

#[test]
fn weights_below_zero_and_scales_that_are_too_large_are_refused() {
    let scratch = Scratch::new();
    for weight in [-1.0f32, -0.0] {
        let edges =
            EdgeList { weights: Some(vec![1.0, weight]), ..EdgeList::new(vec![(0, 1), (1, 2)]) };
        let config = with_rows(VertexOrder::Given, false);
        let graph = open(&import_with(config, scratch.path(), &weight.to_string(), &edges));
        let places = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]];
        let seeing = AstarConfig { coordinates: Some(&places), heuristic_scale: None };
        let results = [
            distances(&graph, 0, &threads(1)).map(|found| found[2].1),
            path(&graph, (0, 2), &BLIND, &threads(1)).map(|found| found.steps[2].distance),
            path(&graph, (0, 2), &seeing, &threads(1)).map(|found| found.steps[2].distance),
        ];
        for result in results {
            match result {
                Ok(distance) => {
                    assert_eq!((distance, weight.to_bits()), (1.0, (-0.0f32).to_bits()))
                }
                Err(Error::NegativeWeight { .. }) => assert!(weight < 0.0),
                Err(error) => panic!("{error}"),
            }
        }
        let given = AstarConfig { heuristic_scale: Some(1.5), ..seeing };
        let result = path(&graph, (0, 1), &given, &threads(1));
        assert!(matches!(result, Err(Error::Overestimate { scale: 1.5 })), "{result:?}");
        assert_eq!(result.unwrap_err().hints().len(), 2, "a smaller scale, or none");
    }
}

#[test]
fn a_graph_without_rows_is_refused() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(vec![(1, 0), (1, 2)]);
    let graph = open(&import_with(ImportConfig::default(), scratch.path(), "bare", &edges));
    let no_rows = |result: Result<()>| match result {
        Err(Error::Run(tegula_engine::Error::MissingLayout { layout: "rows", .. })) => {}
        other => panic!("{other:?}"),
    };
    no_rows(distances(&graph, 1, &threads(1)).map(drop));
    no_rows(path(&graph, (1, 2), &BLIND, &threads(1)).map(drop));
}

/// Distances from one vertex, and paths between some pairs, with and without coordinates.
type Answers = (Vec<(u64, f64)>, Vec<(Vec<(u64, f64)>, u64)>);

fn run(way: &Way, directory: &Path, pairs: &[(u64, u64)]) -> Result<Answers> {
    let probe = open(directory);
    let Some(&(source, _)) = pairs.first() else { return Ok((vec![], vec![])) };
    let (graph, options) =
        way.open(directory, &sssp::estimate_dijkstra(&probe, Directions::Forward))?;
    let found = sssp::run(&graph, find(&probe, source), DIJKSTRA, &options)?;
    let distances = table(&probe, &found.distances, |distance| distance);
    let (places, mut paths) = (places(&probe), Vec::new());
    for coordinates in [None, Some(&places[..])] {
        let needed = astar::estimate(&probe, coordinates.is_some())?;
        let config = AstarConfig { coordinates, heuristic_scale: None };
        for &(source, target) in pairs {
            let (graph, options) = way.open(directory, &needed)?;
            let (source, target) = (find(&probe, source), find(&probe, target));
            let found = astar::run(&graph, source, target, &config, &options)?;
            paths.push((named(&probe, &found), found.expanded));
        }
    }
    Ok((distances, paths))
}

#[test]
fn vertex_data_and_64_mib_are_enough() {
    let scratch = Scratch::new();
    let edges = tegula_generators::edges(&tegula_generators::Rmat::new(13, 8, 5).unwrap());
    let edges = EdgeList::new(edges).weighted(5);
    let directory = import_with(with_rows(VertexOrder::Degree, true), scratch.path(), "g", &edges);
    let graph = open(&directory);
    let estimates = [
        (33, sssp::estimate_dijkstra(&graph, Directions::Forward)),
        (57, astar::estimate(&graph, false).unwrap()),
        (73, astar::estimate(&graph, true).unwrap()),
    ];
    assert_modest(&graph, &estimates);
    let pairs = pairs(&edges, 3);
    let least = Way { has_least_memory: true, ..Way::ample(2) };
    assert!(
        run(&least, &directory, &pairs).unwrap()
            == run(&Way::ample(2), &directory, &pairs).unwrap()
    );
    let (graph, options) = least.open(&directory, &estimates[0].1).unwrap();
    let options = RunOptions { memory: options.memory - 1, ..options };
    let refused = distances(&graph, pairs[0].0, &options);
    let Err(Error::Run(tegula_engine::Error::Machine(MachineError::OverBudget { needed, .. }))) =
        refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!(needed, estimates[0].1.needed());
}

#[test]
fn a_read_that_fails_is_the_error_of_the_run() {
    let scratch = Scratch::new();
    let edges = tegula_generators::edges(&tegula_generators::Rmat::new(12, 8, 5).unwrap());
    let edges = EdgeList::new(edges).weighted(5);
    let directory = import_with(with_rows(VertexOrder::Degree, true), scratch.path(), "g", &edges);
    let pairs = pairs(&edges, 1);
    fail_each_read(|way| run(way, &directory, &pairs));
}

#[test]
fn the_road_network_of_california_has_its_known_distances() {
    let Some(file) = data::find("cal.weighted.txt.zst") else { return };
    let edges = data::read_edge_list(&file).unwrap();
    let scratch = Scratch::new();
    let config = with_rows(VertexOrder::Dfs, true);
    let graph = open(&import_with(config, scratch.path(), "cal", &edges));
    let found = distances(&graph, 0, &threads(1)).unwrap();
    assert_eq!(found.iter().filter(|row| row.1.is_finite()).count(), 21_048);
    let farthest = found.iter().max_by(|one, other| one.1.total_cmp(&other.1)).unwrap();
    assert!(farthest.0 == 20_600 && (farthest.1 - 14.836895).abs() < 1e-5, "{farthest:?}");
    let to_it = path(&graph, (0, 20_600), &BLIND, &threads(1)).unwrap();
    assert_eq!(to_it.steps.last().unwrap().distance, farthest.1);
    verify_path(&edges.undirected(), 0, 20_600, &named(&graph, &to_it)).unwrap();
}

/// Adds weights of which many are equal and many 0.
fn with_many_ties(graph: EdgeList, seed: u64) -> EdgeList {
    let mut random = XorShift::new(seed);
    let weights = graph.edges.iter().map(|_| random.below(5).saturating_sub(1) as f32 * 0.1);
    EdgeList { weights: Some(weights.collect()), ..graph }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..Default::default() })]

    #[test]
    #[ignore = "long"]
    fn every_way_to_run_gives_the_same(
        edges in graphs(1..=150, 1..=4),
        seed: u64,
        encoding in 0..3usize,
        undirected: bool,
    ) {
        let edges = with_many_ties(edges, seed);
        let pairs = pairs(&edges, 4);
        let stored = stored(&edges, undirected);
        for order in ORDERS {
            let scratch = Scratch::new();
            let rows = Some(RowEncoding::ALL[encoding]);
            let config = ImportConfig { rows, ..with_rows(order, undirected) };
            let directory = import_with(config, scratch.path(), "g", &edges);
            let expected = run(&Way::ample(1), &directory, &pairs).unwrap();
            if let Some(&(source, _)) = pairs.first() {
                prop_assert_eq!(&expected.0, &oracle(&stored, source));
            }
            for (&(source, target), (path, _)) in pairs.iter().chain(&pairs).zip(&expected.1) {
                prop_assert_eq!(path, &shortest_path(&stored, source, target));
            }
            let workers = Backend::Threads(NonZeroUsize::new(2).unwrap());
            for backend in [Backend::Auto, workers] {
                for (threads, has_least_memory) in [(1, true), (3, false)] {
                    let way = Way { threads, has_least_memory, backend: backend.clone() };
                    let found = run(&way, &directory, &pairs).unwrap();
                    prop_assert!(found == expected, "{order:?}, {way:?}");
                }
            }
        }
    }
}
