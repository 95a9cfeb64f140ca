//! The options that every algorithm has.

use std::num::{NonZeroU32, NonZeroU64};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use tegula_algorithms::answer;
use tegula_engine::{Arrays, Checkpoints, Executor, Graph, Messages, Tuning};
use tegula_machine::Error as MachineError;
use tegula_machine::disk::MadeFolder;
use tegula_store::graph::shard_name;
use tegula_tables::check_parent;

use super::checkpoint_folder;
use super::made_folder;
use crate::args::{MACHINE, MachineArgs, ranks};
use crate::errors::{Failure, Result};
use crate::graph_file::GraphFileArgs;
use crate::output::{EDGE_ENDINGS, EdgeTarget, Format, GraphFormat, Target};

/// The help headings of these options.
const TABLE: &str = "Table";
/// Stands for the number of a rank in a path.
const RANK: &str = "{rank}";

/// The options that every algorithm has.
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// The graph directory; with `--ranks`, the folder of a partitioned graph.
    #[arg(value_name = "GRAPH", required = true)]
    pub graph: Option<PathBuf>,
    /// Write the table to a file: .parquet, .csv, .tsv, .npy or .arrows; text also as .gz or .zst;
    /// `-` is standard output [default: lines with tabs on standard output, or no table with --json
    /// or --top]. On ranks, `{rank}` in OUT has each rank write the rows of its own vertices to a
    /// file.
    #[arg(long, short, value_name = "OUT", help_heading = TABLE)]
    output: Option<PathBuf>,
    /// The path with `{rank}` in it, for a rank that writes its own rows to `output`.
    #[arg(skip)]
    rank_files: Option<PathBuf>,
    /// The format of the table, instead of the one that the file name tells; on standard output
    /// without -o.
    #[arg(long, value_enum, value_name = "F", help_heading = TABLE)]
    format: Option<Format>,
    /// How a graph is written as a file; only algorithms that find a graph have these options.
    #[arg(skip)]
    pub graph_file: GraphFileArgs,
    /// Replace the output if it exists.
    #[arg(long, help_heading = TABLE)]
    pub force: bool,
    /// Print only K lines: the greatest, farthest or largest, or else the first ones. A file (-o)
    /// has all rows nevertheless.
    #[arg(long, value_name = "K", help_heading = TABLE)]
    pub top: Option<usize>,
    /// Estimate the memory and the time of the run, and do not run; exit with 4 if it does not fit.
    #[arg(long, help_heading = MACHINE)]
    pub estimate: bool,
    /// How it uses the machine.
    #[command(flatten)]
    pub machine: MachineArgs,
    /// The ranks of a partitioned graph.
    #[command(flatten)]
    pub ranks: RankArgs,
    /// Keep the last two checkpoints of the run in this folder, which is created. `--resume`
    /// continues from there.
    #[arg(long, value_name = "DIR", help_heading = MACHINE)]
    checkpoint: Option<PathBuf>,
    /// Keep a checkpoint every N iterations.
    #[arg(long, value_name = "N", requires = "checkpoint", default_value = "1")]
    #[arg(help_heading = MACHINE)]
    checkpoint_every: NonZeroU64,
    /// Continue from the last checkpoint in this folder: of the same graph, algorithm and options.
    /// The result is that of a run that was never interrupted. Name the folder with `--checkpoint`
    /// too to keep further checkpoints there.
    #[arg(long, value_name = "DIR", help_heading = MACHINE)]
    resume: Option<PathBuf>,
    /// Where edges come from. Results do not depend on it.
    #[arg(long, value_enum, default_value_t = ExecutorChoice::Auto, help_heading = MACHINE)]
    executor: ExecutorChoice,
    /// Where arrays over all vertices lie. Results do not depend on it.
    #[arg(long, value_enum, default_value_t = ArraysChoice::Auto, hide = true)]
    arrays: ArraysChoice,
    /// How messages reach further groups of columns, where arrays lie on disk. Results do not
    /// depend on it.
    #[arg(long, value_enum, default_value_t = MessagesChoice::Auto, hide = true)]
    messages: MessagesChoice,
    /// Also scan tiles without a use in an iteration, where arrays lie in memory. Results do not
    /// depend on it.
    #[arg(long, hide = true)]
    every_tile: bool,
    /// Edges at which a part of a batch is closed; one worker processes a part at a time. Sums of
    /// floats depend on it, so it is for measurements alone.
    #[arg(long, value_name = "N", hide = true)]
    part_edges: Option<NonZeroU64>,
}

