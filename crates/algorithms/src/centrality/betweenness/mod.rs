//! Betweenness: the number of shortest paths on which a vertex lies.
//!
//! ```text
//!  betweenness(v) = sum over s, t of the fraction of the shortest paths from s to t through v
//! ```
//!
//! over all pairs of other vertices, in an undirected graph each pair once (Freeman, *A Set of
//! Measures of Centrality Based on Betweenness*, Sociometry 40, 1977). The normalized value is
//! divided by the number of pairs. Paths are those of the simple graph: several edges from one
//! vertex to another count as one, and loops do not count. If weighted, the length of a path is the
//! sum of the weights of its edges, and of several edges the lightest counts.
//!
//! From each source a search counts paths, level by level or, if weighted, nearest vertex first.
//! The way back adds up the dependencies of each vertex (Brandes, *A Faster Algorithm for
//! Betweenness Centrality*, Journal of Mathematical Sociology 25, 2001). Both ways read the rows of
//! a level in disk order. Each worker has its own source, and the results of the sources are added
//! in the order of their ids, so the bits do not depend on the number of workers. Path counts have
//! an exponent of their own, as they may exceed `f64`.
//!
//! With samples, the sum over some sources estimates the sum over all (Brandes, Pich, *Centrality
//! Estimation in Large Networks*, International Journal of Bifurcation and Chaos 17, 2007). The sum
//! over given sources is not scaled up, but is also halved in an undirected graph. Memory: 8 bytes
//! a vertex, 36 more for each thread (57 if weighted), 16 for each source that is drawn or given,
//! and the index of the rows.

mod by_hops;
mod by_weights;
mod path_counts;
mod sources;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights, Work};
use crate::answer::{Scores, Values};
use crate::error::{Error, Result};
use crate::shared::id_order::with_order_streamed;
use crate::shared::samples::{self, Sources};
use crate::shared::vertex_list::VertexList;
use crate::side_table::{self, TableSource, Tables};

pub use sources::{Betweenness, Length, Start, run};

/// Options of betweenness.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct BetweennessOptions {
    /// Estimate from K sources drawn at random [default: exact, from all]. In an undirected graph
    /// each pair of ends counts once: the sum over both directions is halved.
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub samples: Option<NonZeroU64>,
    /// Count only the paths from these vertices: a table with an id in each row. Tables are read as
    /// inputs are: text, also as .gz and .zst, Parquet, `-`. In an undirected graph each path
    /// counts one half, so with all vertices as sources the result is exact.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE", conflicts_with = "samples"))]
    pub sources: Option<TableSource>,
    /// Seed of the random samples.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
    /// Divide by the number of pairs of other vertices.
    #[cfg_attr(feature = "clap", arg(long))]
    pub normalized: bool,
    /// Use the weights of edges, all above 0, as their lengths.
    #[cfg_attr(feature = "clap", arg(long))]
    pub weighted: bool,
}

impl BetweennessOptions {
    /// The sources.
    fn start<'f>(&self, files: &'f VertexList) -> Start<'f> {
        match &self.sources {
            Some(_) => Start::Given(&files.vertices),
            None => Start::Drawn { samples: self.samples, seed: self.seed },
        }
    }

    /// The length of a path.
    fn length(&self) -> Length {
        if self.weighted { Length::Weights } else { Length::Hops }
    }

    /// The factor for the sum over sources.
    fn scale(&self, graph: &Graph, sources: u64) -> f64 {
        let vertices = graph.vertex_count() as f64;
        let of_all = match &self.sources {
            Some(_) => 1.0,
            None => vertices / sources.max(1) as f64,
        };
        if self.normalized {
            // With fewer than three vertices the sum is 0.
            of_all / ((vertices - 1.0) * (vertices - 2.0)).max(1.0)
        } else if graph.manifest().undirected {
            // Each pair was counted from both ends.
            of_all / 2.0
        } else {
            of_all
        }
    }
}

impl Algorithm for BetweennessOptions {
    const NAME: &'static str = "betweenness";
    const DESCRIPTION: Description = Description {
        family: Family::Centrality,
        summary: "Betweenness: on how many shortest paths each vertex lies",
        columns: &[
            Column::VERTEX,
            Column::number(
                "centrality",
                "the sum, over pairs of other vertices, of the fraction of their shortest paths \
                    that lead through it",
            ),
        ],
        memory: "8 bytes a vertex, 36 more for each thread (57 weighted), and rows",
        source: Some(
            "Freeman, Sociometry 40, 1977; Brandes, Journal of Mathematical Sociology 25, 2001",
        ),
        example: r#"{"samples": 64}"#,
    };
    const WEIGHTS: Weights = Weights::Ignored {
        instead: "every edge is one hop, unless the option `weighted` uses weights as lengths",
    };
    const TABLES: &'static [&'static str] = &["sources"];
    type Files = VertexList;

    fn weights(&self) -> Weights {
        if self.weighted { Weights::Used } else { Self::WEIGHTS }
    }

    fn check(&self) -> Result<()> {
        if self.sources.is_some() && self.samples.is_some() {
            let detail = "give either `samples` or `sources`".to_owned();
            return Err(Error::BadOptions { algorithm: Self::NAME, detail });
        }
        Ok(())
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<VertexList> {
        Ok(VertexList::read_any("sources", self.sources.as_ref(), tables)?)
    }

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn estimate(&self, graph: &Graph, files: &VertexList, threads: usize) -> Result<Estimate> {
        let held = sources::size(graph, self.start(files), self.length(), threads)?;
        let wanted = RowsWanted::forward(self.weighted && graph.is_weighted());
        let estimate = estimate_rows(graph, wanted, held);
        let estimate = with_order_streamed(estimate, graph)?;
        Ok(side_table::with_reading(estimate, files.reading_size))
    }

    fn work(&self, graph: &Graph, files: &VertexList) -> Result<Work> {
        let sources = match &self.sources {
            Some(_) => files.vertices.len() as u64,
            None => samples::count(graph, self.samples),
        };
        let kind = if self.weighted { "betweenness, weighted" } else { Self::NAME };
        Ok(Work::of(kind, graph, sources as f64))
    }

    fn run(&self, graph: &Graph, files: VertexList, options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, self.start(&files), self.length(), options)?;
        let scale = self.scale(graph, found.sources);
        let mut sums = found.sums;
        sums.iter_mut().for_each(|sum| *sum *= scale);
        let figures = match &self.sources {
            Some(_) => Sources::given(graph, found.sources),
            None => Sources::of(graph, self.samples),
        };
        let values = Values::of(sums.into(), graph, &options.cancel)?;
        let scores = Scores { column: "centrality", values, figures };
        Ok(Found::new(scores, found.statistics))
    }
}
