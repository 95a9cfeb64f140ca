//! Results have the same bits for every number of threads, budget, backend, instruction set,
//! executor and encoding of rows, alone and beside other jobs.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::support::{
    AMPLE, EXECUTORS, import_edges, import_with, open, original_of, tables, threads, with_executor,
};
use serde_json::{Value, json};
use tegula_algorithms::CATALOGUE;
use tegula_algorithms::algorithm::Entry;
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::components::wcc::{self, Method};
use tegula_algorithms::paths::bfs::{Bfs, Reached};
use tegula_algorithms::paths::sssp::{self, SsspConfig};
use tegula_engine::{
    Arrays, Error, Executor, Graph, Instructions, ProcessKind, RUN_OVERHEAD, RunOptions, Scheduler,
    ShortId, Tuning, VertexId, estimate, open_graph,
};
use tegula_generators::{Rmat, edges};
use tegula_import::ImportConfig;
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::{ChunkCut, RowEncoding};
use tegula_store::tiles::Grid;
use tegula_testkit::{EdgeList, Scratch};

const STOP: Stop = Stop::Iterations(5);

/// A graph of six million edges: several windows, batches and groups.
fn skewed(scratch: &Scratch) -> PathBuf {
    let graph = EdgeList::new(edges(&Rmat::new(19, 12, 3).unwrap()));
    import_edges(scratch.path(), "skewed", &graph, VertexOrder::Degree)
}

/// A star, in which one target has all edges, so its batch is processed in parts.
fn hub(scratch: &Scratch) -> PathBuf {
    let leaves = 1..9_000_001u64;
    let graph = EdgeList::new(leaves.map(|leaf| (leaf, 0)).collect());
    import_edges(scratch.path(), "hub", &graph, VertexOrder::Given)
}

fn ranks(graph: &Graph, options: &RunOptions<'_>) -> Vec<u32> {
    let outcome = PageRank::run(graph, STOP, options).unwrap();
    outcome.states.iter().map(|rank| rank.to_bits()).collect()
}

/// Personalized ranks for two seeds.
fn personal_ranks(graph: &Graph, options: &RunOptions<'_>) -> Vec<u32> {
    let seeds = [(VertexId(1), 1.0), (VertexId(70_000), 0.5)];
    let program = PageRank::personalized(STOP, graph.vertex_count(), &seeds).unwrap();
    let outcome = tegula_engine::run(graph, program, options).unwrap();
    outcome.states.iter().map(|rank| rank.to_bits()).collect()
}

#[test]
fn personalized_ranks_do_not_depend_on_threads_and_budget() {
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
    let program = PageRank::personalized(STOP, graph.vertex_count(), &[(VertexId(1), 1.0)]);
    match tegula_engine::run(&graph, program.unwrap(), &options(needed - 1)) {
        Err(Error::Machine(MachineError::OverBudget { needed: found, .. })) => {
            assert_eq!(found, needed)
        }
        other => panic!("{:?}", other.map(|outcome| outcome.statistics)),
    }
}

#[test]
fn bits_do_not_depend_on_the_threads() {
    let scratch = Scratch::new();
    for directory in [skewed(&scratch), hub(&scratch)] {
        let graph = open(&directory);
        let expected = ranks(&graph, &threads(1));
        let reached = Bfs::run(&graph, VertexId(1), &threads(1)).unwrap().states;
        let roots = wcc::run(&graph, Method::default(), &threads(1)).unwrap().roots;
        for count in [2, 3, 8] {
            assert!(ranks(&graph, &threads(count)) == expected, "{count} threads");
            let bfs = Bfs::run(&graph, VertexId(1), &threads(count)).unwrap();
            assert!(bfs.states == reached, "{count} threads");
            let wcc = wcc::run(&graph, Method::default(), &threads(count)).unwrap();
            assert!(wcc.roots == roots, "{count} threads");
        }
    }
}

#[test]
fn bits_do_not_depend_on_the_budget_and_the_backend() {
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
    let outcome = PageRank::run(&graph, STOP, &options).unwrap();
    let once = graph.tile_bytes();
    let read = outcome.statistics.bytes_read;
    assert!(read > 3 * once, "{read} bytes: with the least memory tiles stream in every iteration");
}

