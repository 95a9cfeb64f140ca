//! The result of a search.

use tegula_engine::RunStatistics;

/// The distances from a source.
#[derive(Debug, Clone)]
pub struct Distances<D = Vec<f64>> {
    /// For each dense id the smallest sum of weights; infinite where there is no path.
    pub distances: D,
    /// The width of the buckets. `None` for Dijkstra's method, on ranks, and where hops are counted.
    pub delta: Option<f64>,
    /// Statistics of the run.
    pub statistics: RunStatistics,
}
