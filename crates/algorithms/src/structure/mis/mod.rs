//! Maximal independent set: no two of its vertices are neighbours, and no vertex can be added to
//! it.
//!
//! Every vertex has a random priority. A vertex is in the set if and only if none of its neighbours
//! with a smaller priority is. This is the result of a greedy pass over all vertices by ascending
//! priority. It is found in rounds, as by Luby (*A Simple Parallel Algorithm for the Maximal
//! Independent Set Problem*, STOC 1985), but every round keeps the priorities of the first
//! (Blelloch, Fineman, Shun, SPAA 2012). So the set does not depend on the order in which vertices
//! are visited. A priority is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) of the seed and of the
//! position of the vertex among the original ids. So the set is the same in every vertex order and
//! for every number of threads.
//!
//! A round passes over the rows of the undecided vertices. A vertex joins if all its neighbours
//! with smaller priorities are out; then its neighbours are out. It stops when no vertex is
//! undecided: after O(log^2 V) rounds with high probability, in practice after about ten. Loops are
//! ignored. Both directions of every edge are needed. Memory: 2 bytes a vertex, 4 more where the
//! vertices have an order, and the index of the rows.

mod answer;
mod rounds;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, ColumnType, Description, Edges, Family, Found, Weights};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

use answer::Members;
pub use rounds::{IndependentSet, check, estimate, run};

/// Options of the independent set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct MisOptions {
    /// Seed of the vertex priorities; another seed gives another set.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED", default_value_t = Self::SEED))]
    pub seed: u64,
}

impl MisOptions {
    /// The default seed.
    pub const SEED: u64 = 1;
}

impl Default for MisOptions {
    fn default() -> MisOptions {
        MisOptions { seed: MisOptions::SEED }
    }
}

impl Algorithm for MisOptions {
    const NAME: &'static str = "mis";
    const DESCRIPTION: Description = Description {
        family: Family::Structure,
        summary: "A maximal independent set of an undirected graph: no two of its vertices are \
            neighbours, and none can be added",
        columns: &[
            Column::VERTEX,
            Column::id("in_set", "whether the set has the vertex").of_type(ColumnType::Boolean),
        ],
        memory: "2 to 6 bytes a vertex, and rows",
        source: Some("Luby, STOC 1985; Blelloch, Fineman, Shun, SPAA 2012"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn check_input(&self, graph: &Graph) -> Result<()> {
        check(graph)
    }

    fn estimate(&self, graph: &Graph, _files: &(), _threads: usize) -> Result<Estimate> {
        with_order_streamed(estimate(graph)?, graph)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, *self, options)?;
        Ok(Found::new(Members(found.members), found.statistics))
    }
}
