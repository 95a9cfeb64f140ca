//! Bridges and articulation points: edges and vertices whose removal splits a component.
//!
//! They are those of the simple undirected graph: directions, loops, and parallel edges do not
//! count.
//!
//! A depth-first search would read rows one by one. Instead, any spanning forest will do (Tarjan,
//! Vishkin, *An Efficient Parallel Biconnectivity Algorithm*, SIAM Journal on Computing 14, 1985).
//!
//! 1. One scan of the tiles joins components by union-find; the edges that join two form a spanning
//!    forest. The forest is rooted in memory, and its vertices are numbered in preorder, so a
//!    subtree is a range of numbers.
//! 2. A second scan finds for each vertex the least and the greatest number that its other edges
//!    lead to. Summed up from the leaves, they tell how far the edges of each subtree lead. If they
//!    all stay in the subtree, the edge above it is a bridge. If they leave the subtree of its
//!    parent, the edges above both lie on a common cycle, and so do the edges above both ends of an
//!    edge between two branches. Union-find joins such edges to blocks.
//! 3. A vertex in which several blocks meet is an articulation point; its removal leaves one part
//!    for each block.
//!
//! The forest depends on the order in which edges are seen, but the result does not. Memory: 48
//! bytes a vertex.

mod answer;
mod blocks;
mod forest;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

use answer::{ArticulationPoints, Bridges, Cuts};
pub use blocks::{Blocks, run};

/// Options of the bridges.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct BridgesOptions {
    /// Output the articulation points and the number of blocks that meet in each, instead of the
    /// bridges.
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
        let scan = tegula_engine::estimate::<crate::components::wcc::SmallestId>(graph, threads);
        let estimate = Estimate { vertex_bytes: blocks::size(graph), on_disk: None, ..scan };
        with_order_streamed(estimate, graph)
    }

    fn why_in_memory(&self) -> &'static str {
        "a spanning forest is walked in any order"
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, options)?;
        // Names need memory of their own, and no tiles.
        graph.reader().pool().trim();
        let statistics = found.statistics.clone();
        let cuts = Cuts::new(found, graph, options)?;
        Ok(match self.articulation_points {
            true => Found::new(ArticulationPoints(cuts), statistics),
            false => Found::new(Bridges(cuts), statistics),
        })
    }
}
