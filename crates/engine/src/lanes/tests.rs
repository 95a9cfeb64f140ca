//! Each lane has the bits and the iterations of its program alone.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use tegula_import::{ImportConfig, import};
use tegula_machine::disk::Backend;
use tegula_machine::threads::{Cancel, Progress, ProgressUnit, Silent, lock};
use tegula_store::VertexId;
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::rows::RowEncoding;
use tegula_store::tiles::Grid;
use tegula_testkit::{EdgeList, Scratch, XorShift};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{LaneOutcome, Lanes, OpenLanes, run_lanes, run_open_lanes};
use crate::job::program::{Outcome, run_anywhere};
use crate::options::{Arrays, RunOptions, Tuning};
use crate::program::{Activity, Aggregate, ApplyTo, Min, Next, Program, Relaxation, Sum};
use crate::states::States;
use crate::{estimate, open_graph};

/// Divides the value of every vertex among its targets, until the sum of all values is small.
#[derive(Debug, Clone, PartialEq)]
struct Fading {
    share: f64,
    least: f64,
    sums: Vec<f64>,
}

#[derive(Debug, Default, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Total(f64);

impl Aggregate for Total {
    fn merge(&mut self, next: Total) {
        self.0 += next.0;
    }

    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Total> {
        Total::read_from_bytes(bytes).ok()
    }
}

impl Program for Fading {
    type State = f32;
    type Reduction = Sum<f32>;
    type Weight = f32;
    type Aggregate = Total;

    const APPLY_TO: ApplyTo = ApplyTo::All;
    const NEEDS_DEGREE: bool = true;
    const MAY_SIGNAL_AGAIN: bool = true;

    fn init(&self, vertex: VertexId, degree: u32, total: &mut Total) -> (f32, Activity) {
        let first = 1.0 / (vertex.0 as f32 + degree as f32 + self.share as f32);
        total.0 += f64::from(first);
        (first, Activity::Active)
    }
    fn begin_iteration(&mut self, _: u64, total: &Total) -> Next {
        self.sums.push(total.0);
        if total.0 > self.least { Next::Continue } else { Next::Stop }
    }
    fn signal(&self, _: VertexId, value: &f32, degree: u32) -> Option<f32> {
        Some(value / (degree.max(1) as f32))
    }
    fn along(&self, message: f32, weight: f32) -> f32 {
        message / (1.0 + weight)
    }
    fn apply(
        &self,
        _: VertexId,
        _: u32,
        value: &mut f32,
        reduced: f64,
        total: &mut Total,
    ) -> Activity {
        *value = (self.share * (0.1 * f64::from(*value) + reduced)) as f32;
        total.0 += f64::from(*value);
        Activity::Active
    }
}

/// Distances from a source, within a number of iterations.
#[derive(Debug, Clone, PartialEq)]
struct Distances {
    source: u64,
    iterations: u64,
}

impl Relaxation for Distances {
    type Reduction = Min<f32>;
    type Weight = f32;

    fn start(&self, vertex: VertexId) -> Option<f32> {
        (vertex.0 == self.source).then_some(0.0)
    }
    fn begin_iteration(&mut self, iteration: u64) -> Next {
        if iteration < self.iterations { Next::Continue } else { Next::Stop }
    }
    fn along(&self, distance: f32, weight: f32) -> f32 {
        distance + weight
    }
}

/// Imports random edges, some of them to hubs, into several segments, columns and batches.
fn graph(scratch: &Scratch, seed: u64, rows: Option<RowEncoding>) -> PathBuf {
    let mut random = XorShift::new(seed);
    let vertices = 3000 + random.below(2000);
    let edges = (0..4 * vertices).map(|_| {
        let (source, target) = (random.below(vertices), random.below(vertices));
        (source, if random.below(3) == 0 { target % 11 } else { target })
    });
    let edges = EdgeList::new(edges.collect()).weighted(seed);
    let input = scratch.join("edges.el");
    let lines = edges.edges.iter().zip(edges.weights.as_ref().unwrap());
    let line =
        |((source, target), weight): (&(u64, u64), &f32)| format!("{source} {target} {weight}\n");
    std::fs::write(&input, lines.map(line).collect::<String>()).unwrap();
    let output = scratch.join(format!("{seed}.tegula"));
    let order = Some(VertexOrder::Given);
    let mut config = ImportConfig { order, rows, memory: 256 << 20, ..Default::default() };
    config.tuning.grid = Grid { segment_log2: 11, column_log2: 10 };
    config.tuning.batch_edges = 4000;
    config.input.weighted = true;
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    output
}

/// Whether lanes must have the iterations of their runs alone.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Iterations {
    Same,
    /// A run alone may go along rows, which changes their number.
    Any,
}

