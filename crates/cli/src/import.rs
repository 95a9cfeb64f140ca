//! `tegula import`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use tegula_import::input::{
    ColumnChoice, ColumnsTaken, Delimiter, Format, IdKind, InputOptions, Vertices,
};
use tegula_import::{Combine, ImportConfig, ImportReport, Tuning};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;
use tegula_store::tiles::{Grid, TileOrder};
use tegula_tables::{check_is_in_no_graph, parent};

use crate::args::{Budget, MACHINE, Threads, ranks};
use crate::errors::{Failure, Result};
use crate::hints;
use crate::json::{self, Seconds};
use crate::partition::{cut_once, table};
use crate::report::{self, EdgeCount, Facts};
use crate::session::Session;

/// The help after the options.
const AFTER_HELP: &str = "\
Text: a line is an edge, `source target [weight]`. Blanks, tabs, commas or semicolons separate, as the \
first lines tell. Further columns are passed over, and so are empty lines and those that begin with # or \
%. A first line is a header where it has usual names for both ends, or words above numbers; where that \
cannot be known, a table is refused until --source-column and --target-column, or --no-header, say it.

Columns: a NAME matches in any case, but exactly first. A number is a position, from 1; in double quotes, \
as '\"2\"', it is a name.

Folders: subfolders are read too. Names that begin with a dot or an underscore are passed over, and files \
with the ending of no format are refused unless --format says what they are.

Graphs of other programs: Matrix Market (.mtx), DIMACS (.gr), METIS (.graph, .metis), serialized graphs of \
GAPBS (.sg, .wsg), LDBC Graphalytics (.properties, which names the other files), BVGraphs of WebGraph (.graph \
with its .properties beside it), GraphML (.graphml) and GEXF (.gexf) say which vertices there are, also without \
an edge, and where edges lead both ways. So does a list of vertices (.v) among the inputs. Ids stay as they are \
written: the first vertex of Matrix Market, DIMACS and METIS is 1.

Weights: in GraphML they are the data of edges under a usual name, in GEXF the attribute `weight`, unless \
--weight-column names other values of edges.

Bad rows: a row with fewer columns than the first line is bad. Where blanks separate and there is no header, a row \
needs only the columns that are read.

Both directions: many lists, among them those of SNAP, have two lines for every edge, `a b` and `b a`. Import such a \
list with --undirected --drop-duplicates.";

