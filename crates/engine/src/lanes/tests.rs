//! Each lane has the bits and the iterations of its program alone.

use std::path::{Path, PathBuf};

use tegula_import::{ImportConfig, import};
use tegula_machine::disk::Backend;
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::VertexId;
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::rows::RowEncoding;
use tegula_store::tiles::Grid;
use tegula_testkit::{EdgeList, Scratch, XorShift};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{Lanes, run_lanes};
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
    Tuning { part_edges: 1500, ..Tuning::default() }
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
