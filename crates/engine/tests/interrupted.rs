//! A job that panics or is cancelled ends soon and alone, at any point. Jobs beside it and after it
//! on the same graph give the right bits, and all memory is freed.

use std::cell::RefCell;
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tegula_engine::traverse::{self, RANGE_SIZE, RowsJob, RowsWanted, Sequential};
use tegula_engine::{
    Activity, Aggregate, Arrays, Cancel, EdgeVisitor, Error, Executor, Graph, Min, Next, Origin,
    ProcessKind, Program, Result, RunOptions, Scheduler, Settling, ShortId, TileSummary, Tuning,
    VertexId, open_graph, run, visit_edges,
};
use tegula_import::{ImportConfig, import};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::Backend;
use tegula_machine::threads::Silent;
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_testkit::{Scratch, XorShift};

const MEMORY: u64 = 1 << 30;
/// Vertices that a worker initialises, or looks through, without a check for cancellation.
const WINDOW: u64 = 1 << 16;
/// Three windows.
const VERTICES: u64 = 2 * WINDOW + 40_000;
/// The first vertices of the second, third and fourth level of a search from 0.
const LEVELS: [u64; 3] = [2, 2 + 3000, VERTICES - 60];

/// Imports a graph, with both directions of its edges. In its search from 0, the third frontier
/// holds nearly all vertices and few are left: the time to pull.
fn layered(scratch: &Scratch) -> PathBuf {
    let mut random = XorShift::new(5);
    let mut between = |first: u64, end: u64| first + random.below(end - first);
    let [second, third, fourth] = LEVELS;
    let mut edges = vec![(0, 1)];
    edges.extend((second..third).map(|vertex| (1, vertex)));
    for vertex in third..fourth {
        edges.push((vertex, between(second, third)));
        edges.push((vertex, between(third, fourth)));
    }
    edges.extend((fourth..VERTICES).flat_map(|vertex| [vertex; 3]).map(|vertex| {
        let neighbour = between(third, fourth);
        (vertex, neighbour)
    }));
    // A tail, so that there are further levels.
    edges.extend((VERTICES..VERTICES + 4).map(|vertex| (vertex - 1, vertex)));
    let input = scratch.path().join("layered.bin64");
    let ends = edges.iter().flat_map(|&(source, target): &(u64, u64)| [source, target]);
    std::fs::write(&input, ends.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let output = scratch.path().join("layered.tegula");
    let mut config = ImportConfig {
        order: Some(VertexOrder::Given),
        rows: Some(RowEncoding::default()),
        undirected: true,
        memory: 256 << 20,
        ..Default::default()
    };
    // Several batches.
    config.tuning.batch_edges = 1 << 17;
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

fn open(scratch: &Scratch) -> Graph {
    open_graph(&layered(scratch), MEMORY, Backend::Auto).unwrap()
}

fn options<'a>(threads: usize, executor: Executor) -> RunOptions<'a> {
    RunOptions {
        memory: MEMORY,
        threads,
        executor,
        tuning: Tuning { part_edges: Some(1 << 13), ..Tuning::default() },
        ..Default::default()
    }
}

/// A function of a program that may be interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Init,
    BeginIteration,
    Signal,
    Along,
    Apply,
    IsSettled,
    IsNews,
    Bucket,
    Merge,
}

const PLACES: [Place; 9] = [
    Place::Init,
    Place::BeginIteration,
    Place::Signal,
    Place::Along,
    Place::Apply,
    Place::IsSettled,
    Place::IsNews,
    Place::Bucket,
    Place::Merge,
];

/// Called at each place.
type Happens<'a> = &'a (dyn Fn(Place) + Sync);

/// A search from 0 by levels that reports each place, and may pull or not.
struct Search<'a, const PULLS: bool> {
    level: u32,
    at: Happens<'a>,
}

/// Sums that report when they are merged.
#[derive(Default)]
struct Reached<'a> {
    count: u64,
    at: Option<Happens<'a>>,
}

impl Aggregate for Reached<'_> {
    fn merge(&mut self, next: Self) {
        if let Some(at) = next.at {
            at(Place::Merge);
        }
        self.count += next.count;
        self.at = self.at.or(next.at);
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.count.to_ne_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Reached { count: u64::from_ne_bytes(bytes.try_into().ok()?), at: None })
    }
}

/// The state of a vertex that is not reached.
const NONE: u64 = u64::MAX;

impl<'a, const PULLS: bool> Program for Search<'a, PULLS> {
    /// The level in the upper half, the parent in the lower half.
    type State = u64;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = Reached<'a>;

