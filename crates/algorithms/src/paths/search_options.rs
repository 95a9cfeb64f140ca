//! The options that searches for distances have in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::Graph;

use crate::algorithm::{EdgeDirection, SideFiles, field_names};
use crate::error::Result;
use crate::paths::path_table::PathsWanted;
use crate::shared::sources::{SearchFiles, Sources, check_source, find_source};
use crate::side_table::{TableSource, Tables};

/// Where a search starts, which edges it follows, and what it reports about paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(group(crate::algorithm::one_of(["source", "sources"]))))]
pub struct SearchOptions {
    /// The vertex to start from, as the edge list names it.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    #[serde(default)]
    #[schemars(extend("format" = "vertex"))]
    pub source: Option<String>,
    /// The vertices to start from, all at once: a table with an id in each row. Tables are read as
    /// inputs are: text, also as .gz and .zst, Parquet, `-`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    #[serde(default)]
    pub sources: Option<TableSource>,
    /// Which edges to follow: those out of a vertex, those into it, or both. It makes no difference
    /// in an undirected graph. In a directed graph, `in` needs rows by target and `both` needs rows
    /// by source too; either keeps all arrays in memory.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub direction: EdgeDirection,
    /// Also find the vertex before each vertex on a shortest path.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long))]
    pub parents: bool,
    /// Output the shortest paths to these vertices only: a table with an id in each row.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", conflicts_with = "parents"))]
    #[serde(default)]
    pub targets: Option<TableSource>,
}

impl SearchOptions {
    /// The options that name tables.
    pub const TABLES: &'static [&'static str] = &["sources", "targets"];

    /// Returns the names of these options and of those that a search has besides.
    pub(super) fn names_with(own: &[&'static str]) -> Vec<&'static str> {
        [field_names::<SearchOptions>(), own].concat()
    }

    /// Returns what the search reports about paths.
    pub fn paths(&self) -> PathsWanted {
        PathsWanted { parents: self.parents, targets: self.targets.is_some() }
    }

    /// Refuses options that make no sense together.
    pub fn check(&self, algorithm: &'static str) -> Result<()> {
        check_source(algorithm, &self.source, &self.sources)?;
        self.paths().check(algorithm)
    }

    /// Refuses a source that the graph does not have.
    pub fn check_input(&self, graph: &Graph) -> Result<()> {
        find_source(graph, self.source.as_deref())
    }

    /// Reads the tables of sources and targets.
    pub fn read_files(&self, tables: &mut Tables<'_>) -> Result<SearchFiles> {
        SearchFiles::read(self.sources.as_ref(), self.targets.as_ref(), tables)
    }

    /// Returns the sources, given the tables that were read.
    ///
    /// # Errors
    /// [`Error::NoSuchVertex`](crate::error::Error::NoSuchVertex) if the graph does not have the
    /// vertex of `source`.
    pub fn sources(&self, files: &SearchFiles, graph: &Graph) -> Result<Sources> {
        let sources = Sources::find(self.source.as_deref(), files.sources.clone(), graph)?;
        // The tables are held until the search has ended.
        Ok(sources.holding(files.size()))
    }
}
