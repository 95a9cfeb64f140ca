//! `tegula export`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use clap::Args;
use serde_json::json;
use tegula_algorithms::algorithm::{Entry, Needs};
use tegula_algorithms::answer::{self, EdgeTable, NeighbourTable, RowSink, Table, VertexIds};
use tegula_algorithms::centrality::degree::DegreeOptions;
use tegula_algorithms::find_vertex;
use tegula_algorithms::side_table::{LocalPaths, TableOptions, TableRead, TableSource, Tables};
use tegula_algorithms::vertex_list::VertexList;
use tegula_engine::{Graph, RunOptions};
use tegula_machine::threads::{Progress, ProgressUnit, Workers};
use tegula_tables::RowWriter;

use crate::args::{GraphArgs, Threads};
use crate::errors::{Failure, Result};
use crate::graph_file::{self, GraphFileArgs, Parts};
use crate::hints;
use crate::json::{self, Seconds};
use crate::output::{EdgeTarget, Format, GraphFormat, Target};
use crate::report::{self, Facts};
use crate::session::Session;

/// The help after the options.
const AFTER_HELP: &str = "\
The edges come in no particular order, but always in the same. An edge of an undirected graph is written once: \
import it with --undirected. Vertices without an edge are not written; --degrees lists all.

GraphML (.graphml), GEXF (.gexf) and DOT (.dot, .gv) are for programs that draw graphs. They have all vertices, and \
columns of tables as their attributes (--attribute): integers or numbers where all cells of a column are, else text.

Degrees are those of `tegula run degree`: a row for each vertex, in .csv, .tsv, .parquet, .npy or .arrows.

Neighbours are those to which edges lead from a vertex, a row for each edge, by vertex and then neighbour; in an \
undirected graph all. A graph with rows (`tegula import --layouts tiles,rows`) is not read as a whole for them.";

/// Options of `tegula export`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub struct ExportArgs {
    /// The graph.
    #[command(flatten)]
    graph: GraphArgs,
    /// The file: .el, .wel, .txt, .csv, .tsv, .parquet, .bin64, .arrows, .graphml, .gexf, .dot or
    /// .gv; text also as .gz or .zst; `-` is standard output, with tabs unless --format says
    /// otherwise.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// Write how many edges enter and leave each vertex.
    #[arg(long, conflicts_with_all = ["neighbours_of", "vertex"])]
    degrees: bool,
    /// Write the neighbours of these vertices: a table with an id in each row. Tables are read like
    /// inputs: text, also as .gz and .zst, Parquet, `-`.
    #[arg(long, value_name = "FILE", alias = "neighbors-of", conflicts_with = "vertex")]
    neighbours_of: Option<TableSource>,
    /// Write the neighbours of this vertex; may be given several times.
    #[arg(long, value_name = "ID", allow_hyphen_values = true)]
    vertex: Vec<String>,
    /// How the table of vertices is read.
    #[command(flatten)]
    tables: TableOptions,
    /// The format, instead of the one that the file name tells.
    #[arg(long, value_enum, value_name = "F")]
    format: Option<Format>,
    /// How a graph is written for a program that draws it.
    #[command(flatten)]
    graph_file: GraphFileArgs,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    /// The worker threads.
    #[command(flatten)]
    threads: Threads,
}

/// The content of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Content {
    Edges,
    Degrees,
    Neighbours,
}

impl Content {
    fn name(self) -> &'static str {
        match self {
            Content::Edges => "edges",
            Content::Degrees => "degrees",
            Content::Neighbours => "neighbours",
        }
    }

    /// What the rows count as in progress.
    fn unit(self) -> ProgressUnit {
        match self {
            Content::Edges | Content::Neighbours => ProgressUnit::Edges,
            Content::Degrees => ProgressUnit::Vertices,
        }
    }
}

