//! `tegula run`: one way for every algorithm to open a graph, run, write its table and report.

mod astar;
mod bfs;
mod conductance;
mod coordinates;
mod estimate;
mod mis;
mod missing_rows;
mod mst;
mod options;
mod pagerank;
mod seeds;
mod sets;
mod side_table;
mod sssp;
mod top;
mod wcc;

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use serde::Serialize;
use tegula_engine::{
    Estimate, Executor, Graph, Instructions, ProcessKind, RunOptions, RunStatistics,
};
use tegula_machine::disk::speed_of;
use tegula_machine::threads::Cancel;
use tegula_store::graph::file_names;
use tegula_store::{OriginalId, VertexId};

use crate::errors::{Failure, Result};
use crate::json::{self, RunSeconds, Seconds};
use crate::output::{self, RowWriter, Table, TableFormat, Target, TextTerminal};
use crate::progress::{Alarm, RunProgress};
use crate::report::{self, Facts, Grid};
use crate::session::Session;
use crate::stdout;
use estimate::Needs;
use options::RunArgs;

/// Entries of a list in the summary unless `--top` says otherwise.
const TOP_DEFAULT: usize = 10;
/// Rows of a table that a terminal shows.
const TERMINAL_ROWS: usize = 20;

/// Scans after which a run is taken for one that follows few edges at a time.
const SCANS_MANY: u64 = 20;
/// What is said then.
const SEEK_HINT: &str = "hint: this run scans the graph many times; to follow few edges at a time instead, \
                         import with --layouts tiles,rows, or run with --executor seek once";

/// Vertices between two looks at whether to stop.
const CHUNK: usize = 1 << 20;

/// The algorithms.
#[derive(Debug, Subcommand)]
pub enum Algorithm {
    /// PageRank: how likely a random walk stands on each vertex.
    #[command(name = "pagerank")]
    PageRank(Run<pagerank::PageRankArgs>),
    /// Breadth-first search: hops from a source to each vertex.
    Bfs(Run<bfs::BfsArgs>),
    /// Shortest paths: the smallest sum of weights from a source to each vertex. Without weights every edge
    /// counts 1.
    Sssp(Run<sssp::SsspArgs>),
    /// Weakly connected components: the smallest vertex in the component of each.
    Wcc(Run<wcc::WccArgs>),
    /// A maximal independent set: no two of its vertices are neighbours, and none can be added.
    Mis(Run<mis::MisArgs>),
    /// Conductance of sets of vertices: how well they are separated from the rest, whatever the direction of
    /// edges.
    Conductance(Run<conductance::ConductanceArgs>),
    /// Minimum spanning forest: the edges of least weight that connect what can be connected. Without weights
    /// every edge counts 1.
    Mst(Run<mst::MstArgs>),
    /// A shortest path between two vertices. Without weights every edge counts 1.
    Astar(Run<astar::AstarArgs>),
}

/// What an algorithm is asked for.
#[derive(Debug, Args)]
pub struct Run<A: Args> {
    /// Its own options.
    #[command(flatten)]
    algorithm: A,
    /// The options that every algorithm has.
    #[command(flatten)]
    args: RunArgs,
}

/// Runs the algorithm that was asked for.
///
/// # Errors
/// Those of opening, running and writing.
pub fn run(algorithm: &Algorithm, session: &Session) -> Result<()> {
    match algorithm {
        Algorithm::PageRank(args) => execute(args, session),
        Algorithm::Bfs(args) => execute(args, session),
        Algorithm::Sssp(args) => execute(args, session),
        Algorithm::Wcc(args) => execute(args, session),
        Algorithm::Mis(args) => execute(args, session),
        Algorithm::Conductance(args) => execute(args, session),
        Algorithm::Mst(args) => execute(args, session),
        Algorithm::Astar(args) => execute(args, session),
    }
}

/// An algorithm with its options.
trait Runnable {
    /// Its name on the command line.
    const NAME: &'static str;
    /// What it finds.
    type Answer: Answer;
    /// What it is told by files that its options name.
    type Files: SideFiles;
    /// What it makes of the weights of edges.
    const WEIGHTS: Weights;

    /// Refuses options that make no sense together.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Where its edges can come from.
    fn edges(&self) -> Edges;

    /// Reads the files that its options name, once: one may be a pipe.
    fn read_files(&self, _graph: &Graph, _options: &RunOptions<'_>) -> Result<Self::Files> {
        Ok(Self::Files::default())
    }

