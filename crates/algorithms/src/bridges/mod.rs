//! Bridges and articulation points: edges and vertices without which a component falls apart.
//!
//! Those of the simple undirected graph beneath the stored one: the direction of edges, loops, and edges beyond the
//! first between two vertices do not count.
//!
//! No depth-first search, whose reads would come one by one: any spanning forest will do (Tarjan, Vishkin, *An
//! Efficient Parallel Biconnectivity Algorithm*, SIAM Journal on Computing 14, 1985).
//!
//! 1. One scan of the tiles joins components by union-find; the edges that join two are a spanning forest. In memory it
//!    is rooted, and vertices are numbered in preorder, so that those below a vertex are a range of numbers.
//! 2. A second scan finds for each vertex the least and the greatest number that its other edges lead to. Summed up
//!    from the leaves, they tell how far the edges from below a vertex lead. Where they do not leave that range, the edge
//!    above it is a bridge. Where they do not leave the range of the vertex above, or the edge is one between two
//!    branches, that says which edges of the forest lie on a common cycle; union-find makes blocks of them.
//! 3. A vertex in which several blocks meet is an articulation point, of as many parts.
//!
//! Which forest it is depends on the order in which edges are seen, and what is found does not. Memory: 48 bytes a
//! vertex.

mod answer;
mod blocks;
mod forest;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights};
use crate::error::Result;
use crate::original_ids::with_order_streamed;

use answer::{ArticulationPoints, Bridges, Cuts};
pub use blocks::{Blocks, run};

/// Options of the bridges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct BridgesOptions {
    /// Answer with the articulation points and the number of blocks that meet in each, in the place of the bridges.
    #[cfg_attr(feature = "clap", arg(long))]
    pub articulation_points: bool,
}

impl Algorithm for BridgesOptions {
    const NAME: &'static str = "bridges";
    const DESCRIPTION: Description = Description {
        family: Family::Components,
        summary: "Bridges and articulation points: edges and vertices without which a component \
            falls apart",
        columns: &[
            Column::id("u", "one end of a bridge").when("without `articulation_points`"),
            Column::id("v", "the other end").when("without `articulation_points`"),
            Column::id("vertex", "the articulation point").when("with `articulation_points`"),
            Column::integer("blocks", "blocks that meet in it").when("with `articulation_points`"),
        ],
        memory: "48 bytes a vertex",
        source: Some("Tarjan, Vishkin, SIAM Journal on Computing 14, 1985"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Tiles { why: "bridges are found by two scans of all edges", instead: None }
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let scan = tegula_engine::estimate::<crate::wcc::SmallestId>(graph, threads);
        let estimate = Estimate { vertex_bytes: blocks::size(graph), on_disk: None, ..scan };
        with_order_streamed(estimate, graph)
    }

    fn why_in_memory(&self) -> &'static str {
        "a spanning forest is walked in any order"
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, options)?;
        // What is named needs memory of its own, and no tiles.
        graph.reader().pool().trim();
        let statistics = found.statistics.clone();
        let cuts = Cuts::new(found, graph, options)?;
        Ok(match self.articulation_points {
            true => Found::new(ArticulationPoints(cuts), statistics),
            false => Found::new(Bridges(cuts), statistics),
        })
    }
}