/// Options of `tegula import`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ImportArgs {
    /// Edge lists, or folders of them; together they are one graph. `-` is standard input.
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    /// The graph directory, by convention NAME.tegula.
    #[arg(long, short, value_name = "GRAPH")]
    output: PathBuf,
    /// Replace an existing graph. Anything else is kept, and so is a graph with other files in it.
    #[arg(long)]
    force: bool,
    /// Cut the graph into shards for P ranks at once, as `tegula partition` does; the output is
    /// their folder. Until the end, the graph takes its room on disk twice.
    #[arg(long, value_name = "P", value_parser = ranks)]
    ranks: Option<NonZeroU32>,
    /// The format of the inputs: auto, text, csv, tsv, bin32, bin64, parquet, matrix-market,
    /// dimacs, metis, gapbs, graphalytics, bvgraph, graphml, gexf, vertices.
    #[arg(long, value_name = "F", default_value = "auto", help_heading = "Input")]
    format: Format,
    /// The kind of the vertex ids.
    #[arg(long, value_enum, default_value_t = Ids::Auto, help_heading = "Input")]
    ids: Ids,
    /// Store each edge in both directions.
    #[arg(long, help_heading = "Input")]
    undirected: bool,
    /// Store the weights of edges, as 32-bit floats: about 7 digits, up to 3.4e38.
    #[arg(long, help_heading = "Input")]
    weighted: bool,
    /// Store only one of several edges with the same ends: the one with the least weight.
    #[arg(long, help_heading = "Input")]
    drop_duplicates: bool,
    /// Store only one of several edges with the same ends; its weight is the sum, the least or the
    /// greatest of their weights.
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Input")]
    #[arg(requires = "weighted", conflicts_with = "drop_duplicates")]
    combine: Option<CombineChoice>,
    /// Leave out edges from a vertex to itself.
    #[arg(long, help_heading = "Input")]
    drop_loops: bool,
    /// Make a graph without edges where no input has one; by default such inputs are refused.
    #[arg(long, help_heading = "Input")]
    allow_empty: bool,
    /// The column with the sources.
    #[arg(long, value_name = "NAME|N", help_heading = "Input")]
    #[arg(help = column_help("sources", InputOptions::SOURCE_NAMES))]
    source_column: Option<ColumnChoice>,
    /// The column with the targets.
    #[arg(long, value_name = "NAME|N", help_heading = "Input")]
    #[arg(help = column_help("targets", InputOptions::TARGET_NAMES))]
    target_column: Option<ColumnChoice>,
    /// The column with the weights.
    #[arg(long, value_name = "NAME|N", requires = "weighted", help_heading = "Input")]
    #[arg(help = column_help("weights", InputOptions::WEIGHT_NAMES))]
    weight_column: Option<ColumnChoice>,
    /// Read the first line of a text as an edge, even if it looks like a header.
    #[arg(long, help_heading = "Input")]
    no_header: bool,
    /// Separator of the columns of a text, such as | or tab; a blank is any run of blanks and tabs
    /// [default: as the first lines tell].
    #[arg(long, value_name = "C", help_heading = "Input")]
    delimiter: Option<Delimiter>,
    /// Pass over up to N lines of text that cannot be understood.
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Input")]
    skip_bad_rows: u64,
    /// The vertices of the graph, with or without an edge: the ids 0 to N - 1, or the ids in the
    /// rows of a file [default: those that have an edge].
    #[arg(long, value_name = "N|FILE", value_parser = vertices)]
    vertices: Option<Vertices>,
    /// How vertices are numbered.
    #[arg(long, value_enum, default_value_t = Order::Auto)]
    order: Order,
    /// Layouts to store: tiles always; rows for runs that follow few edges at a time; reverse, rows
    /// by target, for bfs in directed graphs.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "tiles")]
    layouts: Vec<Layout>,
    /// How neighbours are coded in rows and reverse [default: copy].
    #[arg(long, value_enum, value_name = "ENCODING")]
    row_encoding: Option<RowCoding>,
    /// Memory budget.
    #[command(flatten)]
    budget: Budget,
    /// The worker threads.
    #[command(flatten)]
    threads: Threads,
    /// Where temporary files go [default: beside the graph].
    #[arg(long, value_name = "FOLDER", help_heading = MACHINE)]
    spill_directory: Option<PathBuf>,
    /// Bits of vertex numbers within a segment and a column, as 24,22. With smaller ones, small
    /// graphs show what large graphs do.
    #[arg(long, value_name = "BITS,BITS", value_parser = grid, hide = true)]
    grid: Option<Grid>,
    /// Order of the tiles of a batch: for measurements.
    #[arg(long, value_enum, default_value_t = TileOrderChoice::Hilbert, hide = true)]
    tile_order: TileOrderChoice,
}

/// Reads digits as a number, anything else as a file.
fn vertices(text: &str) -> std::result::Result<Vertices, String> {
    // Otherwise `-5` would be the name of a file.
    if text.parse::<i64>().is_ok_and(|count| count < 0) {
        return Err("the number of vertices cannot be negative".to_owned());
    }
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Ok(Vertices::Listed(text.into()));
    }
    text.parse()
        .map(Vertices::Count)
        .map_err(|_| "a graph has at most 2^40 - 1 vertices".to_owned())
}

fn grid(text: &str) -> std::result::Result<Grid, String> {
    let bits = text.split_once(',').and_then(|(segment, column)| {
        Some(Grid { segment_log2: segment.parse().ok()?, column_log2: column.parse().ok()? })
    });
    let refuse = || format!("it must be two numbers from {} to {}", Grid::LOG2_MIN, Grid::LOG2_MAX);
    bits.filter(Grid::is_sound).ok_or_else(refuse)
}