/// A graph on which a search scans, seeks and pulls; with rows of both directions in an encoding.
fn with_rows(scratch: &Scratch, undirected: bool, weighted: bool, rows: RowEncoding) -> PathBuf {
    let graph = EdgeList::new(edges(&Rmat::new(15, 12, 9).unwrap()));
    let graph = if weighted { graph.weighted(3) } else { graph };
    let row_cut = match rows {
        RowEncoding::Plain | RowEncoding::Copy => ChunkCut::STANDARD,
        // The rows of hubs are in many pieces.
        RowEncoding::Ceesor | RowEncoding::Gap => ChunkCut { edges_max: 500, window_log2: 8 },
    };
    let (order, rows) = (Some(VertexOrder::Degree), Some(rows));
    let mut config = ImportConfig { order, rows, reverse: rows, undirected, ..Default::default() };
    config.tuning.row_cut = row_cut;
    import_with(config, scratch.path(), &format!("{rows:?}-{undirected}-{weighted}"), &graph)
}

/// The answers that must not depend on the executor or encoding: parents, distances, path lengths,
/// components.
#[derive(PartialEq)]
struct Found {
    reached: Vec<Reached>,
    lengths: Vec<u64>,
    roots: Option<Vec<ShortId>>,
}

fn find_all(graph: &Graph, options: &RunOptions<'_>) -> (Found, Vec<ProcessKind>) {
    let source = VertexId(5);
    let bfs = Bfs::run(graph, source, options).unwrap();
    let sssp = sssp::run(graph, source, SsspConfig::default(), options).unwrap();
    let propagation = Method::Propagation;
    let wcc = graph.manifest().undirected.then(|| wcc::run(graph, propagation, options).unwrap());
    let all =
        [Some(&bfs.statistics), Some(&sssp.statistics), wcc.as_ref().map(|wcc| &wcc.statistics)];
    let processes = all.into_iter().flatten().flat_map(|done| done.processes.clone()).collect();
    let lengths = sssp.distances.iter().map(|distance| distance.to_bits()).collect();
    (Found { reached: bfs.states, lengths, roots: wcc.map(|wcc| wcc.roots) }, processes)
}

/// The least memory in which a run along rows begins.
fn least_to_seek(directory: &Path, threads: usize) -> u64 {
    let graph = open(directory);
    let too_little = RUN_OVERHEAD;
    let options =
        RunOptions { memory: too_little, threads, executor: Executor::Seek, ..Default::default() };
    match sssp::run(&graph, VertexId(5), SsspConfig::default(), &options) {
        Err(tegula_algorithms::Error::Run(Error::Machine(MachineError::OverBudget {
            needed,
            ..
        }))) => needed,
        other => panic!("{:?}", other.map(|found| found.statistics)),
    }
}

#[test]
#[ignore = "long"]
fn bits_do_not_depend_on_the_executor_and_the_encoding_of_rows() {
    let scratch = Scratch::new();
    for (undirected, weighted) in [(false, true), (true, false), (true, true)] {
        let mut expected: Option<Found> = None;
        let mut used = Vec::new();
        for rows in RowEncoding::ALL {
            let directory = with_rows(&scratch, undirected, weighted, rows);
            let mut seen = |options: &RunOptions<'_>, backend| {
                let graph = open_graph(&directory, options.memory, backend).unwrap();
                let (found, processes) = find_all(&graph, options);
                used.extend(processes);
                match &expected {
                    None => expected = Some(found),
                    Some(expected) => assert!(
                        found == *expected,
                        "{rows:?}, {:?}, {} threads, {} bytes, undirected {undirected}, weighted \
                         {weighted}",
                        options.executor,
                        options.threads,
                        options.memory
                    ),
                }
            };
            seen(&with_executor(Executor::Scan, 1), Backend::Auto);
            for threads in [1, 3] {
                let least = least_to_seek(&directory, threads);
                for executor in EXECUTORS {
                    for memory in [least, least + (2 << 20), AMPLE] {
                        let options = RunOptions { memory, ..with_executor(executor, threads) };
                        seen(&options, Backend::Auto);
                    }
                    let two = NonZeroUsize::new(2).unwrap();
                    seen(&with_executor(executor, threads), Backend::Threads(two));
                }
            }
        }
        let all = [ProcessKind::Scan, ProcessKind::Seek, ProcessKind::Pull];
        assert!(all.iter().all(|process| used.contains(process)), "{used:?}");
    }
}