/// The ranks of a partitioned graph.
#[derive(Debug, Clone, Default, Args)]
pub struct RankArgs {
    /// Run on a graph that `tegula partition` has cut into P shards, with P ranks that are threads
    /// of this process. Results do not depend on it. Memory and threads are those of each rank.
    #[arg(long, value_name = "P", value_parser = ranks, help_heading = MACHINE)]
    pub ranks: Option<NonZeroU32>,
    /// The path of each shard if they lie apart; `{rank}` in it stands for the number of the rank.
    #[arg(long, value_name = "PATTERN", help_heading = MACHINE)]
    pub rank_directory: Option<String>,
}

/// The options that all jobs of a batch have in common.
#[derive(Debug, Clone, Copy)]
pub struct CommonArgs<'b> {
    /// The graph directory.
    pub graph: &'b Path,
    /// Whether tables that exist are replaced.
    pub force: bool,
    /// Whether the jobs are only estimated.
    pub estimate: bool,
    /// How they use the machine.
    pub machine: &'b MachineArgs,
}

/// How messages reach further groups of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MessagesChoice {
    /// In the way that costs less.
    Auto,
    /// Each group reads all messages again.
    Reread,
    /// Messages are sent to the groups that have a use for them.
    Dispatched,
}

/// Where arrays lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ArraysChoice {
    /// In memory, where they fit.
    Auto,
    /// In memory.
    Memory,
    /// On disk.
    Disk,
}

/// Where edges come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExecutorChoice {
    /// The way that is predicted to be quicker, in each iteration.
    Auto,
    /// All tiles with a use.
    Scan,
    /// The rows of active vertices, if the algorithm allows it.
    Seek,
}

/// Where an answer is written.
#[derive(Debug)]
pub enum Destination {
    /// A file, or standard output.
    Table(Target),
    /// A file that holds a graph, or standard output.
    GraphFile(Target<GraphFormat>),
    /// A graph directory.
    Graph(PathBuf),
}

impl Destination {
    /// Returns the path, or a name for standard output.
    pub fn path(&self) -> &Path {
        match self {
            Destination::Table(target) => target.path(),
            Destination::GraphFile(target) => target.path(),
            Destination::Graph(path) => path,
        }
    }

    fn is_standard_output(&self) -> bool {
        match self {
            Destination::Table(target) => target.is_standard_output(),
            Destination::GraphFile(target) => target.is_standard_output(),
            Destination::Graph(_) => false,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Destination::Table(_) => "table",
            Destination::GraphFile(_) | Destination::Graph(_) => "graph",
        }
    }

    /// Refuses a format that cannot hold the ids of a graph.
    ///
    /// # Errors
    /// [`Failure::Usage`] where the graph has string ids.
    pub fn check_ids(&self, graph: &Graph) -> Result<()> {
        match self {
            Destination::Table(target) => target.check_ids(&answer::id_type(graph)),
            Destination::GraphFile(_) | Destination::Graph(_) => Ok(()),
        }
    }
}

/// Returns a path with the number of a rank in the place for it; `None` if there is no place.
fn with_rank(path: &Path, rank: usize) -> Option<PathBuf> {
    let path = path.to_str().filter(|path| path.contains(RANK))?;
    Some(path.replace(RANK, &rank.to_string()).into())
}

/// Refuses a name that looks like a file of an unknown format, instead of making a graph directory
/// there.
fn check_graph_name(path: &Path) -> Result<()> {
    if path.extension().is_none_or(|ending| ending.eq_ignore_ascii_case("tegula")) {
        return Ok(());
    }
    let message =
        format!("`{}` names neither a graph directory nor a format of edges", path.display());
    let help =
        format!("end it with .tegula for a graph directory, or for a file with {EDGE_ENDINGS}");
    Err(Failure::usage_with(message, help))
}