    /// Refuses what it has no answer for: a graph, or a vertex that an option names. It is asked before
    /// anything that takes long.
    fn check_input(&self, _graph: &Graph, _options: &RunOptions<'_>) -> Result<()> {
        Ok(())
    }

    /// How many iterations it runs, where that is known before.
    fn iterations(&self) -> Option<u64> {
        None
    }

    /// What it needs of memory, its files included.
    fn estimate(&self, graph: &Graph, files: &Self::Files, threads: usize) -> Result<Estimate>;

    /// Runs it.
    fn run(
        &self,
        graph: &Graph,
        files: Self::Files,
        options: &RunOptions<'_>,
    ) -> Result<(Self::Answer, RunStatistics)>;
}

/// What was read of the files that options name.
trait SideFiles: Default {
    /// Bytes that it holds.
    fn size(&self) -> u64;
}

/// No option names a file.
impl SideFiles for () {
    fn size(&self) -> u64 {
        0
    }
}

/// What an algorithm makes of the weights of edges.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weights {
    /// It looks at them, and takes 1 for every one where the graph has none.
    Used,
    /// It passes them over, which not everybody expects: what it does instead.
    Ignored { instead: &'static str },
    /// It has no use for them, as everybody expects.
    Irrelevant,
}

/// Where the edges of an algorithm can come from.
enum Edges {
    /// From tiles alone: why, and what to do where rows are asked for.
    Tiles { why: &'static str, instead: &'static str },
    /// From rows alone.
    Rows,
    /// From both.
    Either {
        /// Bytes that it needs beside its estimate to follow rows, with so many threads.
        rows_size: fn(&Graph, usize) -> u64,
    },
}

impl Edges {
    /// Whether there have to be rows.
    ///
    /// # Errors
    /// [`Failure::Usage`] where edges cannot come from where they are to.
    fn need_rows(&self, algorithm: &str, executor: Executor) -> Result<bool> {
        match (self, executor) {
            (Edges::Tiles { why, instead }, Executor::Seek) => {
                Err(Failure::usage_with(format!("{why}, not along rows"), *instead))
            }
            (Edges::Rows, Executor::Scan) => {
                let message = format!("{algorithm} follows rows, and cannot scan tiles");
                Err(Failure::usage_with(message, "use --executor seek or auto"))
            }
            (Edges::Rows, _) | (_, Executor::Seek) => Ok(true),
            _ => Ok(false),
        }
    }

    /// Whether it can do without rows.
    fn can_scan(&self) -> bool {
        !matches!(self, Edges::Rows)
    }
}

/// What an algorithm found: a table, and what can be said of all of it together.
trait Answer: Table {
    /// The figures that `--json` shows.
    type Summary: Serialize;

    /// Sums up; lists have at most `top` entries.
    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Self::Summary>;

    /// The figures for people.
    fn facts(summary: &Self::Summary, facts: &mut Facts);

    /// The list that `--top` asks for.
    fn list(summary: &Self::Summary) -> Grid;

    /// What is less than was asked for, although the run was done.
    fn warning(&self) -> Option<String> {
        None
    }
}

fn execute<R: Runnable + Args>(run: &Run<R>, session: &Session) -> Result<()> {
    let Run { algorithm, args } = run;
    algorithm.check()?;
    let target = args.target(session.json)?;
    if target.is_none() || args.top.is_some() || args.estimate {
        stdout::check()?;
    }
    let opened = Instant::now();
    let edges = algorithm.edges();
    let needs_rows = edges.need_rows(R::NAME, args.executor())?;
    let threads = args.threads.count();
    let mut graph = args.reading.open(&args.graph)?;
    if let Some(target) = &target {
        target.check_ids(&output::id_type(&graph))?;
    }
    // Each iteration of these goes through the tiles, however few edges it has a use for.
    let can_only_scan =
        matches!(edges, Edges::Either { .. }) && !needs_rows && graph.manifest().rows.is_none();
    let hint = || session.note(SEEK_HINT);
    let is_hinted = can_only_scan && args.executor() == Executor::Auto;
    let progress = RunProgress {
        iterations: algorithm.iterations(),
        alarm: is_hinted.then(|| Alarm::after(SCANS_MANY, &hint)),
        ..RunProgress::of(session.progress())
    };
    let budget = args.reading.budget.bytes();
    // An estimate tells what is needed beyond the budget, too.
    let reading =
        if args.estimate { budget.max(tegula_machine::memory::default_memory()) } else { budget };
    let mut options = RunOptions {
        memory: reading,
        threads,
        executor: args.executor(),
        rows: None,
        speed: speed_of(graph.directory()),
        instructions: Instructions::detect(),
        cancel: session.cancel.clone(),
        progress: &progress,
        ..RunOptions::default()
    };
    let files = algorithm.read_files(&graph, &options)?;
    options.memory = budget;
    let needs = Needs::of(algorithm, &graph, &files, threads, needs_rows)?;
    let has_room = needs.check("the run", options.memory);
    if has_room.is_ok() && (args.estimate || needs.builds_rows()) {
        // What this reads is part of the estimate.
        algorithm.check_input(&graph, &options)?;
    }
    if args.estimate {
        return needs.show(R::NAME, &graph, args, session);
    }
    has_room?;
    if needs.builds_rows() {
        graph = missing_rows::build(graph, args, edges.can_scan(), files.size(), session)?;
    }
    let open = opened.elapsed();
    let started = Instant::now();
    let run = algorithm.run(&graph, files, &options);
    let (answer, statistics) = run.map_err(|failure| failure.of_whole(options.memory))?;
    let run = started.elapsed();
    // The table needs memory of its own, and no tiles.
    graph.reader().pool().trim();
    let started = Instant::now();
    let bytes_written = write(&answer, &graph, target.as_ref(), args, session)?;
    let write = started.elapsed();
    let seconds = RunSeconds { open: Seconds(open), run: Seconds(run), write: Seconds(write) };
    let done = Done { graph: &graph, args, target, statistics, seconds, bytes_written };
    done.report::<R>(&answer, session)
}

