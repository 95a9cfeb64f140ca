//! Communities by label propagation, until the label of every vertex is the most frequent one
//! around it.
//!
//! Every vertex begins with its own id as its label, and takes the label that most of its
//! neighbours have (Raghavan, Albert, Kumara, *Near Linear Time Algorithm to Detect Community
//! Structures in Large-Scale Networks*, Physical Review E 76, 2007). It keeps its own label if no
//! other one is more frequent. Among other equally frequent labels, the seed chooses. In each
//! iteration the seed draws about half of the vertices, and only these may change: if all could,
//! neighbours would take each other's labels for ever. It ends when no vertex is unsettled,
//! or at most a share `tolerance` of all, or after a maximum of iterations. Draws are by the id
//! positions of vertices, so a seed gives the same labels for any threads and any vertex order.
//!
//! An iteration follows only the edges of unsettled vertices, because all others would keep their
//! labels. A vertex is unsettled until it is drawn, and again when a neighbour changes.
//!
//! Edges count as for [`cdlp`](crate::communities::cdlp), where all vertices change at once, a
//! fixed number of times. Memory: 13 bytes a vertex, 4 more where the vertices have an order, the
//! index of the rows, and for each thread up to 56 bytes for each edge of the vertex that has most.
//! If there is room, rows are held as plain lists.

mod rounds;

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};
use tegula_store::{Diagnostic, Hint};

use crate::algorithm::{
    Algorithm, Column, Description, Edges, Family, Found, Iterations, Probability, Weights,
};
use crate::answer::{self, Called, Facts, Figures, Groups, Values};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

pub use rounds::{StableLabels, run};

/// Options of the propagation.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LabelPropagationOptions {
    /// The most iterations. If vertices would still change then, there is a warning.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::ITERATIONS_MAX))]
    pub max_iterations: NonZeroU64,
    /// Stop when at most this share of the vertices might still take another label.
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE", default_value_t = Self::TOLERANCE))]
    pub tolerance: Probability,
    /// Chooses between equally frequent labels, and the vertices that may change in an iteration.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
}

impl LabelPropagationOptions {
    const ITERATIONS_MAX: NonZeroU64 = NonZeroU64::new(100).unwrap();
    const TOLERANCE: Probability = Probability::new(0.0);

    /// Returns how many of `vertices` vertices may still change at the end.
    fn few(&self, vertices: u64) -> f64 {
        self.tolerance.get() * vertices as f64
    }
}

impl Default for LabelPropagationOptions {
    fn default() -> LabelPropagationOptions {
        LabelPropagationOptions {
            max_iterations: Self::ITERATIONS_MAX,
            tolerance: Self::TOLERANCE,
            seed: 0,
        }
    }
}

/// Figures about all labels.
#[derive(Debug, Clone, Copy, Serialize)]
struct Stability {
    /// Whether the label of every vertex is the most frequent one around it, except for a share of
    /// vertices within the tolerance.
    converged: bool,
    /// Vertices that would take another label.
    unstable: u64,
}

impl Figures for Stability {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("unstable", answer::counted(self.unstable, "vertex", "vertices"));
        facts
    }

    fn warning(&self) -> Option<Diagnostic> {
        (!self.converged).then(|| {
            let vertices = answer::counted(self.unstable, "vertex", "vertices");
            let message =
                format!("the labels have not converged: {vertices} would take another one");
            Diagnostic::from(message).hint(Hint::raise("max_iterations"))
        })
    }
}

impl Algorithm for LabelPropagationOptions {
    const NAME: &'static str = "label-propagation";
    const DESCRIPTION: Description = Description {
        family: Family::Communities,
        summary: "Communities by label propagation until every vertex has a label that is the most \
            frequent one around it",
        columns: &[
            Column::VERTEX,
            Column::id("label", "the label, which is the id of some vertex"),
        ],
        memory: "13 bytes a vertex, 4 more where vertices have an order, and rows of both \
            directions",
        source: Some("Raghavan, Albert, Kumara, Physical Review E 76, 2007"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge counts once" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let held = rounds::size(graph, threads)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::NEIGHBOURS, held), graph)
    }

    fn iterations(&self) -> Iterations {
        Iterations::AtMost(self.max_iterations.get())
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, *self, options)?;
        let few = self.few(graph.vertex_count());
        let unstable = found.unstable;
        let figures = Stability { converged: unstable as f64 <= few, unstable };
        let called = Called { one: "label", many: "labels" };
        let names = Values::of(found.id_positions.into(), graph, &options.cancel)?;
        let groups = Groups { called, names, figures, memory: options.memory };
        Ok(Found::new(groups, found.statistics))
    }
}
