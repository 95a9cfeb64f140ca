//! Similarity: the share of neighbours that two vertices have in common.
//!
//! `N(u)` are the neighbours of `u` in the simple undirected graph: directions and loops do not
//! count.
//!
//! ```text
//!  jaccard      |N(u) & N(v)| / |N(u) | N(v)|
//!  overlap      |N(u) & N(v)| / min(|N(u)|, |N(v)|)
//!  adamic-adar  sum over w in N(u) & N(v) of 1 / ln |N(w)|
//! ```
//!
//! Each is 0 where it would divide by 0 (Jaccard, *The Distribution of the Flora in the Alpine
//! Zone*, New Phytologist 11, 1912; Adamic, Adar, *Friends and Neighbors on the Web*, Social
//! Networks 25, 2003).
//!
//! It compares given pairs: the neighbours of the first vertex are held while the neighbours of its
//! partners are read. Or it finds the vertices most similar to given sources: it reads the rows of
//! all neighbours of a source, and adds up the worth of each path to a neighbour's neighbour. Sums
//! are by ascending dense id, and one worker does each source, so the bits do not depend on the
//! threads. Memory: 8 bytes a vertex and 20 for each thread, 24 bytes for each given pair, some 50
//! for each pair that is found, and the index of the rows.

mod answer;
mod pairs;
mod search;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, Held, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Column, Description, Edges, Family, Found, SideFiles, Weights, Work, degree_sum,
};
use crate::error::{Error, Result};
use crate::shared::id_order::with_order_streamed;
use crate::shared::vertex_list::VertexList;
use crate::side_table::{self, TableSource, Tables};

use answer::Similarities;
use pairs::PairList;
pub use search::{SimilarPair, most_similar, of_pairs};

/// Options of similarity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(group(crate::algorithm::one_of(["sources", "pairs"]))))]
pub struct SimilarityOptions {
    /// The pairs: a table with two ids in each row. Tables are read as inputs are: text, also as
    /// .gz and .zst, Parquet, `-`.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", conflicts_with = "top"))]
    pub pairs: Option<TableSource>,
    /// The vertices for which to find the most similar ones: a table with an id in each row.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub sources: Option<TableSource>,
    /// How many similar vertices to find for each source [default: 10].
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub top: Option<usize>,
    /// The measure of similarity.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub measure: Measure,
}

/// The measure of similarity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Measure {
    /// The share of the neighbours of either vertex that are neighbours of both.
    #[default]
    Jaccard,
    /// The share of the neighbours of the vertex with fewer that are neighbours of both.
    Overlap,
    /// The neighbours of both, where those with many neighbours count less.
    AdamicAdar,
}

/// Default of `top`.
const TOP_DEFAULT: usize = 10;

/// The tables of the options.
#[derive(Debug, Default)]
pub struct Files {
    pairs: PairList,
    sources: VertexList,
}

impl SideFiles for Files {
    fn size(&self) -> u64 {
        self.pairs.size() + self.sources.size()
    }
}

impl Default for SimilarityOptions {
    fn default() -> SimilarityOptions {
        let measure = Measure::default();
        SimilarityOptions { pairs: None, sources: None, top: None, measure }
    }
}

impl SimilarityOptions {
    fn top(&self) -> usize {
        self.top.unwrap_or(TOP_DEFAULT)
    }

    /// Returns what a run holds beside the rows.
    fn size(&self, graph: &Graph, files: &Files, threads: usize) -> Result<Held> {
        let vertices = graph.vertex_count();
        let of_each = (self.top() as u64).min(vertices);
        let sources = files.sources.vertices.len() as u64;
        let pairs = files.pairs.pairs.len() as u64;
        let held = search::size(graph, pairs, (sources, of_each), threads)?;
        Ok(Held { own: held.own + 2 * files.size(), ..held })
    }
}

impl Algorithm for SimilarityOptions {
    const NAME: &'static str = "similarity";
    const DESCRIPTION: Description = Description {
        family: Family::Similarity,
        summary: "Similarity by common neighbours: of given pairs, or the vertices most similar to \
            given ones",
        columns: &[
            Column::id("u", "the first vertex of the pair"),
            Column::id("v", "the second"),
            Column::number("similarity", "the similarity of their neighbourhoods"),
        ],
        memory: "8 bytes a vertex, 20 more for each thread, 24 for each given pair, some 50 for each \
            found pair, and rows of both directions",
        source: Some("Jaccard, New Phytologist 11, 1912; Adamic, Adar, Social Networks 25, 2003"),
        example: r#"{"sources": "vertices.csv", "top": 10}"#,
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    const TABLES: &'static [&'static str] = &["pairs", "sources"];
    type Files = Files;

    fn check(&self) -> Result<()> {
        let detail = match (&self.pairs, &self.sources, self.top) {
            (Some(_), None, None) | (None, Some(_), _) => return Ok(()),
            (Some(_), None, Some(_)) => "`top` has an effect only with `sources`",
            _ => "give either `pairs` or `sources`",
        };
        Err(Error::BadOptions { algorithm: Self::NAME, detail: detail.to_owned() })
    }

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<Files> {
        let pairs = match &self.pairs {
            Some(path) => PairList::read("pairs", path, tables)?,
            None => PairList::default(),
        };
        let sources = VertexList::read_any("sources", self.sources.as_ref(), tables)?;
        Ok(Files { pairs, sources })
    }

    fn estimate(&self, graph: &Graph, files: &Files, threads: usize) -> Result<Estimate> {
        let held = self.size(graph, files, threads)?;
        let estimate = estimate_rows(graph, RowsWanted::NEIGHBOURS, held);
        let reading = files.pairs.reading_size.max(files.sources.reading_size);
        Ok(side_table::with_reading(with_order_streamed(estimate, graph)?, reading))
    }

    fn why_in_memory(&self) -> &'static str {
        "neighbours of neighbours lie anywhere"
    }

    fn work(&self, graph: &Graph, files: &Files) -> Result<Work> {
        // The neighbours of all vertices are counted first.
        let (edges, vertices) = (graph.edge_count() as f64, graph.vertex_count().max(1) as f64);
        if self.pairs.is_some() {
            let ends = 2.0 * files.pairs.pairs.len() as f64;
            let met = ends * edges / vertices;
            return Ok(Work::of_visits("similarity of pairs", 1.0, edges + met, vertices + ends));
        }
        // Neighbours of neighbours: a vertex is visited as often as it has edges.
        let met = degree_sum(graph, |degree| degree * degree)? / vertices;
        let sources = files.sources.vertices.len() as f64;
        Ok(Work::of_visits(Self::NAME, 1.0, edges + sources * met, vertices + sources))
    }

    fn run(&self, graph: &Graph, files: Files, options: &RunOptions<'_>) -> Result<Found> {
        let held = self.size(graph, &files, options.threads)?;
        let (found, statistics) = match &self.pairs {
            Some(_) => of_pairs(graph, &files.pairs.pairs, self.measure, held, options)?,
            None => {
                let (sources, top) = (&files.sources.vertices, self.top());
                most_similar(graph, sources, top, self.measure, held, options)?
            }
        };
        Ok(Found::new(Similarities::new(found, graph, options)?, statistics))
    }
}
