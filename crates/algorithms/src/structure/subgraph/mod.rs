//! Induced subgraph: some of the vertices, and all edges between them.
//!
//! The vertices are given, or those of a weakly connected component, which a union-find finds. Two
//! passes over the tiles count and then write the edges, in the order of the tiles, with original
//! ids; an edge of an undirected graph is written once. Memory: a bit a vertex, 4 bytes more where
//! the vertices have an order; for a component, plus the memory of `wcc`.

mod answer;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::VertexSet;
use tegula_engine::{Estimate, Graph, RunOptions, RunStatistics, ShortId, overhead};

use crate::algorithm::{
    Abilities, Algorithm, Column, Description, Edges, Family, FindsGraph, Found, Iterations,
    SideFiles, Weights, Work,
};
use crate::answer::EdgeTable;
use crate::components::wcc::{self, Method};
use crate::error::{Error, Result};
use crate::shared::find_vertex::find_vertex;
use crate::shared::vertex_list::VertexList;
use crate::side_table::{self, TableSource, Tables};

use answer::Subgraph;

/// Options of a subgraph.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(group(crate::algorithm::one_of(["vertices", "component"]))))]
pub struct SubgraphOptions {
    /// The vertices: a table with an id in each row. Tables are read as inputs are: text, also as
    /// .gz and .zst, Parquet, `-`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub vertices: Option<TableSource>,
    /// The weakly connected component of this vertex.
    #[cfg_attr(feature = "clap", arg(long, value_name = "ID", allow_hyphen_values = true))]
    #[schemars(extend("format" = "vertex"))]
    pub component: Option<String>,
}

impl SubgraphOptions {
    /// Finds the vertices, and returns the statistics of that.
    fn choose(
        &self,
        graph: &Graph,
        files: VertexList,
        options: &RunOptions<'_>,
    ) -> Result<(VertexSet, RunStatistics)> {
        let count = graph.short_vertex_count()?;
        let Some(id) = &self.component else {
            let chosen = VertexSet::new(count);
            files.vertices.iter().for_each(|vertex| {
                chosen.insert(vertex.short());
            });
            return Ok((chosen, RunStatistics::default()));
        };
        let vertex = find_vertex(graph, id)?;
        let found = wcc::run(graph, Method::default(), options)?;
        let root = found.roots[vertex.index()];
        let chosen = VertexSet::new(count);
        let all = (0..count).map(ShortId);
        all.filter(|vertex| found.roots[vertex.index()] == root).for_each(|vertex| {
            chosen.insert(vertex);
        });
        Ok((chosen, found.statistics))
    }
}

impl Algorithm for SubgraphOptions {
    const NAME: &'static str = "subgraph";
    const DESCRIPTION: Description = Description {
        family: Family::Structure,
        summary: "Induced subgraph: given vertices, or a component, and the edges between them, as \
            a graph or a table",
        columns: &[
            Column::id("source", "the source of an edge"),
            Column::id("target", "its target"),
            Column::number("weight", "its weight").when("in a graph with weights"),
        ],
        memory: "1 to 5 bytes a vertex; 9 with a component",
        source: None,
        example: r#"{"component": "1"}"#,
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    const TABLES: &'static [&'static str] = &["vertices"];
    const ABILITIES: Abilities<Self> = Abilities::NONE.finds_graph();
    type Files = VertexList;

    fn check(&self) -> Result<()> {
        if self.vertices.is_some() == self.component.is_some() {
            let detail = "give either `vertices` or `component`".to_owned();
            return Err(Error::BadOptions { algorithm: Self::NAME, detail });
        }
        Ok(())
    }

    fn edges(&self) -> Edges {
        Edges::Tiles { why: "a subgraph is copied tile by tile", instead: None }
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<VertexList> {
        Ok(VertexList::read_any("vertices", self.vertices.as_ref(), tables)?)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        self.component.as_ref().map_or(Ok(()), |id| find_vertex(graph, id).map(drop))
    }

    fn estimate(&self, graph: &Graph, files: &VertexList, threads: usize) -> Result<Estimate> {
        let chosen = VertexSet::size(graph.vertex_count());
        let table = chosen + EdgeTable::size(graph, 0)?;
        let vertex_bytes = match self.component {
            Some(_) => (wcc::size(graph) + chosen).max(table),
            None => files.size() + table,
        };
        let estimate = match self.component {
            Some(_) => wcc::estimate_union_find(graph, threads),
            None => Estimate {
                vertex_bytes: 0,
                stream_bytes_min: 0,
                layout_bytes: graph.tile_bytes(),
                overhead_bytes: overhead(graph),
                message_bytes: 0,
                on_disk: None,
            },
        };
        let estimate = Estimate { vertex_bytes, ..estimate };
        Ok(side_table::with_reading(estimate, files.reading_size + files.size()))
    }

    /// Counting edges uses one thread.
    fn work(&self, graph: &Graph, _files: &VertexList) -> Result<Work> {
        let kind = match self.component {
            Some(_) => "subgraph of a component",
            None => Self::NAME,
        };
        Ok(Work::of_rounds(kind, graph, Iterations::Unknown).by_one_thread())
    }

    fn why_in_memory(&self) -> &'static str {
        "each edge looks up both of its ends"
    }

    fn run(&self, graph: &Graph, files: VertexList, options: &RunOptions<'_>) -> Result<Found> {
        let (chosen, mut statistics) = self.choose(graph, files, options)?;
        // The table needs memory of its own, and no tiles.
        graph.reader().pool().trim();
        let found = Subgraph::of(chosen, graph, options)?;
        // Counting the edges of the subgraph has read all edges.
        statistics.edges_processed += graph.edge_count();
        statistics.bytes_read += graph.tile_bytes();
        Ok(Found::new(found, statistics))
    }
}

impl FindsGraph for SubgraphOptions {
    /// One for each ordered pair of the vertices, unless the graph has parallel edges.
    fn found_edges_max(&self, graph: &Graph, files: &VertexList) -> u64 {
        let pairs = match self.vertices {
            Some(_) if graph.manifest().duplicates == 0 => {
                (files.vertices.len() as u64).saturating_pow(2)
            }
            _ => u64::MAX,
        };
        pairs.min(graph.edge_count())
    }
}
