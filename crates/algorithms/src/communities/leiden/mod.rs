//! Connected communities of high modularity, by the method of Leiden.
//!
//! Works as [`louvain`](crate::communities::louvain), but communities do not move as wholes:
//! well-linked groups of vertices within them do. So a community of badly linked parts falls apart
//! again (Traag, Waltman, van Eck, *From Louvain to Leiden*, Scientific Reports 9, 2019). A vertex
//! joins the group by which it gains most, not a random one of all by which it gains. Any two
//! vertices of a community are connected by a path within it. Memory: 101 bytes a vertex, 16 for
//! each thread, and the index of the rows of both directions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Description, Edges, Family, Found, Weights};
use crate::communities::louvain::LouvainOptions;
use crate::communities::modularity::{self, Method};
use crate::error::Result;

/// Options of the search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LeidenOptions {
    /// Those of `louvain`.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub louvain: LouvainOptions,
}

impl Algorithm for LeidenOptions {
    const NAME: &'static str = "leiden";
    const DESCRIPTION: Description = Description {
        family: Family::Communities,
        summary: "Connected communities of high modularity, by the method of Leiden",
        columns: LouvainOptions::DESCRIPTION.columns,
        memory: "101 bytes a vertex, 16 more for each thread, and rows of both directions",
        source: Some("Traag, Waltman, van Eck, From Louvain to Leiden, Scientific Reports 9, 2019"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Used;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        modularity::estimate(graph, Method::Leiden, threads)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        self.louvain.find(graph, Method::Leiden, options)
    }
}
