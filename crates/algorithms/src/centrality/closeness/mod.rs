//! Closeness is the inverse of the average number of hops to a vertex.
//!
//! ```text
//!  closeness(v) = r / s * r / (V - 1),  r the number of other vertices with a path to v,
//!                                       s the sum of their distances
//! ```
//!
//! The first factor is the inverse of the average distance. The second is the fraction of vertices
//! that reach v, so vertices of small components do not seem central (Wasserman, Faust, *Social
//! Network Analysis*, 1994). Closeness is 0 if no vertex reaches v.
//!
//! It runs a breadth-first search from each vertex, 64 at a time along the rows: see [`searches`].
//! With samples, it searches from the sampled vertices only. Then r and s are taken over the
//! samples, and V - 1 becomes the number of samples other than v (Eppstein, Wang, *Fast
//! Approximation of Centrality*, Journal of Graph Algorithms and Applications 8, 2004: with log V /
//! e^2 samples the averages are off by at most e times the diameter, with high probability).
//! Weights are ignored. Memory: 44 bytes a vertex, 16 for a sample, and the index of the rows.

use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::traverse::{self, Directions, RowsWanted, estimate_rows};
use tegula_engine::{Estimate, Graph, RunOptions, ShortId};
use tegula_store::rows::Direction;

use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights, Work};
use crate::answer::{Scores, Values};
use crate::error::Result;
use crate::original_ids::with_order_streamed;
use crate::samples::{self, Sample, Sources};
use crate::searches::{self, Searches};

/// Options of closeness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ClosenessOptions {
    /// Estimate from K vertices drawn at random [default: exact, from all].
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub samples: Option<NonZeroU64>,
    /// Seed of the random samples.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
}

impl Algorithm for ClosenessOptions {
    const NAME: &'static str = "closeness";
    const DESCRIPTION: Description = Description {
        family: Family::Centrality,
        summary: "Closeness: the inverse of the average number of hops to each vertex",
        columns: &[
            Column::VERTEX,
            Column::number("centrality", "the closeness; 0 for a vertex that no other reaches"),
        ],
        memory: "44 bytes a vertex, and rows",
        source: Some(
            "Wasserman, Faust, Social Network Analysis, 1994; Eppstein, Wang, Journal of Graph \
                Algorithms and Applications 8, 2004",
        ),
        example: r#"{"samples": 64}"#,
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge is a hop" };
    type Files = ();

    fn edges(&self) -> Edges {
        Edges::Rows(Directions::Forward)
    }

    fn estimate(&self, graph: &Graph, _files: &(), _threads: usize) -> Result<Estimate> {
        let held = self.size(graph);
        with_order_streamed(estimate_rows(graph, RowsWanted::forward(false), held), graph)
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        Ok(searches::work(Self::NAME, graph, samples::count(graph, self.samples)))
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let sample = Sample::draw(graph, self.samples, self.seed, &options.cancel)?;
        let mut distances = vec![Distances::default(); graph.vertex_count() as usize];
        let wanted = RowsWanted::forward(false);
        let statistics = traverse::run(graph, wanted, self.size(graph), options, |job| {
            let searches = Searches::new(job, graph.short_vertex_count()?, &[Direction::Forward]);
            searches.run_all(&sample.vertices, options, |level, vertex, searches| {
                distances[vertex.index()].add(level, searches);
            })
        })?;
        let closeness = (0..).map(ShortId).zip(&distances);
        let closeness: Vec<f64> = closeness
            .map(|(vertex, distances)| distances.closeness(sample.others(vertex)))
            .collect();
        let figures = Sources::of(graph, self.samples);
        let values = Values::of(closeness.into(), graph, &options.cancel)?;
        Ok(Found::new(Scores { column: "centrality", values, figures }, statistics))
    }
}

impl ClosenessOptions {
    /// Bytes held beside the rows.
    fn size(&self, graph: &Graph) -> u64 {
        let distances = size_of::<Distances>() as u64 * graph.vertex_count();
        Sample::size(graph, self.samples) + Searches::size(graph.vertex_count()) + distances
    }
}

/// The distances to a vertex.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, packed(4))]
struct Distances {
    sum: u64,
    /// Number of other vertices with a path to it.
    count: u32,
}

impl Distances {
    /// Counts the searches, a bit each, that reach the vertex in a level.
    fn add(&mut self, level: u32, searches: u64) {
        if level > 0 {
            self.count += searches.count_ones();
            self.sum += u64::from(level) * u64::from(searches.count_ones());
        }
    }

    /// The closeness if `others` other vertices were searched from.
    fn closeness(self, others: usize) -> f64 {
        if self.sum == 0 {
            return 0.0;
        }
        let count = f64::from(self.count);
        count / self.sum as f64 * (count / others as f64)
    }
}
