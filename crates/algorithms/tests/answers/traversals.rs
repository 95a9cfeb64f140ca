//! Algorithms that traverse rows, against oracles and verifiers, in both vertex orders, with the
//! same answers for every number of threads, budget and backend; refusals; faults.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::Path;

use crate::support::ways::{Way, assert_modest, fail_each_read, graphs, in_memory, with_rows};
use crate::support::{components, import_with, open, original_of, table, threads};
use proptest::prelude::*;
use tegula_algorithms::communities::conductance::{self, ExactSum, Membership, Memberships};
use tegula_algorithms::components::wcc::{self, Method};
use tegula_algorithms::original_ids::ShortIdPosition;
use tegula_algorithms::structure::mis::{self, MisOptions};
use tegula_algorithms::structure::mst::{self, MstOptions};
use tegula_algorithms::{Error, Result};
use tegula_engine::{Graph, ShortId};
use tegula_import::ImportConfig;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::{
    EdgeList, Scratch, XorShift, matching, small_graphs, verify_conductance, verify_mis,
    verify_mst, verify_wcc, weighted_conductance,
};

const ORDERS: [VertexOrder; 2] = [VertexOrder::Given, VertexOrder::Degree];
const WCC: Method = Method::Traversal;

/// The graph with few different weights, some below 0, so that many are equal.
fn weighted(graph: &EdgeList, seed: u64) -> EdgeList {
    let mut random = XorShift::new(seed);
    let weights = graph.edges.iter().map(|_| random.below(7) as f32 - 2.0).collect();
    EdgeList { weights: Some(weights), ..graph.clone() }
}

/// The number of sets.
const SETS: u32 = 4;

/// Original ids in some of the sets: most in one, many in two or three, some in none.
fn sets_of(vertices: &[u64]) -> Vec<(u64, u64)> {
    let mut random = XorShift::new(vertices.len() as u64);
    let draws = vertices.iter().flat_map(|&vertex| [(vertex, 4), (vertex, 8), (vertex, 16)]);
    let mut sets: Vec<(u64, u64)> =
        draws.map(|(vertex, below)| (vertex, random.below(below))).collect();
    sets.retain(|&(_, set)| set < u64::from(SETS) - 1);
    sets
}

/// The sets by dense id, from members given by original ids.
fn memberships(graph: &Graph, sets: &[(u64, u64)]) -> Memberships {
    let originals = original_of(graph);
    let dense_of: HashMap<u64, ShortId> = originals.into_iter().zip((0..).map(ShortId)).collect();
    let members =
        sets.iter().map(|&(id, set)| Membership { vertex: dense_of[&id], set: set as u32 });
    Memberships::new(graph.short_vertex_count().unwrap(), SETS, members.collect()).unwrap()
}

/// The results of all traversals, in original ids.
#[derive(Debug, PartialEq)]
struct Answers {
    components: Vec<(u64, u64)>,
    members: Vec<(u64, bool)>,
    forest: Vec<(u64, u64, f32)>,
    /// The forest of greatest weight.
    greatest: Vec<(u64, u64, f32)>,
    sets: Vec<(u64, u64, u64, u64)>,
}

fn run(way: &Way, directory: &Path) -> Result<Answers> {
    let probe = open(directory);
    let (graph, options) = way.open(directory, &wcc::estimate_traversal(&probe))?;
    let roots = wcc::run(&graph, WCC, &options)?.roots;
    let (graph, options) = way.open(directory, &mis::estimate(&probe)?)?;
    let members = mis::run(&graph, MisOptions { seed: 5 }, &options)?.members;
    let (graph, options) = way.open(directory, &mst::estimate(&probe)?)?;
    let forest = mst::run(&graph, MstOptions::default(), &options)?;
    let greatest = mst::run(&graph, MstOptions { maximum: true }, &options)?;
    Ok(Answers {
        components: components(&probe, &roots),
        members: table(&probe, &members, |member| member),
        forest: named(&probe, &forest.edges),
        greatest: named(&probe, &greatest.edges),
        sets: conductance_of(way, directory)?,
    })
}

fn conductance_of(way: &Way, directory: &Path) -> Result<Vec<(u64, u64, u64, u64)>> {
    let probe = open(directory);
    let mut vertices = original_of(&probe);
    vertices.sort_unstable();
    let members = memberships(&probe, &sets_of(&vertices));
    let estimate = conductance::estimate::<u64>(&probe, &members, way.threads);
    let (graph, options) = way.open(directory, &estimate)?;
    let found = conductance::run::<u64>(&graph, &members, 0, &options)?;
    let rows = (0..).zip(&found.sets).filter(|(_, set)| set.vertices > 0);
    Ok(rows.map(|(number, set)| (number, set.vertices, set.volume, set.cut)).collect())
}

