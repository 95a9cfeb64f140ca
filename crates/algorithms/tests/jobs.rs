//! Jobs of all kinds on one scheduler: each gives the answer of a run alone, even if other jobs
//! fail.

mod support;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::Duration;

use support::{AMPLE, import_with, open, ways::with_rows};
use tegula_algorithms::centrality::pagerank::{PageRank, Stop};
use tegula_algorithms::components::wcc::{self, Method};
use tegula_algorithms::paths::bfs::Bfs;
use tegula_algorithms::paths::sssp::{self, SsspConfig};
use tegula_algorithms::structure::mis::{self, MisOptions};
use tegula_engine::{
    Activity, Cancel, EdgeVisitor, Error, Executor, Graph, Min, Next, Origin, Outcome, PartOrder,
    Program, Resources, RunOptions, Scheduler, ShortId, StretchSize, TileSummary, Tuning, VertexId,
    estimate, open_graph, sharing, visit_edges,
};
use tegula_generators::{Rmat, edges};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_store::graph::VertexOrder;
use tegula_testkit::{EdgeList, Scratch, XorShift};

const STOP: Stop = Stop::Iterations(12);

/// A skewed graph of two million edges in both directions, with weights and rows: at least 64
/// tiles.
fn skewed(scratch: &Scratch) -> PathBuf {
    let mut random = XorShift::new(7);
    let edges = edges(&Rmat::new(18, 8, 3).unwrap());
    let weights = edges.iter().map(|_| random.fraction() as f32).collect();
    let graph = EdgeList { weights: Some(weights), ..EdgeList::new(edges) };
    import_with(with_rows(VertexOrder::Degree, true), scratch.path(), "skewed", &graph)
}

/// Small parts, so that a scan has some dozens.
fn options<'a>(threads: usize) -> RunOptions<'a> {
    RunOptions {
        memory: AMPLE,
        threads,
        tuning: Tuning { part_edges: Some(1 << 17), ..Tuning::default() },
        ..Default::default()
    }
}

/// Propagates the smallest id for `iterations` iterations; `at` is called before each. It is boxed,
/// so that the engine is compiled for one program, not for one for each call of [`labels`].
struct Labels<'f> {
    iterations: u64,
    size: u64,
    at: Box<dyn Fn(u64) + Send + Sync + 'f>,
}

impl Program for Labels<'_> {
    type State = u32;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = ();

    fn size(&self) -> u64 {
        self.size
    }
    fn init(&self, vertex: VertexId, _: u32, (): &mut ()) -> (u32, Activity) {
        (vertex.0 as u32, Activity::Active)
    }
    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        (self.at)(iteration);
        if iteration < self.iterations { Next::Continue } else { Next::Stop }
    }
    fn signal(&self, _: VertexId, label: &u32, _: u32) -> Option<u32> {
        Some(*label)
    }
    fn apply(&self, _: VertexId, _: u32, label: &mut u32, reduced: u32, (): &mut ()) -> Activity {
        *label = reduced.min(*label);
        // All vertices stay active, so every iteration scans.
        Activity::Active
    }
}

fn labels(
    graph: &Graph,
    at: impl Fn(u64) + Send + Sync,
    (iterations, size): (u64, u64),
    options: &RunOptions<'_>,
) -> tegula_engine::Result<Vec<u32>> {
    let program = Labels { iterations, size, at: Box::new(at) };
    let options = RunOptions { executor: Executor::Scan, ..options.clone() };
    tegula_engine::run(graph, program, &options).map(|outcome| outcome.states)
}

/// The least memory in which `labels` runs.
fn least_memory(graph: &Graph, options: &RunOptions<'_>) -> u64 {
    match labels(graph, |_| {}, (1, AMPLE), options) {
        Err(Error::Machine(MachineError::OverBudget { needed, .. })) => needed - AMPLE,
        other => panic!("{:?}", other.map(|labels| labels.len())),
    }
}

/// The answers of jobs of all kinds, bit by bit.
#[derive(Debug, PartialEq)]
enum Answer {
    Ranks(Vec<u32>),
    Distances(Vec<u64>),
    Vertices(Vec<u32>),
    Members(Vec<bool>),
}

const KINDS: usize = 6;

