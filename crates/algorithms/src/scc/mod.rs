//! Strongly connected components: vertices that reach each other along the direction of edges.
//!
//! 1. What has no edge to, or none from, another vertex is a component of its own, and is trimmed off with its edges,
//!    again and again.
//! 2. What is reached from a vertex of many edges, and reaches it, is its component: in most graphs the giant one
//!    (Fleischer, Hendrickson, Pinar, *On Identifying Strongly Connected Components in Parallel*, IPDPS 2000).
//! 3. Each vertex that is left gets the greatest number of all that reach it, numbers being drawn at random. Who keeps
//!    its own is the root of a component: those with its number that reach it (Orzan, *On Distributed Verification and
//!    Verified Distribution*, 2004). This and trimming are repeated until nothing is left: O(log V) times in all
//!    likelihood.
//!
//! All of it follows frontiers by several workers at a time, in both directions (as the multistep method of Slota,
//! Rajamanickam, Madduri, IPDPS 2014); no depth-first search, whose reads would come one by one. Numbers are a
//! permutation of the dense ids, so no component depends on who is looked at when. In an undirected graph components
//! are those of `wcc`. Memory: 33 bytes a vertex, and the index of the rows of both directions.

mod components;

use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Edges, Found, Weights};
use crate::answer::{Called, Groups, NoFigures, by_smallest};
use crate::error::Result;
use crate::original_ids::with_order_streamed;

pub use components::{StrongComponents, run};

/// Options of the components: there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct SccOptions {}

impl Algorithm for SccOptions {
    const NAME: &'static str = "scc";
    const SUMMARY: &'static str = "Strongly connected components: vertices that reach each other along the direction \
                                   of edges";
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), _threads: usize) -> Result<Estimate> {
        let held = components::size(graph);
        with_order_streamed(estimate_rows(graph, RowsWanted::NEIGHBOURS, held), graph)
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
