//! Opens a graph, runs an algorithm, writes its table and reports, the same for all.

use std::path::Path;
use std::time::{Duration, Instant};

use tegula_algorithms::algorithm::{
    Checkpointing, Edges, Found, Needs, Prepared, Request, Weights,
};
use tegula_algorithms::answer::{Answer, Summary};
use tegula_algorithms::side_table::{LocalPaths, TableRead};
use tegula_comm::Comm;
use tegula_engine::{
    Executor, Graph, ProcessKind, RankStatistics, RunOptions, RunStatistics, check_shard,
    checkpoint_size,
};
use tegula_machine::memory::default_memory;
use tegula_store::Error;

use super::input::{Input, name_of};
use super::options::{Destination, RunArgs};
use super::{answer_file, checkpoint_folder, estimate, missing_rows, new_graph, same_run};
use crate::allocator;
use crate::errors::{Failure, Result};
use crate::hints;
use crate::json::{self, RunSeconds, Seconds};
use crate::progress::{Alarm, RunProgress};
use crate::report::{self, EdgeCount, Facts};
use crate::session::Session;
use crate::stdout;

/// Entries of a list in the summary unless `--top` says otherwise.
pub const TOP_DEFAULT: usize = 10;

/// Scans after which a run seems to follow few edges at a time.
const SCANS_MANY: u64 = 20;
/// What is said then, where arrays are in memory: following rows needs them there.
const SEEK_HINT: &str = "hint: this run scans the graph many times; to follow few edges at a time instead, \
                         import with --layouts tiles,rows, or run with --executor seek once";

/// Runs an algorithm, alone or as one of several ranks. The first rank reports, and writes the
/// table unless each rank writes its own rows.
pub fn run(
    request: &Request,
    args: &RunArgs,
    ranks: Option<&dyn Comm>,
    session: &Session,
) -> Result<()> {
    let edges = if ranks.is_some() { request.edges_on_ranks } else { request.edges };
    check(request, edges, args.executor())?;
    let reports = ranks.is_none_or(|comm| comm.rank() == 0);
    let target = match reports || args.rank_files().is_some() {
        true => args.destination(session.json, request.finds_graph)?,
        false => None,
    };
    check_rank_files(args, target.as_ref())?;
    if reports && (target.is_none() || args.top.is_some() || args.estimate) {
        stdout::check()?;
    }
    let opened = Instant::now();
    let kept_bytes = kept_bytes(request, args)?;
    let input = Input::of(request, args, session)?;
    let mut graph = input.open(args)?;
    if let Some(comm) = ranks {
        graph = as_rank(graph, comm, request)?;
    }
    target.iter().try_for_each(|target| target.check_ids(&graph))?;
    let budget = args.machine.reading.budget.bytes();
    let options = RunOptions { ranks, ..run_options(args, &graph, session) };
    let prepared = request.prepare(&graph, &options, &LocalPaths)?;
    let description = prepared.description();
    if let Some(comm) = ranks {
        let all = format!("{description} {}", args.in_common());
        same_run::check(comm, &all, &session.cancel)?;
    }
    let mut needs = needs_of((request, &prepared), &graph, args, kept_bytes)?;
    if let Some(Destination::Graph(_)) = &target {
        needs = needs.with_writing(&graph, new_graph::memory_min(&graph));
    }
    let has_room = needs.check("the run", budget);
    let builds_rows = needs.build_bytes.is_some();
    if has_room.is_ok() && (args.estimate || builds_rows) {
        // The estimate covers what this reads.
        request.check_input(&graph)?;
    }
    if args.estimate {
        return estimate::show(&needs, request, &graph, args, session);
    }
    has_room?;
    tracing::info!("{}", estimate::plan(&needs, budget));
    if builds_rows {
        graph = missing_rows::build(graph, request.edges, args, prepared.files_size(), session)?;
    }
    let open = opened.elapsed();
    let hint = || session.note(SEEK_HINT);
    let has_hint = could_follow_rows(request, &graph, &needs, args);
    let progress = RunProgress {
        iterations: request.iterations.known(),
        alarm: has_hint.then(|| Alarm::after(SCANS_MANY, &hint)),
        ..RunProgress::of(session.progress())
    };
    let tables = prepared.tables.clone();
    let checkpoints = args.checkpoints(&description);
    let options = RunOptions { memory: budget, progress: &progress, checkpoints, ..options };
    let started = Instant::now();
    let found = prepared.run(&graph, &options).map_err(|error| failed(error, budget))?;
    if !reports && target.is_none() {
        return Ok(());
    }
    let input = RunInput { request, graph: &graph, tables, args };
    deliver(found, [open, started.elapsed()], (target, ranks), input, session)
}