/// Runs the programs in lanes and alone, and compares.
fn compare<P: Program<State = f32> + Clone + PartialEq, const K: usize>(
    directory: &Path,
    programs: &[P],
    iterations: Iterations,
) {
    let opened = |memory| open_graph(directory, memory, Backend::Auto).unwrap();
    let alone = |program: &P| {
        let options =
            RunOptions { memory: 1 << 30, threads: 2, tuning: tuning(), ..Default::default() };
        run_anywhere(&opened(1 << 30), program.clone(), &options).unwrap()
    };
    let expected: Vec<_> = programs.iter().map(alone).collect();
    let least = estimate::<Lanes<P, K>>(&opened(1 << 30), 3).needed();
    for (threads, arrays, memory) in [
        (1, Arrays::InMemory, 1 << 30),
        (3, Arrays::InMemory, least + (8 << 20)),
        (2, Arrays::OnDisk, 1 << 30),
    ] {
        let graph: Graph = opened(memory);
        let options =
            RunOptions { memory, threads, arrays, tuning: tuning(), ..Default::default() };
        let found = run_lanes::<P, K>(&graph, programs.to_vec(), &options).unwrap();
        assert_eq!(found.len(), programs.len());
        for (lane, (found, expected)) in found.into_iter().zip(&expected).enumerate() {
            let what = format!("lane {lane} of {K}, {threads} threads, {arrays:?}");
            if iterations == Iterations::Same {
                assert_eq!(found.statistics.iterations, expected.statistics.iterations, "{what}");
                assert!(found.program == expected.program, "{what}");
            }
            assert!(bits(found) == bits_of(&expected.states), "{what}");
        }
    }
}

/// Makes parts small, so that a batch has several.
fn tuning() -> Tuning {
    Tuning { part_edges: Some(1500), ..Tuning::default() }
}

fn bits<P: Program<State = f32>>(outcome: Outcome<P, States<f32>>) -> Vec<u32> {
    bits_of(&outcome.states)
}

fn bits_of(states: &States<f32>) -> Vec<u32> {
    let states = states.read(0..states.len()).unwrap();
    states.into_iter().map(f32::to_bits).collect()
}

fn fading() -> Vec<Fading> {
    let lane = |(share, least)| Fading { share, least, sums: Vec::new() };
    [(0.9, 1e-2), (0.2, 1e-3), (0.5, 1e9), (0.7, 1e-1), (0.3, 2.0)].map(lane).to_vec()
}

fn distances() -> Vec<Distances> {
    let lane = |(source, iterations)| Distances { source, iterations };
    [(5, 1000), (u64::MAX, 1000), (0, 0), (17, 3), (2500, 1000), (5, 1)].map(lane).to_vec()
}

#[test]
fn lanes_of_sums_have_the_bits_of_single_runs() {
    let scratch = Scratch::new();
    for seed in 1..5 {
        let graph = graph(&scratch, seed, None);
        compare::<_, 4>(&graph, &fading()[..3], Iterations::Same);
        compare::<_, 16>(&graph, &fading(), Iterations::Same);
    }
}

#[test]
fn lanes_of_minima_have_the_bits_of_single_runs() {
    let scratch = Scratch::new();
    for seed in 5..9 {
        let graph = graph(&scratch, seed, None);
        compare::<_, 4>(&graph, &distances()[..4], Iterations::Same);
        compare::<_, 16>(&graph, &distances(), Iterations::Same);
    }
}

#[test]
fn lanes_may_go_along_rows() {
    let scratch = Scratch::new();
    let graph = graph(&scratch, 9, Some(RowEncoding::Gap));
    let to_the_end: Vec<_> =
        distances().into_iter().filter(|lane| lane.iterations == 1000).collect();
    compare::<_, 4>(&graph, &to_the_end, Iterations::Any);
}

#[test]
#[should_panic(expected = "5 programs for 4 lanes")]
fn more_programs_than_lanes_are_refused() {
    Lanes::<Fading, 4>::new(fading());
}

/// Lets programs join a run at the ends of iterations. The run goes on when they have been let in or
/// refused.
struct Arrivals<'o> {
    open: &'o OpenLanes<Fading>,
    /// The iteration of each, and what tells it to join.
    joiners: Mutex<Vec<(u64, Sender<()>)>>,
    refused: AtomicUsize,
    iteration: AtomicU64,
    /// Outcomes of the programs with which the run began, and how many must be there when.
    outcomes: Mutex<Receiver<(usize, LaneOutcome<Fading>)>>,
    left: Mutex<Vec<(usize, LaneOutcome<Fading>)>>,
    due: (u64, usize),
}

impl Arrivals<'_> {
    fn answered(&self) -> usize {
        self.open.waiting_count() + self.refused.load(Ordering::Relaxed)
    }
}

