//! The diameter: the greatest distance between two vertices of the largest component.
//!
//! Distances are hops whatever the direction of edges. Two searches, each from the farthest vertex of the one before,
//! begin with a lower bound. From the middle of the path between their ends, vertices are taken by descending distance:
//! once all at the distances from `i` on have been searched from, any other two vertices are at most `2 (i - 1)` hops
//! apart. Where that is no more than the greatest distance that was seen, this is the diameter (iFUB: Crescenzi, Grossi,
//! Habib, Lanzi, Marino, *On Computing the Diameter of Real-World Undirected Graphs*, Theoretical Computer Science 514,
//! 2013). In most real graphs that takes some dozens of searches; 64 go at a time: see [`searches`](crate::searches).
//! After the most searches what is known by then are bounds.
//!
//! The table has the two ends of a longest shortest path, of those that were seen. Memory: 44 bytes a vertex, and the
//! index of the rows of both directions.

mod answer;
mod bounds;

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights};
use crate::error::Result;
use crate::original_ids::with_order_streamed;
use crate::wcc::WccOptions;

use answer::Diameter;
pub use bounds::{Bounds, run};

/// Options of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DiameterOptions {
    /// The most searches, after which there are bounds.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::SEARCHES_MAX))]
    pub max_searches: NonZeroU64,
}

impl DiameterOptions {
    const SEARCHES_MAX: NonZeroU64 = NonZeroU64::new(10_000).unwrap();
}

impl Default for DiameterOptions {
    fn default() -> DiameterOptions {
        DiameterOptions { max_searches: Self::SEARCHES_MAX }
    }
}

impl Algorithm for DiameterOptions {
    const NAME: &'static str = "diameter";
    const DESCRIPTION: Description = Description {
        family: Family::Paths,
        summary: "Diameter: the greatest distance between two vertices of the largest component, \
            whatever the direction of edges",
        columns: &[
            Column::id("source", "one end of a longest shortest path"),
            Column::id("target", "the other end"),
            Column::integer("distance", "the hops between them"),
        ],
        memory: "44 bytes a vertex, and rows of both directions",
        source: Some(
            "Crescenzi, Grossi, Habib, Lanzi, Marino, Theoretical Computer Science 514, 2013",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge is a hop" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let estimate = estimate_rows(graph, RowsWanted::NEIGHBOURS, bounds::size(graph));
        let estimate = with_order_streamed(estimate, graph)?;
        // Components are found before, by a scan.
        let scan = WccOptions::default().estimate(graph, &(), threads)?;
        let missing = scan.needed().saturating_sub(estimate.needed());
        Ok(Estimate { vertex_bytes: estimate.vertex_bytes + missing, ..estimate })
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, self.max_searches.get(), options)?;
        let statistics = found.statistics.clone();
        Ok(Found::new(Diameter::new(found, graph, options)?, statistics))
    }
}