#[test]
fn a_run_by_rows_that_cannot_fit_says_so_with_both_numbers() {
    let scratch = Scratch::new();
    let directory = with_rows(&scratch, false, true, RowEncoding::Gap);
    let needed = least_to_seek(&directory, 2);
    let run = |memory, executor| {
        let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
        let options = RunOptions { memory, ..with_executor(executor, 2) };
        sssp::run(&graph, VertexId(5), SsspConfig::default(), &options)
    };
    let found = run(needed, Executor::Seek).unwrap();
    assert!(found.statistics.processes.iter().all(|process| *process == ProcessKind::Seek));
    match run(needed - 1, Executor::Seek) {
        Err(tegula_algorithms::Error::Run(Error::Machine(MachineError::OverBudget {
            needed: again,
            budget,
            ..
        }))) => {
            assert_eq!((again, budget), (needed, needed - 1));
        }
        other => panic!("{:?}", other.map(|found| found.statistics)),
    }
    // With `Auto`, the run uses what fits.
    let scanned = run(needed - 1, Executor::Auto).unwrap();
    assert!(scanned.statistics.processes.iter().all(|process| *process == ProcessKind::Scan));
    assert_eq!(scanned.distances, found.distances);
}

#[test]
fn a_search_of_a_directed_graph_pulls_where_there_are_rows_by_target() {
    let scratch = Scratch::new();
    // With many edges a vertex, reading most of them takes several times as long as finding one.
    let edges = EdgeList::new(edges(&Rmat::new(13, 200, 9).unwrap()));
    let encoding = Some(RowEncoding::default());
    let mut expected: Option<Vec<Reached>> = None;
    for (rows, reverse) in [(None, None), (encoding, None), (None, encoding), (encoding, encoding)]
    {
        let name = format!("{}-{}", rows.is_some(), reverse.is_some());
        let config = ImportConfig { rows, reverse, ..Default::default() };
        let directory = import_with(config, scratch.path(), &name, &edges);
        for (threads, executor) in [(1, Executor::Seek), (3, Executor::Seek), (2, Executor::Auto)] {
            if executor == Executor::Seek && rows.is_none() {
                continue;
            }
            let options = with_executor(executor, threads);
            let found = Bfs::run(&open(&directory), VertexId(5), &options).unwrap();
            let pulls = found.statistics.processes.contains(&ProcessKind::Pull);
            assert!(!pulls || reverse.is_some(), "{name}");
            assert!(pulls || reverse.is_none() || executor == Executor::Auto, "{name}");
            assert!(*expected.get_or_insert_with(|| found.states.clone()) == found.states);
        }
    }
}

#[test]
fn seeking_without_rows_is_an_error() {
    let scratch = Scratch::new();
    let path = EdgeList::new(vec![(0, 1), (1, 2)]);
    let graph = open(&import_edges(scratch.path(), "path", &path, VertexOrder::Given));
    let result = Bfs::run(&graph, VertexId(0), &with_executor(Executor::Seek, 1));
    assert!(matches!(result, Err(Error::MissingLayout { layout: "rows", .. })));
    let done = Bfs::run(&graph, VertexId(0), &with_executor(Executor::Auto, 1)).unwrap();
    // Once the last vertex is reached, no vertex is left to send to.
    assert_eq!(done.statistics.processes, [ProcessKind::Scan; 2]);
}

#[test]
fn with_ample_memory_tiles_are_read_once() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch));
    let outcome = PageRank::run(&graph, STOP, &threads(2)).unwrap();
    let bound = graph.tile_bytes() + 4 * graph.vertex_count() + (1 << 20);
    let read = outcome.statistics.bytes_read;
    assert!(read <= bound, "{read} bytes, the tiles and degrees have {bound}");
}

#[test]
fn bits_do_not_depend_on_the_instructions() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch));
    let with = |instructions| RunOptions {
        tuning: Tuning { instructions, ..Tuning::default() },
        ..threads(1)
    };
    let expected = ranks(&graph, &with(Instructions::Portable));
    for instructions in Instructions::all() {
        assert!(ranks(&graph, &with(instructions)) == expected, "{instructions:?}");
    }
}

