//! The options of a graph that is written as a file.

use std::path::PathBuf;

use clap::Args;

use crate::errors::{Failure, Result};
use crate::report;

/// The most vertices and edges together that a file may have by default. Programs that draw graphs
/// become slow long before.
const ELEMENTS_MAX: u64 = 1_000_000;

/// The help heading of these options.
const GRAPH_FILE: &str = "Graph file";

/// Options of a graph that is written as a file.
#[derive(Debug, Clone, Default, Args)]
pub struct GraphFileArgs {
    /// In .graphml, .gexf and .dot, give vertices the columns of this table as attributes:
    /// `vertex`, and further columns, as `tegula run` writes them. May be given several times.
    /// Tables are .parquet, .csv and .tsv; text also as .gz and .zst; `-` is text from standard
    /// input. The first line has to be a header, and every row has to name a vertex of the graph.
    #[arg(long = "attribute", value_name = "FILE", help_heading = GRAPH_FILE)]
    pub attributes: Vec<PathBuf>,
    /// Let .graphml, .gexf and .dot have up to N vertices and edges together [default: 1000000].
    #[arg(long, value_name = "N", help_heading = GRAPH_FILE)]
    elements_max: Option<u64>,
}

impl GraphFileArgs {
    /// Refuses these options where no such file is written.
    ///
    /// # Errors
    /// [`Failure::Usage`] where one of them is given.
    pub fn check_unused(&self) -> Result<()> {
        let option = match (self.attributes.is_empty(), self.elements_max) {
            (true, None) => return Ok(()),
            (false, _) => "--attribute",
            (true, Some(_)) => "--elements-max",
        };
        let help = "end the name of the output with .graphml, .gexf or .dot, or give --format";
        Err(Failure::usage_with(format!("{option} is for GraphML, GEXF and DOT"), help))
    }

    /// Refuses a graph with more than `--elements-max` vertices and edges.
    pub fn check_size(&self, vertex_count: u64, edge_count: u64, format: &str) -> Result<()> {
        let found = vertex_count.saturating_add(edge_count);
        let limit = self.elements_max.unwrap_or(ELEMENTS_MAX);
        if found <= limit {
            return Ok(());
        }
        let (found, limit) = (report::count(found), report::count(limit));
        let message = format!(
            "the graph has {found} vertices and edges, more than the {limit} that are written as {format}"
        );
        let help = "take a part of it (`tegula run subgraph`), or raise --elements-max";
        Err(Failure::usage_with(message, help))
    }
}
