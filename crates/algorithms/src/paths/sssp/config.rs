//! The settings of a search.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::algorithm::EdgeDirection;

/// How distances are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Method {
    /// Works through buckets, all vertices of a bucket together, with all threads.
    #[default]
    DeltaStepping,
    /// Visits each vertex once along rows, with one thread.
    Dijkstra,
}

/// The settings of a search.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SsspConfig {
    /// How distances are found.
    pub method: Method,
    /// Width of a bucket of delta-stepping, above 0. By default it follows from the weights and
    /// degrees of the graph, and from whether its rows stay in memory. Distances do not depend on
    /// it.
    pub delta: Option<f64>,
    /// The greatest distance, at least 0; `None` for no bound.
    pub cutoff: Option<f64>,
    /// The edges that paths follow.
    pub direction: EdgeDirection,
}
