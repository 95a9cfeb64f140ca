//! Topological order: every vertex comes after all vertices that have an edge to it.
//!
//! Vertices without in-edges come next, and their edges are removed (Kahn, *Topological Sorting of
//! Large Networks*, Communications of the ACM 5, 1962). All such vertices form a frontier, whose
//! rows several workers follow at a time. So vertices are ordered by the length of the longest path
//! to them from a vertex without in-edges, then by original id. The order depends on the graph
//! alone.
//!
//! If vertices are left, there is a cycle; a loop is one. One more pass over the rows left finds
//! for each vertex a predecessor. Going back along predecessors leads into a cycle, which is named.
//! Memory: 16 bytes a vertex, 4 more where the vertices have an order, and the index of the rows.

mod answer;
mod order;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

use answer::Positions;
pub use order::{TopologicalOrder, run};

/// Options of the order; there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct TopologicalOrderOptions {}

impl Algorithm for TopologicalOrderOptions {
    const NAME: &'static str = "topological-order";
    const DESCRIPTION: Description = Description {
        family: Family::Structure,
        summary: "Topological order: each vertex behind all that have an edge to it",
        columns: &[Column::VERTEX, Column::integer("position", "the place in the order, from 0")],
        memory: "16 to 20 bytes a vertex, and rows",
        source: Some(
            "Kahn, Topological Sorting of Large Networks, Communications of the ACM 5, 1962",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn estimate(&self, graph: &Graph, _files: &(), _threads: usize) -> Result<Estimate> {
        let held = order::size(graph)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::forward(false), held), graph)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, options)?;
        let longest_path = found.statistics.iterations;
        Ok(Found::new(Positions { positions: found.positions, longest_path }, found.statistics))
    }
}
