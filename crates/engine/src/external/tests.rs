//! Whatever a plan keeps in memory, the bits are those of a run in memory.

mod ranks;

use std::num::NonZeroU64;

use tegula_import::input::Vertices;
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::VertexId;
use tegula_store::graph::{Graph, VertexOrder};
use tegula_store::tiles::Grid;
use tegula_testkit::{Scratch, XorShift};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::checkpoint::Checkpoints;
use crate::job::external::ExternalJob;
use crate::memory::{ArraysOnDisk, ArraysPlan};
use crate::options::{Arrays, Messages, RunOptions, Tuning};
use crate::program::{Activity, Aggregate, ApplyTo, Min, Next, Program, Settling, Sum};
use crate::scheduler::{MemoryDemand, Scheduler};

/// Divides the value of every vertex among its targets, and sums up.
#[derive(Debug, Clone, PartialEq)]
struct Spreading {
    sums: Vec<f64>,
}

#[derive(Default, FromBytes, IntoBytes, Immutable)]
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

impl Program for Spreading {
    type State = f32;
    type Reduction = Sum<f32>;
    type Weight = ();
    type Aggregate = Total;

    const APPLY_TO: ApplyTo = ApplyTo::All;
    const NEEDS_DEGREE: bool = true;

    fn init(&self, vertex: VertexId, degree: u32, total: &mut Total) -> (f32, Activity) {
        // A segment may have active vertices and no message that differs from 0.
        let is_empty = vertex.0 / 2048 % 3 == 1;
        let share = if is_empty { 0.0 } else { 1.0 / (vertex.0 as f32 + degree as f32 + 1.5) };
        total.0 += f64::from(share);
        (share, Activity::when(!vertex.0.is_multiple_of(7)))
    }
    fn begin_iteration(&mut self, iteration: u64, total: &Total) -> Next {
        self.sums.push(total.0);
        if iteration < 4 { Next::Continue } else { Next::Stop }
    }
    fn signal(&self, _: VertexId, share: &f32, degree: u32) -> Option<f32> {
        Some(share / (degree.max(1) as f32))
    }
    fn apply(
        &self,
        vertex: VertexId,
        degree: u32,
        share: &mut f32,
        reduced: f64,
        total: &mut Total,
    ) -> Activity {
        *share = (0.3 * f64::from(*share) + reduced + f64::from(degree) / 1e4) as f32;
        total.0 += f64::from(*share);
        Activity::when(!(vertex.0 + (*share * 1e6) as u64).is_multiple_of(5))
    }
}

/// A search whose frontier comes and goes, over vertices that settle.
#[derive(Debug, Clone, PartialEq)]
struct Searching;

impl Program for Searching {
    type State = u64;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = ();

    const SETTLING: Settling = Settling::ByFirstSource;

    fn init(&self, vertex: VertexId, _: u32, (): &mut ()) -> (u64, Activity) {
        let is_source = vertex.0 == 3;
        (if is_source { 1 } else { 0 }, Activity::when(is_source))
    }
    fn signal(&self, vertex: VertexId, _: &u64, _: u32) -> Option<u32> {
        Some(vertex.0 as u32)
    }
    fn apply(&self, _: VertexId, _: u32, state: &mut u64, parent: u32, (): &mut ()) -> Activity {
        let is_new = *state == 0 && parent != u32::MAX;
        if is_new {
            *state = 2 + u64::from(parent);
        }
        Activity::when(is_new)
    }
    fn is_settled(&self, state: &u64) -> bool {
        *state != 0
    }
}

/// The minimum of wide messages, which about two thirds of the vertices send. With sources, these
/// are about as many bytes as all messages without sources.
#[derive(Debug, Clone, PartialEq)]
struct Sinking;

impl Program for Sinking {
    type State = u64;
    type Reduction = Min<u64>;
    type Weight = ();
    type Aggregate = ();