    const HAS_BUCKETS: bool = true;
    const SETTLING: Settling = if PULLS { Settling::ByFirstSource } else { Settling::ByState };

    fn init(&self, vertex: VertexId, _: u32, reached: &mut Reached<'a>) -> (u64, Activity) {
        (self.at)(Place::Init);
        reached.at = Some(self.at);
        let is_source = vertex.0 == 0;
        (if is_source { 0 } else { NONE }, Activity::when(is_source))
    }
    fn begin_iteration(&mut self, iteration: u64, _: &Reached<'a>) -> Next {
        self.level = iteration as u32 + 1;
        (self.at)(Place::BeginIteration);
        Next::Continue
    }
    fn signal(&self, vertex: VertexId, _: &u64, _: u32) -> Option<u32> {
        (self.at)(Place::Signal);
        Some(vertex.0 as u32)
    }
    fn along(&self, parent: u32, (): ()) -> u32 {
        (self.at)(Place::Along);
        parent
    }
    fn apply(
        &self,
        _: VertexId,
        _: u32,
        state: &mut u64,
        parent: u32,
        reached: &mut Reached<'a>,
    ) -> Activity {
        (self.at)(Place::Apply);
        reached.at = Some(self.at);
        let is_new = *state == NONE && parent != u32::MAX;
        if is_new {
            reached.count += 1;
            *state = u64::from(self.level) << 32 | u64::from(parent);
        }
        Activity::when(is_new)
    }
    fn is_settled(&self, state: &u64) -> bool {
        (self.at)(Place::IsSettled);
        *state != NONE
    }
    fn is_news(&self, _: &u64, _: u32) -> bool {
        (self.at)(Place::IsNews);
        true
    }
    fn bucket(&self, _: &u64) -> u64 {
        (self.at)(Place::Bucket);
        0
    }
}

fn search(graph: &Graph, options: &RunOptions<'_>) -> Vec<u64> {
    run(graph, Search::<false> { level: 0, at: &|_| {} }, options).unwrap().states
}

/// How a job is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Panics,
    IsCancelled,
}

/// Interrupts a job once, and counts its later calls.
struct Interruption {
    how: How,
    cancel: Cancel,
    has_struck: AtomicBool,
    calls_after: AtomicU64,
}

impl Interruption {
    fn new(how: How) -> Interruption {
        Interruption {
            how,
            cancel: Cancel::default(),
            has_struck: AtomicBool::new(false),
            calls_after: AtomicU64::new(0),
        }
    }

    fn strike(&self) {
        if !self.has_struck.swap(true, Ordering::SeqCst) {
            match self.how {
                // A panic, but without a backtrace: while one is written, other workers would do
                // much.
                How::Panics => std::panic::resume_unwind(Box::new("on purpose")),
                How::IsCancelled => self.cancel.cancel(),
            }
        }
    }

    fn has_struck(&self) -> bool {
        self.has_struck.load(Ordering::SeqCst)
    }

