//! `tegula partition` and `tegula gather`.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use tegula_algorithms::answer::List;
use tegula_engine::{SCAN_BALANCE, overhead};
use tegula_store::Error;
use tegula_store::commit::UnfinishedGraph;
use tegula_store::graph::{Graph, Manifest};
use tegula_store::partition::{self, Balance, Gathering, Shards, shard_paths};

use crate::args::{ReadingArgs, Threads, ranks};
use crate::errors::Result;
use crate::json::{self, Seconds};
use crate::report::{self, Facts};
use crate::session::Session;

/// Options of `tegula partition`.
#[derive(Debug, Args)]
pub struct PartitionArgs {
    /// The graph directory, or the folder of a graph that is partitioned already.
    #[arg(value_name = "GRAPH")]
    graph: PathBuf,
    /// Number of ranks.
    #[arg(long, value_name = "P", value_parser = ranks)]
    ranks: NonZeroU32,
    /// The folder for the shards: `rank-0.tegula` and so on.
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// What is shared out evenly.
    #[arg(long, value_enum, default_value_t = BalanceBy::Cost)]
    balance: BalanceBy,
    /// Replace a partitioned graph at the output.
    #[arg(long)]
    force: bool,
    /// How the graph is read.
    #[command(flatten)]
    reading: ReadingArgs,
}

/// What ranks have in equal shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BalanceBy {
    /// Edges.
    Edges,
    /// The time of an iteration: edges, and vertices by what they cost beside.
    Cost,
}

impl BalanceBy {
    fn weights(self) -> Balance {
        match self {
            BalanceBy::Edges => Balance::EDGES,
            BalanceBy::Cost => SCAN_BALANCE,
        }
    }
}

/// Options of `tegula gather`.
#[derive(Debug, Args)]
pub struct GatherArgs {
    /// The folder of a partitioned graph.
    #[arg(value_name = "DIR")]
    shards: PathBuf,
    /// The graph directory to make.
    #[arg(long, short, value_name = "GRAPH")]
    output: PathBuf,
    /// Replace a graph at the output.
    #[arg(long)]
    force: bool,
    /// How the shards are read.
    #[command(flatten)]
    reading: ReadingArgs,
    /// Workers that build rows.
    #[command(flatten)]
    threads: Threads,
}

/// Opens a graph, or all shards of one.
fn open(path: &Path, reading: &ReadingArgs) -> Result<Vec<Graph>> {
    shard_paths(path)?.iter().map(|shard| reading.open(shard)).collect()
}

/// Returns the bytes of the budget that the tables of open graphs leave.
fn left(what: &str, graphs: &[Graph], reading: &ReadingArgs) -> Result<u64> {
    let budget = reading.budget.bytes();
    // The graphs that are written have tables too.
    let tables: u64 = graphs.iter().map(|graph| 2 * overhead(graph) + graph.tile_pass_size()).sum();
    let left = budget.checked_sub(tables).filter(|&left| left > 0);
    Ok(left.ok_or_else(|| Error::over_budget(what, tables + 1, budget))?)
}

/// Cuts a graph into shards.
pub fn partition(args: &PartitionArgs, session: &Session) -> Result<()> {
    let started = Instant::now();
    let output = UnfinishedGraph::create(&args.output, args.force)?;
    let graphs = open(&args.graph, &args.reading)?;
    let memory = left("the partition", &graphs, &args.reading)?;
    let shards = Shards::of(&graphs)?;
    let ranks = args.ranks.get() as usize;
    let into = (ranks, args.balance.weights());
    let (progress, cancel) = (session.progress(), &session.cancel);
    let manifests = partition::split(shards, into, output, memory, progress, cancel)?;
    let whole = shards.whole();
    let shard = |manifest: &Manifest| json::Shard {
        vertices: manifest.partition.as_ref().map_or(0, |it| it.vertices().count() as u64),
        edges: manifest.edges,
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
    };
    let ranks: Vec<json::Shard> = manifests.iter().map(shard).collect();
    let elapsed = started.elapsed();
    if session.json {
        return session.print_json(&json::Partition {
            schema: "tegula.partition.v1",
            vertices: whole.vertices,
            edges: whole.edges,
            ranks,
            seconds: Seconds(elapsed),
            peak_memory_bytes: json::peak_memory(),
        });
    }
    let mut list = List::new(["rank", "vertices", "edges", "bytes"]);
    for (rank, shard) in ranks.iter().enumerate() {
        let json::Shard { vertices, edges, bytes } = *shard;
        let count = report::count;
        list.add([&rank.to_string(), &count(vertices), &count(edges), &report::bytes(bytes)]);
    }
    let title = format!("{} in {}", report::path(&args.output), report::time(elapsed));
    session.note(&format!("{title}\n{}", report::aligned(&list)));
    Ok(())
}

/// Puts the shards of a graph together.
pub fn gather(args: &GatherArgs, session: &Session) -> Result<()> {
    let started = Instant::now();
    let output = UnfinishedGraph::create(&args.output, args.force)?;
    let graphs = open(&args.shards, &args.reading)?;
    let memory = left("the gathering", &graphs, &args.reading)?;
    let gathering = Gathering { memory, threads: args.threads.count() };
    let shards = Shards::of(&graphs)?;
    if graphs.iter().all(|graph| graph.partition().is_none()) {
        return Err(Error::not_a_partition(&args.shards, "it is a whole graph already").into());
    }
    let (progress, cancel) = (session.progress(), &session.cancel);
    let manifest = partition::gather(shards, output, gathering, progress, cancel)?;
    let bytes = manifest.files.iter().map(|file| file.bytes).sum();
    let elapsed = started.elapsed();
    if session.json {
        return session.print_json(&json::Gather {
            schema: "tegula.gather.v1",
            vertices: manifest.vertices,
            edges: manifest.edges,
            bytes,
            seconds: Seconds(elapsed),
            peak_memory_bytes: json::peak_memory(),
        });
    }
    let mut facts = Facts::default();
    facts.add("vertices", report::count(manifest.vertices));
    facts.add("edges", report::count(manifest.edges));
    facts.add("bytes", report::bytes(bytes));
    facts.add("time", report::time(elapsed));
    session.note(&format!("{}\n{}", report::path(&args.output), facts.to_text()));
    Ok(())
}
