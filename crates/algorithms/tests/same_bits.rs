//! Results are the same to the bit for every number of threads, every budget, every backend, every
//! instruction set, and in company.

mod support;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use support::{AMPLE, import_edges, open, threads};
use tegula_algorithms::bfs::Bfs;
use tegula_algorithms::pagerank::{PageRank, PageRankConfig, Stop};
use tegula_algorithms::wcc::{self, WccConfig};
use tegula_engine::{
    Error, Graph, Instructions, RunOptions, VertexId, estimate, open_graph, run_together,
};
use tegula_generators::{Rmat, edges};
use tegula_store::import::VertexOrder;
use tegula_store::read::Backend;
use tegula_testkit::{EdgeList, Scratch};

const CONFIG: PageRankConfig =
    PageRankConfig { damping: PageRankConfig::DAMPING, stop: Stop::Iterations(5) };

/// A graph of six million edges: several windows, batches and groups.
fn skewed(scratch: &Scratch) -> PathBuf {
    let graph = EdgeList::new(edges(&Rmat::new(19, 12, 3).unwrap()));
    import_edges(scratch.path(), "skewed", &graph, VertexOrder::Degree)
}

/// A star has one target with most of the edges: its batch is processed in parts.
fn hub(scratch: &Scratch) -> PathBuf {
    let leaves = 1..9_000_001u64;
    let graph = EdgeList::new(leaves.map(|leaf| (leaf, 0)).collect());
    import_edges(scratch.path(), "hub", &graph, VertexOrder::Given)
}

fn ranks(graph: &Graph, options: &RunOptions<'_>) -> Vec<u32> {
    let outcome = PageRank::run(graph, CONFIG, options).unwrap();
    outcome.states.iter().map(|rank| rank.to_bits()).collect()
}

/// Personalized ranks, of two seeds.
fn personal_ranks(graph: &Graph, options: &RunOptions<'_>) -> Vec<u32> {
    let seeds = [(VertexId(1), 1.0), (VertexId(70_000), 0.5)];
    let program = PageRank::personalized(CONFIG, graph.vertex_count(), &seeds).unwrap();
    let outcome = tegula_engine::run(graph, program, options).unwrap();
    outcome.states.iter().map(|rank| rank.to_bits()).collect()
}

#[test]
fn whatever_the_seeds() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    let expected = personal_ranks(&open(&directory), &threads(1));
    assert!(personal_ranks(&open(&directory), &threads(3)) == expected);
    let graph = open(&directory);
    let needed =
        estimate::<PageRank>(&graph, 2).needed() + PageRank::seeds_size(graph.vertex_count());
    let graph = open_graph(&directory, needed, Backend::Auto).unwrap();
    let options = |memory| RunOptions { memory, threads: 2, ..Default::default() };
    assert!(personal_ranks(&graph, &options(needed)) == expected);
    let program = PageRank::personalized(CONFIG, graph.vertex_count(), &[(VertexId(1), 1.0)]);
    match tegula_engine::run(&graph, program.unwrap(), &options(needed - 1)) {
        Err(Error::OverBudget { needed: found, .. }) => assert_eq!(found, needed),
        other => panic!("{:?}", other.map(|outcome| outcome.statistics)),
    }
}

#[test]
fn whatever_the_threads() {
    let scratch = Scratch::new();
    for directory in [skewed(&scratch), hub(&scratch)] {
        let graph = open(&directory);
        let expected = ranks(&graph, &threads(1));
        let reached = Bfs::run(&graph, VertexId(1), &threads(1)).unwrap().states;
        let roots = wcc::run(&graph, WccConfig::default(), &threads(1)).unwrap().roots;
        for count in [2, 3, 8] {
            assert!(ranks(&graph, &threads(count)) == expected, "{count} threads");
            let bfs = Bfs::run(&graph, VertexId(1), &threads(count)).unwrap();
            assert!(bfs.states == reached, "{count} threads");
            let wcc = wcc::run(&graph, WccConfig::default(), &threads(count)).unwrap();
            assert!(wcc.roots == roots, "{count} threads");
        }
    }
}