impl RunArgs {
    /// Returns the options of a job of a batch.
    pub fn of_job(common: &CommonArgs<'_>, output: PathBuf, format: Format) -> RunArgs {
        let CommonArgs { graph, force, estimate, machine } = *common;
        RunArgs {
            graph: Some(graph.to_owned()),
            output: Some(output),
            rank_files: None,
            format: Some(format),
            graph_file: GraphFileArgs::default(),
            force,
            top: None,
            estimate,
            machine: machine.clone(),
            ranks: RankArgs::default(),
            checkpoint: None,
            checkpoint_every: NonZeroU64::MIN,
            resume: None,
            executor: ExecutorChoice::Auto,
            arrays: ArraysChoice::Auto,
            messages: MessagesChoice::Auto,
            every_tile: false,
            part_edges: None,
        }
    }

    /// Returns where the answer is written, if that was asked for. `is_graph` says whether the
    /// answer is the edges of a graph.
    ///
    /// # Errors
    /// [`Failure::Usage`]; [`Error::AlreadyExists`](tegula_machine::Error::AlreadyExists) for an
    /// existing output without `--force`.
    pub fn destination(&self, json: bool, is_graph: bool) -> Result<Option<Destination>> {
        let destination = self.any_destination(json, is_graph)?;
        if !matches!(destination, Some(Destination::GraphFile(_))) {
            self.graph_file.check_unused()?;
        }
        Ok(destination)
    }

