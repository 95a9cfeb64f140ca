//! Harmonic centrality: the sum of the inverse distances to a vertex.
//!
//! ```text
//!  harmonic(v) = sum of 1 / d(u, v) over all u with a path to v, without v itself
//! ```
//!
//! (Marchiori, Latora, *Harmony in the Small-World*, Physica A 285, 2000.) It runs a breadth-first
//! search from each vertex, 64 at a time along the rows: see [`searches`]. With samples, it
//! searches from the sampled vertices only, and scales the sum up to all V - 1 others. Weights are
//! ignored. Memory: 40 bytes a vertex, 16 for a sample, and the index of the rows.

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

/// Options of harmonic centrality.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct HarmonicOptions {
    /// Estimate from K vertices drawn at random [default: exact, from all].
    #[cfg_attr(feature = "clap", arg(long, value_name = "K"))]
    pub samples: Option<NonZeroU64>,
    /// Seed of the random samples.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value_t))]
    pub seed: u64,
}

impl Algorithm for HarmonicOptions {
    const NAME: &'static str = "harmonic";
    const DESCRIPTION: Description = Description {
        family: Family::Centrality,
        summary: "Harmonic centrality: the sum of the inverse distances to each vertex",
        columns: &[
            Column::VERTEX,
            Column::number("centrality", "the sum of the inverse distances"),
        ],
        memory: "40 bytes a vertex, and rows",
        source: Some("Marchiori, Latora, Harmony in the Small-World, Physica A 285, 2000"),
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
        let mut sums = vec![0.0f64; graph.vertex_count() as usize];
        let wanted = RowsWanted::forward(false);
        let statistics = traverse::run(graph, wanted, self.size(graph), options, |job| {
            let searches = Searches::new(job, graph.short_vertex_count()?, &[Direction::Forward]);
            searches.run_all(&sample.vertices, options, |level, vertex, searches| {
                if level > 0 {
                    sums[vertex.index()] += f64::from(searches.count_ones()) / f64::from(level);
                }
            })
        })?;
        let others = graph.vertex_count().saturating_sub(1) as f64;
        for (sum, vertex) in sums.iter_mut().zip((0..).map(ShortId)) {
            // Without others the sum is 0.
            *sum *= others / sample.others(vertex).max(1) as f64;
        }
        let figures = Sources::of(graph, self.samples);
        let values = Values::of(sums.into(), graph, &options.cancel)?;
        Ok(Found::new(Scores { column: "centrality", values, figures }, statistics))
    }
}

impl HarmonicOptions {
    /// Bytes held beside the rows.
    fn size(&self, graph: &Graph) -> u64 {
        let sums = size_of::<f64>() as u64 * graph.vertex_count();
        Sample::size(graph, self.samples) + Searches::size(graph.vertex_count()) + sums
    }
}