/// Writes the edges of a graph, or its degrees or neighbours.
pub fn export(args: &ExportArgs, session: &Session) -> Result<()> {
    if args.neighbours_of.is_none() && args.tables != TableOptions::default() {
        let message = "--header and --missing are for the table of --neighbours-of";
        return Err(Failure::usage_with(message, "leave them out, or give --neighbours-of"));
    }
    let started = Instant::now();
    let content = args.content();
    // Before the graph is opened, so that a bad name of the output is refused at once.
    let target = args.target(content)?;
    if session.json && target.is_standard_output() {
        let name = content.name();
        return Err(Failure::usage_with(
            format!("the {name} and --json both want standard output"),
            format!("give the {name} a file with -o"),
        ));
    }
    let path = target.path().to_owned();
    let export = Export { args, content, session };
    let written = match (content, target) {
        (Content::Edges, EdgeTarget::Graph(target)) => export.graph(&target)?,
        (Content::Edges, EdgeTarget::Table(target)) => export.edges(&target)?,
        (Content::Degrees, target) => export.degrees(&target.table()?)?,
        (Content::Neighbours, target) => export.neighbours(&target.table()?)?,
    };
    export.report(&written, &path, started)
}

impl ExportArgs {
    fn content(&self) -> Content {
        match () {
            () if self.degrees => Content::Degrees,
            () if self.neighbours_of.is_some() || !self.vertex.is_empty() => Content::Neighbours,
            () => Content::Edges,
        }
    }

    fn target(&self, content: Content) -> Result<EdgeTarget> {
        let (path, format, force) = (&self.output, self.format, self.force);
        let target = match content {
            Content::Edges => EdgeTarget::of(path, format, force)?,
            Content::Degrees => EdgeTarget::Table(Target::of(path, format, force)?),
            // Each row is an edge, so the endings of files of edges are known here.
            Content::Neighbours => EdgeTarget::Table(EdgeTarget::of(path, format, force)?.table()?),
        };
        if let EdgeTarget::Table(_) = &target {
            self.graph_file.check_unused()?;
        }
        Ok(target)
    }
}

/// An export whose content is known.
struct Export<'a> {
    args: &'a ExportArgs,
    content: Content,
    session: &'a Session,
}

/// What an export wrote.
struct Written {
    vertices: u64,
    rows: u64,
    bytes: u64,
    tables: Vec<TableRead>,
}

