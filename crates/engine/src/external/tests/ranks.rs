//! Whatever each rank keeps in memory, the bits are those of one machine.

use std::sync::Arc;
use std::thread;

use tegula_comm::{AbortOnPanic, Comm, Sim, SimConfig, Tag, Threads};
use tegula_store::Result;
use tegula_store::commit::UnfinishedGraph;
use tegula_store::partition::{Balance, Shards, shard_paths, split};

use super::*;
use crate::external::background::BackgroundExchange;
use crate::job::program::Outcome;
use crate::options::Arrays;
use crate::ranks::Ranks;
use crate::superstep::exchange::Exchange;

/// Cuts a graph into shards, and opens them for ranks.
fn shards(scratch: &Scratch, whole: Graph, ranks: usize) -> Vec<Graph> {
    let output = scratch.join(format!("{ranks}.ranks"));
    let graphs = [whole];
    let unfinished = UnfinishedGraph::create(&output, true).unwrap();
    let (cancel, balance) = (Cancel::default(), Balance::EDGES);
    let into = (&*vec![1.0; ranks], balance);
    split(Shards::of(&graphs).unwrap(), into, unfinished, 1 << 30, &Silent, &cancel).unwrap();
    // Each rank has a budget of its own.
    let open = |path| {
        let reader = Reader::open(Backend::Auto, Pool::new(1 << 30)).unwrap();
        Graph::open(path, &reader, Caching::Direct).unwrap().for_ranks().unwrap()
    };
    shard_paths(&output).unwrap().iter().map(|path| open(path)).collect()
}

/// How ranks have their arrays: the columns of a group, or 0 for arrays in memory; whether messages
/// are sent to further groups, and how; whether the messages of the next segment travel ahead.
const WAYS: [(u32, bool, Messages, bool); 7] = [
    (1, false, Messages::Reread, true),
    (2, true, Messages::Dispatched, false),
    (3, true, Messages::Auto, true),
    (11, false, Messages::Reread, false),
    (0, false, Messages::Auto, false),
    (11, false, Messages::Reread, true),
    (2, true, Messages::Dispatched, true),
];

/// Runs a program as one rank, with its arrays as in the `way` of that number.
fn run_rank<P: Program>(
    graph: &Graph,
    comm: &dyn Comm,
    program: P,
    way: usize,
) -> Result<Outcome<P>> {
    let (columns, sends, messages, exchanges_ahead) = WAYS[way % WAYS.len()];
    let tuning = Tuning { part_edges: Some(1500), messages, ..Tuning::default() };
    let arrays = if columns == 0 { Arrays::InMemory } else { Arrays::OnDisk };
    let threads = 1 + way % 2;
    let options = RunOptions { threads, tuning, arrays, ranks: Some(comm), ..Default::default() };
    if columns == 0 {
        return crate::run(graph, program, &options);
    }
    Scheduler::scope(graph, &options.resources(), |scheduler| {
        let on_disk = ArraysOnDisk::of::<P>(graph, scheduler.parts(), threads, messages);
        let own = graph.own_vertices();
        let last = own.end.saturating_sub(1).max(own.start) >> graph.grid().column_log2;
        let least = on_disk.least();
        let own_columns = last as u32 + 1 - least.first_column;
        let groups = own_columns.div_ceil(columns);
        let plan = ArraysPlan {
            columns,
            groups,
            sends: sends && groups > 1,
            exchanges_ahead,
            states_held: way % 3,
            bytes: 256 << 20,
            ..least
        };
        let ways = [MemoryDemand::scan("the run", plan.bytes, false)];
        let admitted = scheduler.ledger().admit(&ways, None, &options.cancel)?;
        let ranks = Ranks::meet(comm, graph, &options.cancel)?;
        let start = (program.into(), Some(ranks));
        let mut job = ExternalJob::new(graph, scheduler.parts(), start, plan, &options);
        job.work_off(scheduler, &admitted, &options.cancel)?;
        let Outcome { states, program, statistics } = job.into_outcome()?;
        Ok(Outcome { states: states.into_vec()?, program, statistics })
    })
}

