//! Graphs cut into batches and parts in many ways. Answers are those of the oracles, with the same
//! bits for every number of threads and beside other jobs.

use crate::support::{components, find, import_with, original_of, table, ways::with_rows};
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::components::wcc::{self, Method};
use tegula_algorithms::paths::bfs::{Bfs, Reached};
use tegula_algorithms::paths::sssp::{self, SsspConfig};
use tegula_engine::{
    Activity, Arrays, Executor, Graph, Min, Next, Program, RunOptions, Scheduler, ShortId, Tuning,
    VertexId, open_graph,
};
use tegula_generators::{Rmat, edges};
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::tiles::Grid;
use tegula_testkit::{
    EdgeList, Scratch, XorShift, match_pagerank, verify_bfs, verify_sssp, verify_wcc,
};

const ITERATIONS: u64 = 5;
/// What hundreds of waiting parts reserve; none of the graphs needs nearly this much.
const MEMORY: u64 = 16 << 30;

/// The answers as bits.
#[derive(PartialEq)]
struct Answers {
    ranks: Vec<f32>,
    reached: Vec<Reached>,
    distances: Vec<f64>,
    roots: Vec<ShortId>,
}

fn run_all(graph: &Graph, source: VertexId, options: &RunOptions<'_>) -> Answers {
    let stop = Stop::Iterations(ITERATIONS);
    let propagation = Method::Propagation;
    Answers {
        ranks: PageRank::run(graph, stop, options).unwrap().states,
        reached: Bfs::run(graph, source, options).unwrap().states,
        distances: sssp::run(graph, source, SsspConfig::default(), options).unwrap().distances,
        roots: wcc::run(graph, propagation, options).unwrap().roots,
    }
}

/// Checks answers against the oracles and verifiers.
fn verify(edges: &EdgeList, graph: &Graph, source: u64, answers: &Answers) {
    let Answers { ranks, reached, distances, roots } = answers;
    let ranks = table(graph, ranks, f64::from);
    match_pagerank(edges, PageRank::DAMPING, ITERATIONS as usize, &ranks).unwrap();
    let originals = original_of(graph);
    let hops = table(graph, reached, |reached| reached.distance().map(u64::from));
    let parents = table(graph, reached, |reached| reached.parent().map(|p| originals[p.index()]));
    verify_bfs(edges, source, &hops, Some(&parents)).unwrap();
    verify_sssp(edges, source, &table(graph, distances, |distance| distance)).unwrap();
    verify_wcc(edges, &components(graph, roots)).unwrap();
}

fn scans<'a>(threads: usize, part_edges: u64) -> RunOptions<'a> {
    let executor = Executor::Scan;
    RunOptions {
        memory: MEMORY,
        threads,
        executor,
        tuning: Tuning { part_edges: Some(part_edges), ..Tuning::default() },
        ..Default::default()
    }
}

/// Propagates the smallest id in every iteration; `at` is called before each.
struct Endless<'f> {
    iterations: u64,
    at: Box<dyn Fn(u64) + Send + Sync + 'f>,
}

impl Program for Endless<'_> {
    type State = u32;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = ();

    fn init(&self, vertex: VertexId, _: u32, (): &mut ()) -> (u32, Activity) {
        (vertex.0 as u32, Activity::Active)
    }
    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        (self.at)(iteration);
        if iteration < self.iterations { Next::Continue } else { Next::Stop }
    }
    fn signal(&self, _: VertexId, id: &u32, _: u32) -> Option<u32> {
        Some(*id)
    }
    fn apply(&self, _: VertexId, _: u32, id: &mut u32, reduced: u32, (): &mut ()) -> Activity {
        *id = reduced.min(*id);
        Activity::Active
    }
}

/// Runs alone, with each number of threads, and beside a job that joins in the middle. Checks that
/// the answers are right and have the same bits.
fn check_in_every_way(edges: &EdgeList, graph: &Graph, part_edges: u64, threads: &[usize]) {
    let source = edges.edges[0].0;
    let first = find(graph, source);
    let alone = run_all(graph, first, &scans(1, part_edges));
    verify(edges, graph, source, &alone);
    for &threads in threads {
        let options = scans(threads, part_edges);
        assert!(run_all(graph, first, &options) == alone, "{threads} threads");
        check_beside_page_rank(graph, first, &options, &alone);
        let options = RunOptions { arrays: Arrays::OnDisk, ..options };
        assert!(run_all(graph, first, &options) == alone, "{threads} threads, arrays on disk");
        check_beside_page_rank(graph, first, &options, &alone);
    }
}

