//! Core numbers: the largest k for which a vertex is in a subgraph whose vertices all have at least
//! k neighbours.
//!
//! They are those of the simple undirected graph (Seidman, Social Networks 5, 1983): directions,
//! loops, and parallel edges do not count.
//!
//! Two methods find them.
//!
//! By **rows** (the default), vertices are peeled off (Batagelj, Zaversnik, *An O(m) Algorithm for
//! Cores Decomposition of Networks*, 2003): all vertices that have at most k neighbours left get
//! the core number k, and each of their neighbours then has one less. The peeled vertices are a
//! frontier, whose rows several workers follow at a time (Dasari, Ranjan, Zubair, *ParK*, IEEE Big
//! Data 2014). All vertices left are scanned once for every 8 core numbers or more; in between, only
//! those with few neighbours left. Each row is read once, and once more to count neighbours unless
//! the graph is undirected and has no loops or parallel edges. Where there is room, all rows are
//! decoded into plain lists first. Memory: 20 bytes a vertex, and the index of the rows.
//!
//! With **passes** ([`Passes`](crate::passes::Passes)), each pass over the tiles peels off all
//! vertices that have at most k neighbours left. Unless the tiles have each edge once in each
//! direction, such tiles are written to disk first. Arrays may lie on disk. Memory: 8 bytes a
//! vertex, or what `--estimate` says with arrays on disk. This is the method of ranks.

mod passes;
mod peeling;

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{Directions, RowsWanted, estimate_rows};
use tegula_engine::{Cancel, Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Column, Description, Edges, Family, Found, Iterations, Weights, Work,
};
use crate::answer::{self, Facts, Figures, Scores, Values};
use crate::error::Result;
use crate::passes::Method;
use crate::shared::id_order::with_order_streamed;
use crate::shared::redirected::Redirection;

pub use passes::{CoresInPasses, estimate_in_passes, run_in_passes};
pub use peeling::{Cores, run};

/// Options of the core numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct KcoreOptions {
    /// Where the edges come from.
    #[cfg_attr(feature = "clap", arg(long, value_enum, default_value_t))]
    pub method: Method,
}

/// The summary of the core numbers.
#[derive(Debug, Clone, Serialize)]
struct CoreFigures {
    /// The greatest core number.
    degeneracy: u32,
    /// Number of vertices that have it.
    innermost: u64,
}

impl CoreFigures {
    fn of(cores: &Values<u32>, cancel: &Cancel) -> Result<CoreFigures> {
        let mut found = CoreFigures { degeneracy: 0, innermost: 0 };
        cores.for_each_chunk(cancel, |cores| {
            for &core in cores {
                match core.cmp(&found.degeneracy) {
                    Ordering::Less => {}
                    Ordering::Equal => found.innermost += 1,
                    Ordering::Greater => found = CoreFigures { degeneracy: core, innermost: 1 },
                }
            }
        })?;
        Ok(found)
    }
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
            neighbours, of the simple undirected graph beneath the stored one",
        columns: &[Column::VERTEX, Column::integer("core", "the core number")],
        memory: "20 bytes a vertex, and rows of both directions; less in passes",
        source: Some(
            "Seidman, Social Networks 5, 1983; Batagelj, Zaversnik 2003; Dasari, Ranjan, Zubair, \
                ParK, IEEE Big Data 2014",
        ),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    type Files = ();

    fn edges(&self) -> Edges {
        self.method.edges(Directions::Both)
    }

    fn edges_on_ranks(&self) -> Edges {
        Method::edges_of_passes()
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        if !self.method.makes_passes(graph) {
            return Ok(Work::of_rounds(Self::NAME, graph, Iterations::Unknown));
        }
        let work = Work::of_rounds("kcore, passes", graph, Iterations::Unknown);
        let is_built = Redirection::NEIGHBOURS.is_needed(graph);
        Ok(if is_built { work.on_both_directions(graph) } else { work })
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        if self.method.makes_passes(graph) {
            return with_order_streamed(estimate_in_passes(graph, threads), graph);
        }
        let held = peeling::size(graph, threads)?;
        with_order_streamed(estimate_rows(graph, RowsWanted::NEIGHBOURS, held), graph)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let (cores, statistics) = match self.method.makes_passes(graph) {
            true => {
                let CoresInPasses { cores, statistics } = run_in_passes(graph, options)?;
                // The order of a table needs memory of its own, and no tiles.
                graph.reader().pool().trim();
                (cores, statistics)
            }
            false => {
                let Cores { cores, statistics } = run(graph, options)?;
                (cores.into(), statistics)
            }
        };
        let values = Values::of(cores, graph, &options.cancel)?;
        let figures = CoreFigures::of(&values, &options.cancel)?;
        Ok(Found::new(Scores { column: "core", values, figures }, statistics))
    }
}
