//! PageRank against double precision for long sums: hubs of millions of edges.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::support::{AMPLE, find, open, table, threads};
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_engine::{Graph, Instructions, RunOptions, Tuning, estimate, open_graph};
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::Backend;
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch, XorShift, match_pagerank, matching, pagerank};

const DAMPING: f64 = PageRank::DAMPING;
/// The documented precision is 1e-5.
const PRECISION: f64 = 1e-6;

/// Imports edges without holding them in memory.
fn import_pairs(
    folder: &Path,
    order: VertexOrder,
    undirected: bool,
    edges: impl Iterator<Item = (u32, u32)>,
) -> PathBuf {
    let input = folder.join("g.bin32");
    let bytes: Vec<u8> =
        edges.flat_map(|(source, target)| [source, target]).flat_map(u32::to_le_bytes).collect();
    std::fs::write(&input, bytes).unwrap();
    let output = folder.join(format!("{}.tegula", order.name()));
    let config =
        ImportConfig { memory: 512 << 20, order: Some(order), undirected, ..Default::default() };
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

fn until(tolerance: f64) -> Stop {
    Stop::Tolerance { tolerance, iterations_max: 300 }
}

/// Returns the ranks of the centre and of each leaf of a star with edges both ways.
fn star_ranks(leaves: u32) -> (f64, f64) {
    let jump = (1.0 - DAMPING) / (f64::from(leaves) + 1.0);
    let hub = jump * (1.0 + DAMPING * f64::from(leaves)) / (1.0 - DAMPING * DAMPING);
    (hub, jump + DAMPING * hub / f64::from(leaves))
}

#[track_caller]
fn assert_close(found: f32, expected: f64) {
    let error = (f64::from(found) / expected - 1.0).abs();
    assert!(error <= PRECISION, "{found} is off {expected} by {error:e}");
}

#[test]
#[ignore = "long"]
fn the_middle_of_a_star_of_three_million_converges_to_its_rank() {
    const LEAVES: u32 = 3_000_000;
    let scratch = Scratch::new();
    let edges = || (1..=LEAVES).map(|leaf| (0, leaf));
    let graph = open(&import_pairs(scratch.path(), VertexOrder::Given, true, edges()));
    let (hub, leaf) = star_ranks(LEAVES);
    let converged = |tolerance| {
        let outcome = PageRank::run(&graph, until(tolerance), &threads(2)).unwrap();
        assert_eq!(outcome.program.has_converged(), Some(true), "{tolerance}");
        outcome.states
    };
    converged(1e-6);
    // The precision includes the change after the tolerance is reached.
    let tolerance = 1e-8;
    assert!(tolerance < PRECISION * (1.0 - DAMPING));
    let ranks = converged(tolerance);
    assert_close(ranks[find(&graph, 0).index()], hub);
    let leaves = &ranks[1..];
    assert!(leaves.iter().all(|rank| *rank == leaves[0]), "all leaves are alike");
    assert_close(leaves[0], leaf);
}

#[test]
fn hubs_with_the_same_neighbours_converge_to_their_rank() {
    // Each leaf has edges to all hubs, which are best coded as masks, and all leaves send the same
    // message.
    const HUBS: u32 = 16;
    const LEAVES: u32 = 300_001;
    let scratch = Scratch::new();
    let edges = (0..LEAVES).flat_map(|leaf| (0..HUBS).map(move |hub| (HUBS + leaf, hub)));
    let graph = open(&import_pairs(scratch.path(), VertexOrder::Given, true, edges));
    let outcome = PageRank::run(&graph, until(1e-8), &threads(2)).unwrap();
    assert_eq!(outcome.program.has_converged(), Some(true));
    let (hubs, leaves) = (f64::from(HUBS), f64::from(LEAVES));
    let jump = (1.0 - DAMPING) / (hubs + leaves);
    let hub = jump * (1.0 + DAMPING * leaves / hubs) / (1.0 - DAMPING * DAMPING);
    for number in 0..HUBS {
        let vertex = find(&graph, u64::from(number));
        assert_close(outcome.states[vertex.index()], hub);
    }
}

#[test]
fn several_hubs_are_precise_in_every_order() {
    // Leaf `v` is a neighbour of all hubs, of the first only, or of every second: rows, masks and
    // strips of several targets.
    const HUBS: u32 = 12;
    const LEAVES: u32 = 200_000;
    let edges: Vec<(u32, u32)> = (0..LEAVES)
        .flat_map(|leaf| {
            let reach = if leaf % 3 == 0 { HUBS } else { 1 + leaf % 3 };
            (0..reach).map(move |hub| (hub * (1 + leaf % 2) % HUBS, HUBS + leaf))
        })
        .collect();
    let list = EdgeList::new(edges.iter().map(|&(a, b)| (a.into(), b.into())).collect());
    let expected = pagerank(&list.undirected(), DAMPING, 30);
    for order in [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs] {
        let scratch = Scratch::new();
        let graph = open(&import_pairs(scratch.path(), order, true, edges.iter().copied()));
        let outcome = PageRank::run(&graph, Stop::Iterations(30), &threads(2)).unwrap();
        let ranks = table(&graph, &outcome.states, f64::from);
        matching::epsilon(&expected, &ranks, PRECISION).unwrap();
    }
}

/// A vertex with edges from ten million others, a quarter of which have another edge.
fn ten_million() -> impl Iterator<Item = (u32, u32)> {
    let mut random = XorShift::new(17);
    (1..=10_000_000u32).flat_map(move |vertex| {
        let other = 1 + random.below(u64::from(vertex)) as u32;
        std::iter::once((vertex, 0)).chain((vertex % 4 == 0).then_some((vertex, other)))
    })
}

/// Two rounds of ranks in double precision, where all vertices but the first have an edge.
fn two_rounds(
    vertex_count: usize,
    edges: impl Fn() -> Box<dyn Iterator<Item = (u32, u32)>>,
) -> Vec<f64> {
    let mut degrees = vec![0u32; vertex_count];
    edges().for_each(|(source, _)| degrees[source as usize] += 1);
    let mut ranks = vec![1.0 / vertex_count as f64; vertex_count];
    for _ in 0..2 {
        let stranded: f64 = ranks
            .iter()
            .zip(&degrees)
            .filter(|(_, degree)| **degree == 0)
            .map(|(rank, _)| rank)
            .sum();
        let base = (1.0 - DAMPING + DAMPING * stranded) / vertex_count as f64;
        let mut next = vec![base; vertex_count];
        for (source, target) in edges() {
            next[target as usize] +=
                DAMPING * ranks[source as usize] / f64::from(degrees[source as usize]);
        }
        ranks = next;
    }
    ranks
}

#[test]
fn a_hub_of_ten_million_edges_from_unlike_vertices_is_precise() {
    let scratch = Scratch::new();
    let graph = open(&import_pairs(scratch.path(), VertexOrder::Given, false, ten_million()));
    let expected = two_rounds(graph.vertex_count() as usize, || Box::new(ten_million()));
    let ranks = PageRank::run(&graph, Stop::Iterations(2), &threads(2)).unwrap().states;
    for (found, expected) in ranks.iter().zip(expected) {
        assert_close(*found, expected);
    }
}

#[test]
#[ignore = "long"]
fn a_hub_whose_edges_are_thin_in_all_tiles_is_precise() {
    // One of 64 edges leads to the hub, all others to random vertices, so the hub's sum is added
    // edge by edge.
    const VERTICES: u32 = 1 << 21;
    let mut random = XorShift::new(5);
    let edges: Vec<(u32, u32)> = (0..VERTICES)
        .flat_map(|vertex| {
            let mut any = || random.below(u64::from(VERTICES)) as u32;
            let (near, far) = (any(), any());
            let far = if vertex % 64 == 0 { 77 } else { far };
            [(vertex, near), (vertex, far)]
        })
        .collect();
    let scratch = Scratch::new();
    let graph =
        open(&import_pairs(scratch.path(), VertexOrder::Given, false, edges.iter().copied()));
    let list = EdgeList::new(edges.iter().map(|&(a, b)| (a.into(), b.into())).collect());
    let outcome = PageRank::run(&graph, Stop::Iterations(5), &threads(2)).unwrap();
    let ranks = table(&graph, &outcome.states, f64::from);
    matching::epsilon(&pagerank(&list, DAMPING, 5), &ranks, PRECISION).unwrap();
    match_pagerank(&list, DAMPING, 5, &ranks).unwrap();
}

#[test]
fn a_star_has_the_same_bits_in_every_way() {
    const LEAVES: u32 = 600_000;
    let scratch = Scratch::new();
    let edges = (1..=LEAVES).map(|leaf| (0, leaf));
    let directory = import_pairs(scratch.path(), VertexOrder::Degree, true, edges);
    let ranks = |graph: &Graph, options: &RunOptions<'_>| {
        PageRank::run(graph, Stop::Iterations(9), options).unwrap().states
    };
    let graph = open(&directory);
    let expected = ranks(&graph, &threads(1));
    for count in [2, 3, 7] {
        assert!(ranks(&graph, &threads(count)) == expected, "{count} threads");
    }
    for instructions in Instructions::all() {
        let options =
            RunOptions { tuning: Tuning { instructions, ..Tuning::default() }, ..threads(2) };
        assert!(ranks(&graph, &options) == expected, "{instructions:?}");
    }
    let least = estimate::<PageRank>(&graph, 2).needed();
    let two = Backend::Threads(NonZeroUsize::new(2).unwrap());
    for (memory, backend) in [(least, Backend::Auto), (least, two), (AMPLE, Backend::Auto)] {
        let graph = open_graph(&directory, memory, backend).unwrap();
        let options = RunOptions { memory, ..threads(2) };
        assert!(ranks(&graph, &options) == expected, "{memory} bytes");
    }
}