impl Progress for Arrivals<'_> {
    fn begin(&self, _: &str, _: Option<u64>, _: ProgressUnit) {}
    fn advance(&self, done: u64) {
        let iteration = self.iteration.fetch_add(done, Ordering::Relaxed) + done;
        for (_, go) in lock(&self.joiners).extract_if(.., |(at, _)| *at == iteration) {
            let before = self.answered();
            go.send(()).unwrap();
            while self.answered() == before {
                std::thread::yield_now();
            }
        }
        lock(&self.left).extend(lock(&self.outcomes).try_iter());
        if iteration == self.due.0 {
            assert_eq!(lock(&self.left).len(), self.due.1, "lanes that have left");
        }
    }
    fn end(&self) {}
}

/// A program that fades for long, and short ones.
fn long_and_short() -> Vec<Fading> {
    let lane = |(share, least)| Fading { share, least, sums: Vec::new() };
    let short = [(0.9, 1.0), (0.2, 1e-1), (0.5, 1e9), (0.7, 1e-1), (0.3, 2.0), (0.8, 1e-3)];
    [(0.9, 1e-20)].into_iter().chain(short).map(lane).collect()
}

/// A program and the outcome of its run alone.
type Alone = (Fading, Outcome<Fading, States<f32>>);

fn check((program, expected): &Alone, found: &Outcome<Fading, States<f32>>) {
    assert_eq!(found.program, expected.program);
    let iterations = expected.statistics.iterations;
    assert_eq!(found.statistics.iterations, iterations, "{program:?}");
    assert_eq!(found.statistics.processes.len() as u64, iterations, "{program:?}");
    assert!(bits_of(&found.states) == bits_of(&expected.states), "{program:?}");
}

/// Starts the first two programs and lets others join at iterations. Returns how many were let in.
fn join<const K: usize>(
    graph: &Graph,
    alone: &[Alone],
    joiners: &[(u64, usize)],
    (threads, arrays): (usize, Arrays),
) -> usize {
    let open = OpenLanes::default();
    let (sender, outcomes) = channel();
    let last = |index: usize| alone[index].1.statistics.iterations;
    let due = (last(1) + 2, 1);
    let latest = joiners.iter().map(|(at, _)| *at).max().unwrap_or(0).max(due.0);
    assert!(latest + 2 < last(0), "the first one is long");
    let arrivals = Arrivals {
        open: &open,
        joiners: Mutex::default(),
        refused: AtomicUsize::new(0),
        iteration: AtomicU64::new(0),
        outcomes: Mutex::new(outcomes),
        left: Mutex::default(),
        due,
    };
    std::thread::scope(|scope| {
        for &(at, index) in joiners {
            let (go, may_go) = channel();
            lock(&arrivals.joiners).push((at, go));
            let arrivals = &arrivals;
            scope.spawn(move || {
                may_go.recv().unwrap();
                let program = alone[index].0.clone();
                match arrivals.open.join(graph, program, &RunOptions::default()).unwrap() {
                    Some(found) => check(&alone[index], &found),
                    None => drop(arrivals.refused.fetch_add(1, Ordering::Relaxed)),
                }
            });
        }
        let progress = &arrivals;
        let options =
            RunOptions { threads, arrays, tuning: tuning(), progress, ..Default::default() };
        let end = move |number, outcome| sender.send((number, outcome)).unwrap();
        let began = alone[..2].iter().map(|(program, _)| program.clone()).collect();
        let ran = run_open_lanes::<_, K>(graph, began, &options, &open, end);
        // If it failed, nobody may wait any more.
        lock(&arrivals.joiners).clear();
        ran.unwrap();
    });
    let mut left = std::mem::take(&mut *lock(&arrivals.left));
    left.extend(lock(&arrivals.outcomes).try_iter());
    let numbers: Vec<usize> = left.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [1, 0]);
    for (number, outcome) in left {
        check(&alone[number], &outcome.into_outcome());
    }
    assert!(!open.has_room());
    joiners.len() - arrivals.refused.load(Ordering::Relaxed)
}

#[test]
fn lanes_join_and_leave_with_the_bits_of_single_runs() {
    let scratch = Scratch::new();
    let mut random = XorShift::new(31);
    for seed in 10..13 {
        let graph = open_graph(&graph(&scratch, seed, None), 1 << 30, Backend::Auto).unwrap();
        let options = RunOptions { threads: 2, tuning: tuning(), ..Default::default() };
        let alone = |program: Fading| {
            let outcome = run_anywhere(&graph, program.clone(), &options).unwrap();
            (program, outcome)
        };
        let alone: Vec<Alone> = long_and_short().into_iter().map(alone).collect();
        let joiners: Vec<(u64, usize)> =
            (0..12).map(|_| (1 + random.below(16), 1 + random.below(6) as usize)).collect();
        for machine in [(1, Arrays::InMemory), (2, Arrays::OnDisk), (3, Arrays::InMemory)] {
            // There are two free lanes, so some must be used again.
            let joined = join::<4>(&graph, &alone, &joiners, machine);
            assert!(joined > 2, "{joined} joined");
            assert_eq!(join::<16>(&graph, &alone, &joiners, machine), 12);
        }
    }
}

