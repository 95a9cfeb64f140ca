//! Whatever each rank keeps in memory, the bits are those of one machine.

use std::thread;

use tegula_comm::{AbortOnPanic, Comm, Sim, SimConfig, Threads};
use tegula_store::Result;
use tegula_store::commit::UnfinishedGraph;
use tegula_store::partition::{Balance, Shards, shard_paths, split};

use super::*;
use crate::job::program::Outcome;
use crate::options::Arrays;
use crate::ranks::Ranks;

/// Cuts a graph into shards, and opens them for ranks.
fn shards(scratch: &Scratch, whole: Graph, ranks: usize) -> Vec<Graph> {
    let output = scratch.join(format!("{ranks}.ranks"));
    let graphs = [whole];
    let unfinished = UnfinishedGraph::create(&output, true).unwrap();
    let (cancel, balance) = (Cancel::default(), Balance::EDGES);
    split(Shards::of(&graphs).unwrap(), (ranks, balance), unfinished, 1 << 30, &Silent, &cancel)
        .unwrap();
    // Each rank has a budget of its own.
    let open = |path| {
        let reader = Reader::open(Backend::Auto, Pool::new(1 << 30)).unwrap();
        Graph::open(path, &reader, Caching::Direct).unwrap().for_ranks().unwrap()
    };
    shard_paths(&output).unwrap().iter().map(|path| open(path)).collect()
}

/// Runs a program as one rank, with its arrays as in the `way` of that number.
fn run_rank<P: Program>(
    graph: &Graph,
    comm: &dyn Comm,
    program: P,
    way: usize,
) -> Result<Outcome<P>> {
    const WAYS: [(u32, bool, Messages); 5] = [
        (1, false, Messages::Reread),
        (2, true, Messages::Dispatched),
        (3, true, Messages::Auto),
        (11, false, Messages::Reread),
        (0, false, Messages::Auto),
    ];
    let (columns, sends, messages) = WAYS[way % WAYS.len()];
    let tuning = Tuning { part_edges: 1500, messages, ..Tuning::default() };
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
            states_held: way % 3,
            bytes: 256 << 20,
            ..least
        };
        let ways = [MemoryDemand::scan("the run", plan.bytes, false)];
        let admitted = scheduler.ledger().admit(&ways, None, &options.cancel)?;
        let ranks = Ranks::meet(comm, graph, &options.cancel)?;
        let start = (program.into(), Some(ranks));
        let mut job = ExternalJob::new(graph, scheduler.parts(), start, plan, &options);
        scheduler.work_off(&mut job, &admitted, &options.cancel)?;
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
    let tuning = Tuning { part_edges: 1500, ..Tuning::default() };
    let options = RunOptions { tuning, ..Default::default() };
    let expected = crate::run(&whole, program.clone(), &options).unwrap();
    for ranks in [1, 2, 3, 5, 23] {
        let shards = shards(&scratch, graph_again(&whole), ranks);
        for first_way in 0..5 {
            let seed = first_way as u64;
            let config = SimConfig { seed, message_size_max: 3000, ..SimConfig::default() };
            let found = match first_way % 2 {
                0 => all_ranks(&shards, &Threads::ranks(ranks), program, first_way),
                _ => all_ranks(&shards, &Sim::ranks(ranks, &config), program, first_way),
            };
            for (rank, found) in found.into_iter().enumerate() {
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
) -> Vec<Outcome<P>> {
    thread::scope(|scope| {
        let run = |(rank, (comm, graph)): (usize, (&C, &Graph))| {
            let _guard = AbortOnPanic::new(comm);
            let found = run_rank(graph, comm, program.clone(), first_way + rank);
            found.inspect_err(|error| comm.abort(&error.to_string())).unwrap()
        };
        let all = ranks.iter().zip(shards).enumerate();
        let all: Vec<_> = all.map(|rank| scope.spawn(move || run(rank))).collect();
        all.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
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
