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
//! It runs a breadth-first search from each vertex, 64 [at a time](crate::shared::together), which
//! scan tiles or follow rows. With samples, it searches from the sampled vertices only.
//! Then r and s are taken over the samples, and V - 1 becomes the number of samples other than v
//! (Eppstein, Wang, *Fast Approximation of Centrality*, Journal of Graph Algorithms and
//! Applications 8, 2004: with log V / e^2 samples the averages are off by at most e times the
//! diameter, with high probability). Weights are ignored. Memory: 37 bytes a vertex, and 16
//! for a sample.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tegula_engine::{Estimate, Graph, RunOptions};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::distances::{DistanceOptions, DistanceSum};
use crate::algorithm::{Algorithm, Column, Description, Edges, Family, Found, Weights, Work};
use crate::error::Result;

/// Options of closeness.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct ClosenessOptions {
    /// The options that all centralities by distances share.
    #[cfg_attr(feature = "clap", command(flatten))]
    pub distances: DistanceOptions,
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
        memory: "37 bytes a vertex",
        source: Some(
            "Wasserman, Faust, Social Network Analysis, 1994; Eppstein, Wang, Journal of Graph \
                Algorithms and Applications 8, 2004",
        ),
        example: r#"{"samples": 64}"#,
    };
    const WEIGHTS: Weights = Weights::Ignored { instead: "every edge is a hop" };
    type Files = ();

    fn edges(&self) -> Edges {
        DistanceOptions::edges::<Distances>()
    }

    fn estimate(&self, graph: &Graph, _files: &(), threads: usize) -> Result<Estimate> {
        self.distances.estimate::<Distances>(graph, threads)
    }

    fn work(&self, graph: &Graph, _files: &()) -> Result<Work> {
        Ok(self.distances.work(Self::NAME, graph))
    }

    fn run(&self, graph: &Graph, _files: (), options: &RunOptions<'_>) -> Result<Found> {
        self.distances.run(graph, options, Distances::closeness)
    }
}

/// The distances to a vertex.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
struct Distances {
    sum: u64,
    /// Number of other vertices with a path to it.
    count: u32,
}

impl DistanceSum for Distances {
    #[inline(always)]
    fn add(&mut self, level: u32, count: u32) {
        self.count += count;
        self.sum += u64::from(level) * u64::from(count);
    }
}

impl Distances {
    /// The closeness if `others` other vertices were searched from.
    fn closeness(self, others: usize) -> f64 {
        if self.sum == 0 {
            return 0.0;
        }
        let count = f64::from(self.count);
        count / self.sum as f64 * (count / others as f64)
    }
}
