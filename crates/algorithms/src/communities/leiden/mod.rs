//! Connected communities of high modularity, by the method of Leiden.
//!
//! Works as [`louvain`](crate::communities::louvain), but communities do not move as wholes:
//! well-linked groups of vertices within them do. So a community of badly linked parts falls apart
//! again (Traag, Waltman, van Eck, *From Louvain to Leiden*, Scientific Reports 9, 2019). A vertex
//! joins the group by which it gains most, not a random one of all by which it gains. An iteration
//! begins with the communities of the one before, so vertices that had become part of a larger unit
//! can move again. The search ends after the given iterations, or earlier if nothing moves or
//! modularity does not rise. Any two vertices of a community are connected by a path within it.
//! Memory: 112 bytes a vertex, 16 for each thread, at most 32 MiB for links, and the index of the
//! rows of both directions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Description, Edges, Family, Found, Weights, field_names};
use crate::communities::louvain::LouvainOptions;
use crate::communities::modularity::{self, Method};
use crate::error::Result;

/// Options of the search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LeidenOptions {
    /// The options that `louvain` has too.
    #[cfg_attr(feature = "clap", command(flatten))]
    #[serde(flatten)]
    pub louvain: LouvainOptions,
    /// The most iterations. Each begins with the communities of the one before. With 0, they go on
    /// while modularity rises.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::ITERATIONS))]
    #[serde(default = "LeidenOptions::iterations_default")]
    pub iterations: u64,
}

impl LeidenOptions {
    /// The default number of iterations. With three, modularity is at least that of two in igraph,
    /// in less time, on all graphs whose communities are in `bench/PEERS.md`.
    pub const ITERATIONS: u64 = 3;

    fn iterations_default() -> u64 {
        Self::ITERATIONS
    }

    fn method(&self) -> Method {
        Method::Leiden { iterations: self.iterations }
    }
}

impl Default for LeidenOptions {
    fn default() -> LeidenOptions {
        LeidenOptions { louvain: LouvainOptions::default(), iterations: Self::ITERATIONS }
    }
}

impl Algorithm for LeidenOptions {
    const NAME: &'static str = "leiden";
    const DESCRIPTION: Description = Description {
        family: Family::Communities,
        summary: "Connected communities of high modularity, by the method of Leiden, whatever the \
            direction of edges",
        columns: LouvainOptions::DESCRIPTION.columns,
        memory: "112 bytes a vertex, 16 more for each thread, at most 32 MiB for links, and rows of both directions",
        source: Some("Traag, Waltman, van Eck, From Louvain to Leiden, Scientific Reports 9, 2019"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Used;
    type Files = ();

    fn option_names() -> Vec<&'static str> {
        // A struct that flattens another does not tell its own fields.
        [field_names::<LouvainOptions>(), &["iterations"]].concat()
    }

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        modularity::estimate(graph, self.method(), threads)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        self.louvain.find(graph, self.method(), options)
    }
}