/// The edges of a forest in original ids.
fn named(graph: &Graph, edges: &[mst::ForestEdge]) -> Vec<(u64, u64, f32)> {
    let mut ids = original_of(graph);
    ids.sort_unstable();
    let id = |rank: ShortIdPosition| ids[rank.0 as usize];
    edges.iter().map(|edge| (id(edge.source), id(edge.target), edge.weight)).collect()
}

/// The same graph with negated weights.
fn negated(edges: &EdgeList) -> EdgeList {
    let weights = edges.weights.clone().unwrap_or_else(|| vec![1.0; edges.edges.len()]);
    let weights = Some(weights.into_iter().map(|weight| 0.0 - weight).collect());
    EdgeList { weights, ..edges.clone() }
}

fn verify(edges: &EdgeList, answers: &Answers) -> std::result::Result<(), String> {
    verify_wcc(edges, &answers.components)?;
    verify_mis(edges, &answers.members)?;
    matching::exact(&tegula_testkit::mis(edges, 5), &answers.members)?;
    verify_mst(edges, &answers.forest)?;
    if tegula_testkit::mst(edges) != answers.forest {
        return Err("another forest of the same weight".to_owned());
    }
    let negative = negated(edges);
    let mut greatest = answers.greatest.clone();
    greatest.iter_mut().for_each(|edge| edge.2 = 0.0 - edge.2);
    verify_mst(&negative, &greatest)?;
    if tegula_testkit::mst(&negative) != greatest {
        return Err("another forest of the same greatest weight".to_owned());
    }
    let sets = sets_of(&edges.vertices());
    verify_conductance(edges, true, &sets, &answers.sets)?;
    match tegula_testkit::conductance(edges, true, &sets) == answers.sets {
        true => Ok(()),
        false => Err(format!("{:?}", answers.sets)),
    }
}

#[test]
fn traversals_find_what_the_oracles_find_in_both_orders() {
    for seed in 0..2 {
        let scratch = Scratch::new();
        for (name, edges) in small_graphs(seed) {
            let edges = weighted(&edges, seed);
            for order in ORDERS {
                let name = format!("{name}-{}", order.name());
                let directory = import_with(with_rows(order, true), scratch.path(), &name, &edges);
                for threads in [1, 3] {
                    let answers = run(&Way::ample(threads), &directory).unwrap();
                    verify(&edges, &answers).unwrap_or_else(|error| panic!("{name}: {error}"));
                }
            }
        }
    }
}

#[test]
fn conductance_counts_both_directions_of_a_directed_graph() {
    let scratch = Scratch::new();
    for (name, edges) in small_graphs(4) {
        for order in ORDERS {
            let name = format!("{name}-{}", order.name());
            let directory = import_with(with_rows(order, false), scratch.path(), &name, &edges);
            let rows = conductance_of(&Way::ample(2), &directory).unwrap();
            verify_conductance(&edges, false, &sets_of(&edges.vertices()), &rows).unwrap();
        }
    }
}

/// Weights of any size, some 0.
fn of_any_weight(edges: &EdgeList, seed: u64) -> EdgeList {
    let mut random = XorShift::new(seed);
    let mut weigh = || match random.below(6) {
        0 => 0.0,
        1 => f32::MAX,
        2 => f32::from_bits(random.below(f32::INFINITY.to_bits().into()) as u32),
        _ => random.below(9) as f32,
    };
    let weights = edges.edges.iter().map(|_| weigh()).collect();
    EdgeList { weights: Some(weights), ..edges.clone() }
}

/// The volume, cut and conductance of each set, by weights.
fn weighed(way: &Way, directory: &Path) -> Result<Vec<(u64, f64, f64, Option<f64>)>> {
    let probe = open(directory);
    let mut vertices = original_of(&probe);
    vertices.sort_unstable();
    let members = memberships(&probe, &sets_of(&vertices));
    let estimate = conductance::estimate::<ExactSum>(&probe, &members, way.threads);
    let (graph, options) = way.open(directory, &estimate)?;
    let found = conductance::run::<ExactSum>(&graph, &members, 0, &options)?;
    let rows = found.sets.iter().filter(|set| set.vertices > 0);
    let conductance = |set: &conductance::SetFigures<_>| set.conductance(found.volume);
    Ok(rows
        .map(|set| (set.vertices, set.volume.to_f64(), set.cut.to_f64(), conductance(set)))
        .collect())
}

