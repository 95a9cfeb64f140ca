//! Strongly connected components: vertices that reach each other along the direction of edges.
//!
//! One depth-first search along the rows finds all components (Tarjan, *Depth-First Search and
//! Linear Graph Algorithms*, SIAM Journal on Computing 1, 1972). Consider the vertices that are in
//! no component yet. A vertex that reaches none entered before it is the root of a component. The
//! component consists of the root and all entered after it. One number a vertex is enough (Pearce,
//! *A Space-Efficient Algorithm for Finding Strongly Connected Components*, Information Processing
//! Letters 116, 2016). A vertex without out-edges or without in-edges is a component of its own;
//! degrees tell which, so its row is not read. One thread searches. If there is room, all threads
//! decode the rows into plain lists first. In an undirected graph the components are those of `wcc`.
//! Memory: 17 bytes a vertex, 16 for each edge of the longest row, at least 256 KiB, and
//! the index of the rows.

mod components;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Column, Description, Edges, Family, Found, Iterations, Weights, Work,
};
use crate::answer::{Called, Groups, NoFigures, by_smallest};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

pub use components::{StrongComponents, run};

/// Options of the components; there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SccOptions {}

impl Algorithm for SccOptions {
    const NAME: &'static str = "scc";
    const DESCRIPTION: Description = Description {
        family: Family::Components,
        summary: "Strongly connected components: vertices that reach each other along the \
            direction of edges",
        columns: &[
            Column::VERTEX,
            Column::id("component", "the vertex of its component with the smallest id"),
        ],
        memory: "17 bytes a vertex, 16 an edge of the longest row, and rows",
        source: Some(
            "Tarjan, SIAM Journal on Computing 1, 1972; Pearce, Information Processing Letters \
                116, 2016",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn estimate(&self, graph: &Graph, _files: &(), _threads: usize) -> Result<Estimate> {
        let held = components::size(graph)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::forward(false), held), graph)
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        Ok(Work::of_rounds(Self::NAME, graph, Iterations::Unknown).by_one_thread())
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, options)?;
        // Names need memory of their own.
        graph.reader().pool().trim();
        let names = by_smallest(graph, found.roots.into(), &options.cancel)?;
        let called = Called { one: "component", many: "components" };
        let groups = Groups { called, names, figures: NoFigures {}, memory: options.memory };
        Ok(Found::new(groups, found.statistics))
    }
}
