//! `tegula generate`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, Subcommand};
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use tegula_generators::{
    self as generators, ErdosRenyi, Format, Generator, Grid, ParameterError, Rmat, ScaleFree, Star,
    WattsStrogatz,
};
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, ProgressUnit, note_workers, start};
use tegula_store::Error;
use tegula_tables::{Compression, Compressor, Output, check_is_new, check_parent, lower_name};

use crate::args::Threads;
use crate::errors::{Failure, Result};
use crate::json::{self, Seconds};
use crate::output::ResultFile;
use crate::report::{self, Facts};
use crate::session::Session;

/// Options of `tegula generate`.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// The model.
    #[command(subcommand)]
    model: Model,
}

/// The models.
#[derive(Debug, Subcommand)]
enum Model {
    /// R-MAT: skewed degrees, Graph500's parameters, scrambled ids; loops and duplicates stay.
    Rmat {
        /// 2^S vertices.
        #[arg(long, value_name = "S")]
        scale: u32,
        /// Edges per vertex.
        #[arg(long, value_name = "N", default_value_t = Rmat::EDGE_FACTOR)]
        edge_factor: u64,
        /// How it is written.
        #[command(flatten)]
        writing: Writing,
    },
    /// Erdos-Renyi: uniform, without loops and duplicates.
    ErdosRenyi {
        /// Number of vertices.
        #[arg(long, value_name = "N")]
        vertices: u64,
        /// Number of edges.
        #[arg(long, value_name = "M")]
        edges: u64,
        /// How it is written.
        #[command(flatten)]
        writing: Writing,
    },
    /// Watts-Strogatz: a ring with rewired edges, each listed once (import with --undirected).
    WattsStrogatz {
        /// Number of vertices.
        #[arg(long, value_name = "N")]
        vertices: u64,
        /// Neighbours of each vertex in the ring; even.
        #[arg(long, value_name = "K", default_value_t = 16)]
        neighbours: u64,
        /// Probability that an edge leads elsewhere.
        #[arg(long, value_name = "P", default_value_t = 0.1)]
        rewiring: f64,
        /// How it is written.
        #[command(flatten)]
        writing: Writing,
    },
    /// Scale-free, by preferential attachment: each edge listed once (import with --undirected),
    /// some twice.
    ScaleFree {
        /// Number of vertices.
        #[arg(long, value_name = "N")]
        vertices: u64,
        /// Edges that each vertex but the first brings.
        #[arg(long, value_name = "N", default_value_t = 16)]
        edges_per_vertex: u64,
        /// How it is written.
        #[command(flatten)]
        writing: Writing,
    },
    /// A grid, each edge listed once (import with --undirected).
    Grid {
        /// Vertices in a row.
        #[arg(long, value_name = "N")]
        width: u64,
        /// Rows.
        #[arg(long, value_name = "N")]
        height: u64,
        /// How it is written.
        #[command(flatten)]
        writing: Writing,
    },
    /// A path from vertex 0.
    Path {
        /// Number of vertices.
        #[arg(long, value_name = "N")]
        vertices: u64,
        /// How it is written.
        #[command(flatten)]
        writing: Writing,
    },
    /// A star around vertex 0.
    Star {
        /// Number of vertices.
        #[arg(long, value_name = "N")]
        vertices: u64,
        /// How it is written.
        #[command(flatten)]
        writing: Writing,
    },
}

/// How the edge list is written.
#[derive(Debug, Args)]
struct Writing {
    /// The edge list: text (.el, .wel, .txt, also as .gz or .zst), .bin32 or .bin64.
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// The same seed makes the same graph. Of grids, paths and stars, only weights are random.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Give each edge a random weight above 0, up to 1.
    #[arg(long)]
    weighted: bool,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    /// The worker threads.
    #[command(flatten)]
    threads: Threads,
}

impl Model {
    fn writing(&self) -> &Writing {
        match self {
            Model::Rmat { writing, .. }
            | Model::ErdosRenyi { writing, .. }
            | Model::WattsStrogatz { writing, .. }
            | Model::ScaleFree { writing, .. }
            | Model::Grid { writing, .. }
            | Model::Path { writing, .. }
            | Model::Star { writing, .. } => writing,
        }
    }

    /// Returns the name of the model and the graph.
    fn graph(&self) -> Result<(&'static str, Box<dyn Generator>)> {
        let wrong = |error: ParameterError| Failure::usage(error.to_string());
        let seed = self.writing().seed;
        Ok(match *self {
            Model::Rmat { scale, edge_factor, .. } => {
                ("rmat", Box::new(Rmat::new(scale, edge_factor, seed).map_err(wrong)?))
            }
            Model::ErdosRenyi { vertices, edges, .. } => {
                ("erdos-renyi", Box::new(ErdosRenyi::new(vertices, edges, seed).map_err(wrong)?))
            }
            Model::WattsStrogatz { vertices, neighbours, rewiring, .. } => {
                let graph = WattsStrogatz::new(vertices, neighbours, rewiring, seed);
                ("watts-strogatz", Box::new(graph.map_err(wrong)?))
            }
            Model::ScaleFree { vertices, edges_per_vertex, .. } => {
                let graph = ScaleFree::new(vertices, edges_per_vertex, seed);
                ("scale-free", Box::new(graph.map_err(wrong)?))
            }
            Model::Grid { width, height, .. } => {
                ("grid", Box::new(Grid::new(width, height).map_err(wrong)?))
            }
            Model::Path { vertices, .. } => {
                ("path", Box::new(generators::Path { vertex_count: vertices }))
            }
            Model::Star { vertices, .. } => ("star", Box::new(Star { vertex_count: vertices })),
        })
    }
}

