//! Katz centrality: the number of walks that end at a vertex, where longer walks count less.
//!
//! ```text
//!  x(v) = 1 + alpha * sum over edges u -> v of x(u)
//! ```
//!
//! (Katz, *A New Status Index Derived from Sociometric Analysis*, Psychometrika 18, 1953.) It
//! converges if alpha is below 1 over the greatest eigenvalue. The default, 0.85 over the greatest
//! in-degree, always is; then the change after a hundred iterations is below a millionth. Values
//! that grow without bound are an error. In the end values are scaled to the Euclidean norm 1. It
//! stops when an iteration changes the values by at most the tolerance, as a fraction of their sum.
//! Weights are ignored. Values and messages are `f32`, sums are `f64`. Memory: 12 bytes a vertex.

mod program;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Checkpointing, Column, Description, Edges, Factor, Family, Found, Iterations,
    NotNegative, Weights,
};
use crate::answer::{Convergence, Scores, Values};
use crate::error::{Error, Result};

pub use program::Katz;

/// Options of Katz centrality.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct KatzOptions {
    /// The factor by which each further edge of a walk counts less [default: 0.85 over the greatest
    /// in-degree, with which the values always converge].
    #[cfg_attr(feature = "clap", arg(long, value_name = "A"))]
    pub alpha: Option<Factor>,
    /// Stop when an iteration changes the values by at most this fraction of their sum. If that
    /// never happens, there is a warning.
    #[cfg_attr(feature = "clap", arg(long, value_name = "T", default_value_t = Self::TOLERANCE))]
    pub tolerance: NotNegative,
    /// The maximum number of iterations.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::ITERATIONS_MAX))]
    pub max_iterations: u64,
}

/// The default of alpha where the greatest in-degree is 1.
const DAMPING: f64 = 0.85;

impl KatzOptions {
    const TOLERANCE: NotNegative = NotNegative::new(1e-6);
    const ITERATIONS_MAX: u64 = 100;
}

impl Default for KatzOptions {
    fn default() -> KatzOptions {
        let max_iterations = Self::ITERATIONS_MAX;
        KatzOptions { alpha: None, tolerance: Self::TOLERANCE, max_iterations }
    }
}

impl Algorithm for KatzOptions {
    const NAME: &'static str = "katz";
    const DESCRIPTION: Description = Description {
        family: Family::Centrality,
        summary: "Katz centrality: walks that end at a vertex, of which longer ones count less",
        columns: &[
            Column::VERTEX,
            Column::number("centrality", "the centrality; the squares of all add up to 1"),
        ],
        memory: "12 bytes a vertex",
        source: Some("Katz, Psychometrika 18, 1953"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge counts once" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Tiles { why: "katz adds up all edges in a fixed order", instead: None }
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        Ok(tegula_engine::estimate_anywhere::<Katz>(graph, threads))
    }

    fn checkpointing(&self) -> Checkpointing {
        Checkpointing::of::<Katz>()
    }

    fn iterations(&self) -> Iterations {
        Iterations::until(self.tolerance.get(), self.max_iterations)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let alpha = match self.alpha {
            Some(alpha) => alpha.get(),
            // A graph without edges has a greatest in-degree of 0.
            None => DAMPING / f64::from(in_degree_max(graph)?.max(1)),
        };
        let program = Katz::new(alpha, self.tolerance.get(), self.max_iterations);
        let outcome = tegula_engine::run_anywhere(graph, program, options)?;
        let (program, cancel) = (outcome.program, &options.cancel);
        // The change is also infinite before the first iteration, which says nothing of a bound.
        if outcome.statistics.iterations > 0 && !program.change().is_finite() {
            let detail = format!(
                "with an `alpha` of {alpha} the values grow without bound; choose a smaller one"
            );
            return Err(Error::BadOptions { algorithm: Self::NAME, detail });
        }
        let scale = program.scale();
        let values = Values::of(outcome.states, graph, cancel)?;
        let values = values.map(graph, cancel, move |value| value * scale)?;
        let figures = Convergence::of(program.change(), self.tolerance.get());
        Ok(Found::new(Scores { column: "centrality", values, figures }, outcome.statistics))
    }
}

fn in_degree_max(graph: &Graph) -> Result<u32> {
    let mut max = 0;
    graph.for_each_degrees(|_, _, into| {
        max = into.iter().copied().fold(max, u32::max);
        Ok(())
    })?;
    Ok(max)
}