/// The kind of vertex ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ids {
    /// Integers if the first edge has them, else strings.
    Auto,
    /// Unsigned 64-bit integers.
    Integer,
    /// Strings.
    String,
}

/// How vertices are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// The order that is estimated to take the fewest bytes; the given one unless another saves 3
    /// %.
    Auto,
    /// The order of the ids.
    Given,
    /// By degree, most edges first.
    Degree,
    /// Depth first: neighbours close together.
    Dfs,
}

/// The order of the tiles of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TileOrderChoice {
    /// Along a Hilbert curve.
    Hilbert,
    /// By source, then target.
    Source,
    /// By target, then source.
    Target,
}

/// How edges are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// Sorted by target, for scans.
    Tiles,
    /// Sorted by source, to be looked up one by one.
    Rows,
    /// Sorted by target; for an undirected graph the same as rows.
    Reverse,
}

/// How neighbours are coded in rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RowCoding {
    /// Ids of a fixed width.
    Plain,
    /// Offsets to the source by magnitude.
    Ceesor,
    /// Gaps between sorted neighbours, in codes fitted to the graph.
    Gap,
    /// Copies from earlier rows where that saves a quarter; gaps for the rest.
    Copy,
}

impl RowCoding {
    fn encoding(self) -> RowEncoding {
        match self {
            RowCoding::Plain => RowEncoding::Plain,
            RowCoding::Ceesor => RowEncoding::Ceesor,
            RowCoding::Gap => RowEncoding::Gap,
            RowCoding::Copy => RowEncoding::Copy,
        }
    }
}

/// The help of an option that names a column.
fn column_help(role: &str, usual: &[&str]) -> String {
    let shown = |name: &&str| match name.strip_prefix(':') {
        Some(rest) => format!(":{}", rest.to_uppercase()),
        None => (*name).to_owned(),
    };
    let names: Vec<String> = usual.iter().map(shown).collect();
    format!("The column with the {role} [default: named {}, in any case]", names.join(", "))
}

/// The weight of the edge that replaces several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CombineChoice {
    /// The sum of their weights.
    Sum,
    /// The least of their weights.
    Min,
    /// The greatest of their weights.
    Max,
}

impl ImportArgs {
    /// Returns the encoding of `layout`, a layout of rows, if it is to be built. An encoding
    /// without a layout asks for rows.
    fn rows(&self, layout: Layout) -> Option<RowEncoding> {
        let asks_for = |layout| self.layouts.contains(&layout);
        let is_alone = self.row_encoding.is_some() && !asks_for(Layout::Reverse);
        let is_wanted = asks_for(layout) || layout == Layout::Rows && is_alone;
        is_wanted.then(|| self.row_encoding.map_or(RowEncoding::default(), RowCoding::encoding))
    }

    fn config(&self) -> ImportConfig {
        let input = InputOptions {
            format: self.format,
            weighted: self.weighted,
            ids: match self.ids {
                Ids::Auto => IdKind::Auto,
                Ids::Integer => IdKind::Integer,
                Ids::String => IdKind::String,
            },
            source_column: self.source_column.clone(),
            target_column: self.target_column.clone(),
            weight_column: self.weight_column.clone(),
            no_header: self.no_header,
            delimiter: self.delimiter,
            skip_bad_rows: self.skip_bad_rows,
            ..InputOptions::default()
        };
        ImportConfig {
            input,
            undirected: self.undirected,
            drop_duplicates: match self.combine {
                Some(CombineChoice::Sum) => Some(Combine::Sum),
                Some(CombineChoice::Max) => Some(Combine::Max),
                Some(CombineChoice::Min) => Some(Combine::Min),
                None => self.drop_duplicates.then_some(Combine::Min),
            },
            drop_loops: self.drop_loops,
            allow_empty: self.allow_empty,
            vertices: self.vertices.clone(),
            order: match self.order {
                Order::Auto => None,
                Order::Given => Some(VertexOrder::Given),
                Order::Degree => Some(VertexOrder::Degree),
                Order::Dfs => Some(VertexOrder::Dfs),
            },
            batches: None,
            rows: self.rows(Layout::Rows),
            reverse: self.rows(Layout::Reverse),
            memory: self.budget.bytes(),
            threads: self.threads.count(),
            force: self.force,
            spill_directory: self.spill_directory.clone(),
            tuning: Tuning {
                grid: self.grid.unwrap_or_default(),
                tile_order: match self.tile_order {
                    TileOrderChoice::Hilbert => TileOrder::Hilbert,
                    TileOrderChoice::Source => TileOrder::Source,
                    TileOrderChoice::Target => TileOrder::Target,
                },
                ..Tuning::default()
            },
        }
    }
}