impl Export<'_> {
    fn budget(&self) -> u64 {
        self.args.graph.reading.budget.bytes()
    }

    /// Opens the graph for an export to a table that holds `size` bytes.
    fn open(&self, target: &Target, size: impl FnOnce(&Graph) -> Result<u64>) -> Result<Graph> {
        let graph = self.args.graph.open("the export", size)?;
        target.check_ids(&answer::id_type(&graph))?;
        Ok(graph)
    }

    /// The options of a run on the graph.
    fn options(&self, graph: &Graph) -> RunOptions<'_> {
        RunOptions {
            memory: self.budget(),
            threads: self.args.threads.count(),
            speed: self.args.graph.reading.speed(graph.directory()),
            cancel: self.session.cancel.clone(),
            ..RunOptions::default()
        }
    }

    fn graph(&self, target: &Target<GraphFormat>) -> Result<Written> {
        let (budget, args) = (self.budget(), &self.args.graph_file);
        let graph =
            self.args.graph.open("the export", |graph| Ok(EdgeTable::size(graph, budget)?))?;
        let edges = EdgeTable::new(&graph, budget, &self.session.cancel)?;
        let parts = Parts { graph: &graph, vertices: &VertexIds, edges: &edges };
        let bytes = graph_file::write(&parts, target, args, self.session)?;
        Ok(Written {
            vertices: graph.vertex_count(),
            rows: edges.count(),
            bytes,
            tables: Vec::new(),
        })
    }

    fn edges(&self, target: &Target) -> Result<Written> {
        let (budget, cancel) = (self.budget(), &self.session.cancel);
        let graph = self.open(target, |graph| Ok(EdgeTable::size(graph, budget)?))?;
        let table = EdgeTable::new(&graph, budget, cancel)?;
        let (schema, rows) = (table.schema(&graph), table.row_count(&graph));
        self.write(&graph, target, &schema, rows, |out| Ok(table.write_rows(&graph, out, cancel)?))
    }

    fn degrees(&self, target: &Target) -> Result<Written> {
        let graph = self.open(target, |_| Ok(0))?;
        let options = self.options(&graph);
        // The same run as that of `tegula run degree`, so it has the same needs.
        let request = Entry::of::<DegreeOptions>().request(json!({}))?;
        let prepared = request.prepare(&graph, &options, &LocalPaths)?;
        Needs::of(&prepared, &graph, options.threads, false)?.check("the export", self.budget())?;
        let answer = prepared.run(&graph, &options)?.answer;
        let (schema, rows) = (answer.schema(&graph), answer.row_count(&graph));
        let cancel = &self.session.cancel;
        self.write(&graph, target, &schema, rows, |out| Ok(answer.write_rows(&graph, out, cancel)?))
    }

    fn neighbours(&self, target: &Target) -> Result<Written> {
        let threads = self.args.threads.count();
        let graph = self.open(target, |graph| Ok(NeighbourTable::size_min(graph, threads)?))?;
        let options = self.options(&graph);
        let mut tables = Tables::new(&graph, &options, &LocalPaths, self.args.tables);
        let vertices = match &self.args.neighbours_of {
            Some(source) => VertexList::read("neighbours_of", source, &mut tables)?.vertices,
            None => {
                let ids = self.args.vertex.iter();
                ids.map(|id| find_vertex(&graph, id)).collect::<std::result::Result<_, _>>()?
            }
        };
        let table = NeighbourTable::of(&graph, vertices, &options)?;
        let (schema, rows) = (table.schema(&graph), table.row_count());
        let written = self.write(&graph, target, &schema, rows, |out| {
            Ok(table.write_rows(&graph, &options, out)?)
        })?;
        Ok(Written { vertices: table.vertex_count(), tables: tables.into_read(), ..written })
    }

    /// Writes the rows of a table.
    fn write(
        &self,
        graph: &Graph,
        target: &Target,
        schema: &SchemaRef,
        rows: u64,
        write_rows: impl FnOnce(&mut dyn RowSink) -> Result<()>,
    ) -> Result<Written> {
        let progress = self.session.progress();
        progress.begin(
            &format!("writing {}", self.content.name()),
            Some(rows),
            self.content.unit(),
        );
        let bytes = Workers::scope(self.args.threads.count(), |workers| {
            let out = target.create(schema, rows, workers, &self.session.cancel)?;
            let mut out = Watched { out, progress };
            write_rows(&mut out)?;
            out.out.finish().map_err(Failure::from)
        })?;
        progress.end();
        Ok(Written { vertices: graph.vertex_count(), rows, bytes, tables: Vec::new() })
    }

    fn report(&self, written: &Written, path: &Path, started: Instant) -> Result<()> {
        let Written { vertices, rows, bytes, ref tables } = *written;
        let (elapsed, content) = (started.elapsed(), self.content);
        let warnings = self.session.tell(hints::of_tables(tables));
        if self.session.json {
            return self.session.print_json(&json::Export {
                schema: "tegula.export.v1",
                content: content.name(),
                vertices,
                edges: (content == Content::Edges).then_some(rows),
                rows,
                output: path.display().to_string(),
                bytes,
                seconds: Seconds(elapsed),
                peak_memory_bytes: json::peak_memory(),
                warnings,
                tables,
            });
        }
        let mut facts = Facts::default();
        facts.add(content.name(), report::count(rows));
        let path = report::path(path);
        facts.add("written", format!("{} to {path}", report::bytes(bytes)));
        let rate =
            report::rate(rows, if content == Content::Edges { "edges" } else { "rows" }, elapsed);
        facts.add("time", format!("{}, {rate}", report::time(elapsed)));
        facts.add("peak memory", report::bytes(json::peak_memory()));
        let graph = report::path(&self.args.graph.graph);
        self.session.note(&format!("{graph}\n{}", facts.to_text()));
        Ok(())
    }
}

/// Reports progress for the rows that it passes on.
struct Watched<'a> {
    out: Box<dyn RowWriter + 'a>,
    progress: &'a dyn Progress,
}

impl RowSink for Watched<'_> {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        self.out.write(rows)?;
        self.progress.advance(rows.num_rows() as u64);
        Ok(())
    }

    fn wants_more(&self) -> bool {
        self.out.wants_more()
    }
}