/// Writes a synthetic graph as an edge list.
///
/// # Errors
/// [`Failure::Usage`] for wrong parameters.
pub fn generate(args: &GenerateArgs, session: &Session) -> Result<()> {
    let started = Instant::now();
    let writing = args.model.writing();
    let path = &writing.output;
    let (format, compression) = format_of(path)?;
    if writing.weighted && format != Format::Text {
        let help = "choose an ending of text: .wel, .txt, .wel.gz, ..";
        return Err(Failure::usage_with("raw pairs hold no weights", help));
    }
    let (name, graph) = args.model.graph()?;
    if format == Format::Binary32 && graph.vertex_count() > 1 << 32 {
        return Err(Failure::usage_with("ids exceed 32 bits", "write .bin64 instead"));
    }
    check_is_new(path, writing.force)?;
    check_parent(path)?;
    let bytes = write(&*graph, format, compression, writing, session)?;
    let elapsed = started.elapsed();
    let (vertices, edges) = (graph.vertex_count(), graph.edge_count());
    let warnings = session.tell(Vec::new());
    if session.json {
        return session.print_json(&json::Generate {
            schema: "tegula.generate.v1",
            generator: name,
            vertices,
            edges,
            bytes,
            seconds: Seconds(elapsed),
            peak_memory_bytes: json::peak_memory(),
            warnings,
        });
    }
    let mut facts = Facts::default();
    facts.add("vertices", report::count(vertices));
    facts.add("edges", report::count(edges));
    facts.add("written", format!("{} to {}", report::bytes(bytes), report::path(path)));
    let rate = report::rate(edges, "edges", elapsed);
    facts.add("time", format!("{}, {rate}", report::time(elapsed)));
    session.note(&format!("{name}\n{}", facts.to_text()));
    Ok(())
}

fn format_of(path: &Path) -> Result<(Format, Compression)> {
    let name = lower_name(path);
    let (compression, bare) = Compression::of_name(&name);
    let ending = bare.rsplit_once('.').map_or("", |(_, ending)| ending);
    match (ending, compression) {
        ("el" | "wel" | "txt", _) => Ok((Format::Text, compression)),
        ("bin32", Compression::None) => Ok((Format::Binary32, compression)),
        ("bin64", Compression::None) => Ok((Format::Binary64, compression)),
        _ => {
            let message = format!("`{}` names no format of edge lists", path.display());
            let help = "end it with .el, .wel, .txt (also .gz or .zst), .bin32 or .bin64";
            Err(Failure::usage_with(message, help))
        }
    }
}

/// Writes the file; returns its length.
fn write(
    graph: &dyn Generator,
    format: Format,
    compression: Compression,
    writing: &Writing,
    session: &Session,
) -> Result<u64> {
    let path = &writing.output;
    let failed = Error::io("write", path);
    let workers = pool(writing.threads.count());
    let workers =
        workers.map_err(|error| MachineError::WorkerFailed { detail: error.to_string() })?;
    let cancel = &session.cancel;
    let file = ResultFile::create(path, writing.force, cancel)?;
    let progress = session.progress();
    let edge_count = graph.edge_count();
    progress.begin("generating", Some(edge_count), ProgressUnit::Edges);
    let weights = writing.weighted.then_some(writing.seed);
    let written = workers.install(move || {
        let mut out = Cancellable { out: Compressor::new(file, compression)?, cancel };
        let mut advance = |edges| progress.advance(edges);
        generators::write(graph, format, weights, &mut out, &mut advance)?;
        out.out.finish()
    });
    progress.end();
    // A cancelled write has failed, too, but the user is told that the work was cancelled.
    session.cancel.check()?;
    Ok(written.map_err(failed)?.commit()?)
}

/// Makes a pool of `wanted` threads, or of fewer where the system starts fewer. If it starts none,
/// the calling thread works alone.
fn pool(wanted: usize) -> std::result::Result<ThreadPool, ThreadPoolBuildError> {
    let mut count = wanted;
    loop {
        let mut started = 0;
        let pool = ThreadPoolBuilder::new().num_threads(count).spawn_handler(|worker| {
            start("tegula-work", || worker.run())?;
            started += 1;
            Ok(())
        });
        match pool.build() {
            Ok(pool) => return Ok(pool),
            Err(error) => note_workers(started, wanted, &error),
        }
        if started == 0 {
            return ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
        }
        count = started;
    }
}

/// A compressor whose writes fail once the work should stop.
struct Cancellable<'a> {
    out: Compressor<ResultFile>,
    cancel: &'a Cancel,
}

impl Write for Cancellable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.cancel.check().map_err(io::Error::other)?;
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
