//! Core numbers: the largest k for which a vertex is in a subgraph whose vertices all have at least
//! k neighbours.
//!
//! They are those of the simple undirected graph (Seidman, Social Networks 5, 1983): directions,
//! loops, and parallel edges do not count.
//!
//! Vertices are peeled off (Batagelj, Zaversnik, *An O(m) Algorithm for Cores Decomposition of
//! Networks*, 2003): all vertices that have at most k neighbours left get the core number k, and
//! each of their neighbours then has one less. The peeled vertices are a frontier, whose rows
//! several workers follow at a time (Dasari, Ranjan, Zubair, *ParK*, IEEE Big Data 2014). The
//! vertices left are scanned once for each k that occurs. Every row is read twice, once to count
//! its neighbours. Memory: 16 bytes a vertex, and the index of the rows.

mod peeling;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights};
use crate::answer::{self, Facts, Figures, Scores, Values};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

pub use peeling::{Cores, run};

/// Options of the core numbers; there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct KcoreOptions {}

/// The summary of the core numbers.
#[derive(Debug, Clone, Serialize)]
struct CoreFigures {
    /// The greatest core number.
    degeneracy: u32,
    /// Number of vertices that have it.
    innermost: u64,
}

impl Figures for CoreFigures {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("greatest core", answer::count(self.degeneracy.into()));
        facts.add("innermost", answer::counted(self.innermost, "vertex", "vertices"));
        facts
    }
}

impl Algorithm for KcoreOptions {
    const NAME: &'static str = "kcore";
    const DESCRIPTION: Description = Description {
        family: Family::Clustering,
        summary: "Core numbers: the largest k for which a vertex is in a subgraph where all have k \
            neighbours",
        columns: &[Column::VERTEX, Column::integer("core", "the core number")],
        memory: "16 bytes a vertex, and rows of both directions",
        source: Some(
            "Seidman, Social Networks 5, 1983; Batagelj, Zaversnik 2003; Dasari, Ranjan, Zubair, \
                ParK, IEEE Big Data 2014",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        let held = peeling::size(graph, threads)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::NEIGHBOURS, held), graph)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let found = run(graph, options)?;
        let degeneracy = found.cores.iter().copied().max().unwrap_or(0);
        let innermost = found.cores.iter().filter(|&&core| core == degeneracy).count() as u64;
        let values = Values::of(found.cores.into(), graph, &options.cancel)?;
        let figures = CoreFigures { degeneracy, innermost };
        Ok(Found::new(Scores { column: "core", values, figures }, found.statistics))
    }
}
