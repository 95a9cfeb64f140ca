//! The vertices within `hops` hops of a vertex, or of any of several.
//!
//! It searches level by level, along the edges, against them or both ways, and ends after the last
//! hop. So it reads only the rows of near vertices, in disk order, by several workers at a time.
//! Memory: at most 24 bytes a vertex, 4 more where the vertices have an order, and the index of the
//! rows.

mod search;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions, VertexId};

use crate::algorithm::{
    Algorithm, Column, Description, EdgeDirection, Edges, Family, Found, SideFiles, Weights,
};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;
use crate::shared::sources::{Sources, check_source, find_source};
use crate::shared::vertex_list::VertexList;
use crate::side_table::{self, TableSource, Tables};

pub use search::{Neighbourhood, run};

/// Options of the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(group(crate::algorithm::one_of(["source", "sources"]))))]
pub struct KHopOptions {
    /// The vertex to start from.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    #[serde(default)]
    #[schemars(extend("format" = "vertex"))]
    pub source: Option<String>,
    /// The vertices to start from: a table with an id in each row. Tables are read as inputs are:
    /// text, also as .gz and .zst, Parquet, `-`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    #[serde(default)]
    pub sources: Option<TableSource>,
    /// The greatest number of hops to go.
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub hops: u32,
    /// Which edges to follow: those out of a vertex, those into it, or both. In an undirected graph
    /// it makes no difference. In a directed one `in` and `both` need rows by target, and `both`
    /// rows by source too.
    #[serde(default)]
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub direction: EdgeDirection,
}

impl Algorithm for KHopOptions {
    const NAME: &'static str = "k-hop";
    const DESCRIPTION: Description = Description {
        family: Family::Paths,
        summary: "The vertices within K hops of a vertex, or of any of several",
        columns: &[
            Column::id("vertex", "a vertex that is reached"),
            Column::integer("hops", "hops from the source"),
        ],
        memory: "24 to 36 bytes a vertex, and rows",
        source: None,
        example: r#"{"source": "1", "hops": 2}"#,
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    const TABLES: &'static [&'static str] = &["sources"];
    type Files = VertexList;

    fn check(&self) -> Result<()> {
        check_source(Self::NAME, &self.source, &self.sources)
    }

    fn edges(&self) -> Edges {
        Edges::Rows(self.direction.into())
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<VertexList> {
        Ok(VertexList::read_any("sources", self.sources.as_ref(), tables)?)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        find_source(graph, self.source.as_deref())
    }

    fn estimate(&self, graph: &Graph, files: &VertexList, _threads: usize) -> Result<Estimate> {
        let sources = files.size().max(size_of::<VertexId>() as u64);
        let held = search::size(graph, self.hops)? + sources;
        let wanted = RowsWanted { directions: self.direction.into(), has_weights: false };
        let estimate = estimate_rows(graph, wanted, held);
        let estimate = with_order_streamed(estimate, graph)?;
        Ok(side_table::with_reading(estimate, files.reading_size))
    }

    fn run(&self, graph: &Graph, files: VertexList, options: &RunOptions<'_>) -> Result<Found> {
        let sources = Sources::find(self.source.as_deref(), files, graph)?;
        let found = run(graph, sources.as_slice(), self.direction, self.hops, options)?;
        let statistics = found.statistics.clone();
        Ok(Found::new(found.named(graph, options)?, statistics))
    }
}