/// The vertex with an original id. A string finds an integer id too, and keeps the zeros in front of a
/// string id.
fn find_vertex(graph: &Graph, id: &str) -> Result<VertexId> {
    let found = graph.original_ids()?.find(&OriginalId::String(id.to_owned()))?;
    let missing =
        || Failure::NoSuchVertex { graph: graph.directory().to_owned(), id: id.to_owned() };
    found.ok_or_else(missing)
}

/// Whether original ids are in another order than dense ids.
fn has_order(graph: &Graph) -> bool {
    graph.manifest().file(file_names::ORDER).is_some()
}

/// The estimate of a run that streams the order of the vertices when the tiles are gone.
fn with_order_streamed(estimate: Estimate, graph: &Graph) -> Result<Estimate> {
    let order = graph.original_ids()?.for_each_rank_size();
    let stream_bytes_min = estimate.stream_bytes_min.max(order);
    Ok(Estimate { stream_bytes_min, ..estimate })
}

/// Writes the table where it is wanted, if it is; returns the bytes of the file.
fn write(
    answer: &impl Answer,
    graph: &Graph,
    target: Option<&Target>,
    args: &RunArgs,
    session: &Session,
) -> Result<u64> {
    let (schema, row_count) = (answer.schema(graph), answer.row_count(graph));
    // A person reads the first rows, a program all of them.
    let is_read = io::stdout().is_terminal();
    let mut writer: Box<dyn RowWriter> = match target {
        Some(target) => target.create(&schema, row_count)?,
        None if session.json || args.top.is_some() => return Ok(0),
        None if is_read => Box::new(TextTerminal::preview(&schema, TERMINAL_ROWS)?),
        None => Target::standard_output(TableFormat::Tsv)?.create(&schema, row_count)?,
    };
    answer.write_rows(graph, &mut *writer, &session.cancel)?;
    let bytes = writer.finish()?;
    let more = row_count.saturating_sub(TERMINAL_ROWS as u64);
    if target.is_none() && is_read && more > 0 {
        let more = report::counted(more, "more row", "more rows");
        session.note(&format!("… {more}; -o FILE writes all of them"));
    }
    Ok(bytes)
}

/// A run that has been done.
struct Done<'a> {
    graph: &'a Graph,
    args: &'a RunArgs,
    target: Option<Target>,
    statistics: RunStatistics,
    seconds: RunSeconds,
    bytes_written: u64,
}

