//! Harmonic centrality: the sum of the inverse distances to a vertex.
//!
//! ```text
//!  harmonic(v) = sum of 1 / d(u, v) over all u with a path to v, without v itself
//! ```
//!
//! (Marchiori, Latora, *Harmony in the Small-World*, Physica A 285, 2000.) It runs a breadth-first
//! search from each vertex, 64 [at a time](crate::shared::together), which scan tiles or follow rows.
//! With samples, it searches from the sampled vertices only, and scales the sum up to all V - 1
//! others. Weights are ignored. Memory: 33 bytes a vertex, and 16 for a sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Estimate, Graph, RunOptions};

use super::distances::{DistanceOptions, DistanceSum};
use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights, Work};
use crate::error::Result;

/// Options of harmonic centrality.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct HarmonicOptions {
    /// The options that all centralities by distances share.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub distances: DistanceOptions,
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
        memory: "33 bytes a vertex",
        source: Some("Marchiori, Latora, Harmony in the Small-World, Physica A 285, 2000"),
        example: r#"{"samples": 64}"#,
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge is a hop" };
    type Files = ();

    fn edges(&self) -> Edges {
        DistanceOptions::edges::<f64>()
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        self.distances.estimate::<f64>(graph, threads)
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        Ok(self.distances.work(Self::NAME, graph))
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        let others = graph.vertex_count().saturating_sub(1) as f64;
        // Without others the sum is 0.
        let scaled = |sum: f64, searched: usize| sum * (others / searched.max(1) as f64);
        self.distances.run(graph, options, scaled)
    }
}

impl DistanceSum for f64 {
    #[inline(always)]
    fn add(&mut self, level: u32, count: u32) {
        *self += f64::from(count) / f64::from(level);
    }
}