    fn init(&self, vertex: VertexId, _: u32, (): &mut ()) -> (u64, Activity) {
        let height = 3_000_000 + 7919 * vertex.0 % 1_000_003;
        (height, Activity::when(!height.is_multiple_of(3)))
    }
    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        if iteration < 6 { Next::Continue } else { Next::Stop }
    }
    fn signal(&self, _: VertexId, height: &u64, _: u32) -> Option<u64> {
        (!height.is_multiple_of(97)).then_some(height - 1)
    }
    fn apply(&self, _: VertexId, _: u32, height: &mut u64, lowest: u64, (): &mut ()) -> Activity {
        let sinks = lowest < *height;
        *height = lowest.min(*height);
        Activity::when(sinks && !height.is_multiple_of(5))
    }
}

/// Imports random edges between vertices, some of which are hubs: six segments by eleven columns.
fn graph(scratch: &Scratch) -> Graph {
    let mut random = XorShift::new(3);
    let edges = (0..60_000).map(|_| {
        let hub = |vertex: u64, random: &mut XorShift| {
            if random.below(3) == 0 { vertex % 17 } else { vertex }
        };
        let (source, target) = (random.below(11_000), random.below(11_000));
        (hub(source, &mut random), hub(target, &mut random))
    });
    imported(scratch, edges, None)
}

/// Imports edges in the given order of the vertices. Segments have 2^11 vertices, and blocks and
/// columns 2^10.
fn imported(
    scratch: &Scratch,
    edges: impl Iterator<Item = (u64, u64)>,
    vertices: Option<Vertices>,
) -> Graph {
    let input = scratch.join("edges.bin64");
    let ends = edges.flat_map(|(source, target)| [source, target]);
    std::fs::write(&input, ends.flat_map(u64::to_le_bytes).collect::<Vec<u8>>()).unwrap();
    let output = scratch.join("g.tegula");
    let grid = Grid { segment_log2: 11, column_log2: 10 };
    let order = Some(VertexOrder::Given);
    let mut config = ImportConfig { order, vertices, memory: 256 << 20, ..Default::default() };
    (config.tuning.grid, config.tuning.batch_edges) = (grid, 4000);
    import(&[input], &output, &config, &Silent, &Cancel::default()).unwrap();
    let reader = Reader::open(Backend::Auto, Pool::new(1 << 30)).unwrap();
    Graph::open(&output, &reader, Caching::Direct).unwrap()
}

/// Runs with every plan, and compares with a run in memory.
fn by_every_plan<P: Program + Clone + PartialEq>(graph: &Graph, program: &P)
where
    P::State: PartialEq,
{
    for threads in [1, 3] {
        // Parts have few tiles, so that batches have several parts, which span segments.
        let tuned = |messages| Tuning { part_edges: Some(1500), messages, ..Tuning::default() };
        let options = RunOptions { threads, tuning: tuned(Messages::Auto), ..Default::default() };
        let expected = crate::run(graph, program.clone(), &options).unwrap();
        Scheduler::scope(graph, &options.resources(), |scheduler| {
            let arrays = ArraysOnDisk::of::<P>(graph, scheduler.parts(), threads, Messages::Auto);
            let (columns, blocks) = (11, arrays.cut().count());
            for columns_together in [1, 2, 3, 5, columns] {
                for (ahead, states_held, messages_held) in [
                    (0, 0, 0),
                    (5000, 0, blocks),
                    (20000, blocks / 2, 3),
                    (1 << 20, blocks, blocks / 3),
                ] {
                    let groups = u32::div_ceil(columns, columns_together);
                    let (bytes, columns, sends) = (256 << 20, columns_together, false);
                    let plan = ArraysPlan {
                        first_column: 0,
                        columns,
                        groups,
                        sends,
                        exchanges_ahead: false,
                        ahead,
                        states_held,
                        messages_held,
                        bytes,
                    };
                    let ways = [MemoryDemand::scan("the run", plan.bytes, false)];
                    let admitted = scheduler.ledger().admit(&ways, None, &options.cancel).unwrap();
                    let parts = scheduler.parts();
                    for (messages, sends) in [
                        (Messages::Auto, false),
                        (Messages::Auto, groups > 1),
                        (Messages::Dispatched, groups > 1),
                    ] {
                        let plan = ArraysPlan { sends, ..plan };
                        let tuning = tuned(messages);
                        let options = RunOptions { tuning, ..options.clone() };
                        let program = program.clone();
                        let mut job =
                            ExternalJob::new(graph, parts, (program.into(), None), plan, &options);
                        scheduler.work_off(&mut job, &admitted, &options.cancel).unwrap();
                        let outcome = job.into_outcome().unwrap();
                        let done = &outcome.statistics;
                        assert!(outcome.program == expected.program, "{messages:?}, {plan:?}");
                        assert_eq!(done.iterations, expected.statistics.iterations);
                        // If nothing is sent to a group, it does not even read its tiles.
                        let processed = expected.statistics.edges_processed;
                        assert!(done.edges_processed <= processed, "{messages:?}, {plan:?}");
                        if !sends {
                            assert_eq!(done.edges_processed, processed, "{plan:?}");
                            let keeps_all =
                                states_held == blocks && (groups == 1 || messages_held == blocks);
                            assert_eq!(done.bytes_written == 0, keeps_all, "{plan:?}");
                        }
                        assert!(
                            outcome.states.into_vec().unwrap() == expected.states,
                            "{messages:?}, {plan:?}"
                        );
                    }
                }
            }
        });
    }
}