    fn any_destination(&self, json: bool, is_graph: bool) -> Result<Option<Destination>> {
        let path = match (&self.output, self.format) {
            (Some(path), _) => path.as_path(),
            (None, Some(_)) => Path::new("-"),
            (None, None) => return Ok(None),
        };
        if is_graph && self.format.is_none() && !EdgeTarget::is_named_by(path) {
            check_graph_name(path)?;
            // A link counts even if it leads nowhere.
            if !self.force && path.symlink_metadata().is_ok() {
                return Err(MachineError::AlreadyExists { path: path.to_owned() }.into());
            }
            let real = |path: &Path| path.canonicalize().ok();
            let read = self.graph.as_deref().and_then(real);
            // `--force` would replace the graph while it is read.
            if read.is_some() && read == real(path) {
                let message = format!("{} is the graph that is read", path.display());
                return Err(Failure::usage_with(message, "name another place with -o"));
            }
            check_parent(path)?;
            return Ok(Some(Destination::Graph(path.to_owned())));
        }
        let target = match is_graph {
            true => EdgeTarget::of(path, self.format, self.force)?,
            false => EdgeTarget::Table(Target::of(path, self.format, self.force)?),
        };
        let destination = match target {
            EdgeTarget::Table(target) => Destination::Table(target),
            EdgeTarget::Graph(target) => Destination::GraphFile(target),
        };
        let other = [(json, "--json"), (self.top.is_some(), "--top")];
        match other.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) if destination.is_standard_output() => {
                let message =
                    format!("the {} and {option} both want standard output", destination.name());
                let help = format!("give the {} a file with -o", destination.name());
                Err(Failure::usage_with(message, help))
            }
            _ => Ok(Some(destination)),
        }
    }

    /// Returns the options of one of several ranks. Threads of one process share its memory and its
    /// processors, unless the user says otherwise.
    ///
    /// # Errors
    /// [`Failure::Usage`] where no folder is given, or a pattern without a place for the rank.
    pub fn of_rank(&self, rank: usize, sharers: usize) -> Result<RunArgs> {
        let mut args = self.clone();
        args.graph = Some(self.shard(rank)?);
        if let Some(output) = self.output.as_deref().and_then(|output| with_rank(output, rank)) {
            // The report names the pattern, since each rank writes its own file.
            (args.output, args.rank_files) = (Some(output), self.output.clone());
        }
        args.machine.threads = args.machine.threads.shared_by(sharers);
        args.machine.reading.budget = args.machine.reading.budget.shared_by(sharers);
        let of_rank = |folder: &PathBuf| folder.join(format!("rank-{rank}"));
        args.checkpoint = self.checkpoint.as_ref().map(of_rank);
        args.resume = self.resume.as_ref().map(of_rank);
        Ok(args)
    }

    /// Makes the folder in which each rank has a folder for its checkpoints, if it is missing.
    ///
    /// # Errors
    /// Fails where the folder cannot keep any.
    pub fn make_checkpoint_folder(&self) -> Result<Option<MadeFolder>> {
        self.checkpoint.as_deref().map_or(Ok(None), made_folder::make)
    }

    /// Returns the graph directory of a rank.
    fn shard(&self, rank: usize) -> Result<PathBuf> {
        let missing = || Failure::usage_with("no graph given", "name a partitioned graph");
        match &self.ranks.rank_directory {
            None => Ok(self.graph.as_ref().ok_or_else(missing)?.join(shard_name(rank))),
            Some(pattern) => with_rank(Path::new(pattern), rank).ok_or_else(|| {
                let message = format!("`{pattern}` has no place for the number of the rank");
                Failure::usage_with(message, "write {rank} there")
            }),
        }
    }

    /// Refuses options that only ranks have.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a path with a place for the rank.
    pub fn check_without_ranks(&self) -> Result<()> {
        if self.ranks.rank_directory.is_some() {
            let message = "--rank-directory names the shards of ranks";
            return Err(Failure::usage_with(message, "say with --ranks how many there are"));
        }
        match self.output.as_deref().filter(|output| with_rank(output, 0).is_some()) {
            Some(output) => {
                let message = format!(
                    "`{}` names a file for each rank, but this run has no ranks",
                    output.display()
                );
                let help = "say with --ranks how many there are, or leave out {rank}";
                Err(Failure::usage_with(message, help))
            }
            None => Ok(()),
        }
    }

    /// Returns the path given with `-o`, if this is a rank that writes its own rows to a file.
    pub fn rank_files(&self) -> Option<&Path> {
        self.rank_files.as_deref()
    }

    /// Returns those options in words that all ranks must have in common. Ranks may have other
    /// folders, memory and threads.
    pub fn in_common(&self) -> String {
        let every = self.checkpoint.is_some().then_some(self.checkpoint_every);
        let (is_resumed, has_rank_files) = (self.resume.is_some(), self.rank_files.is_some());
        // Ranks compare the words alone, so any unambiguous text will do.
        let sums = (self.every_tile, self.part_edges);
        format!("{:?}", (every, is_resumed, has_rank_files, sums))
    }

    /// Whether checkpoints are kept or resumed from.
    ///
    /// # Errors
    /// Fails where the folder cannot keep any.
    pub fn has_checkpoints(&self) -> Result<bool> {
        self.checkpoint.as_deref().map_or(Ok(()), checkpoint_folder::check)?;
        Ok(self.checkpoint.is_some() || self.resume.is_some())
    }

    /// Returns which checkpoints of the run that `run` describes are kept and resumed from, if any.
    pub fn checkpoints<'a>(&'a self, run: &'a str) -> Option<Checkpoints<'a>> {
        let [folder, resume] = [&self.checkpoint, &self.resume].map(|path| path.as_deref());
        let every = self.checkpoint_every;
        folder.or(resume).map(|_| Checkpoints { folder, every, resume, run })
    }

    /// Where arrays lie.
    pub fn arrays(&self) -> Arrays {
        match self.arrays {
            ArraysChoice::Auto => Arrays::Auto,
            ArraysChoice::Memory => Arrays::InMemory,
            ArraysChoice::Disk => Arrays::OnDisk,
        }
    }

    /// Returns the choices of the hidden options.
    pub fn tuning(&self) -> Tuning {
        let usual = Tuning::default();
        Tuning {
            messages: match self.messages {
                MessagesChoice::Auto => Messages::Auto,
                MessagesChoice::Reread => Messages::Reread,
                MessagesChoice::Dispatched => Messages::Dispatched,
            },
            is_selective: !self.every_tile,
            part_edges: self.part_edges.map(NonZeroU64::get),
            ..usual
        }
    }

    /// Returns the allowed sources of edges.
    pub fn executor(&self) -> Executor {
        match self.executor {
            ExecutorChoice::Auto => Executor::Auto,
            ExecutorChoice::Scan => Executor::Scan,
            ExecutorChoice::Seek => Executor::Seek,
        }
    }
}
