//! Hubs and authorities: a good hub leads to good authorities, and good hubs lead to a good
//! authority.
//!
//! ```text
//!  authority(v) = sum over edges u -> v of hub(u),   hub(u) = sum over edges u -> v of authority(v)
//! ```
//!
//! Each is scaled to the sum 1 (Kleinberg, *Authoritative Sources in a Hyperlinked Environment*,
//! Journal of the ACM 46, 1999). All vertices begin with equal values. It stops when an iteration
//! changes the hubs by at most the tolerance (L1). Every edge counts once; weights are ignored. In
//! a graph without edges all values are 0.
//!
//! Authorities are summed along the rows by target and hubs along the rows by source. So an
//! iteration reads the rows of both directions in order, and each vertex adds up its neighbours by
//! ascending id. Memory: 24 bytes a vertex, the index of the rows of both directions, and for each
//! thread 8 bytes for each edge of the vertex with the most edges.

mod answer;
mod iterations;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Column, Description, Edges, Family, Found, Iterations, NotNegative, Weights,
};
use crate::answer::Convergence;
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

use answer::HubsAndAuthorities;
pub use iterations::{Hits, run};

/// Options of hubs and authorities.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct HitsOptions {
    /// Stop when an iteration changes the hubs, whose sum is 1, by at most T in sum. If that never
    /// happens, there is a warning.
    #[cfg_attr(feature = "clap", arg(long, value_name = "T", default_value_t = Self::TOLERANCE))]
    pub tolerance: NotNegative,
    /// The maximum number of iterations.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::ITERATIONS_MAX))]
    pub max_iterations: u64,
}

impl HitsOptions {
    const TOLERANCE: NotNegative = NotNegative::new(1e-6);
    const ITERATIONS_MAX: u64 = 100;
}

impl Default for HitsOptions {
    fn default() -> HitsOptions {
        HitsOptions { tolerance: Self::TOLERANCE, max_iterations: Self::ITERATIONS_MAX }
    }
}

impl Algorithm for HitsOptions {
    const NAME: &'static str = "hits";
    const DESCRIPTION: Description = Description {
        family: Family::Centrality,
        summary: "Hubs and authorities: good hubs lead to good authorities, and the other way \
            round",
        columns: &[
            Column::VERTEX,
            Column::number("hub", "how good a hub it is; all together 1"),
            Column::number("authority", "how good an authority it is; all together 1"),
        ],
        memory: "24 bytes a vertex, and rows of both directions",
        source: Some(
            "Kleinberg, Authoritative Sources in a Hyperlinked Environment, Journal of the ACM 46, \
                1999",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge counts once" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let held = iterations::size(graph, threads)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::NEIGHBOURS, held), graph)
    }

    fn iterations(&self) -> Iterations {
        Iterations::until(self.tolerance.get(), self.max_iterations)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, *self, options)?;
        let figures = Convergence::of(found.change, self.tolerance.get());
        let (hubs, authorities) = (found.hubs, found.authorities);
        Ok(Found::new(HubsAndAuthorities { hubs, authorities, figures }, found.statistics))
    }
}
