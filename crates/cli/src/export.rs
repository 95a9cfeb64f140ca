//! `tegula export`.

use std::path::PathBuf;
use std::time::Instant;

use arrow_array::RecordBatch;
use clap::Args;
use tegula_algorithms::answer::{self, EdgeTable, RowSink, Table};
use tegula_engine::Graph;
use tegula_machine::threads::{Progress, Unit, Workers};

use crate::args::{GraphArgs, Threads};
use crate::errors::{Failure, Result};
use crate::json::{self, Seconds};
use crate::output::{RowWriter, TableFormat, Target};
use crate::report::{self, Facts};
use crate::session::Session;

/// What the options do not say.
const AFTER_HELP: &str = "\
The edges come in no particular order, but always in the same. An edge of an undirected graph is written once: \
import it with --undirected. Vertices without an edge are not written; `tegula run degree` lists all.";

/// Options of `tegula export`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ExportArgs {
    /// The graph.
    #[command(flatten)]
    graph: GraphArgs,
    /// The file: .el, .wel, .txt, .csv, .tsv, .parquet, .bin64 or .arrows; text also as .gz or .zst; `-` is standard
    /// output, with tabs.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// The format, whatever the name of the file.
    #[arg(long, value_enum, value_name = "F")]
    format: Option<TableFormat>,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    /// Who works.
    #[command(flatten)]
    threads: Threads,
}

/// Writes the edges of a graph.
///
/// # Errors
/// Those of opening, reading and writing.
pub fn export(args: &ExportArgs, session: &Session) -> Result<()> {
    let started = Instant::now();
    let target = Target::of_edges(&args.output, args.format, args.force)?;
    if session.json && target.is_standard_output() {
        return Err(Failure::usage_with(
            "the edges and --json both want standard output",
            "give the edges a file with -o",
        ));
    }
    let budget = args.graph.reading.budget.bytes();
    let size = |graph: &Graph| Ok(EdgeTable::size(graph, budget)?);
    let graph = args.graph.open("the export", size)?;
    target.check_ids(&answer::id_type(&graph))?;
    let table = EdgeTable::new(&graph, budget, &session.cancel)?;
    let (schema, rows) = (table.schema(&graph), table.row_count(&graph));
    let progress = session.progress();
    progress.begin("writing edges", Some(rows), Unit::Edges);
    let bytes = Workers::scope(args.threads.count(), |workers| {
        let out = target.create(&schema, rows, workers)?;
        let mut out = Watched { out, progress };
        table.write_rows(&graph, &mut out, &session.cancel)?;
        out.out.finish()
    })?;
    progress.end();
    let elapsed = started.elapsed();
    if session.json {
        return session.print_json(&json::Export {
            schema: "tegula.export.v1",
            vertices: graph.vertex_count(),
            edges: rows,
            output: target.path().display().to_string(),
            bytes,
            seconds: Seconds(elapsed),
            peak_memory_bytes: json::peak_memory(),
        });
    }
    let mut facts = Facts::default();
    facts.add("edges", report::count(rows));
    facts.add("written", format!("{} to {}", report::bytes(bytes), report::path(target.path())));
    facts.add(
        "time",
        format!("{}, {}", report::time(elapsed), report::rate(rows, "edges", elapsed)),
    );
    facts.add("peak memory", report::bytes(json::peak_memory()));
    session.note(&format!("{}\n{}", report::path(&args.graph.graph), facts.to_text()));
    Ok(())
}

/// Takes rows under somebody's eyes.
struct Watched<'a> {
    out: Box<dyn RowWriter + 'a>,
    progress: &'a dyn Progress,
}

impl RowSink for Watched<'_> {
    fn write(&mut self, rows: &RecordBatch) -> tegula_machine::Result<()> {
        self.out.write(rows)?;
        self.progress.advance(rows.num_rows() as u64);
        Ok(())
    }

    fn wants_more(&self) -> bool {
        self.out.wants_more()
    }
}