    /// Counts a call of the job after the interruption.
    fn note_call(&self) {
        if self.has_struck.load(Ordering::Relaxed) {
            self.calls_after.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Checks that the job has ended with the right error. Returns an error if it did not end soon.
    #[track_caller]
    fn check<T>(&self, result: Result<T>, calls_max: u64) -> Result<(), String> {
        let is_right = match (&result, self.how) {
            (Err(Error::Machine(MachineError::WorkerFailed { detail })), How::Panics) => {
                detail == "on purpose"
            }
            (Err(Error::Machine(MachineError::Cancelled)), How::IsCancelled) => true,
            _ => false,
        };
        assert!(is_right, "{:?}: {:?}", self.how, result.err());
        let calls = self.calls_after.load(Ordering::SeqCst);
        let how = self.how;
        let is_soon = calls <= calls_max;
        is_soon.then_some(()).ok_or(format!("{how:?}: {calls} further calls, {calls_max} at most"))
    }
}

/// Interrupts a job until it ends soon, at most three times: while the system delays the
/// interrupting thread, others do much.
#[track_caller]
fn soon(mut interrupt: impl FnMut() -> Result<(), String>) {
    let late: Vec<String> = (0..3).map_while(|_| interrupt().err()).collect();
    assert!(late.len() < 3, "{late:?}");
}

/// Runs interrupted jobs one by one, each with a search beside it on the same scheduler.
fn check_beside_jobs<C: Sync>(
    graph: &Graph,
    options: &RunOptions<'_>,
    expected: &[u64],
    cases: &[C],
    interrupted: impl Fn(&C, &RunOptions<'_>),
) {
    let available = graph.reader().pool().available();
    Scheduler::scope(graph, &options.resources(), |scheduler| {
        let options = &RunOptions { scheduler: Some(scheduler), ..options.clone() };
        for case in cases {
            std::thread::scope(|scope| {
                scope.spawn(|| assert!(search(graph, options) == expected));
                interrupted(case, options);
            });
        }
        assert!(search(graph, options) == expected, "afterwards");
    });
    assert_eq!(graph.reader().pool().available(), available);
}

/// Returns the most edges of a tile.
fn widest_tile(graph: &Graph) -> u64 {
    let edges = graph.tiles().iter().map(|tile| u64::from(tile.summary.edge_count));
    edges.max().unwrap()
}

/// Returns the most calls of a search after its interruption: those of each worker between two
/// checks. At most, these are for a window, with four functions, or for a tile, some of whose
/// entries are no edges. A single worker may also look twice for the bucket of each active vertex.
fn calls_max(graph: &Graph, threads: usize) -> u64 {
    let vertices = graph.vertex_count();
    threads as u64 * (4 * WINDOW + 2 * widest_tile(graph)) + 2 * vertices
}

/// Interrupts a search at the first call of a place from an iteration on; returns false if it never
/// gets there.
fn interrupt<const PULLS: bool>(
    graph: &Graph,
    place: Place,
    (iteration, how): (u64, How),
    options: &RunOptions<'_>,
) -> bool {
    let mut has_struck = false;
    soon(|| {
        let interruption = Interruption::new(how);
        let (begun, begun_after) = (AtomicU64::new(0), AtomicU64::new(0));
        let at = |now: Place| {
            interruption.note_call();
            if now == Place::BeginIteration {
                begun.fetch_add(1, Ordering::SeqCst);
                begun_after.fetch_add(u64::from(interruption.has_struck()), Ordering::SeqCst);
            }
            // `Init` comes before the first iteration.
            if now == place && begun.load(Ordering::Relaxed) > iteration
                || now == Place::Init && place == Place::Init
            {
                interruption.strike();
            }
        };
        let options = RunOptions { cancel: interruption.cancel.clone(), ..options.clone() };
        let result = run(graph, Search::<PULLS> { level: 0, at: &at }, &options);
        if !interruption.has_struck() {
            assert!(result.is_ok(), "{:?}", result.err());
            return Ok(());
        }
        has_struck = true;
        assert_eq!(begun_after.load(Ordering::SeqCst), 0, "no further iteration");
        interruption.check(result.map(drop), calls_max(graph, options.threads))
    });
    has_struck
}

/// Interrupts searches by an executor at each place, at the start and when the frontier is large.
fn interrupt_everywhere<const PULLS: bool>(
    executor: Executor,
    arrays: Arrays,
    expected_kind: ProcessKind,
) {
    let scratch = Scratch::new();
    let graph = open(&scratch);
    let options = |threads| RunOptions { arrays, ..options(threads, executor) };
    let undisturbed = run(&graph, Search::<PULLS> { level: 0, at: &|_| {} }, &options(1)).unwrap();
    assert_eq!(undisturbed.statistics.processes[3], expected_kind);
    let expected = undisturbed.states;
    let struck = RefCell::new(HashSet::new());
    for threads in [1, 3] {
        for place in PLACES {
            let cases =
                [(0, How::Panics), (3, How::Panics), (0, How::IsCancelled), (3, How::IsCancelled)];
            check_beside_jobs(&graph, &options(threads), &expected, &cases, |&case, options| {
                if interrupt::<PULLS>(&graph, place, case, options) {
                    struck.borrow_mut().insert(place);
                }
            });
        }
    }
    let never = match executor {
        Executor::Scan => vec![Place::IsNews, Place::Bucket],
        Executor::Seek | Executor::Auto => vec![],
    };
    let missed = PLACES.into_iter().filter(|place| !struck.borrow().contains(place));
    assert_eq!(missed.collect::<Vec<_>>(), never);
}

#[test]
fn an_interrupted_search_that_scans_ends_soon_and_alone() {
    interrupt_everywhere::<false>(Executor::Scan, Arrays::InMemory, ProcessKind::Scan);
}

#[test]
fn an_interrupted_search_with_arrays_on_disk_ends_soon_and_alone() {
    interrupt_everywhere::<false>(Executor::Scan, Arrays::OnDisk, ProcessKind::Scan);
}

#[test]
fn an_interrupted_search_that_seeks_ends_soon_and_alone() {
    interrupt_everywhere::<false>(Executor::Seek, Arrays::InMemory, ProcessKind::Seek);
}

#[test]
fn an_interrupted_search_that_pulls_ends_soon_and_alone() {
    interrupt_everywhere::<true>(Executor::Auto, Arrays::InMemory, ProcessKind::Pull);
}

/// Visits edges, and interrupts itself after some.
struct Visitor<'i> {
    interruption: &'i Interruption,
    edges: AtomicU64,
    asked: AtomicU64,
    at_edge: u64,
    at_question: u64,
}

impl EdgeVisitor for Visitor<'_> {
    type Weight = ();
    fn visit(&self, _: ShortId, _: ShortId, (): ()) {
        self.interruption.note_call();
        if self.edges.fetch_add(1, Ordering::Relaxed) == self.at_edge {
            self.interruption.strike();
        }
    }
    fn needs(&self, _: &TileSummary, _: Origin) -> bool {
        if self.asked.fetch_add(1, Ordering::Relaxed) == self.at_question {
            self.interruption.strike();
        }
        true
    }
}

#[test]
fn an_interrupted_pass_over_all_edges_ends_soon_and_alone() {
    let scratch = Scratch::new();
    let graph = open(&scratch);
    let options = |threads| options(threads, Executor::Auto);
    let expected = search(&graph, &options(1));
    // The first question comes when the scan is planned. Questions after one per tile come during
    // the scan.
    let tiles = graph.tiles().len() as u64;
    let never = u64::MAX;
    let moments =
        [(0, never), (graph.edge_count() / 2, never), (never, 0), (never, tiles + tiles / 2)];
    for threads in [1, 3] {
        for how in [How::Panics, How::IsCancelled] {
            let options = options(threads);
            check_beside_jobs(
                &graph,
                &options,
                &expected,
                &moments,
                |&(at_edge, at_question), options| {
                    soon(|| {
                        let interruption = Interruption::new(how);
                        let options =
                            RunOptions { cancel: interruption.cancel.clone(), ..options.clone() };
                        let visitor = Visitor {
                            interruption: &interruption,
                            edges: AtomicU64::new(0),
                            asked: AtomicU64::new(0),
                            at_edge,
                            at_question,
                        };
                        let result = visit_edges(&graph, &visitor, 0, &options);
                        interruption.check(result, threads as u64 * widest_tile(&graph))
                    });
                },
            );
        }
    }
}

/// Follows rows, and interrupts itself after some of them.
type Follow = fn(&RowsJob<'_>, &Interruption) -> Result<()>;

/// Traverses all rows.
fn one_by_one(job: &RowsJob<'_>, interruption: &Interruption) -> Result<()> {
    let mut traversal = job.traversal(Sequential::new(0..job.rows().rows().vertex_count()));
    let mut rows = 0;
    while traversal.next_row()?.is_some() {
        interruption.note_call();
        rows += 1;
        if rows == 70_000 {
            interruption.strike();
        }
    }
    Ok(())
}

/// Makes a pass with several workers.
fn by_ranges(job: &RowsJob<'_>, interruption: &Interruption) -> Result<()> {
    job.for_each_range(|number, range| {
        for _ in range {
            interruption.note_call();
        }
        if number == 2 {
            interruption.strike();
        }
        Ok(())
    })
}

#[test]
fn an_interrupted_job_that_follows_rows_ends_soon_and_alone() {
    let scratch = Scratch::new();
    let graph = open(&scratch);
    let options = |threads| options(threads, Executor::Auto);
    let expected = search(&graph, &options(1));
    // Calls until the end: rows of a batch in the first case, of the current ranges in the second.
    let ways: [(Follow, u64); 2] = [(one_by_one, 16), (by_ranges, 2 * u64::from(RANGE_SIZE))];
    for threads in [1, 3] {
        for how in [How::Panics, How::IsCancelled] {
            let options = options(threads);
            check_beside_jobs(
                &graph,
                &options,
                &expected,
                &ways,
                |&(follow, calls_max), options| {
                    soon(|| {
                        let interruption = Interruption::new(how);
                        let options =
                            RunOptions { cancel: interruption.cancel.clone(), ..options.clone() };
                        let result =
                            traverse::run(&graph, RowsWanted::forward(false), 0, &options, |job| {
                                follow(job, &interruption)
                            });
                        interruption.check(result, threads as u64 * calls_max)
                    });
                },
            );
        }
    }
}