/// Runs everything beside a job that is in the middle of its iterations.
fn check_beside_page_rank(
    graph: &Graph,
    source: VertexId,
    options: &RunOptions<'_>,
    alone: &Answers,
) {
    Scheduler::scope(graph, &options.resources(), |scheduler| {
        let options = &RunOptions { scheduler: Some(scheduler), ..options.clone() };
        let (begun, has_begun) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let at = |iteration| {
                    if iteration == 1 {
                        begun.send(()).unwrap();
                    }
                };
                let at = Endless { iterations: 10, at: Box::new(at) };
                tegula_engine::run(graph, at, options).unwrap();
            });
            has_begun.recv().unwrap();
            assert!(run_all(graph, source, options) == *alone, "in company");
        });
    });
}

#[test]
#[ignore = "long"]
fn a_batch_of_many_parts() {
    // Four hubs, one in each of the first windows; each leaf sends to two of them. A slice of the
    // leaves has just enough edges to be a tile of its own in each window.
    let leaves = 1u64 << 19;
    let mut random = XorShift::new(11);
    let edges = (0..leaves).flat_map(|leaf| {
        let hubs = [leaf % 2, 2 + leaf % 2];
        hubs.map(|hub| (leaf, hub << 16))
    });
    let mut edges: Vec<_> = edges.collect();
    edges.extend((0..leaves / 8).map(|_| (random.below(leaves), random.below(leaves))));
    let graph = EdgeList::new(edges).weighted(5);
    let scratch = Scratch::new();
    // Batches of two windows.
    let batch_edges = 1 << 20;
    let mut config = with_rows(VertexOrder::Given, true);
    config.tuning.batch_edges = batch_edges;
    let directory = import_with(config, scratch.path(), "hubs", &graph);
    let opened = open_graph(&directory, MEMORY, Backend::Auto).unwrap();
    // There is at least one part a tile.
    let tiles_of = |batch| opened.batch_tiles(batch).map(|tiles| tiles.len()).sum::<usize>();
    let parts = (0..opened.batches().len()).map(tiles_of).max();
    assert!(parts > Some(50), "{parts:?}");
    check_in_every_way(&graph.undirected(), &opened, 1, &[3]);
}

/// Checks a skewed graph with batches of up to `batch_edges` edges, in each order, on one cell and
/// on many.
fn skewed(scale: u32, degree: u64, batch_edges: u64) {
    let graph = EdgeList::new(edges(&Rmat::new(scale, degree, 9).unwrap())).weighted(2);
    let scratch = Scratch::new();
    let cells = Grid { segment_log2: scale - 2, column_log2: scale - 3 };
    for (order, part_edges, grid) in [
        (VertexOrder::Given, 1, Grid::default()),
        (VertexOrder::Degree, 1 << 12, Grid::default()),
        (VertexOrder::Degree, 1 << 12, cells),
    ] {
        let mut config = with_rows(order, true);
        (config.tuning.batch_edges, config.tuning.grid) = (batch_edges, grid);
        let name = format!("{}-{}", order.name(), grid.segment_log2);
        let directory = import_with(config, scratch.path(), &name, &graph);
        let opened = open_graph(&directory, MEMORY, Backend::Auto).unwrap();
        let smallest = opened.batches().iter().map(|batch| batch.log2).min();
        assert!(smallest < Some(16) && opened.batches().len() > 4, "{smallest:?}");
        check_in_every_way(&graph.undirected(), &opened, part_edges, &[2, 5]);
    }
}

#[test]
fn batches_down_to_a_word_of_targets() {
    skewed(13, 8, 1);
}

#[test]
fn batches_of_different_sizes_within_a_window() {
    skewed(13, 8, 1 << 12);
}

#[test]
fn batches_of_different_sizes_over_several_windows() {
    skewed(17, 1, 1 << 14);
}