/// Runs a job of one kind.
fn run_kind(kind: usize, graph: &Graph, options: &RunOptions<'_>) -> Answer {
    let vertices = |vertices: Vec<ShortId>| {
        Answer::Vertices(vertices.into_iter().map(|vertex| vertex.0).collect())
    };
    let wcc = |method| wcc::run(graph, method, options).unwrap().roots;
    match kind {
        0 => {
            let outcome: Outcome<PageRank> = PageRank::run(graph, STOP, options).unwrap();
            Answer::Ranks(outcome.states.iter().map(|rank| rank.to_bits()).collect())
        }
        1 => {
            let found = sssp::run(graph, VertexId(3), SsspConfig::default(), options).unwrap();
            Answer::Distances(found.distances.iter().map(|distance| distance.to_bits()).collect())
        }
        2 => {
            let reached = Bfs::run(graph, VertexId(9), options).unwrap().states;
            let hops = reached.iter().map(|reached| reached.distance().unwrap_or(u32::MAX));
            Answer::Vertices(hops.collect())
        }
        3 => vertices(wcc(Method::UnionFind)),
        4 => vertices(wcc(Method::Traversal)),
        _ => Answer::Members(mis::run(graph, MisOptions::default(), options).unwrap().members),
    }
}

#[test]
#[ignore = "long"]
fn jobs_give_their_answers_even_if_others_fail() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    let graph = open(&directory);
    let alone: Vec<Answer> = (0..KINDS).map(|kind| run_kind(kind, &graph, &options(1))).collect();
    let labels_alone = labels(&graph, |_| {}, (30, 0), &options(1)).unwrap();
    for seed in 0..8 {
        let threads = 1 + seed as usize % 3;
        let part_order = [PartOrder::RoundRobin, PartOrder::Priority][seed as usize % 2];
        let stretch = [StretchSize::Cached, StretchSize::Bytes(0)][seed as usize / 2 % 2];
        // One job needs all memory, so it has to wait until the others have left.
        let large = AMPLE - least_memory(&graph, &options(threads));
        let (is_first_over, is_first_in) = (AtomicBool::new(false), Barrier::new(2));
        let resources = Resources { part_order, stretch, ..options(threads).resources() };
        Scheduler::scope(&graph, &resources, |scheduler| {
            let options = RunOptions { scheduler: Some(scheduler), ..options(1) };
            let (options, graph, alone, labels_alone) = (&options, &graph, &alone, &labels_alone);
            let (is_first_over, is_first_in) = (&is_first_over, &is_first_in);
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let at = |iteration| match iteration {
                        0 => drop(is_first_in.wait()),
                        30 => is_first_over.store(true, Ordering::SeqCst),
                        _ => {}
                    };
                    assert!(labels(graph, at, (30, 0), options).unwrap() == *labels_alone);
                });
                let mut random = XorShift::new(seed + 1);
                for (kind, alone) in alone.iter().enumerate() {
                    let delay = Duration::from_micros(random.below(30_000));
                    scope.spawn(move || {
                        std::thread::sleep(delay);
                        assert!(run_kind(kind, graph, options) == *alone, "kind {kind}");
                    });
                }
                scope.spawn(move || {
                    let at = |iteration| assert!(iteration < 2, "on purpose");
                    let failed = labels(graph, at, (9, 0), options);
                    assert!(
                        matches!(failed, Err(Error::Machine(MachineError::WorkerFailed { .. }))),
                        "{failed:?}"
                    );
                });
                scope.spawn(move || {
                    let cancel = Cancel::default();
                    let options = RunOptions { cancel: cancel.clone(), ..options.clone() };
                    let at = |iteration| {
                        if iteration == 3 {
                            cancel.cancel()
                        }
                    };
                    let failed = labels(graph, at, (1000, 0), &options);
                    assert!(
                        matches!(failed, Err(Error::Machine(MachineError::Cancelled))),
                        "{failed:?}"
                    );
                });
                is_first_in.wait();
                let at = |_| assert!(is_first_over.load(Ordering::SeqCst), "it had to wait");
                let waited = labels(graph, at, (30, large), options).unwrap();
                assert!(waited == *labels_alone);
            });
        });
    }
}

#[test]
#[ignore = "long"]
fn a_job_that_can_never_fit_is_refused_and_harms_no_other() {
    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch));
    let done = Scheduler::scope(&graph, &options(2).resources(), |scheduler| {
        let options = RunOptions { scheduler: Some(scheduler), ..options(1) };
        let refused = labels(&graph, |_| {}, (3, AMPLE), &options);
        assert!(
            matches!(refused, Err(Error::Machine(MachineError::OverBudget { .. }))),
            "{refused:?}"
        );
        labels(&graph, |_| {}, (3, 0), &options).unwrap()
    });
    assert!(done == labels(&graph, |_| {}, (3, 0), &options(1)).unwrap());
}