/// Returns what a run needs. Its checkpoints, if it keeps any, keep `kept_bytes` bytes a vertex.
pub fn needs_of(
    (request, prepared): (&Request, &Prepared<'_>),
    graph: &Graph,
    args: &RunArgs,
    kept_bytes: Option<usize>,
) -> Result<Needs> {
    let threads = args.machine.threads.count();
    let budget = args.machine.reading.budget.bytes();
    let has_rows = needs_rows(request, graph, args.executor())?;
    let mut needs = Needs::of(prepared, graph, threads, has_rows)?;
    needs.estimate.vertex_bytes +=
        kept_bytes.map_or(0, |bytes| checkpoint_size(graph, bytes, budget, threads));
    Ok(needs)
}

/// Turns a shard into the view that its rank has of the whole graph. Refuses an algorithm that
/// follows rows, which shards do not have.
fn as_rank(graph: Graph, comm: &dyn Comm, request: &Request) -> Result<Graph> {
    let graph = as_shard(graph, request)?;
    check_shard(comm, &graph)?;
    Ok(graph)
}

/// Turns a shard into the view of its rank, whatever the number of the rank is.
pub fn as_shard(graph: Graph, request: &Request) -> Result<Graph> {
    let graph = graph.for_ranks()?;
    match request.needs_rows(&graph) {
        true => Err(Error::NotOnRanks { what: "an algorithm that follows rows" }.into()),
        false => Ok(graph),
    }
}

/// Returns the options of a run. An estimate gets more memory than the budget, so that it can tell
/// what a run needs beyond it.
pub fn run_options<'r>(args: &'r RunArgs, graph: &Graph, session: &'r Session) -> RunOptions<'r> {
    let least = if args.estimate { default_memory() } else { 0 };
    RunOptions {
        memory: args.machine.reading.budget.bytes().max(least),
        threads: args.machine.threads.count(),
        executor: args.executor(),
        rows: None,
        arrays: args.arrays(),
        spill_directory: args.machine.spill_directory.as_deref(),
        speed: args.machine.reading.speed(graph.directory()),
        tuning: args.tuning(),
        cancel: session.cancel.clone(),
        progress: session.progress(),
        ..RunOptions::default()
    }
}

/// Returns the failure of a run, with the figures of the whole budget.
pub fn failed(error: tegula_algorithms::Error, budget: u64) -> Failure {
    checkpoint_folder::explained(error.into()).of_whole(budget)
}

/// Writes the answer, and reports on the first rank.
fn deliver(
    Found { answer, statistics }: Found,
    [open, run]: [Duration; 2],
    (target, ranks): (Option<Destination>, Option<&dyn Comm>),
    input: RunInput<'_>,
    session: &Session,
) -> Result<()> {
    let RunInput { graph, args, .. } = input;
    // Writing the table needs memory, but no tiles.
    graph.reader().pool().trim();
    allocator::give_back();
    let started = Instant::now();
    let bytes_written = match (&target, ranks.filter(|_| args.rank_files().is_some())) {
        (Some(target), Some(comm)) => {
            answer_file::write_own_rows(&*answer, graph, (target, comm), args, session)?
        }
        (target, _) => answer_file::write(&*answer, graph, target.as_ref(), args, session)?,
    };
    if ranks.is_some_and(|comm| comm.rank() > 0) {
        return Ok(());
    }
    let write = started.elapsed();
    allocator::give_back();
    let seconds = RunSeconds { open: Seconds(open), run: Seconds(run), write: Seconds(write) };
    let done = Done { input, target: target.as_ref(), statistics, seconds, bytes_written };
    done.report(&*answer, session)
}

/// Returns the bytes per vertex of the state that checkpoints keep; `None` for a run without them.
///
/// # Errors
/// [`Failure::Usage`] where an algorithm keeps no checkpoints, or their folder cannot keep any.
pub fn kept_bytes(request: &Request, args: &RunArgs) -> Result<Option<usize>> {
    if !args.has_checkpoints()? {
        return Ok(None);
    }
    match request.checkpointing {
        Checkpointing::Kept { state_bytes } => Ok(Some(state_bytes)),
        Checkpointing::Refused { why } => {
            let message = format!("{} keeps no checkpoints: {why}", request.name);
            Err(Failure::usage_with(message, "run it without --checkpoint and --resume"))
        }
    }
}

/// Refuses options that contradict each other, and an executor that the algorithm cannot use on any
/// graph.
pub fn check(request: &Request, edges: Edges, executor: Executor) -> Result<()> {
    request.check()?;
    match (edges, executor) {
        (Edges::Tiles { why, instead }, Executor::Seek) => {
            let other = instead.map(|wanted| format!("{}, or ", hints::setting(&wanted)));
            let help = format!("use {}--executor scan or auto", other.unwrap_or_default());
            Err(Failure::usage_with(format!("{why}, not along rows"), help))
        }
        (Edges::Rows(_), Executor::Scan) => {
            let message = format!("{} follows rows, and cannot scan tiles", request.name);
            Err(Failure::usage_with(message, "use --executor seek or auto"))
        }
        (Edges::None | Edges::Either { .. }, _)
        | (Edges::Tiles { .. }, Executor::Scan | Executor::Auto)
        | (Edges::Rows(_), Executor::Seek | Executor::Auto) => Ok(()),
    }
}

/// Refuses files of ranks that are no tables.
fn check_rank_files(args: &RunArgs, target: Option<&Destination>) -> Result<()> {
    match target {
        Some(Destination::Table(_)) => Ok(()),
        _ if args.rank_files().is_none() => Ok(()),
        _ => {
            let message = "a file for each rank is a table";
            Err(Failure::usage_with(message, "write one file: leave out {rank}"))
        }
    }
}

/// Whether the run needs rows.
///
/// # Errors
/// [`Failure::Usage`] where `--executor scan` is given and tiles do not suffice.
pub fn needs_rows(request: &Request, graph: &Graph, executor: Executor) -> Result<bool> {
    let edges = request.edges_on(graph);
    let can_scan = edges.can_scan(graph);
    match (edges, executor) {
        (Edges::None, _) => Ok(false),
        (Edges::Either { .. }, Executor::Scan) if !can_scan => {
            let message =
                "on a directed graph, --direction in and both follow rows, and cannot scan tiles";
            Err(Failure::usage_with(message.to_owned(), "use --executor seek or auto"))
        }
        (_, executor) => Ok(executor == Executor::Seek || request.needs_rows(graph)),
    }
}

/// Whether each iteration scans the tiles, however few of their edges it uses, and rows would help.
fn could_follow_rows(request: &Request, graph: &Graph, needs: &Needs, args: &RunArgs) -> bool {
    matches!(request.edges, Edges::Either { .. })
        && request.edges.can_scan(graph)
        && request.check_rows(graph).is_ok()
        && args.executor() == Executor::Auto
        && graph.manifest().rows.is_none()
        && needs.estimate.plan_on_disk(args.machine.reading.budget.bytes()).is_none()
}

/// What was run, and on what.
pub struct RunInput<'a> {
    pub request: &'a Request,
    pub graph: &'a Graph,
    pub tables: Vec<TableRead>,
    pub args: &'a RunArgs,
}

