//! Minimum spanning forest: the edges of least total weight that connect every component. A maximum
//! one has the greatest weight.
//!
//! It uses Boruvka's algorithm (*O jistem problemu minimalnim*, 1926; Nesetril, Milkova,
//! Nesetrilova, Discrete Mathematics 233, 2001). Edges are ordered by (weight, smaller end, greater
//! end), where an end is the position of its original id. So no two edges are equal, and the forest
//! does not depend on the vertex order or the number of threads. A round finds for each component
//! the least edge that leaves it, and joins components along these edges. It stops when no edge
//! leaves a component, after at most log2 V rounds.
//!
//! A vertex remembers the least edge that left its component. Its row is read again only when that
//! edge no longer leaves the component, and never again once no edge does. So after the first
//! round, which passes over all rows, few rows are read. Loops never count; of parallel edges the
//! lightest counts. In a graph without weights every edge has weight 1. Both directions of every
//! edge are needed. Memory: 28 bytes a vertex, 4 more where the vertices have an order, and the
//! index of the rows.

mod answer;
mod rounds;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

use answer::Forest;
pub use rounds::{ForestEdge, SpanningForest, check, estimate, run};

/// Options of a spanning forest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct MstOptions {
    /// Find the forest of greatest weight.
    #[cfg_attr(feature = "clap", arg(long))]
    pub maximum: bool,
}

impl Algorithm for MstOptions {
    const NAME: &'static str = "mst";
    const DESCRIPTION: Description = Description {
        family: Family::Structure,
        summary: "Minimum or maximum spanning forest: the edges of least or greatest total weight \
            that connect every component of an undirected graph. Without weights every edge counts 1",
        columns: &[
            Column::id("u", "one end of an edge of the forest"),
            Column::id("v", "the other end"),
            Column::number("weight", "its weight"),
        ],
        memory: "28 to 32 bytes a vertex, and rows",
        source: Some(
            "Boruvka 1926; Nesetril, Milkova, Nesetrilova, Discrete Mathematics 233, 2001",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Used;
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

    fn why_in_memory(&self) -> &'static str {
        "each edge looks up the components of both of its ends"
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, *self, options)?;
        let forest = Forest { weight: found.weight(), edges: found.edges, memory: options.memory };
        Ok(Found::new(forest, found.statistics))
    }
}
