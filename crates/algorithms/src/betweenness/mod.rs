//! Betweenness: on how many shortest paths a vertex lies.
//!
//! ```text
//!  betweenness(v) = sum over s, t of the part of the shortest paths from s to t that lead through v
//! ```
//!
//! over all pairs of other vertices, in an undirected graph each pair once (Freeman, *A Set of Measures of Centrality
//! Based on Betweenness*, Sociometry 40, 1977). Normalized it is divided by the number of pairs. Paths are those of the
//! simple graph: of several edges from one vertex to another one counts, and loops do not. Weights are ignored.
//!
//! From each source a search counts paths level by level, and the way back adds up what depends on each vertex (Brandes,
//! *A Faster Algorithm for Betweenness Centrality*, Journal of Mathematical Sociology 25, 2001). Rows of a level are
//! read in the order in which they lie, on both ways. Each worker has a source of its own, and what the sources find is
//! added in the order of their ids, so the bits do not depend on the number of workers. Numbers of paths have
//! an exponent of their own where `f64` would not hold them. With samples the sum over some sources stands for that over all (Brandes, Pich,
//! *Centrality Estimation in Large Networks*, International Journal of Bifurcation and Chaos 17, 2007). Memory: 8 bytes
//! a vertex, 36 for each thread, 16 for a sample, and the index of the rows.

mod dependencies;
mod sources;

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Edges, Found, Weights};
use crate::answer::{Scores, Values};
use crate::error::Result;
use crate::original_ids::with_order_streamed;
use crate::samples::Sources;

pub use sources::{Betweenness, run};

/// Options of betweenness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct BetweennessOptions {
    /// Estimate from so many sources, drawn at random; exact from all of them otherwise.
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub samples: Option<NonZeroU64>,
    /// What the samples are drawn by.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
    /// Divide by the number of pairs of other vertices.
    #[cfg_attr(feature = "clap", arg(long))]
    pub normalized: bool,
}

impl BetweennessOptions {
    /// By what the sum over sources is multiplied.
    fn scale(&self, graph: &Graph, sources: u64) -> f64 {
        let vertices = graph.vertex_count() as f64;
        let of_all = vertices / sources.max(1) as f64;
        if self.normalized {
            // Where there are fewer than three vertices the sum is 0.
            of_all / ((vertices - 1.0) * (vertices - 2.0)).max(1.0)
        } else if graph.manifest().undirected {
            // Each pair was seen from both ends.
            of_all / 2.0
        } else {
            of_all
        }
    }
}

impl Algorithm for BetweennessOptions {
    const NAME: &'static str = "betweenness";
    const SUMMARY: &'static str = "Betweenness: on how many shortest paths each vertex lies";
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge is a hop" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let held = sources::size(graph, self.samples, threads)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::forward(false), held), graph)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, self.samples, self.seed, options)?;
        let scale = self.scale(graph, found.sources);
        let mut sums = found.sums;
        sums.iter_mut().for_each(|sum| *sum *= scale);
        let figures = Sources::of(graph, self.samples);
        let values = Values::of(sums.into(), graph, &options.cancel)?;
        let scores = Scores { column: "centrality", values, figures };
        Ok(Found::new(scores, found.statistics))
    }
}
