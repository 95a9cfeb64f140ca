//! `tegula import`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use tegula_store::import::input::{Format, IdKind, InputOptions};
use tegula_store::import::{self, ImportConfig, ImportReport, VertexOrder};

use crate::args::{Budget, Threads};
use crate::errors::Result;
use crate::json::{self, Seconds};
use crate::report::{self, Facts};
use crate::session::Session;

/// Options of `tegula import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Edge lists, or folders of them; together they are one graph. `-` is standard input.
    #[arg(value_name = "INPUT", required = true)]
    inputs: Vec<PathBuf>,
    /// The graph directory, by convention NAME.tegula.
    #[arg(long, short, value_name = "GRAPH")]
    output: PathBuf,
    /// Replace the graph if it exists.
    #[arg(long)]
    force: bool,
    /// The format of the inputs: auto, text, csv, tsv, bin32, bin64, parquet.
    #[arg(long, value_name = "F", default_value = "auto", help_heading = "Input")]
    format: Format,
    /// What the vertex ids are.
    #[arg(long, value_enum, default_value_t = Ids::Auto, help_heading = "Input")]
    ids: Ids,
    /// Store each edge in both directions.
    #[arg(long, help_heading = "Input")]
    undirected: bool,
    /// Store the weights of edges.
    #[arg(long, help_heading = "Input")]
    weighted: bool,
    /// Of edges with the same ends store only one, that with the least weight.
    #[arg(long, help_heading = "Input")]
    drop_duplicates: bool,
    /// Leave out edges from a vertex to itself.
    #[arg(long, help_heading = "Input")]
    drop_loops: bool,
    /// The column with the sources [default: by its usual names].
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    source_column: Option<String>,
    /// The column with the targets [default: by its usual names].
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    target_column: Option<String>,
    /// The column with the weights [default: by its usual names].
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    weight_column: Option<String>,
    /// How vertices are numbered.
    #[arg(long, value_enum, default_value_t = Order::Auto)]
    order: Order,
    /// Which layouts are stored: there is one as yet.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "tiles")]
    layouts: Vec<Layout>,
    /// Memory budget.
    #[command(flatten)]
    budget: Budget,
    /// Who works.
    #[command(flatten)]
    threads: Threads,
    /// Where temporary files go [default: beside the graph].
    #[arg(long, value_name = "FOLDER")]
    spill_directory: Option<PathBuf>,
}

/// What vertex ids are.
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
    /// As is estimated to take the fewest bytes.
    Auto,
    /// As their ids are.
    Given,
    /// By degree, most edges first.
    Degree,
}

/// How edges are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Layout {
    /// Sorted by target, for scans.
    Tiles,
}

impl ImportArgs {
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
            ..InputOptions::default()
        };
        ImportConfig {
            input,
            undirected: self.undirected,
            drop_duplicates: self.drop_duplicates,
            drop_loops: self.drop_loops,
            order: match self.order {
                Order::Auto => None,
                Order::Given => Some(VertexOrder::Given),
                Order::Degree => Some(VertexOrder::Degree),
            },
            memory: self.budget.bytes(),
            threads: self.threads.count(),
            replace: self.force,
            spill_directory: self.spill_directory.clone(),
        }
    }
}

/// Turns edge lists into a graph directory.
///
/// # Errors
/// Those of reading the inputs and of writing the graph.
pub fn import(args: &ImportArgs, session: &Session) -> Result<()> {
    let started = Instant::now();
    let config = args.config();
    let progress = session.progress();
    let report = import::import(&args.inputs, &args.output, &config, progress, &session.cancel)?;
    let elapsed = started.elapsed();
    if session.json {
        return session.print_json(&to_json(&report, elapsed));
    }
    let facts = facts(&report, elapsed).to_text();
    session.note(&format!("{}\n{facts}", args.output.display()));
    Ok(())
}

fn total_bytes(report: &ImportReport) -> u64 {
    report.files.iter().map(|file| file.bytes).sum()
}

fn to_json(report: &ImportReport, elapsed: Duration) -> json::Import {
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
        ]),
        peak_memory_bytes: json::peak_memory(),
        order: report.order.name.clone(),
        order_choice: report.order.clone(),
        ids: report.ids,
        loops: report.loops,
        duplicates: report.duplicates,
        dropped_loops: report.dropped_loops,
        dropped_duplicates: report.dropped_duplicates,
    }
}

fn facts(report: &ImportReport, elapsed: Duration) -> Facts {
    let mut facts = Facts::default();
    facts.add("vertices", report::count(report.vertices));
    facts.add("edges", report::count(report.edges));
    facts.add("loops", kept_and_dropped(report.loops, report.dropped_loops));
    facts.add("duplicates", kept_and_dropped(report.duplicates, report.dropped_duplicates));
    facts.add("order", format!("{}: {}", report.order.name, report.order.reason));
    for (layout, bytes) in json::bytes_per_edge(&report.files, report.edges) {
        facts.add(layout, format!("{bytes:.2} bytes per edge"));
    }
    facts.add("on disk", report::bytes(total_bytes(report)));
    let rate = report::rate(report.edges, "edges", elapsed);
    facts.add("time", format!("{}, {rate}", report::time(elapsed)));
    facts.add("peak memory", report::bytes(json::peak_memory()));
    facts
}

fn kept_and_dropped(kept: u64, dropped: u64) -> String {
    match dropped {
        0 => report::count(kept),
        _ => format!("{}, {} left out", report::count(kept), report::count(dropped)),
    }
}