/// Runs on several numbers of ranks, each rank in another way, and compares with one machine.
fn on_ranks<P: Program + Clone + PartialEq>(program: &P)
where
    P::State: PartialEq,
{
    let scratch = Scratch::new();
    let whole = graph(&scratch);
    let tuning = Tuning { part_edges: Some(1500), ..Tuning::default() };
    let options = RunOptions { tuning, ..Default::default() };
    let expected = crate::run(&whole, program.clone(), &options).unwrap();
    for ranks in [1, 2, 3, 5, 23] {
        let shards = shards(&scratch, graph_again(&whole), ranks);
        for first_way in 0..WAYS.len() {
            let seed = first_way as u64;
            let config = SimConfig { seed, message_size_max: 3000, ..SimConfig::default() };
            let found = match first_way % 2 {
                0 => all_ranks(&shards, &Threads::ranks(ranks), program, first_way),
                _ => all_ranks(&shards, &Sim::ranks(ranks, &config), program, first_way),
            };
            for (rank, found) in found.into_iter().enumerate() {
                let found = found.unwrap();
                let what = format!("rank {rank} of {ranks}, way {first_way}");
                assert!(found.program == expected.program, "{what}");
                assert!(found.states == expected.states, "{what}");
                let (done, wanted) = (&found.statistics, &expected.statistics);
                assert_eq!(done.iterations, wanted.iterations, "{what}");
                assert!(done.edges_processed <= wanted.edges_processed, "{what}");
            }
        }
    }
}

fn graph_again(graph: &Graph) -> Graph {
    Graph::open(graph.directory(), graph.reader(), Caching::Direct).unwrap()
}

/// Runs all ranks at the same time. The rank `r` runs in the way `first_way + r`.
fn all_ranks<P: Program + Clone, C: Comm>(
    shards: &[Graph],
    ranks: &[C],
    program: &P,
    first_way: usize,
) -> Vec<Result<Outcome<P>>> {
    each_rank(shards, ranks, |comm, graph| {
        let found = run_rank(graph, comm, program.clone(), first_way + comm.rank());
        found.inspect_err(|error| comm.abort(&error.to_string()))
    })
}