#[test]
fn sums_are_the_same_with_every_plan() {
    let scratch = Scratch::new();
    by_every_plan(&graph(&scratch), &Spreading { sums: Vec::new() });
}

#[test]
fn wide_messages_of_most_vertices_are_the_same_with_every_plan() {
    let scratch = Scratch::new();
    by_every_plan(&graph(&scratch), &Sinking);
}

#[test]
fn a_search_is_the_same_with_every_plan() {
    let scratch = Scratch::new();
    by_every_plan(&graph(&scratch), &Searching);
}

#[test]
fn more_memory_moves_less() {
    let scratch = Scratch::new();
    let graph = graph(&scratch);
    let parts = crate::parts::Parts::cut(&graph, Some(1500));
    let arrays = ArraysOnDisk::of::<Spreading>(&graph, &parts, 2, Messages::Auto);
    let least = arrays.least().bytes;
    assert!(arrays.fit(least - 1, true).is_none() && arrays.fit(least, true).is_some());
    let mut before = u64::MAX;
    for memory in (least..least + (2 << 20)).step_by(1 << 12) {
        let plan = arrays.fit(memory, true).unwrap();
        assert!(plan.bytes <= memory, "{plan:?} in {memory}");
        let waited = arrays.waited_for(&plan);
        // Except for blocks that just have no room in one plan and would have had in another.
        assert!(waited <= before.saturating_add(before / 10), "{plan:?} in {memory}");
        before = waited.min(before);
        // A run plans the same again with the memory that it was given.
        assert_eq!(arrays.fit(plan.bytes, true), Some(plan));
    }
    assert_eq!(before, 0, "all is in memory");
}

#[test]
fn a_checkpoint_has_no_active_vertices_of_earlier_iterations() {
    let scratch = Scratch::new();
    // Each vertex lies in a block of its own, and no iteration writes the block of an earlier one.
    let path = [3, 2000, 4000, 6000, 8000, 10_000];
    let edges = path.windows(2).map(|ends| (ends[0], ends[1]));
    let graph = imported(&scratch, edges, Some(Vertices::Count(11_000)));
    let folder = Scratch::new();
    let (every, run) = (NonZeroU64::MIN, "a search");
    let with = |arrays, checkpoints| {
        let checkpoints = Some(checkpoints);
        let options = RunOptions { arrays, checkpoints, threads: 2, ..Default::default() };
        crate::run(&graph, Searching, &options).unwrap()
    };
    let keeps = Checkpoints { folder: Some(folder.path()), every, resume: None, run };
    let whole = with(Arrays::OnDisk, keeps);
    assert_eq!((whole.statistics.iterations, whole.statistics.edges_processed), (6, 5));
    // Before the last iteration, only the end of the path is active, which has no edge.
    let resumes = Checkpoints { folder: None, resume: Some(folder.path()), ..keeps };
    for arrays in [Arrays::OnDisk, Arrays::InMemory] {
        let resumed = with(arrays, resumes);
        assert_eq!(resumed.statistics.edges_processed, 0, "{arrays:?}");
        assert!(resumed.states == whole.states, "{arrays:?}");
    }
}
