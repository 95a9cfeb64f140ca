//! Communities of high modularity, by the method of Louvain.
//!
//! Modularity is the share of the weights that lie within communities, minus this share if edges
//! were drawn at random between vertices of the same weights. A resolution above 1 makes
//! communities smaller (Newman, Girvan, Physical Review E 69, 2004; Reichardt, Bornholdt, Physical
//! Review E 74, 2006).
//!
//! Every vertex begins alone. Vertices move to the community by which modularity gains most, until
//! none gains. Then communities move as wholes, and so on, until a level gains nothing (Blondel,
//! Guillaume, Lambiotte, Lefebvre, *Fast Unfolding of Communities in Large Networks*, Journal of
//! Statistical Mechanics, 2008). A vertex is looked at again only if something around it has
//! changed (Ozaki, Tezuka, Inaba 2016).
//!
//! The direction of edges does not count. Weights do, and must be at least 0. Each of several
//! parallel edges counts. The weight of a loop counts twice at its vertex, as both ends are there.
//! A seed gives the same communities for any number of threads.
//! [`modularity`] tells how they are found. Rows are read in the
//! order of communities, so a run is slow if the budget holds few of them. Memory: 92 bytes a
//! vertex, 16 for each thread, at most 32 MiB for links, and the index of the rows of both
//! directions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Factor, Family, Found, Weights};
use crate::communities::modularity::{self, Method};
use crate::error::Result;

/// Options of the search.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LouvainOptions {
    /// The resolution of modularity (gamma): above 1 there are more and smaller communities, below
    /// 1 fewer and larger ones.
    #[cfg_attr(feature = "clap", arg(long, value_name = "R", default_value_t = Self::RESOLUTION))]
    pub resolution: Factor,
    /// Decides in which order vertices are looked at, and which of equally good communities is
    /// chosen.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
}

impl LouvainOptions {
    const RESOLUTION: Factor = Factor::new(1.0);

    /// Finds communities by a method.
    pub(super) fn find(
        &self,
        graph: &Graph,
        method: Method,
        options: &RunOptions<'_>,
    ) -> Result<Found> {
        let found = modularity::run(graph, method, self.resolution.get(), self.seed, options)?;
        modularity::answer(graph, found, options)
    }
}

impl Default for LouvainOptions {
    fn default() -> LouvainOptions {
        LouvainOptions { resolution: Self::RESOLUTION, seed: 0 }
    }
}

impl Algorithm for LouvainOptions {
    const NAME: &'static str = "louvain";
    const DESCRIPTION: Description = Description {
        family: Family::Communities,
        summary: "Communities of high modularity, by the method of Louvain, whatever the direction \
            of edges",
        columns: &[
            Column::VERTEX,
            Column::id("community", "the vertex of its community with the smallest id"),
        ],
        memory: "92 bytes a vertex, 16 more for each thread, at most 32 MiB for links, and rows of both directions",
        source: Some(
            "Blondel, Guillaume, Lambiotte, Lefebvre, Journal of Statistical Mechanics, 2008",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Used;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        modularity::estimate(graph, Method::Louvain, threads)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        self.find(graph, Method::Louvain, options)
    }
}