/// Turns edge lists into a graph directory.
pub fn import(args: &ImportArgs, session: &Session) -> Result<()> {
    let started = Instant::now();
    args.budget.check()?;
    check_is_in_no_graph(parent(&args.output))?;
    let config = args.config();
    if args.no_header && config.input.names_columns() {
        let message = "--no-header says that the columns have no names";
        let help = "choose columns by their positions, from 1, or leave out --no-header";
        return Err(Failure::usage_with(message, help));
    }
    let (progress, cancel) = (session.progress(), &session.cancel);
    let import =
        |output: &Path| Ok(tegula_import::import(&args.inputs, output, &config, progress, cancel)?);
    let (report, ranks) = match args.ranks {
        None => (import(&args.output)?, None),
        Some(ranks) => {
            let output = (&*args.output, args.force);
            let (report, ranks) = cut_once(output, ranks, args.budget, session, import)?;
            (report, Some(ranks))
        }
    };
    let elapsed = started.elapsed();
    let warnings = session.tell(report.warnings.iter().map(hints::with_hints).collect());
    if session.json {
        return session.print_json(&to_json(&report, ranks, warnings, elapsed));
    }
    let facts = facts(&report, args.combine.is_some(), elapsed).to_text();
    let ranks = ranks.map_or_else(String::new, |ranks| format!("\n{}", table(&ranks)));
    session.note(&format!("{}\n{facts}{ranks}", report::path(&args.output)));
    Ok(())
}

fn total_bytes(report: &ImportReport) -> u64 {
    report.files.iter().map(|file| file.bytes).sum()
}

fn to_json(
    report: &ImportReport,
    ranks: Option<Vec<json::Shard>>,
    warnings: Vec<String>,
    elapsed: Duration,
) -> json::Import {
    let stages = &report.seconds;
    json::Import {
        schema: "tegula.import.v1",
        vertices: report.vertices,
        edges: report.edges,
        bytes: total_bytes(report),
        bytes_per_edge: json::bytes_per_edge(&report.files, report.edges),
        seconds: Seconds(elapsed),
        stage_seconds: BTreeMap::from([
            ("reading", stages.reading),
            ("relabeling", stages.relabeling),
            ("ordering", stages.ordering),
            ("sorting", stages.sorting),
            ("building", stages.building),
            ("rows", stages.rows),
        ]),
        peak_memory_bytes: json::peak_memory(),
        order: report.order.name.clone(),
        order_choice: report.order.clone(),
        ids: report.ids,
        undirected: report.undirected,
        both_ways_share: report.both_ways_share,
        loops: report.loops,
        duplicates: report.duplicates,
        dropped_loops: report.dropped_loops,
        dropped_duplicates: report.dropped_duplicates,
        skipped_rows: report.bad_rows,
        ranks,
        warnings,
    }
}

