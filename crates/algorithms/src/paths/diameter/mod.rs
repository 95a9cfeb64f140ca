//! The diameter: the greatest distance between two vertices of the largest component.
//!
//! Distances are hops, regardless of the direction of edges. The eccentricity of a vertex is its
//! distance to the farthest vertex; the diameter is the greatest eccentricity. Each search narrows
//! the bounds of every eccentricity. A vertex is ruled out once its upper bound is no more than the
//! greatest distance found so far. The first three searches usually find the diameter: the second
//! and the third start from the farthest vertex of the one before. Then searches come in pairs,
//! until all vertices are ruled out. The first of a pair starts from the middle, a vertex with the
//! least lower bound, and rules out most vertices. The second starts from the outermost vertex, one
//! with the greatest upper bound (Takes, Kosters, *Determining the Diameter of Small World
//! Networks*, CIKM 2011). If a pair rules out few vertices, 64 searches run together: see
//! [`searches`]. Of five real graphs, three take 4 or 5 searches, and two take 68 and 211. If the
//! maximum number of searches does not suffice, the result is a lower and an upper bound.
//!
//! Of several largest components, the one is taken whose first vertex comes first in the vertex
//! order.
//!
//! The table has the two ends of the longest shortest path that was found. Memory: 44 bytes a
//! vertex, and the index of the rows of both directions.

mod answer;
mod bounds;
mod searches;

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights};
use crate::components::wcc::WccOptions;
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

use answer::Diameter;
pub use bounds::{Bounds, run};

/// Options of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct DiameterOptions {
    /// The maximum number of searches. If it does not suffice, the result is a lower and an upper
    /// bound.
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
        source: Some("Takes, Kosters, Determining the Diameter of Small World Networks, CIKM 2011"),
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
        let missing = scan.needed_in_memory().saturating_sub(estimate.needed());
        Ok(Estimate { vertex_bytes: estimate.vertex_bytes + missing, ..estimate })
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, self.max_searches.get(), options)?;
        let statistics = found.statistics.clone();
        Ok(Found::new(Diameter::new(found, graph, options)?, statistics))
    }
}