#[test]
fn weighted_conductance_matches_the_oracle_in_every_way() {
    let is_close = |expected: f64, found: f64| (expected - found).abs() <= 1e-13 * expected.abs();
    let scratch = Scratch::new();
    for (name, edges) in small_graphs(7) {
        let edges = of_any_weight(&edges, 7);
        for undirected in [false, true] {
            let name = format!("{name}-{undirected}");
            let config = with_rows(VertexOrder::Degree, undirected);
            let directory = import_with(config, scratch.path(), &name, &edges);
            let found = weighed(&Way::ample(1), &directory).unwrap();
            let least = Way { has_least_memory: true, ..Way::ample(3) };
            assert_eq!(weighed(&least, &directory).unwrap(), found, "{name}");
            let expected = weighted_conductance(&edges, undirected, &sets_of(&edges.vertices()));
            assert_eq!(found.len(), expected.len(), "{name}");
            for (found, (set, vertices, volume, cut, conductance)) in found.iter().zip(expected) {
                assert_eq!(found.0, vertices, "{name}, {set}");
                assert!(is_close(volume, found.1) && is_close(cut, found.2), "{name}, {set}");
                let is_same = match (conductance, found.3) {
                    (Some(expected), Some(found)) => is_close(expected, found),
                    (expected, found) => expected == found,
                };
                assert!(is_same, "{name}, {set}: {conductance:?}, {found:?}");
            }
        }
    }
}

#[test]
fn conductance_is_exact_where_the_rest_weighs_almost_nothing() {
    let scratch = Scratch::new();
    // The rest weighs less than the last digit of the sum of all.
    let weights = Some(vec![1e30, 2e-5, 1e-5]);
    let edges = EdgeList { weights, ..EdgeList::new(vec![(0, 1), (1, 2), (2, 3)]) };
    let config = with_rows(VertexOrder::Given, true);
    let graph = open(&import_with(config, scratch.path(), "g", &edges));
    let members = memberships(&graph, &[(0, 0), (1, 0)]);
    let found = conductance::run::<ExactSum>(&graph, &members, 0, &threads(2)).unwrap();
    let [cut, beyond] = [2e-5f32, 1e-5].map(f64::from);
    let expected = cut / (cut + 2.0 * beyond);
    assert_eq!(found.sets[0].conductance(found.volume), Some(expected));
    let negative = EdgeList { weights: Some(vec![1.0, -2.0, -3.0]), ..edges };
    let config = with_rows(VertexOrder::Given, true);
    let graph = open(&import_with(config, scratch.path(), "negative", &negative));
    let error = conductance::run::<ExactSum>(&graph, &members, 0, &threads(2)).unwrap_err();
    assert!(error.to_string().contains("from `1` to `2`"), "{error}");
}

#[test]
fn a_set_without_edges_or_with_all_of_them_has_no_conductance() {
    let scratch = Scratch::new();
    let edges = EdgeList { isolated: vec![], ..EdgeList::new(vec![(0, 1), (1, 2), (3, 3)]) };
    let config = with_rows(VertexOrder::Given, false);
    let graph = open(&import_with(config, scratch.path(), "g", &edges));
    let members = memberships(&graph, &[(0, 0), (1, 0), (2, 1), (3, 0)]);
    let found = conductance::run::<u64>(&graph, &members, 0, &threads(1)).unwrap();
    let values: Vec<_> = found.sets.iter().map(|set| set.conductance(found.volume)).collect();
    assert_eq!(values, [Some(1.0), Some(1.0), None, None]);
    let members = memberships(&graph, &[(0, 0), (1, 0), (2, 0), (3, 0)]);
    let found = conductance::run::<u64>(&graph, &members, 0, &threads(1)).unwrap();
    assert_eq!(found.sets[0].conductance(found.volume), None);
}

#[test]
fn the_estimate_of_conductance_grows_with_the_threads() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(vec![(0, 1)]);
    let config = with_rows(VertexOrder::Given, true);
    let graph = open(&import_with(config, scratch.path(), "pair", &edges));
    let all = (0..1000).map(|set| Membership { vertex: ShortId(0), set }).collect();
    let members = Memberships::new(2, 1000, all).unwrap();
    let bytes = |threads| conductance::estimate::<u64>(&graph, &members, threads).vertex_bytes;
    assert_eq!(bytes(4) - bytes(1), 3 * 8 * 1000);
}

#[test]
fn an_unweighted_graph_has_a_spanning_forest_too() {
    let scratch = Scratch::new();
    for (name, edges) in small_graphs(6) {
        let config = with_rows(VertexOrder::Given, true);
        let graph = open(&import_with(config, scratch.path(), name, &edges));
        let found = mst::run(&graph, MstOptions::default(), &threads(2)).unwrap();
        assert_eq!(found.weight(), found.edges.len() as f64);
        verify_mst(&edges, &named(&graph, &found.edges)).unwrap();
    }
}