#[test]
fn tiles_are_read_once_for_all_jobs_that_need_them() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    // In the least memory no tile can stay: each iteration reads all tiles.
    let least = least_memory(&open(&directory), &options(2));
    let graph = open_graph(&directory, least, Backend::Auto).unwrap();
    let with_memory = |memory| RunOptions { memory, ..options(2) };
    let alone = labels(&graph, |_| {}, (20, 0), &with_memory(least)).unwrap();
    let read_alone = graph.reader().statistics().bytes_read;
    assert!(read_alone > 20 * graph.tile_bytes() * 9 / 10, "{read_alone}: nothing is kept");
    // The least memory for three holds no tile either, until two of the jobs have left.
    let needed = estimate::<Labels<'_>>(&graph, 2);
    let each = least - needed.overhead_bytes - needed.stream_bytes_min;
    let memory = least + 2 * each;
    let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
    let before = graph.reader().statistics().bytes_read;
    Scheduler::scope(&graph, &with_memory(memory).resources(), |scheduler| {
        let options = RunOptions { scheduler: Some(scheduler), ..with_memory(memory) };
        std::thread::scope(|scope| {
            for _ in 0..3 {
                let (graph, options, alone) = (&graph, &options, &alone);
                scope.spawn(move || {
                    assert!(labels(graph, |_| {}, (20, 0), options).unwrap() == *alone);
                });
            }
        });
    });
    let read = graph.reader().statistics().bytes_read - before;
    assert!(read < 3 * read_alone / 2, "{read} bytes for three jobs, {read_alone} for one");
}

#[test]
#[ignore = "long"]
fn later_jobs_find_room() {
    let scratch = Scratch::new();
    let directory = skewed(&scratch);
    let alone: Vec<Answer> =
        (0..KINDS).map(|kind| run_kind(kind, &open(&directory), &RunOptions::default())).collect();
    // There is no room for tiles with weights, nor for rows with weights.
    let memory = 64 << 20;
    let graph = open_graph(&directory, memory, Backend::Auto).unwrap();
    for threads in [1, 2] {
        let options = RunOptions { memory, threads, ..Default::default() };
        Scheduler::scope(&graph, &options.resources(), |scheduler| {
            // Tiles, tiles with weights, rows, tiles again: each run starts when the one before has
            // left.
            for executor in [Executor::Scan, Executor::Auto] {
                for kind in [0, 1, 2, 5, 1, 3, 4, 0] {
                    let follows_rows = kind > 3;
                    let executor = if follows_rows { Executor::Auto } else { executor };
                    let scheduler = Some(scheduler);
                    let options = RunOptions { executor, scheduler, ..options.clone() };
                    let answer = run_kind(kind, &graph, &options);
                    assert!(answer == alone[kind], "kind {kind}");
                }
            }
        });
    }
}

#[test]
#[ignore = "long"]
fn a_job_may_be_cancelled_at_the_end_of_a_part() {
    struct Cancels<'c>(&'c Cancel, AtomicBool);

    impl EdgeVisitor for Cancels<'_> {
        type Weight = ();
        fn visit(&self, _: ShortId, _: ShortId, (): ()) {
            self.1.store(true, Ordering::Relaxed);
        }
        fn needs(&self, _: &TileSummary, _: Origin) -> bool {
            // The engine calls this before every tile. The first call after an edge was seen
            // cancels the job.
            if self.1.load(Ordering::Relaxed) {
                self.0.cancel();
            }
            true
        }
    }

    let scratch = Scratch::new();
    let graph = open(&skewed(&scratch));
    for threads in [1, 2] {
        let options = RunOptions {
            tuning: Tuning { part_edges: Some(1), ..Tuning::default() },
            ..options(threads)
        };
        for _ in 0..20 {
            let cancel = Cancel::default();
            let visitor = Cancels(&cancel, AtomicBool::new(false));
            let options = RunOptions { cancel: cancel.clone(), ..options.clone() };
            let ended = visit_edges(&graph, &visitor, 0, &options);
            assert!(matches!(ended, Err(Error::Machine(MachineError::Cancelled))), "{ended:?}");
        }
    }
}

/// A ring with random chords and weights, in its own vertex order: dense ids are those of the edges.
fn ring(vertices: u64) -> EdgeList {
    let mut random = XorShift::new(11);
    let mut edges: Vec<(u64, u64)> = (0..vertices).map(|it| (it, (it + 1) % vertices)).collect();
    edges.extend((0..9 * vertices).map(|_| (random.below(vertices), random.below(vertices))));
    edges.sort_unstable();
    edges.dedup();
    let weights = edges.iter().map(|_| random.fraction() as f32).collect();
    EdgeList { weights: Some(weights), ..EdgeList::new(edges) }
}

