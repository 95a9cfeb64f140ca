//! What a search may choose.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::algorithm::EdgeDirection;

/// How distances are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Method {
    /// By buckets, all vertices of one together, with all threads.
    #[default]
    DeltaStepping,
    /// Vertex by vertex along rows, each once, with one thread.
    Dijkstra,
}

/// What a search may choose.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SsspConfig {
    /// How distances are found.
    pub method: Method,
    /// Width of a bucket of delta-stepping, above 0; by default it follows from the weights and degrees of
    /// the graph, and from whether its rows stay in memory. No distance depends on it.
    pub delta: Option<f64>,
    /// The greatest distance, at least 0; none where there is no bound.
    pub cutoff: Option<f64>,
    /// Along which edges paths lead.
    pub direction: EdgeDirection,
}
