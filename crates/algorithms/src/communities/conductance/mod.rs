//! Conductance: how well sets of vertices are separated from the rest of the graph.
//!
//! ```text
//!  conductance(S) = cut(S) / min(volume(S), volume(rest))
//! ```
//!
//! `cut` counts the edges between S and the rest. `volume` counts the ends of edges in S, which is
//! the sum of degrees (Bollobas, *Modern Graph Theory*, 1998; as a measure of communities:
//! Leskovec, Lang, Dasgupta, Mahoney, WWW 2008). In a directed graph, an edge counts in any
//! direction, and a degree includes both directions. A loop of an undirected graph has one end.
//! Weighted, an edge counts as its weight, which is at least 0. Sums are
//! [exact](crate::shared::exact_sum), and rounded only for output.
//!
//! Sets may overlap. A run reads every row once, and walks the sets of both ends at each edge.
//! Memory: 8 bytes a vertex, 4 for each set that a vertex is in, 32 a set, and the index of the
//! rows. Weighted: 4 bytes a vertex, 168 a set. Each thread also has a sum for each set of one
//! vertex.

mod amount;
mod answer;
mod counting;
mod memberships;
mod sets;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Algorithm, Column, ColumnType, Description, Edges, Family, Found, Iterations, Weights, Work,
};
use crate::error::Result;
use crate::side_table::{self, TableSource, Tables};

pub use crate::shared::exact_sum::ExactSum;
pub use amount::Amount;
use answer::Sets;
pub use counting::{Conductances, SetFigures, estimate, run};
pub use memberships::{Membership, Memberships};
use sets::NamedSets;

/// Options of the count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ConductanceOptions {
    /// The sets, as a table: each row has the id of a vertex and the name of a set. A vertex may
    /// be in several sets. Vertices without a row or with an empty cell are in none. Tables are
    /// read like inputs: text, also as .gz and .zst, Parquet, `-`. A header may name `vertex` and
    /// `set`, `component`, `community` or `label`, so the table of another run, such as wcc, will
    /// do.
    #[cfg_attr(feature = "clap", arg(long, value_name = "FILE"))]
    pub sets: TableSource,
    /// Add up the weights of edges, all of at least 0, instead of counting them.
    #[cfg_attr(feature = "clap", arg(long))]
    #[serde(default)]
    pub weighted: bool,
}

impl ConductanceOptions {
    fn is_weighted(&self, graph: &Graph) -> bool {
        self.weighted && graph.is_weighted()
    }

    fn find<A: Amount>(graph: &Graph, sets: NamedSets, options: &RunOptions<'_>) -> Result<Found> {
        let found = run::<A>(graph, sets.members(), sets.names_size(), options)?;
        let statistics = found.statistics.clone();
        Ok(Found::new(Sets::new(sets, found), statistics))
    }
}

impl Algorithm for ConductanceOptions {
    const NAME: &'static str = "conductance";
    const DESCRIPTION: Description = Description {
        family: Family::Communities,
        summary: "Conductance of sets of vertices: how well they are separated from the rest, \
            whatever the direction of edges",
        columns: &[
            Column::id("set", "the name of the set").of_type(ColumnType::Name),
            Column::integer("vertices", "vertices in the set"),
            Column::number("volume", "the sum of their degrees, or of their weights"),
            Column::number("cut", "edges between the set and the rest, or their weights"),
            Column::number(
                "conductance",
                "the cut over the smaller of the volumes of the set and the rest; null where that \
                    is 0",
            ),
        ],
        memory: "8 bytes a vertex, 4 for each set that it is in, and rows; 32 bytes a set (168 \
            weighted) and its name",
        source: Some(
            "Leskovec, Lang, Dasgupta, Mahoney, Statistical Properties of Community Structure, WWW \
                2008",
        ),
        example: r#"{"sets": "sets.csv"}"#,
    };
    const WEIGHTS: Weights = Weights::Ignored {
        instead: "it counts edges, unless the option `weighted` makes each count as much as it weighs",
    };
    const TABLES: &'static [&'static str] = &["sets"];
    type Files = NamedSets;

    fn weights(&self) -> Weights {
        if self.weighted { Weights::Used } else { Self::WEIGHTS }
    }

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn read_files(&self, tables: &mut Tables<'_>) -> Result<NamedSets> {
        Ok(NamedSets::read("sets", &self.sets, tables)?)
    }

    fn estimate(&self, graph: &Graph, sets: &NamedSets, threads: usize) -> Result<Estimate> {
        let estimate = match self.is_weighted(graph) {
            true => estimate::<ExactSum>(graph, sets.members(), threads),
            false => estimate::<u64>(graph, sets.members(), threads),
        };
        let vertex_bytes = estimate.vertex_bytes + sets.names_size();
        Ok(side_table::with_reading(Estimate { vertex_bytes, ..estimate }, sets.reading_size))
    }

    fn why_in_memory(&self) -> &'static str {
        "each edge looks up the sets of both of its ends"
    }

    fn work(&self, graph: &Graph, _sets: &NamedSets) -> Result<Work> {
        let kind = if self.is_weighted(graph) { "conductance, weighted" } else { Self::NAME };
        Ok(Work::of_rounds(kind, graph, Iterations::Unknown))
    }

    fn run(&self, graph: &Graph, sets: NamedSets, options: &RunOptions<'_>) -> Result<Found> {
        match self.is_weighted(graph) {
            true => Self::find::<ExactSum>(graph, sets, options),
            false => Self::find::<u64>(graph, sets, options),
        }
    }
}