#[test]
fn whatever_the_budget_and_the_backend() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    let expected = ranks(&open(&directory), &threads(1));
    let needed = estimate::<PageRank>(&open(&directory), 2).needed();
    let four = NonZeroUsize::new(4).unwrap();
    for memory in [needed, needed + (1 << 20), needed + (2 << 20), AMPLE] {
        for backend in [|| Backend::Uring, || Backend::Threads(NonZeroUsize::MIN)] {
            let graph = open_graph(&directory, memory, backend()).unwrap();
            let options = RunOptions { memory, threads: 2, ..Default::default() };
            assert!(ranks(&graph, &options) == expected, "{memory} bytes");
        }
    }
    let graph = open_graph(&directory, needed, Backend::Threads(four)).unwrap();
    let options = RunOptions { memory: needed, threads: 2, ..Default::default() };
    let outcome = PageRank::run(&graph, CONFIG, &options).unwrap();
    let once = graph.tile_bytes();
    let read = outcome.statistics.bytes_read;
    assert!(read > 3 * once, "{read} bytes: with the least memory tiles stream in every iteration");
}

#[test]
fn with_ample_memory_tiles_are_read_once() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch));
    let outcome = PageRank::run(&graph, CONFIG, &threads(2)).unwrap();
    let bound = graph.tile_bytes() + 4 * u64::from(graph.vertex_count()) + (1 << 20);
    let read = outcome.statistics.bytes_read;
    assert!(read <= bound, "{read} bytes, the tiles and degrees have {bound}");
}

#[test]
fn whatever_the_instructions() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch));
    let with = |instructions| RunOptions { instructions, ..threads(1) };
    let expected = ranks(&graph, &with(Instructions::Portable));
    for instructions in Instructions::all() {
        assert!(ranks(&graph, &with(instructions)) == expected, "{instructions:?}");
    }
}

#[test]
fn alone_or_in_company() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch));
    let pagerank = PageRank::new(CONFIG, graph.vertex_count());
    let programs = (pagerank, Bfs::new(VertexId(0)));
    let (pagerank, bfs) = run_together(&graph, programs, &threads(2)).unwrap();
    let alone = PageRank::run(&graph, CONFIG, &threads(1)).unwrap();
    assert!(pagerank.states == alone.states);
    assert_eq!(pagerank.statistics.iterations, 5);
    assert!(bfs.states == Bfs::run(&graph, VertexId(0), &threads(1)).unwrap().states);
    assert!(bfs.statistics.iterations > 1);
}

#[test]
fn a_run_that_cannot_fit_says_so_with_both_numbers() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    let needed = estimate::<PageRank>(&open(&directory), 2).needed();
    let memory = needed - 1;
    let options = RunOptions { memory, threads: 2, ..Default::default() };
    let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
    match PageRank::run(&graph, CONFIG, &options) {
        Err(Error::OverBudget { needed: found, budget, .. }) => {
            assert_eq!((found, budget), (needed, memory));
        }
        other => panic!("{:?}", other.map(|outcome| outcome.statistics)),
    }
}

#[test]
fn tiles_without_an_active_source_are_passed_over() {
    let scratch = Scratch::new();
    let path = EdgeList::new((0..200_000u64).map(|v| (v, v + 1)).collect());
    let graph = open(&import_edges(scratch.path(), "path", &path, VertexOrder::Given));
    // From near the end there is one tile to look at in each of the last iterations.
    let outcome = Bfs::run(&graph, VertexId(199_900), &threads(2)).unwrap();
    assert_eq!(outcome.statistics.iterations, 101);
    let all = 101 * graph.edge_count();
    let processed = outcome.statistics.edges_processed;
    assert!(processed < all / 2, "{processed} of {all} edges");
    assert!(outcome.statistics.tiles_skipped > 0);
}
