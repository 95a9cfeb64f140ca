//! What a run needs of memory, said before it starts.

use tegula_engine::{Error, Estimate, Graph};

use super::options::RunArgs;
use super::{Edges, Runnable};
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
    pub estimate: Estimate,
    /// What is streamed, and held if there is room: tiles or rows.
    layout: &'static str,
    /// Whether the graph gets its rows first.
    pub builds_rows: bool,
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
        let edges = algorithm.edges();
        match edges {
            Edges::Either { rows_size } if needs_rows => {
                estimate.vertex_bytes += rows_size(graph, threads);
            }
            Edges::Rows if builds_rows => {
                let has_weights = R::HAS_WEIGHTS && graph.is_weighted();
                let each = ROW_BYTES_EXPECTED + if has_weights { WEIGHT_BYTES } else { 0 };
                estimate.tile_bytes = each * graph.edge_count();
            }
            _ => {}
        }
        let layout = if matches!(edges, Edges::Rows) { "rows" } else { "tiles" };
        Ok(Needs { estimate, layout, builds_rows })
    }

    /// Refuses a budget that is too small for `what`.
    ///
    /// # Errors
    /// [`Error::OverBudget`].
    pub fn check(&self, what: &str, budget: u64) -> Result<()> {
        let needed = self.estimate.needed();
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
            let graph = graph.directory().display();
            session.print(&format!("{algorithm} on {graph} needs\n{facts}"))?;
        }
        self.check(algorithm, memory)
    }

    /// Whether the run fits, and all that it streams with it.
    fn fits(&self, memory: u64) -> (bool, bool) {
        let needed = self.estimate.needed();
        (needed <= memory, needed + self.estimate.tile_bytes <= memory)
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
            needed_bytes: estimate.needed(),
            tile_bytes: estimate.tile_bytes,
            memory_bytes: memory,
            fits,
            tiles_fit,
        }
    }

    fn facts(&self, memory: u64) -> Facts {
        let Needs { estimate, layout, builds_rows } = self;
        let mut facts = Facts::default();
        facts.add("vertex arrays and workers", report::bytes(estimate.vertex_bytes));
        let streaming = format!("streaming of {layout}, at least");
        facts.add(streaming, report::bytes(estimate.stream_bytes_min));
        facts.add("process", report::bytes(estimate.overhead_bytes));
        facts.add("needed", report::bytes(estimate.needed()));
        let about = if *builds_rows && *layout == "rows" { ", about" } else { "" };
        facts.add(format!("all {layout}{about}"), report::bytes(estimate.tile_bytes));
        if *builds_rows {
            facts.add("rows", "none yet; the run builds them first");
        }
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