#[test]
fn another_engine_sees_each_edge_of_active_vertices_once() {
    const VERTICES: u64 = 70_000;
    let scratch = Scratch::new();
    let edges = ring(VERTICES);
    let directory =
        import_with(with_rows(VertexOrder::Given, false), scratch.path(), "ring", &edges);
    let graph = open(&directory);
    let active: Vec<u64> = (0..VERTICES.div_ceil(64)).map(|word| word * 0x9e37_79b9).collect();
    let is_active = |vertex: u64| active[vertex as usize / 64] >> (vertex % 64) & 1 == 1;
    let all = edges.edges.iter().zip(edges.weights.iter().flatten());
    let mut expected: Vec<(u32, u32, u32)> = all
        .map(|(&(source, target), weight)| (source as u32, target as u32, weight.to_bits()))
        .collect();
    expected.sort_unstable();
    let of_active: Vec<_> =
        expected.iter().copied().filter(|&(source, ..)| is_active(source.into())).collect();
    for threads in [1, 3] {
        let options = options(threads);
        Scheduler::scope(&graph, &options.resources(), |scheduler| {
            let options = RunOptions { scheduler: Some(scheduler), ..options.clone() };
            std::thread::scope(|scope| {
                // A job beside it, in which nothing changes.
                scope.spawn(|| labels(&graph, |_| {}, (9, 0), &options).unwrap());
                let ((), statistics) = sharing::join(&graph, 0, true, &options, |scan| {
                    for (active, expected) in [(None, &expected), (Some(&active[..]), &of_active)] {
                        let seen = Mutex::new(Vec::new());
                        scan.scan(active, &|block| {
                            let ends = block.sources.iter().zip(block.targets);
                            let edges = ends.zip(block.weights);
                            let edges = edges.map(|((&s, &t), weight)| (s, t, weight.to_bits()));
                            seen.lock().unwrap().extend(edges);
                        })?;
                        let mut seen = seen.into_inner().unwrap();
                        seen.sort_unstable();
                        assert!(seen == *expected, "{} of {}", seen.len(), expected.len());
                    }
                    scan.scan(Some(&vec![0; active.len()]), &|_| unreachable!("none is active"))
                })
                .unwrap();
                assert_eq!(statistics.iterations, 3);
            });
        });
    }
}

#[test]
fn another_engine_that_panics_fails_alone_and_may_go_on() {
    let scratch = Scratch::new();
    let directory =
        import_with(with_rows(VertexOrder::Given, false), scratch.path(), "ring", &ring(9000));
    let graph = open(&directory);
    let alone = labels(&graph, |_| {}, (20, 0), &options(1)).unwrap();
    Scheduler::scope(&graph, &options(2).resources(), |scheduler| {
        let options = RunOptions { scheduler: Some(scheduler), ..options(2) };
        std::thread::scope(|scope| {
            let beside = scope.spawn(|| labels(&graph, |_| {}, (20, 0), &options).unwrap());
            sharing::join(&graph, 0, false, &options, |scan| {
                let failed = scan.scan(None, &|_| panic!("on purpose"));
                let is_failed =
                    matches!(failed, Err(Error::Machine(MachineError::WorkerFailed { .. })));
                assert!(is_failed, "{failed:?}");
                let count = AtomicUsize::new(0);
                scan.scan(None, &|block| {
                    count.fetch_add(block.targets.len(), Ordering::Relaxed);
                })?;
                assert_eq!(count.into_inner() as u64, graph.edge_count());
                Ok(())
            })
            .unwrap();
            assert!(beside.join().unwrap() == alone);
        });
        let large = sharing::join(&graph, AMPLE, false, &options, |_| Ok(()));
        assert!(
            matches!(large, Err(Error::Machine(MachineError::OverBudget { .. }))),
            "{:?}",
            large.err()
        );
    });
}

#[test]
fn engines_that_share_a_damaged_tile_all_learn_of_the_damage() {
    const ENGINES: usize = 3;
    let scratch = Scratch::new();
    let directory =
        import_with(with_rows(VertexOrder::Given, false), scratch.path(), "ring", &ring(70_000));
    let tiles = directory.join("tiles.data");
    let mut bytes = std::fs::read(&tiles).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&tiles, bytes).unwrap();
    let graph = open(&directory);
    Scheduler::scope(&graph, &options(2).resources(), |scheduler| {
        let options = RunOptions { scheduler: Some(scheduler), ..options(2) };
        let begin = Barrier::new(ENGINES);
        let scan_often = || {
            let mut scans = Vec::new();
            sharing::join(&graph, 0, false, &options, |scan| {
                for _ in 0..20 {
                    // So that they share the parts of the scan.
                    begin.wait();
                    scans.push(scan.scan(None, &|_| {}));
                }
                Ok(())
            })
            .unwrap();
            scans
        };
        std::thread::scope(|scope| {
            let engines = [(); ENGINES].map(|()| scope.spawn(scan_often));
            for damaged in engines.into_iter().flat_map(|engine| engine.join().unwrap()) {
                assert!(
                    matches!(damaged, Err(Error::Machine(MachineError::Corrupt { .. }))),
                    "{damaged:?}"
                );
            }
        });
    });
}
