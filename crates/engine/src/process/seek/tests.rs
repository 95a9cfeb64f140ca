//! Searches that switch to a scan while messages are held back beyond a horizon.

use std::sync::Arc;

use tegula_machine::disk::{Backend, Caching, Pool, Reader, Targets};
use tegula_machine::threads::{Cancel, Workers};
use tegula_store::graph::Graph;
use tegula_store::rows::{ChunkCut, Direction, RowEncoding, RowReader};
use tegula_store::{ShortId, VertexId};
use tegula_testkit::{EdgeList, Scratch, XorShift, sssp};

use super::Seek;
use super::apply::{JOINED_TOGETHER_MIN, join};
use crate::graph_for_tests::graph_with_rows;
use crate::instructions::Instructions;
use crate::job::context::{JobContext, OtherJobs};
use crate::process::cost::CostModel;
use crate::process::{Prediction, Process};
use crate::program::{Min, Relaxation};
use crate::superstep::Superstep;
use crate::superstep::frontier::Frontier;

const VERTICES: u32 = 80;

/// Distances from vertex 0.
struct Shortest {
    buckets_per_unit: f64,
}

impl Relaxation for Shortest {
    type Reduction = Min<f64>;
    type Weight = f32;

    const IS_FARTHER_BY_WEIGHT: bool = true;
    const HAS_BUCKETS: bool = true;

    fn start(&self, vertex: VertexId) -> Option<f64> {
        (vertex.0 == 0).then_some(0.0)
    }

    fn along(&self, distance: f64, weight: f32) -> f64 {
        distance + f64::from(weight)
    }

    fn bucket(&self, distance: &f64) -> u64 {
        (self.buckets_per_unit * distance) as u64
    }
}

/// Every vertex has its row in several pieces.
const ROW_CUT: ChunkCut = ChunkCut { edges_max: 10, window_log2: 4 };

/// No other jobs.
pub(super) struct Alone;

impl OtherJobs for Alone {
    fn is_there(&self) -> bool {
        false
    }

    fn stand_in(&self) {}
}

/// Returns edges that give every vertex a long row, and a path through all vertices.
fn edges(seed: u64) -> EdgeList {
    let mut random = XorShift::new(seed);
    let (mut pairs, mut weights) = (Vec::new(), Vec::new());
    for number in 0..4_000u64 {
        pairs.push((random.below(VERTICES.into()), random.below(VERTICES.into())));
        weights.push(0.5 + (number % 251) as f32);
    }
    for vertex in 1..u64::from(VERTICES) {
        pairs.push((vertex - 1, vertex));
        weights.push(0.75);
    }
    EdgeList { weights: Some(weights), ..EdgeList::new(pairs) }
}

fn graph_of(edges: &EdgeList, scratch: &Scratch) -> Graph {
    let directory = graph_with_rows(scratch, edges, RowEncoding::default(), ROW_CUT);
    let reader = Reader::open(Backend::Auto, Pool::new(256 << 20)).unwrap();
    Graph::open(&directory, &reader, Caching::Direct).unwrap()
}

/// Seeks to the end. In iteration `interrupted`, all active vertices signal as for a scan. Returns
/// the distances, and whether there was a horizon at that moment.
fn search(
    graph: &Graph,
    workers: &Workers,
    buckets_per_unit: f64,
    interrupted: u64,
) -> (Vec<f64>, bool) {
    let cancel = Cancel::default();
    let context = JobContext::new(workers, &cancel, &Alone);
    let cache = RowReader::cache_size_max(graph, Direction::Forward, true);
    let rows = RowReader::open(graph, Direction::Forward, true, cache, &Targets::default())
        .unwrap()
        .unwrap();
    rows.unpack(workers, &cancel).unwrap();
    let costs = CostModel::of(graph, workers.count(), &Default::default());
    let mut seek = Seek::<Shortest>::new(vec![&rows], VERTICES as usize, costs);
    let program = Shortest { buckets_per_unit };
    let (degrees, instructions) = (Arc::default(), Instructions::detect());
    let mut step =
        Superstep::new(graph, program.into(), None, degrees, (instructions, false), &context)
            .unwrap();
    let mut had_horizon = false;
    while let Some(iteration) = step.begin_iteration() {
        if iteration + 1 == interrupted {
            had_horizon = step.buckets.horizon.is_some();
            step.generate(&context).unwrap();
            assert!(matches!(step.frontier, Frontier::Bits(_)) && step.buckets.horizon.is_none());
        }
        let prediction =
            Prediction { is_small: (iteration + 1).is_multiple_of(2), ..Default::default() };
        seek.run(&mut step, &prediction, &context).unwrap();
    }
    (step.into_result().0, had_horizon)
}

/// Enough vertices that all workers copy.
#[test]
fn lists_are_joined_in_order_by_any_number_of_threads() {
    for threads in [1, 3] {
        Workers::scope(threads, |workers| {
            let cancel = Cancel::default();
            let context = JobContext::new(workers, &cancel, &Alone);
            for count in [0, 10, JOINED_TOGETHER_MIN as u32 + 3] {
                let ends = [0, count / 7, count / 7, count / 2, count];
                let part = |ends: &[u32]| (ends[0]..ends[1]).map(ShortId).collect::<Vec<_>>();
                let mut lists: Vec<Vec<ShortId>> = ends.windows(2).map(part).collect();
                let joined = join(lists.iter_mut().collect(), &context).unwrap();
                assert!(joined == part(&[0, count]), "{count} vertices, {threads} threads");
                assert!(lists.iter().all(Vec::is_empty));
            }
        });
    }
}

#[test]
fn a_scan_sends_the_messages_that_a_search_held_back() {
    let scratch = Scratch::new();
    let edges = edges(11);
    let graph = graph_of(&edges, &scratch);
    let expected: Vec<f64> =
        sssp(&edges.undirected(), 0).into_iter().map(|(_, distance)| distance).collect();
    let mut with_horizon = 0;
    for threads in [1, 3] {
        Workers::scope(threads, |workers| {
            for interrupted in 0..40 {
                let (found, had_horizon) = search(&graph, workers, 8.0, interrupted);
                assert_eq!(found, expected, "interrupted in iteration {interrupted}");
                with_horizon += u64::from(had_horizon);
            }
        });
    }
    assert!(with_horizon > 4, "{with_horizon} searches had a horizon");
}

/// The narrower a bucket is, the more often the horizon moves.
#[test]
fn distances_do_not_depend_on_the_bucket_width() {
    for seed in 0..20 {
        let scratch = Scratch::new();
        let edges = edges(seed);
        let graph = graph_of(&edges, &scratch);
        let expected: Vec<f64> =
            sssp(&edges.undirected(), 0).into_iter().map(|(_, distance)| distance).collect();
        Workers::scope(2, |workers| {
            for buckets_per_unit in [0.01, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 100.0] {
                let (found, _) = search(&graph, workers, buckets_per_unit, u64::MAX);
                assert_eq!(
                    found, expected,
                    "seed {seed}, {buckets_per_unit} buckets for a weight of 1"
                );
            }
        });
    }
}
