//! `tegula partition` and `tegula gather`.

use std::fs;
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use tegula_algorithms::answer::List;
use tegula_engine::{SCAN_BALANCE, open_graph, overhead};
use tegula_machine::disk::{Backend, Remove, Unfinished};
use tegula_store::Error;
use tegula_store::commit::UnfinishedGraph;
use tegula_store::graph::{Graph, Manifest};
use tegula_store::partition::{self, Balance, Gathering, Shards, shard_paths};

use crate::args::{Budget, ReadingArgs, Threads, ranks};
use crate::errors::{Failure, Result};
use crate::json::{self, Seconds};
use crate::report::{self, Facts};
use crate::session::Session;

/// The allowed shares of ranks. Only their ratios count. Within this range, no cost overflows or
/// vanishes.
const SHARES: RangeInclusive<f64> = 0.001..=1000.0;

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
    /// What is shared out.
    #[arg(long, value_enum, default_value_t = BalanceBy::Cost)]
    balance: BalanceBy,
    /// The share of each rank, where machines or their disks differ: `2,1,1` gives the first rank
    /// as much as the two others together [default: even shares].
    #[arg(long, value_name = "SHARES", value_delimiter = ',', value_parser = share)]
    shares: Vec<f64>,
    /// Replace a partitioned graph at the output.
    #[arg(long)]
    force: bool,
    /// How the graph is read.
    #[command(flatten)]
    reading: ReadingArgs,
}

/// What is shared out among ranks.
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

/// Parses the share of a rank.
fn share(text: &str) -> std::result::Result<f64, String> {
    let parsed = text.parse().ok().filter(|share: &f64| SHARES.contains(share));
    let (least, most) = (SHARES.start(), SHARES.end());
    parsed.ok_or_else(|| format!("it must be a number from {least} to {most}"))
}

/// Returns the same share for each rank.
fn even_shares(ranks: NonZeroU32) -> Vec<f64> {
    vec![1.0; ranks.get() as usize]
}

impl PartitionArgs {
    /// Returns the share of each rank.
    fn shares(&self) -> Result<Vec<f64>> {
        match self.shares.len() {
            0 => Ok(even_shares(self.ranks)),
            count if count == self.ranks.get() as usize => Ok(self.shares.clone()),
            count => {
                let ranks = self.ranks;
                let message =
                    format!("--shares needs {ranks} numbers, one a rank, and has {count}");
                Err(Failure::usage(message))
            }
        }
    }
}

/// Opens a graph, or all shards of one.
fn open(path: &Path, reading: &ReadingArgs) -> Result<Vec<Graph>> {
    shard_paths(path)?.iter().map(|shard| reading.open(shard)).collect()
}

/// Returns the bytes of the budget that the tables of open graphs leave.
fn left(what: &str, graphs: &[Graph], budget: Budget) -> Result<u64> {
    let budget = budget.bytes();
    // The graphs that are written have tables too.
    let tables: u64 = graphs.iter().map(|graph| 2 * overhead(graph) + graph.tile_pass_size()).sum();
    let left = budget.checked_sub(tables).filter(|&left| left > 0);
    Ok(left.ok_or_else(|| Error::over_budget(what, tables + 1, budget))?)
}

/// Cuts a graph into shards.
pub fn partition(args: &PartitionArgs, session: &Session) -> Result<()> {
    let started = Instant::now();
    let into = (&*args.shares()?, args.balance.weights());
    // Before a graph is opened, so that an output that exists is refused at once.
    let output = UnfinishedGraph::create(&args.output, args.force)?;
    let graphs = open(&args.graph, &args.reading)?;
    let memory = left("the partition", &graphs, args.reading.budget)?;
    let ranks = cut(&graphs, into, output, memory, session)?;
    let elapsed = started.elapsed();
    if session.json {
        return session.print_json(&json::Partition {
            schema: "tegula.partition.v1",
            vertices: ranks.iter().map(|shard| shard.vertices).sum(),
            edges: ranks.iter().map(|shard| shard.edges).sum(),
            ranks,
            seconds: Seconds(elapsed),
            peak_memory_bytes: json::peak_memory(),
        });
    }
    let title = format!("{} in {}", report::path(&args.output), report::time(elapsed));
    session.note(&format!("{title}\n{}", table(&ranks)));
    Ok(())
}

/// Makes a whole graph beside `output` by `import`, cuts it into shards there, and removes it.
pub fn cut_once<R>(
    (output, replace): (&Path, bool),
    ranks: NonZeroU32,
    budget: Budget,
    session: &Session,
    import: impl FnOnce(&Path) -> Result<R>,
) -> Result<(R, Vec<json::Shard>)> {
    let unfinished = UnfinishedGraph::create(output, replace)?;
    let remove: Remove = |folder, name| fs::remove_dir_all(folder.join(name));
    // Declared before the graph in it, so that the graph is closed before its folder is removed.
    let folder = Unfinished::private_folder(output, remove)?;
    let whole = folder.path().join("whole.tegula");
    let report = import(&whole)?;
    let graphs = [open_graph(&whole, budget.bytes(), Backend::Auto)?];
    let memory = left("the partition", &graphs, budget)?;
    let into = (&*even_shares(ranks), SCAN_BALANCE);
    Ok((report, cut(&graphs, into, unfinished, memory, session)?))
}

fn cut(
    graphs: &[Graph],
    into: (&[f64], Balance),
    output: UnfinishedGraph,
    memory: u64,
    session: &Session,
) -> Result<Vec<json::Shard>> {
    let (progress, cancel) = (session.progress(), &session.cancel);
    let shards = Shards::of(graphs)?;
    let manifests = partition::split(shards, into, output, memory, progress, cancel)?;
    let shard = |manifest: &Manifest| json::Shard {
        vertices: manifest.partition.as_ref().map_or(0, |it| it.vertices().count() as u64),
        edges: manifest.edges,
        bytes: manifest.files.iter().map(|file| file.bytes).sum(),
    };
    Ok(manifests.iter().map(shard).collect())
}

/// Formats the shards of all ranks.
pub fn table(ranks: &[json::Shard]) -> String {
    let mut list = List::new(["rank", "vertices", "edges", "bytes"]);
    for (rank, shard) in ranks.iter().enumerate() {
        let json::Shard { vertices, edges, bytes } = *shard;
        let count = report::count;
        list.add([&rank.to_string(), &count(vertices), &count(edges), &report::bytes(bytes)]);
    }
    report::aligned(&list)
}

/// Puts the shards of a graph together.
pub fn gather(args: &GatherArgs, session: &Session) -> Result<()> {
    let started = Instant::now();
    // Before a graph is opened, so that an output that exists is refused at once.
    let output = UnfinishedGraph::create(&args.output, args.force)?;
    let graphs = open(&args.shards, &args.reading)?;
    let memory = left("the gathering", &graphs, args.reading.budget)?;
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
