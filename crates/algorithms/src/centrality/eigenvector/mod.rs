//! Eigenvector centrality: a vertex is as central as the sum of its in-neighbours.
//!
//! ```text
//!  x(v) = 1/l * sum over edges u -> v of x(u),  l the greatest eigenvalue
//! ```
//!
//! (Bonacich, *Power and Centrality*, American Journal of Sociology 92, 1987.) It runs the power
//! method on the matrix with 1 added to its diagonal, which has the same eigenvectors and also
//! converges on bipartite graphs. Values have the Euclidean norm 1. It stops when an iteration
//! changes them by at most the tolerance, in the Euclidean norm. Weights are ignored. Values and
//! messages are `f32`, sums are `f64`. Memory: 12 bytes a vertex.

mod program;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Checkpointing, Column, Description, Edges, Family, Found, Iterations, NotNegative,
    Weights,
};
use crate::answer::{Convergence, Scores, Values};
use crate::error::Result;

pub use program::Eigenvector;

/// Options of eigenvector centrality.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct EigenvectorOptions {
    /// Stop when an iteration changes the values, whose Euclidean norm is 1, by at most T. If that
    /// never happens, there is a warning.
    #[cfg_attr(feature = "clap", arg(long, value_name = "T", default_value_t = Self::TOLERANCE))]
    pub tolerance: NotNegative,
    /// The maximum number of iterations.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::ITERATIONS_MAX))]
    pub max_iterations: u64,
}

impl EigenvectorOptions {
    const TOLERANCE: NotNegative = NotNegative::new(1e-6);
    const ITERATIONS_MAX: u64 = 100;
}

impl Default for EigenvectorOptions {
    fn default() -> EigenvectorOptions {
        EigenvectorOptions { tolerance: Self::TOLERANCE, max_iterations: Self::ITERATIONS_MAX }
    }
}

impl Algorithm for EigenvectorOptions {
    const NAME: &'static str = "eigenvector";
    const DESCRIPTION: Description = Description {
        family: Family::Centrality,
        summary: "Eigenvector centrality: a vertex is central if its in-neighbours are",
        columns: &[
            Column::VERTEX,
            Column::number(
                "centrality",
                "the centrality; the squares of all centralities sum to 1",
            ),
        ],
        memory: "12 bytes a vertex",
        source: Some("Bonacich, Power and Centrality, American Journal of Sociology 92, 1987"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge counts once" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Tiles { why: "eigenvector adds up all edges in a fixed order", instead: None }
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        Ok(tegula_engine::estimate_anywhere::<Eigenvector>(graph, threads))
    }

    fn checkpointing(&self) -> Checkpointing {
        Checkpointing::of::<Eigenvector>()
    }

    fn iterations(&self) -> Iterations {
        Iterations::until(self.tolerance.get(), self.max_iterations)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let program =
            Eigenvector::new(graph.vertex_count(), self.tolerance.get(), self.max_iterations);
        let outcome = tegula_engine::run_anywhere(graph, program, options)?;
        let (program, cancel) = (outcome.program, &options.cancel);
        let scale = program.scale();
        let values = Values::of(outcome.states, graph, cancel)?;
        let values = values.map(graph, cancel, move |value| value * scale)?;
        let figures = Convergence::of(program.change(), self.tolerance.get());
        Ok(Found::new(Scores { column: "centrality", values, figures }, outcome.statistics))
    }
}