impl Done<'_> {
    fn report<R: Runnable>(self, answer: &R::Answer, session: &Session) -> Result<()> {
        let top = self.args.top.unwrap_or(if session.json { TOP_DEFAULT } else { 0 });
        let summary = answer.summary(self.graph, top, &session.cancel)?;
        let warnings = self.warnings::<R>(answer);
        warnings.iter().for_each(|warning| session.warn(warning));
        if session.json {
            return session.print_json(&self.to_json(R::NAME, warnings, &summary));
        }
        if session.has_notes() {
            let mut facts = self.facts();
            if R::WEIGHTS == Weights::Used && !self.graph.is_weighted() {
                facts.add("weights", "1 for every edge, as the graph has none");
            }
            R::Answer::facts(&summary, &mut facts);
            session.note(&format!("{}\n{}", self.title(R::NAME), facts.to_text()));
        }
        if self.args.top.is_some() {
            session.print_grid(&R::Answer::list(&summary))?;
        }
        Ok(())
    }

    fn warnings<R: Runnable>(&self, answer: &R::Answer) -> Vec<String> {
        let weights = match R::WEIGHTS {
            Weights::Ignored { instead } if self.graph.is_weighted() => {
                Some(format!("{} passes over the weights of the graph: {instead}", R::NAME))
            }
            Weights::Ignored { .. } | Weights::Used | Weights::Irrelevant => None,
        };
        weights.into_iter().chain(answer.warning()).collect()
    }

    fn to_json<'s, S>(
        &self,
        algorithm: &'static str,
        warnings: Vec<String>,
        summary: &'s S,
    ) -> json::Run<'s, S> {
        let statistics = &self.statistics;
        json::Run {
            schema: "tegula.run.v1",
            algorithm,
            vertices: u64::from(self.graph.vertex_count()),
            edges: self.graph.edge_count(),
            iterations: statistics.iterations,
            seconds: self.seconds,
            iteration_seconds: statistics.iteration_times.iter().copied().map(Seconds).collect(),
            processes: statistics.processes.iter().map(|process| process.name()).collect(),
            edges_processed: statistics.edges_processed,
            tiles_skipped: statistics.tiles_skipped,
            bytes_read: statistics.bytes_read,
            bytes_written: self.bytes_written,
            peak_memory_bytes: json::peak_memory(),
            memory_bytes: self.args.reading.budget.bytes(),
            threads: self.args.threads.count(),
            output: self.target.as_ref().map(|target| target.path().display().to_string()),
            warnings,
            summary,
        }
    }

    fn title(&self, algorithm: &str) -> String {
        let vertices = report::count(u64::from(self.graph.vertex_count()));
        let edges = report::count(self.graph.edge_count());
        let graph = report::path(self.graph.directory());
        format!("{algorithm} on {graph}: {vertices} vertices, {edges} edges")
    }

    fn facts(&self) -> Facts {
        let RunSeconds { open, run, write } = self.seconds;
        let [open, run, write]: [Duration; 3] = [open.0, run.0, write.0];
        let statistics = &self.statistics;
        let mut facts = Facts::default();
        facts.add("iterations", iterations(statistics));
        let parts = [open, run, write].map(report::time);
        let total = report::time(open + run + write);
        let [open, running, write] = parts;
        facts.add("time", format!("{total} (open {open}, run {running}, write {write})"));
        let processed = statistics.edges_processed;
        let rate = (processed > 0).then(|| report::rate(processed, "edges", run));
        let rate = rate.map_or_else(String::new, |rate| format!(", {rate}"));
        // More than the graph has where scans go through tiles that they have few uses for.
        facts.add(edges_name(statistics), format!("{}{rate}", report::count(processed)));
        facts.add("read", report::bytes(statistics.bytes_read));
        if let Some(target) = &self.target {
            let bytes = report::bytes(self.bytes_written);
            facts.add("written", format!("{bytes} to {}", report::path(target.path())));
        }
        facts.add("peak memory", report::bytes(json::peak_memory()));
        facts
    }
}

/// How many iterations went which way.
fn counts(statistics: &RunStatistics) -> [(u64, &'static str, &'static str); 3] {
    let count =
        |wanted| statistics.processes.iter().filter(|&&process| process == wanted).count() as u64;
    [
        (count(ProcessKind::Scan), "scan", "scans"),
        (count(ProcessKind::Seek), "seek", "seeks"),
        (count(ProcessKind::Pull), "pull", "pulls"),
    ]
}

/// The number of iterations, and of each kind if there are several.
fn iterations(statistics: &RunStatistics) -> String {
    let mut kinds = counts(statistics).to_vec();
    kinds.retain(|kind| kind.0 > 0);
    let all = report::count(statistics.iterations);
    if kinds.len() < 2 {
        return all;
    }
    let kinds: Vec<String> =
        kinds.into_iter().map(|(count, one, many)| report::counted(count, one, many)).collect();
    format!("{all} ({})", kinds.join(", "))
}

/// What was done to edges.
fn edges_name(statistics: &RunStatistics) -> &'static str {
    match counts(statistics) {
        [_, (0, ..), (0, ..)] => "edges scanned",
        [(0, ..), _, (0, ..)] => "edges followed",
        _ => "edges looked at",
    }
}