/// A run that has been done.
pub struct Done<'a> {
    pub input: RunInput<'a>,
    pub target: Option<&'a Destination>,
    pub statistics: RunStatistics,
    pub seconds: RunSeconds,
    pub bytes_written: u64,
}

impl Done<'_> {
    fn report(self, answer: &dyn Answer, session: &Session) -> Result<()> {
        // The object always has the list. A person gets it on demand, besides the table.
        let top = self.input.args.top.unwrap_or(if session.json { TOP_DEFAULT } else { 0 });
        let summary = answer.summary(self.input.graph, top, &session.cancel)?;
        let warnings = session.tell(self.warnings(answer));
        if session.json {
            return session.print_json(&self.to_json(warnings, &*summary));
        }
        if session.has_notes() {
            let mut facts = self.facts();
            if self.input.request.weights == Weights::Used {
                let weights = match self.input.graph.is_weighted() {
                    true => "those of the graph",
                    false => "1 for every edge, as the graph has none",
                };
                facts.add("weights", weights);
            }
            summary.facts().into_iter().for_each(|(name, value)| facts.add(name, value));
            session.note(&format!("{}\n{}", self.title(), facts.to_text()));
        }
        if self.input.args.top.is_some() {
            session.print_list(&summary.list())?;
        }
        Ok(())
    }

    pub fn warnings(&self, answer: &dyn Answer) -> Vec<String> {
        let weights = match self.input.request.weights {
            Weights::Ignored { instead } if self.input.graph.is_weighted() => {
                let name = self.input.request.name;
                let instead = hints::typed(instead, name);
                Some(format!("{name} passes over the weights of the graph: {instead}"))
            }
            Weights::Ignored { .. } | Weights::Used | Weights::Irrelevant => None,
        };
        let own = answer.warning().map(|warning| hints::with_hints(&warning));
        hints::of_tables(&self.input.tables).into_iter().chain(weights).chain(own).collect()
    }

    pub fn to_json<'s>(&'s self, warnings: Vec<String>, summary: &'s dyn Summary) -> json::Run<'s> {
        let statistics = &self.statistics;
        json::Run {
            schema: "tegula.run.v1",
            algorithm: self.input.request.name,
            vertices: self.input.graph.vertex_count(),
            edges: self.input.graph.edge_count(),
            iterations: statistics.iterations,
            iterations_before: statistics.iterations_before,
            seconds: self.seconds,
            iteration_seconds: statistics.iteration_times.iter().copied().map(Seconds).collect(),
            processes: statistics.processes.iter().map(|process| process.name()).collect(),
            predicted_seconds: statistics.predicted_seconds.clone(),
            scan_seconds: json::ScanSeconds {
                working: Seconds(statistics.scan_working),
                waiting: Seconds(statistics.scan_waiting),
            },
            edges_processed: statistics.edges_processed,
            tiles_skipped: statistics.tiles_skipped,
            bytes_read: statistics.bytes_read,
            // Arrays on disk are written, too.
            bytes_written: self.bytes_written + statistics.bytes_written,
            peak_memory_bytes: json::peak_memory(),
            memory_bytes: self.input.args.machine.reading.budget.bytes(),
            threads: self.input.args.machine.threads.count(),
            ranks: statistics.ranks.iter().map(json::Rank::of).collect(),
            output: self.output().map(|path| path.display().to_string()),
            warnings,
            tables: &self.input.tables,
            summary,
        }
    }

    /// Returns where the answer was written, with `{rank}` in it if each rank wrote a file.
    fn output(&self) -> Option<&Path> {
        self.input.args.rank_files().or(self.target.map(Destination::path))
    }

    /// Returns where the answer was written, as people are shown it.
    pub fn target_path(&self) -> String {
        self.output().map_or_else(String::new, report::path)
    }

    fn title(&self) -> String {
        let algorithm = self.input.request.name;
        let vertices = report::count(self.input.graph.vertex_count());
        let edges = EdgeCount::of(self.input.graph.manifest()).with_arcs(" edges");
        let graph = report::path(name_of(self.input.request, self.input.graph));
        format!("{algorithm} on {graph}: {vertices} vertices, {edges}")
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
        let unit = EdgeCount::of(self.input.graph.manifest()).stored_unit();
        let rate = (processed > 0).then(|| report::rate(processed, unit.many, run));
        let rate = rate.map_or_else(String::new, |rate| format!(", {rate}"));
        // May exceed the edges of the graph: scans count all edges of a tile, used or not.
        let done = format!("{} {}", unit.many, done_to_edges(statistics));
        facts.add(done, format!("{}{rate}", report::count(processed)));
        facts.add("read", report::bytes(statistics.bytes_read));
        if !statistics.ranks.is_empty() {
            facts.add("ranks", words_of_ranks(&statistics.ranks, run));
        }
        if statistics.bytes_written > 0 {
            facts.add("arrays written", report::bytes(statistics.bytes_written));
        }
        if self.target.is_some() {
            let bytes = report::bytes(self.bytes_written);
            facts.add("written", format!("{bytes} to {}", self.target_path()));
        }
        facts.add("peak memory", report::bytes(json::peak_memory()));
        facts
    }
}

