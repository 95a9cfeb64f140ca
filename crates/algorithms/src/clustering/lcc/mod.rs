//! Local clustering coefficient: the fraction of the possible edges between the neighbours of a
//! vertex that exist.
//!
//! ```text
//!  lcc(v) = edges between neighbours of v / (d (d - 1)),  d the number of neighbours
//! ```
//!
//! This is the definition of LDBC Graphalytics (Iosup et al., VLDB 2016). Neighbours are counted
//! regardless of the direction of the edge. Between two neighbours each direction counts as an
//! edge, so an undirected edge counts as two. The coefficient is 0 with fewer than two neighbours.
//! Loops and parallel edges do not count.
//!
//! An edge between neighbours closes a triangle, so it is found with [`triangles`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::Directions;
use tegula_engine::{Estimate, Graph, RunOptions};

use crate::algorithm::{
    Abilities, Algorithm, Column, Description, Edges, Family, Found, MakesLists, Weights, Work,
};
use crate::answer::{self, Facts, Figures, Scores, Values};
use crate::clustering::triangles::{self, Closing};
use crate::error::Result;
use crate::shared::id_order::with_order_streamed;

/// Options of the coefficient; there are none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct LccOptions {}

/// The summary of the coefficients.
#[derive(Debug, Clone, Serialize)]
struct CoefficientFigures {
    /// The mean; `None` without vertices.
    average: Option<f64>,
}

impl Figures for CoefficientFigures {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        if let Some(average) = self.average {
            facts.add("average", answer::number(average));
        }
        facts
    }
}

impl Algorithm for LccOptions {
    const NAME: &'static str = "lcc";
    const DESCRIPTION: Description = Description {
        family: Family::Clustering,
        summary: "Local clustering coefficients: the fraction of possible edges that exist between \
            the neighbours of each vertex",
        columns: &[
            Column::VERTEX,
            Column::number(
                "coefficient",
                "the fraction of the ordered pairs of its neighbours that an edge joins, from the first \
                    to the second",
            ),
        ],
        memory: "as triangles",
        source: Some("Iosup et al., LDBC Graphalytics, VLDB 2016"),
        example: "{}",
    };
    const WEIGHTS: Weights = Weights::Irrelevant;
    const ABILITIES: Abilities<Self> = Abilities::NONE.makes_lists();
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Both)
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        with_order_streamed(triangles::estimate(graph, threads)?, graph)
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        triangles::work(Self::NAME, graph)
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let what = if graph.manifest().undirected { Closing::Triangles } else { Closing::Edges };
        let found = triangles::run(graph, what, options)?;
        // In an undirected triangle both directions of an edge count.
        let directions = if what == Closing::Triangles { 2 } else { 1 };
        let coefficient = |(closed, neighbours): (u64, u32)| {
            let possible = u64::from(neighbours) * u64::from(neighbours.saturating_sub(1));
            if possible == 0 { 0.0 } else { (directions * closed) as f64 / possible as f64 }
        };
        let both = found.closed.into_iter().zip(found.neighbours);
        let coefficients: Vec<f64> = both.map(coefficient).collect();
        let sum = coefficients.iter().sum::<f64>();
        let average = (!coefficients.is_empty()).then(|| sum / coefficients.len() as f64);
        let values = Values::of(coefficients.into(), graph, &options.cancel)?;
        let figures = CoefficientFigures { average };
        Ok(Found::new(Scores { column: "coefficient", values, figures }, found.statistics))
    }
}

impl MakesLists for LccOptions {
    fn lists_size(&self, graph: &Graph) -> u64 {
        triangles::lists_size_max(graph)
    }
}
