//! Communities by label propagation, as LDBC Graphalytics defines it.
//!
//! Every vertex begins with its own id as its label. In an iteration, all vertices at once take the
//! label that most of their neighbours have; of equally frequent labels, the smallest (Raghavan,
//! Albert, Kumara, *Near Linear Time Algorithm to Detect Community Structures in Large-Scale
//! Networks*, Physical Review E 76, 2007, made synchronous and deterministic: Iosup et al., *LDBC
//! Graphalytics*, VLDB 2016). In a directed graph, edges of both directions count, so a neighbour
//! with edges both ways counts twice. Each of several parallel edges counts.
//!
//! The most frequent label is no reduction of fixed size. So this passes over the rows instead of
//! the tiles: the rows of both directions of a vertex are at hand together. Each iteration reads
//! all rows, in order. It ends early if no label changes, since none would change again. Memory: 8
//! bytes a vertex, the index of the rows, and for each thread up to 56 bytes for each edge of the
//! vertex that has most.

mod rounds;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Iterations, Weights};
use crate::answer::{Called, Groups, NoFigures, Values};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

pub use rounds::{Labels, run};

/// Options of the propagation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CdlpOptions {
    /// The most iterations to run: it ends early when no label changes.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t = Self::ITERATIONS))]
    pub iterations: u64,
}

impl CdlpOptions {
    /// The default number of iterations.
    pub const ITERATIONS: u64 = 10;
}

impl Default for CdlpOptions {
    fn default() -> CdlpOptions {
        CdlpOptions { iterations: CdlpOptions::ITERATIONS }
    }
}

impl Algorithm for CdlpOptions {
    const NAME: &'static str = "cdlp";
    const DESCRIPTION: Description = Description {
        family: Family::Communities,
        summary: "Communities by label propagation: each vertex takes the label that most of its \
            neighbours have",
        columns: &[
            Column::VERTEX,
            Column::id("label", "the label, which is the id of some vertex"),
        ],
        memory: "8 bytes a vertex, and rows of both directions",
        source: Some(
            "Raghavan, Albert, Kumara, Physical Review E 76, 2007, as LDBC Graphalytics defines it",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge counts once" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn iterations(&self) -> Iterations {
        Iterations::Exactly(self.iterations)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let held = rounds::size(graph, threads)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::NEIGHBOURS, held), graph)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, *self, options)?;
        let called = Called { one: "label", many: "labels" };
        let names = Values::of(found.id_positions.into(), graph, &options.cancel)?;
        let groups = Groups { called, names, figures: NoFigures {}, memory: options.memory };
        Ok(Found::new(groups, found.statistics))
    }
}