/// Does the same work on all ranks at the same time.
fn each_rank<C: Comm, R: Send>(
    shards: &[Graph],
    ranks: &[C],
    work: impl Fn(&C, &Graph) -> R + Sync,
) -> Vec<R> {
    thread::scope(|scope| {
        let run = |(comm, graph): (&C, &Graph)| {
            let _guard = AbortOnPanic::new(comm);
            work(comm, graph)
        };
        let all = ranks.iter().zip(shards);
        let all: Vec<_> = all.map(|rank| scope.spawn(move || run(rank))).collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Returns the messages that a rank has for a segment of which it owns some sources and another
/// rank the others, and the number of this segment.
fn messages_of_shared_segment<'r>(ranks: &Arc<Ranks<'r>>) -> (Exchange<'r, u32>, usize) {
    let is_shared = |&segment: &usize| {
        let own = ranks.own_sources(segment).len();
        own > 0 && own < ranks.segments()[segment].len()
    };
    let segment = (0..ranks.segments().len()).find(is_shared).unwrap();
    let count = ranks.segments()[segment].len();
    let mut exchange = Exchange::of_segment(2048, u32::MAX, Some(Arc::clone(ranks)));
    for source in ranks.own_sources(segment) {
        exchange.places(count)[source] = source as u32;
    }
    (exchange, segment)
}

#[test]
fn sums_are_those_of_one_machine_wherever_each_rank_has_its_arrays() {
    on_ranks(&Spreading { sums: Vec::new() });
}

#[test]
fn wide_messages_are_those_of_one_machine_wherever_each_rank_has_its_arrays() {
    on_ranks(&Sinking);
}

#[test]
fn a_search_is_that_of_one_machine_wherever_each_rank_has_its_arrays() {
    on_ranks(&Searching);
}

#[test]
fn messages_travel_before_anybody_waits_for_them() {
    let scratch = Scratch::new();
    let shards = shards(&scratch, graph(&scratch), 2);
    each_rank(&shards, &Threads::ranks(2), |comm, graph| {
        let ranks = Ranks::meet(comm, graph, &Cancel::default()).unwrap();
        let background = BackgroundExchange::new(ranks);
        let (exchange, segment) = messages_of_shared_segment(background.ranks());
        let traffic = || comm.bytes_sent() + comm.bytes_received();
        let before = traffic();
        background.scope(|| {
            background.begin(exchange, segment);
            while traffic() == before {
                thread::yield_now();
            }
            let mut arrived = background.wait().unwrap().unwrap();
            assert!(background.wait().unwrap().is_none(), "nothing else was begun");
            let count = background.ranks().segments()[segment].len();
            let own = background.ranks().own_sources(segment);
            let messages = arrived.places(count);
            let is_right = |(source, &message): (usize, &u32)| {
                // Sources without an edge here need not come.
                message == source as u32 || message == u32::MAX && !own.contains(&source)
            };
            assert!(messages.iter().enumerate().all(is_right));
            let others = messages.iter().filter(|&&message| message != u32::MAX).count();
            assert!(others > own.len(), "messages of the other rank have come");
        });
    });
}

#[test]
fn a_run_that_fails_waits_for_no_message() {
    let scratch = Scratch::new();
    let shards = shards(&scratch, graph(&scratch), 2);
    let (cancel, done) = (Cancel::default(), Tag(99));
    each_rank(&shards, &Threads::ranks(2), |comm, graph| {
        let ranks = Ranks::meet(comm, graph, &cancel).unwrap();
        if comm.rank() == 0 {
            let background = BackgroundExchange::new(ranks);
            let (exchange, segment) = messages_of_shared_segment(background.ranks());
            let before = comm.bytes_sent();
            background.scope(|| {
                background.begin(exchange, segment);
                while comm.bytes_sent() == before {
                    thread::yield_now();
                }
                // The other rank sends nothing, and the run ends here by an error of its own.
            });
            assert!(background.wait().is_err());
        }
        // The switch of the caller is untouched, for it may have other runs.
        comm.barrier(done, &cancel).unwrap();
    });
    assert!(!cancel.is_cancelled());
}

#[test]
fn a_panic_on_one_rank_ends_all_while_messages_travel() {
    let scratch = Scratch::new();
    let shards = shards(&scratch, graph(&scratch), 3);
    for panicking in 0..3 {
        let config = SimConfig { seed: panicking, ..SimConfig::default() };
        let ranks = Sim::ranks(3, &config);
        let found = each_rank(&shards, &ranks, |comm, graph| {
            let is_here = comm.rank() as u64 == panicking;
            let found = run_rank(graph, comm, Panicking { is_here }, 2);
            found.map(drop).map_err(|error| {
                comm.abort(&error.to_string());
                error.to_string()
            })
        });
        for found in found {
            assert!(found.unwrap_err().contains("the program panics"), "rank {panicking}");
        }
    }
}

/// Panics at its first edge, on one rank.
struct Panicking {
    is_here: bool,
}

impl Program for Panicking {
    type State = u64;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = ();

    fn init(&self, vertex: VertexId, _: u32, (): &mut ()) -> (u64, Activity) {
        (vertex.0, Activity::Active)
    }
    fn signal(&self, vertex: VertexId, _: &u64, _: u32) -> Option<u32> {
        Some(vertex.0 as u32)
    }
    fn along(&self, message: u32, (): ()) -> u32 {
        assert!(!self.is_here, "the program panics");
        message
    }
    fn apply(&self, _: VertexId, _: u32, _: &mut u64, _: u32, (): &mut ()) -> Activity {
        Activity::Active
    }
}

#[test]
fn messages_travel_ahead_where_memory_has_room_for_them() {
    let scratch = Scratch::new();
    let whole = graph(&scratch);
    let shards = shards(&scratch, graph_again(&whole), 2);
    let arrays = |graph: &Graph| {
        let parts = crate::parts::Parts::cut(graph, Some(1500));
        ArraysOnDisk::of::<Spreading>(graph, &parts, 2, Messages::Auto)
    };
    for shard in &shards {
        let arrays = arrays(shard);
        let least = arrays.least().bytes;
        assert!(!arrays.fit(least, true).unwrap().exchanges_ahead);
        for memory in (least..least + (1 << 20)).step_by(1 << 12) {
            let plan = arrays.fit(memory, true).unwrap();
            assert!(plan.bytes <= memory, "{plan:?} in {memory}");
            assert_eq!(arrays.fit(plan.bytes, true), Some(plan));
        }
        assert!(arrays.fit(least + (1 << 20), true).unwrap().exchanges_ahead);
    }
    let alone = arrays(&whole).fit(1 << 30, true).unwrap();
    assert!(!alone.exchanges_ahead, "one machine exchanges nothing");
}