#[test]
fn another_seed_gives_another_set() {
    let scratch = Scratch::new();
    let edges = EdgeList::new((0..500).map(|vertex| (vertex, vertex + 1)).collect());
    let graph =
        open(&import_with(with_rows(VertexOrder::Given, true), scratch.path(), "g", &edges));
    let members = |seed| mis::run(&graph, MisOptions { seed }, &threads(2)).unwrap().members;
    assert_eq!(members(1), members(1));
    assert_ne!(members(1), members(2));
}

#[test]
fn graphs_with_one_direction_or_without_rows_are_refused() {
    let scratch = Scratch::new();
    let edges = EdgeList::new(vec![(1, 0), (1, 2)]);
    let config = with_rows(VertexOrder::Given, false);
    let graph = open(&import_with(config, scratch.path(), "directed", &edges));
    let one_direction = |result: Result<()>| {
        assert!(matches!(result, Err(Error::OneDirection { .. })), "{result:?}");
    };
    one_direction(wcc::run(&graph, WCC, &threads(1)).map(drop));
    one_direction(mis::run(&graph, MisOptions::default(), &threads(1)).map(drop));
    one_direction(mst::run(&graph, MstOptions::default(), &threads(1)).map(drop));
    let config = ImportConfig { undirected: true, ..Default::default() };
    let graph = open(&import_with(config, scratch.path(), "bare", &edges));
    let no_rows = |result: Result<()>| match result {
        Err(Error::Run(tegula_engine::Error::MissingLayout { layout: "rows", .. })) => {}
        other => panic!("{other:?}"),
    };
    no_rows(wcc::run(&graph, WCC, &threads(1)).map(drop));
    no_rows(mis::run(&graph, MisOptions::default(), &threads(1)).map(drop));
    no_rows(mst::run(&graph, MstOptions::default(), &threads(1)).map(drop));
    let members = memberships(&graph, &[(1, 0)]);
    no_rows(conductance::run::<u64>(&graph, &members, 0, &threads(1)).map(drop));
}

#[test]
fn vertex_data_and_64_mib_are_enough() {
    let scratch = Scratch::new();
    let edges = tegula_generators::edges(&tegula_generators::Rmat::new(13, 8, 5).unwrap());
    let edges = weighted(&EdgeList::new(edges), 5);
    let directory = import_with(with_rows(VertexOrder::Degree, true), scratch.path(), "g", &edges);
    let graph = open(&directory);
    let members = memberships(&graph, &sets_of(&original_of(&graph)));
    let estimates = [
        (8, wcc::estimate_traversal(&graph)),
        (6, mis::estimate(&graph).unwrap()),
        (32, mst::estimate(&graph).unwrap()),
        (14, conductance::estimate::<u64>(&graph, &members, 2)),
        (14, conductance::estimate::<ExactSum>(&graph, &members, 2)),
    ];
    assert_modest(&graph, &estimates);
    let least = Way { has_least_memory: true, ..Way::ample(2) };
    assert!(run(&least, &directory).unwrap() == run(&Way::ample(2), &directory).unwrap());
}

#[test]
fn a_read_that_fails_is_the_error_of_the_run() {
    let scratch = Scratch::new();
    let edges = tegula_generators::edges(&tegula_generators::Rmat::new(12, 8, 5).unwrap());
    let edges = weighted(&EdgeList::new(edges), 5);
    let directory = import_with(with_rows(VertexOrder::Degree, true), scratch.path(), "g", &edges);
    fail_each_read(|way| run(way, &directory));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..Default::default() })]

    #[test]
    fn every_way_to_run_gives_the_same(
        edges in graphs(1..=200, 0..=4),
        seed: u64,
        encoding in 0..RowEncoding::ALL.len(),
    ) {
        let edges = weighted(&edges, seed);
        for order in ORDERS {
            let scratch = Scratch::new();
            let rows = Some(RowEncoding::ALL[encoding]);
            let config = ImportConfig { rows, ..with_rows(order, true) };
            let directory = import_with(config, scratch.path(), "g", &edges);
            let expected = run(&Way::ample(1), &directory).unwrap();
            prop_assert_eq!(verify(&edges, &expected), Ok(()));
            let backends = [
                Backend::Threads(NonZeroUsize::new(2).unwrap()),
                in_memory(&directory),
            ];
            for backend in backends {
                for (threads, has_least_memory) in [(1, true), (3, true), (2, false)] {
                    let way = Way { threads, has_least_memory, backend: backend.clone() };
                    prop_assert!(run(&way, &directory).unwrap() == expected, "{order:?}, {way:?}");
                }
            }
        }
    }
}