/// What people are told. `is_combined` tells that edges with the same ends were combined, not left
/// out.
fn facts(report: &ImportReport, is_combined: bool, elapsed: Duration) -> Facts {
    let mut facts = Facts::default();
    facts.add("vertices", report::count(report.vertices));
    let edges =
        EdgeCount { arcs: report.edges, loops: report.loops, undirected: report.undirected };
    facts.add("edges", edges_told(report, edges));
    if let Some(share) = report.both_ways_share {
        facts.add("both ways", format!("{:.1} % of the listed edges", 100.0 * share));
    }
    if !report.columns.is_empty() {
        facts.add("columns", columns(&report.columns));
    }
    if report.edges > 0 {
        facts.add("ids", report::ids(report.ids));
    }
    if report.bad_rows > 0 {
        facts.add("skipped rows", report::count(report.bad_rows));
    }
    facts.add("loops", kept_and_others(report.loops, report.dropped_loops, "left out"));
    let fate = if is_combined { "combined" } else { "left out" };
    let duplicates = kept_and_others(report.duplicates, report.dropped_duplicates, fate);
    facts.add(edges.duplicates(), duplicates);
    // Without edges there are no figures per edge.
    if report.edges > 0 {
        facts.add("order", format!("{}: {}", report.order.name, report.order.reason));
        for (layout, bytes) in json::bytes_per_edge(&report.files, report.edges) {
            facts.add(layout, format!("{bytes:.2} bytes per {}", edges.stored_unit().one));
        }
    }
    facts.add("on disk", report::bytes(total_bytes(report)));
    let unit = edges.stored_unit().many;
    let rate = (report.edges > 0).then(|| report::rate(report.edges, unit, elapsed));
    let rate = rate.map_or_else(String::new, |rate| format!(", {rate}"));
    facts.add("time", format!("{}{rate}", report::time(elapsed)));
    facts.add("peak memory", report::bytes(json::peak_memory()));
    facts
}

fn edges_told(report: &ImportReport, edges: EdgeCount) -> String {
    match (report.edges, report.dropped_loops + report.dropped_duplicates) {
        (0, 0) => "0".to_owned(),
        (0, _) => "0, all were left out".to_owned(),
        (_, _) => edges.with_kind(report.weighted),
    }
}

/// Returns which columns were read, with the number of files where files differ.
fn columns(taken: &[ColumnsTaken]) -> String {
    const SHOWN_MAX: usize = 4;
    let mut kinds: Vec<(&ColumnsTaken, u64)> = Vec::new();
    for columns in taken {
        match kinds.iter().position(|(known, _)| *known == columns) {
            Some(at) => kinds[at].1 += 1,
            None if kinds.len() < SHOWN_MAX => kinds.push((columns, 1)),
            None => {}
        }
    }
    let name = |columns: &ColumnsTaken| match columns {
        ColumnsTaken::Positions { source: 1, target: 2, weight: None } => {
            "first two, no header".to_owned()
        }
        ColumnsTaken::Positions { source: 1, target: 2, weight: Some(3) } => {
            "first three, no header".to_owned()
        }
        ColumnsTaken::Positions { source, target, weight } => {
            let weight = weight.map_or(String::new(), |weight| format!(", {weight}"));
            format!("{source}, {target}{weight}, no header")
        }
        ColumnsTaken::Named { source, target, weight } => {
            let names = [Some(source), Some(target), weight.as_ref()];
            let names: Vec<&str> = names.into_iter().flatten().map(String::as_str).collect();
            format!("{} (from the header)", names.join(", "))
        }
    };
    if let [(only, _)] = kinds[..] {
        return name(only);
    }
    let shown: u64 = kinds.iter().map(|(_, files)| files).sum();
    let in_files = |&(columns, files): &(&ColumnsTaken, u64)| {
        format!("{} in {}", name(columns), report::counted(files, "file", "files"))
    };
    let mut texts: Vec<String> = kinds.iter().map(in_files).collect();
    if shown < taken.len() as u64 {
        texts.push(format!("others in {}", report::count(taken.len() as u64 - shown)));
    }
    texts.join("; ")
}

/// Returns the number kept, and the number and fate of the others, if any.
fn kept_and_others(kept: u64, others: u64, fate: &str) -> String {
    let kept = report::count(kept);
    if others == 0 { kept } else { format!("{kept}, {} {fate}", report::count(others)) }
}