#[test]
fn those_who_cannot_join_are_told() {
    let scratch = Scratch::new();
    let directory = graph(&scratch, 13, None);
    let graph = open_graph(&directory, 1 << 30, Backend::Auto).unwrap();
    let programs = long_and_short();
    let open = OpenLanes::default();
    let options = RunOptions { threads: 1, tuning: tuning(), ..Default::default() };
    // The run has not begun.
    assert!(open.join(&graph, programs[1].clone(), &options).unwrap().is_none());
    /// Cancels its own run when another program waits to join it.
    struct Stop<'o>(&'o OpenLanes<Fading>, Cancel, Sender<()>);
    impl Progress for Stop<'_> {
        fn begin(&self, _: &str, _: Option<u64>, _: ProgressUnit) {}
        fn advance(&self, _: u64) {
            self.2.send(()).unwrap();
            while self.0.waiting_count() == 0 {
                std::thread::yield_now();
            }
            self.1.cancel();
        }
        fn end(&self) {}
    }
    let (go, may_go) = channel();
    let stop = Stop(&open, Cancel::default(), go);
    let (outcomes, left) = channel();
    std::thread::scope(|scope| {
        let (open, graph, programs) = (&open, &graph, &programs);
        let joined = scope.spawn(move || {
            may_go.recv().unwrap();
            open.join(graph, programs[1].clone(), &RunOptions::default()).unwrap().is_some()
        });
        let options = RunOptions { progress: &stop, cancel: stop.1.clone(), ..options.clone() };
        let began = vec![programs[0].clone(), programs[6].clone()];
        let end = move |number, _: LaneOutcome<_>| outcomes.send(number).unwrap();
        let failed = run_open_lanes::<_, 4>(graph, began, &options, open, end);
        assert!(failed.is_err());
        assert!(!joined.join().unwrap());
    });
    assert!(left.try_recv().is_err());
    assert!(!open.has_room());
}

/// Lets a program join after the first iteration, and cancels it some iterations later.
struct Cancelling<'o> {
    open: &'o OpenLanes<Fading>,
    go: Sender<()>,
    joined: Cancel,
    iteration: AtomicU64,
}

impl Progress for Cancelling<'_> {
    fn begin(&self, _: &str, _: Option<u64>, _: ProgressUnit) {}
    fn advance(&self, done: u64) {
        match self.iteration.fetch_add(done, Ordering::Relaxed) {
            0 => {
                self.go.send(()).unwrap();
                while self.open.waiting_count() == 0 {
                    std::thread::yield_now();
                }
            }
            4 => {
                assert!(!self.open.has_room(), "both lanes are in use");
                self.joined.cancel();
            }
            6 => assert!(self.open.has_room(), "the lane is free again"),
            _ => {}
        }
    }
    fn end(&self) {}
}

#[test]
fn a_cancelled_lane_is_free_and_harms_no_other() {
    let scratch = Scratch::new();
    let graph = open_graph(&graph(&scratch, 14, None), 1 << 30, Backend::Auto).unwrap();
    let long = &long_and_short()[0];
    let options = RunOptions { threads: 2, tuning: tuning(), ..Default::default() };
    let alone = (long.clone(), run_anywhere(&graph, long.clone(), &options).unwrap());
    let open = OpenLanes::default();
    let (go, may_go) = channel();
    let joined = Cancel::default();
    let progress =
        &Cancelling { open: &open, go, joined: joined.clone(), iteration: AtomicU64::new(0) };
    let (outcomes, left) = channel();
    std::thread::scope(|scope| {
        let (open, graph) = (&open, &graph);
        let ended = scope.spawn(move || {
            may_go.recv().unwrap();
            let options = RunOptions { cancel: joined, ..Default::default() };
            open.join(graph, long.clone(), &options).is_err()
        });
        let options = RunOptions { progress, ..options.clone() };
        let end = move |_, outcome| outcomes.send(outcome).unwrap();
        run_open_lanes::<_, 2>(graph, vec![long.clone()], &options, open, end).unwrap();
        assert!(ended.join().unwrap(), "it was cancelled");
    });
    check(&alone, &left.recv().unwrap().into_outcome());
}