/// Formats the messages between ranks, and the longest time for which they kept a rank from
/// scanning.
fn words_of_ranks(ranks: &[RankStatistics], run: Duration) -> String {
    let sent: u64 = ranks.iter().map(|rank| rank.intervals.moved().sent).sum();
    let longest = ranks.iter().map(|rank| rank.exchanging_alone + rank.agreeing).max();
    let longest = longest.unwrap_or_default();
    let share = 100.0 * longest.as_secs_f64() / run.as_secs_f64().max(f64::MIN_POSITIVE);
    let (count, sent) = (ranks.len(), report::bytes(sent));
    format!("{count}, sent {sent}; at most {} ({share:.0} %) for messages", report::time(longest))
}

/// The number of iterations of each process.
struct KindCounts {
    scans: u64,
    seeks: u64,
    pulls: u64,
}

impl KindCounts {
    fn of(statistics: &RunStatistics) -> KindCounts {
        let count =
            |kind| statistics.processes.iter().filter(|&&other| other == kind).count() as u64;
        KindCounts {
            scans: count(ProcessKind::Scan),
            seeks: count(ProcessKind::Seek),
            pulls: count(ProcessKind::Pull),
        }
    }
}

/// Formats the number of iterations, and of each kind if there are several.
fn iterations(statistics: &RunStatistics) -> String {
    let KindCounts { scans, seeks, pulls } = KindCounts::of(statistics);
    let kinds: Vec<String> =
        [(scans, "scan", "scans"), (seeks, "seek", "seeks"), (pulls, "pull", "pulls")]
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| report::counted(count, one, many))
            .collect();
    let before = match statistics.iterations_before {
        0 => String::new(),
        before => format!(", {} of them before the checkpoint", report::count(before)),
    };
    let all = format!("{}{before}", report::count(statistics.iterations));
    // `processes` is cut short in very long runs; then kinds are left out.
    let told = statistics.iterations_before + statistics.processes.len() as u64;
    let is_partial = told < statistics.iterations;
    if kinds.len() < 2 || is_partial { all } else { format!("{all} ({})", kinds.join(", ")) }
}

/// Returns the verb for what was done to edges.
fn done_to_edges(statistics: &RunStatistics) -> &'static str {
    match KindCounts::of(statistics) {
        KindCounts { seeks: 0, pulls: 0, .. } => "scanned",
        KindCounts { scans: 0, pulls: 0, .. } => "followed",
        KindCounts { .. } => "looked at",
    }
}
