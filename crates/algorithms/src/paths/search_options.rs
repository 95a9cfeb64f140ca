//! The options that searches have in common.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::Graph;

use crate::algorithm::EdgeDirection;
use crate::error::{Error, Result};
use crate::shared::find_vertex::find_vertex;
use crate::shared::sources::Sources;
use crate::shared::vertex_list::VertexList;
use crate::side_table::{TableSource, Tables};

/// Where a search starts, and which edges it follows.
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
    /// Which edges to follow: those out of a vertex, those into it, or both. In an undirected graph
    /// all three are the same. In a directed graph, `in` needs rows by target, and `both` needs rows
    /// by source and by target.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub direction: EdgeDirection,
}

impl SearchOptions {
    /// Refuses options that have neither `source` nor `sources`, and options that have both.
    pub fn check(&self, algorithm: &'static str) -> Result<()> {
        if self.source.is_some() == self.sources.is_some() {
            let detail = "give either `source` or `sources`".to_owned();
            return Err(Error::BadOptions { algorithm, detail });
        }
        Ok(())
    }

    /// Refuses a source that the graph does not have.
    pub fn check_input(&self, graph: &Graph) -> Result<()> {
        self.source.as_deref().map_or(Ok(()), |id| find_vertex(graph, id).map(drop))
    }

    /// Reads the table of sources.
    pub fn read_sources(&self, tables: &mut Tables<'_>) -> Result<VertexList> {
        Ok(VertexList::read_any("sources", self.sources.as_ref(), tables)?)
    }

    /// Returns the vertex of `source`, or the vertices of `listed`, the table that `sources` names.
    ///
    /// # Errors
    /// [`Error::NoSuchVertex`] if the graph does not have the vertex of `source`.
    pub fn sources_among(&self, listed: VertexList, graph: &Graph) -> Result<Sources> {
        match &self.source {
            Some(id) => Ok(find_vertex(graph, id)?.into()),
            None => Ok(Sources::new(listed.vertices)),
        }
    }
}
