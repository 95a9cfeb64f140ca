//! What a run needs of memory, said before it starts.

use tegula_engine::traverse::long_rows_size;
use tegula_engine::{Error, Estimate, Graph, RUN_OVERHEAD};
use tegula_store::rows::RowsConfig;

use super::options::RunArgs;
use super::{Edges, Runnable, SideFiles, Weights};
use crate::errors::Result;
use crate::json;
use crate::report::{self, Facts};
use crate::session::Session;

/// Bytes an edge that rows are expected to take.
const ROW_BYTES_EXPECTED: u64 = 2;
/// Bytes of the weight of an edge.
const WEIGHT_BYTES: u64 = 4;

/// What a run on a graph is going to need.
pub struct Needs {
    /// The figures.
    estimate: Estimate,
    /// What is streamed, and held if there is room: tiles or rows.
    layout: &'static str,
    /// Bytes that it takes to build the rows, where the graph gets them first.
    build_bytes: Option<u64>,
}

/// Bytes that the rows of a graph are expected to take on disk.
pub fn rows_size_expected(graph: &Graph) -> u64 {
    data_size_expected(graph, graph.is_weighted())
}

fn data_size_expected(graph: &Graph, has_weights: bool) -> u64 {
    (ROW_BYTES_EXPECTED + if has_weights { WEIGHT_BYTES } else { 0 }) * graph.edge_count()
}

impl Needs {
    /// Those of an algorithm, which may be in need of rows.
    ///
    /// # Errors
    /// Those of reading.
    pub fn of<R: Runnable>(
        algorithm: &R,
        graph: &Graph,
        files: &R::Files,
        threads: usize,
        needs_rows: bool,
    ) -> Result<Needs> {
        let mut estimate = algorithm.estimate(graph, files, threads)?;
        let builds_rows = needs_rows && graph.manifest().rows.is_none();
        let has_weights = R::WEIGHTS == Weights::Used && graph.is_weighted();
        let layout = match algorithm.edges() {
            Edges::Tiles { .. } => "tiles",
            Edges::Rows => {
                if builds_rows {
                    estimate.tile_bytes = data_size_expected(graph, has_weights);
                }
                "rows"
            }
            Edges::Either { rows_size } => {
                if needs_rows {
                    estimate.vertex_bytes += rows_size(graph, threads);
                }
                "tiles"
            }
        };
        if needs_rows {
            estimate.vertex_bytes += long_rows_size(graph, has_weights, threads)?;
        }
        let build_bytes = match builds_rows {
            true => Some(RUN_OVERHEAD + files.size() + RowsConfig::memory_min(graph)?),
            false => None,
        };
        Ok(Needs { estimate, layout, build_bytes })
    }

    /// Whether the graph gets its rows first.
    pub fn builds_rows(&self) -> bool {
        self.build_bytes.is_some()
    }

    /// The smallest budget with which all of it can be done.
    fn needed(&self) -> u64 {
        self.estimate.needed().max(self.build_bytes.unwrap_or(0))
    }

    /// Refuses a budget that is too small for `what`.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn check(&self, what: &str, budget: u64) -> Result<()> {
        let needed = self.needed();
        if needed > budget {
            return Err(Error::OverBudget { what: what.to_owned(), needed, budget }.into());
        }
        Ok(())
    }

    /// Tells the user.
    ///
    /// # Errors
    /// Those of standard output; [`Error::OverBudget`] where it does not fit.
    pub fn show(
        &self,
        algorithm: &'static str,
        graph: &Graph,
        args: &RunArgs,
        session: &Session,
    ) -> Result<()> {
        let memory = args.reading.budget.bytes();
        if session.json {
            session.print_json(&self.to_json(algorithm, graph, memory))?;
        } else {
            let facts = self.facts(memory).to_text();
            let graph = report::path(graph.directory());
            session.print(&format!("{algorithm} on {graph} needs\n{facts}"))?;
        }
        self.check(algorithm, memory)
    }

    /// Whether the run fits, and all that it streams with it.
    fn fits(&self, memory: u64) -> (bool, bool) {
        let all = self.estimate.needed() + self.estimate.tile_bytes;
        (self.needed() <= memory, all.max(self.needed()) <= memory)
    }

    fn to_json(&self, algorithm: &'static str, graph: &Graph, memory: u64) -> json::Estimate {
        let (estimate, (fits, tiles_fit)) = (&self.estimate, self.fits(memory));
        json::Estimate {
            schema: "tegula.estimate.v1",
            algorithm,
            vertices: u64::from(graph.vertex_count()),
            edges: graph.edge_count(),
            vertex_bytes: estimate.vertex_bytes,
            stream_bytes_min: estimate.stream_bytes_min,
            overhead_bytes: estimate.overhead_bytes,
            needed_bytes: self.needed(),
            tile_bytes: estimate.tile_bytes,
            memory_bytes: memory,
            fits,
            tiles_fit,
        }
    }

    fn facts(&self, memory: u64) -> Facts {
        let Needs { estimate, layout, build_bytes } = self;
        let mut facts = Facts::default();
        facts.add("vertex arrays and workers", report::bytes(estimate.vertex_bytes));
        let streaming = format!("streaming of {layout}, at least");
        facts.add(streaming, report::bytes(estimate.stream_bytes_min));
        facts.add("process", report::bytes(estimate.overhead_bytes));
        if let Some(bytes) = build_bytes {
            facts.add("building the rows first", report::bytes(*bytes));
        }
        facts.add("needed", report::bytes(self.needed()));
        let about = if build_bytes.is_some() && *layout == "rows" { ", about" } else { "" };
        facts.add(format!("all {layout}{about}"), report::bytes(estimate.tile_bytes));
        facts.add("budget", report::bytes(memory));
        let verdict = match self.fits(memory) {
            (false, _) => "does not fit: raise --memory".to_owned(),
            (true, false) if *layout == "rows" => "fits; rows are read as they come up".to_owned(),
            (true, false) => "fits; tiles are read in every iteration".to_owned(),
            (true, true) => format!("fits; {layout} are read once and stay in memory"),
        };
        facts.add("verdict", verdict);
        facts
    }
}
