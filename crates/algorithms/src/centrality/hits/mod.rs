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
//! Values are added up in whole shares of 2^-80, so sums do not depend on the order of the edges.
//! Two methods give the same values:
//!
//! * **rows** (the default): authorities are summed along the rows by target and hubs along the
//!   rows by source. So an iteration reads the rows of both directions in order. Memory: 24 bytes a
//!   vertex, the index of the rows of both directions, and for each thread 8 bytes for each edge of
//!   the vertex with the most edges.
//! * **passes** go over tiles, forward and in reverse ([`Passes`](crate::passes::Passes)). The
//!   tiles of the other direction are written to disk first, unless the graph is undirected. Its
//!   arrays may lie on disk. Memory: 40 bytes a vertex, or what `--estimate` says with arrays on
//!   disk. This is the method of ranks.

mod answer;
mod iterations;
mod passes;
mod share;
mod values;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Column, Description, Edges, Family, Found, Iterations, NotNegative, Weights, Work,
};
use crate::answer::{Convergence, Values};
use crate::error::Result;
use crate::passes::Method;
use crate::shared::id_order::with_order_streamed;
use crate::shared::redirected::Redirection;

use answer::HubsAndAuthorities;
pub use iterations::{Hits, run};
pub use passes::{HitsInPasses, estimate_in_passes, run_in_passes};
pub use values::HubAndAuthority;

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
    /// Where the edges come from.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: Method,
}

impl HitsOptions {
    const TOLERANCE: NotNegative = NotNegative::new(1e-6);
    const ITERATIONS_MAX: u64 = 100;
}

impl Default for HitsOptions {
    fn default() -> HitsOptions {
        let (tolerance, max_iterations) = (Self::TOLERANCE, Self::ITERATIONS_MAX);
        HitsOptions { tolerance, max_iterations, method: Method::default() }
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
        memory: "24 bytes a vertex, and rows of both directions; less in passes",
        source: Some(
            "Kleinberg, Authoritative Sources in a Hyperlinked Environment, Journal of the ACM 46, \
                1999",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge counts once" };
    type Files = ();

    fn edges(&self) -> Edges {
        self.method.edges(Directions::Both)
    }

    fn edges_on_ranks(&self) -> Edges {
        Method::edges_of_passes()
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        if self.method.makes_passes(graph) {
            return with_order_streamed(estimate_in_passes(graph, threads), graph);
        }
        let held = iterations::size(graph, threads)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::NEIGHBOURS, held), graph)
    }

    fn iterations(&self) -> Iterations {
        Iterations::until(self.tolerance.get(), self.max_iterations)
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        let iterations = Algorithm::iterations(self);
        match self.method.makes_passes(graph) {
            true => {
                let work = Work::of_rounds("hits, passes", graph, iterations);
                let is_turned = Redirection::REVERSED.is_needed(graph);
                Ok(if is_turned { work.on_redirected(graph.edge_count()) } else { work })
            }
            false => Ok(Work::of_rounds(Self::NAME, graph, iterations)),
        }
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let tolerance = self.tolerance.get();
        if self.method.makes_passes(graph) {
            let found = run_in_passes(graph, (tolerance, self.max_iterations), options)?;
            // The order of a table needs memory of its own, and no tiles.
            graph.reader().pool().trim();
            let values = answer::Found::InPasses(Values::of(found.values, graph, &options.cancel)?);
            let figures = Convergence::of(found.change, tolerance);
            return Ok(Found::new(HubsAndAuthorities { values, figures }, found.statistics));
        }
        let found = run(graph, *self, options)?;
        let (hubs, authorities) = (found.hubs, found.authorities);
        let values = answer::Found::AlongRows { hubs, authorities };
        let figures = Convergence::of(found.change, tolerance);
        Ok(Found::new(HubsAndAuthorities { values, figures }, found.statistics))
    }
}
