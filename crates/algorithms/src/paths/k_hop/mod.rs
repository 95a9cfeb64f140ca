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
    Algorithm, Column, Description, Edges, Family, Found, SideFiles, Weights, field_names,
};
use crate::error::Result;
use crate::paths::search_options::SearchOptions;
use crate::shared::id_order::with_order_streamed;
use crate::shared::vertex_list::VertexList;
use crate::side_table::{self, Tables};

pub use search::{Neighbourhood, run};

/// Options of the search.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct KHopOptions {
    /// Where the search starts, and which edges it follows.
    #[cfg_attr(feature = "clap", command(flatten))]
    #[serde(flatten)]
    pub search: SearchOptions,
    /// The greatest number of hops to go.
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub hops: u32,
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

    fn option_names() -> Vec<&'static str> {
        [field_names::<SearchOptions>(), &["hops"]].concat()
    }

    fn check(&self) -> Result<()> {
        self.search.check(Self::NAME)
    }

    fn edges(&self) -> Edges {
        Edges::Rows(self.search.direction.into())
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<VertexList> {
        self.search.read_sources(tables)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        self.search.check_input(graph)
    }

    fn estimate(&self, graph: &Graph, files: &VertexList, _threads: usize) -> Result<Estimate> {
        let sources = files.size().max(size_of::<VertexId>() as u64);
        let held = search::size(graph, self.hops)? + sources;
        let wanted = RowsWanted { directions: self.search.direction.into(), has_weights: false };
        let estimate = estimate_rows(graph, wanted, held);
        let estimate = with_order_streamed(estimate, graph)?;
        Ok(side_table::with_reading(estimate, files.reading_size))
    }

    fn run(&self, graph: &Graph, files: VertexList, options: &RunOptions<'_>) -> Result<Found> {
        let sources = self.search.sources_among(files, graph)?;
        let found = run(graph, sources.as_slice(), self.search.direction, self.hops, options)?;
        let statistics = found.statistics.clone();
        Ok(Found::new(found.named(graph, options)?, statistics))
    }
}
