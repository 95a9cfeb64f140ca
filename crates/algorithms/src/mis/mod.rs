//! Maximal independent set: vertices no two of which are neighbours, and to which none can be added.
//!
//! Every vertex has a random priority. A vertex is in the set exactly if none of its neighbours with a
//! smaller priority is, which is what a greedy pass over all vertices by ascending priority gives. It is
//! found in rounds, as by Luby (*A Simple Parallel Algorithm for the Maximal Independent Set Problem*,
//! STOC 1985), but with the priorities of the first round kept (Blelloch, Fineman, Shun, SPAA 2012):
//! then the set does not depend on who is looked at when. Priorities are SplitMix64 (Steele, Lea, Flood,
//! OOPSLA 2014) of the seed and of the position of a vertex among the original ids, so the set is the
//! same in every vertex order, for every number of threads.
//!
//! A round passes over the rows of the vertices that are undecided. One whose smaller neighbours are all
//! out joins, and its neighbours are out. It stops when nothing is undecided: after O(log^2 V) rounds in
//! all likelihood, in practice about ten. Loops are ignored. Both directions of every edge are needed.
//! Memory: 2 bytes a vertex, 4 more where the vertices have an order, and the index of the rows.

mod answer;
mod rounds;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, ColumnType, Description, Edges, Family, Found, Weights};
use crate::error::Result;
use crate::original_ids::with_order_streamed;

use answer::Members;
pub use rounds::{IndependentSet, check, estimate, run};

/// What a run may choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct MisOptions {
    /// What the priorities of the vertices are drawn from: another seed, another set.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED", default_value_t = Self::SEED))]
    pub seed: u64,
}

impl MisOptions {
    /// The seed unless another is given.
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
        summary: "A maximal independent set: no two of its vertices are neighbours, and none can \
            be added",
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
