//! What a search finds.

use tegula_engine::RunStatistics;

/// The distances from a source.
#[derive(Debug, Clone)]
pub struct Distances<D = Vec<f64>> {
    /// For each dense id the sum of weights; infinite where there is no path.
    pub distances: D,
    /// The width of the buckets, where there were any.
    pub delta: Option<f64>,
    /// What the run did.
    pub statistics: RunStatistics,
}