#[test]
fn bits_are_the_same_alone_and_beside_another_job() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch));
    let options = threads(2);
    let (pagerank, bfs) = Scheduler::scope(&graph, &options.resources(), |scheduler| {
        let options = RunOptions { scheduler: Some(scheduler), ..threads(2) };
        std::thread::scope(|scope| {
            let pagerank = scope.spawn(|| PageRank::run(&graph, STOP, &options).unwrap());
            let bfs = Bfs::run(&graph, VertexId(0), &options).unwrap();
            (pagerank.join().unwrap(), bfs)
        })
    });
    let alone = PageRank::run(&graph, STOP, &threads(1)).unwrap();
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
    match PageRank::run(&graph, STOP, &options) {
        Err(Error::Machine(MachineError::OverBudget { needed: found, budget, .. })) => {
            assert_eq!((found, budget), (needed, memory));
        }
        other => panic!("{:?}", other.map(|outcome| outcome.statistics)),
    }
}

#[test]
fn tiles_without_an_active_source_are_skipped() {
    let scratch = Scratch::new();
    let path = EdgeList::new((0..200_000u64).map(|v| (v, v + 1)).collect());
    let graph = open(&import_edges(scratch.path(), "path", &path, VertexOrder::Given));
    // From near the end, only one tile is read in each of the last iterations.
    let outcome = Bfs::run(&graph, VertexId(199_900), &threads(2)).unwrap();
    assert_eq!(outcome.statistics.iterations, 101);
    let all = 101 * graph.edge_count();
    let processed = outcome.statistics.edges_processed;
    assert!(processed < all / 2, "{processed} of {all} edges");
    assert!(outcome.statistics.tiles_skipped > 0);
}

/// The answers of all algorithms of the catalogue as text.
fn answers(
    graph: &Graph,
    scratch: &Scratch,
    options: &RunOptions<'_>,
) -> Vec<(&'static str, String)> {
    let sets = scratch.path().join("sets.txt");
    let [one, another] = [0, 100].map(|dense| original_of(graph)[dense].to_string());
    std::fs::write(&sets, format!("{one} one\n{another} other\n")).unwrap();
    let pairs = scratch.path().join("pairs.txt");
    std::fs::write(&pairs, format!("{one} {another}\n{another} {one}\n")).unwrap();
    let potential = scratch.path().join("potential.txt");
    std::fs::write(&potential, "3 1 0\n1 2 1\n0 1 4\n").unwrap();
    let samples = json!({
        "source": one, "target": another, "sets": sets, "hops": 2, "pairs": pairs, "component": one,
        "potential": potential
    });
    let answer = |entry: &Entry| {
        let own = samples.as_object().unwrap().iter();
        let own = own.filter(|(name, _)| entry.option_names().contains(&name.as_str()));
        let wanted = own.map(|(name, value)| (name.clone(), value.clone())).collect();
        // A graph with a cycle has no topological order.
        let rows = tables::try_answer(graph, entry.name, Value::Object(wanted), options);
        (entry.name, rows.map_or_else(|error| error.to_string(), |rows| format!("{rows:?}")))
    };
    CATALOGUE.iter().map(answer).collect()
}

#[test]
#[ignore = "long"]
fn every_algorithm_gives_the_same_bits_in_every_way() {
    let scratch = Scratch::new();
    let graph = EdgeList::new(edges(&Rmat::new(11, 8, 5).unwrap())).weighted(2);
    let grid = Grid { segment_log2: 8, column_log2: 9 };
    let rows = Some(RowEncoding::default());
    let mut config = ImportConfig { undirected: true, rows, ..Default::default() };
    config.tuning.grid = grid;
    let directory = import_with(config, scratch.path(), "all", &graph);
    let expected = answers(&open(&directory), &scratch, &threads(1));
    for (name, rows) in &expected {
        assert_eq!(rows.contains("RecordBatch"), *name != "topological-order", "{name}");
    }
    let ways = [
        threads(2),
        threads(5),
        RunOptions { arrays: Arrays::OnDisk, ..threads(3) },
        RunOptions {
            tuning: Tuning { instructions: Instructions::Portable, ..Tuning::default() },
            ..threads(2)
        },
        RunOptions { memory: 64 << 20, ..threads(2) },
    ];
    for (number, options) in ways.into_iter().enumerate() {
        let graph = open_graph(&directory, options.memory, Backend::Auto).unwrap();
        for (found, expected) in answers(&graph, &scratch, &options).iter().zip(&expected) {
            assert!(found == expected, "{} in way {number}", found.0);
        }
    }
}
