//! A stretch is some consecutive tile groups of a part. All jobs process it, and then the groups
//! after it.

use tegula_machine::memory::last_level_cache;
use tegula_store::graph::Graph;

/// The share of the cache that is left for accumulators and code is `1 / RESERVED`.
const RESERVED: u64 = 4;

/// The size of a stretch: all jobs of a part process it, and then the tiles after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StretchSize {
    /// As much as stays in the cache of the last level.
    #[default]
    Cached,
    /// This number of bytes, and a group of tiles at least: for tests and benchmarks.
    Bytes(u64),
}

impl StretchSize {
    /// Returns the bytes of a stretch of tiles for jobs with `vertex_bytes` bytes for each vertex,
    /// all together.
    pub(super) fn bytes(self, graph: &Graph, workers: usize, vertex_bytes: u64) -> u64 {
        match self {
            StretchSize::Bytes(bytes) => bytes,
            StretchSize::Cached => {
                let vertices = graph.vertex_count() * vertex_bytes;
                cached(last_level_cache(), workers, vertices, graph.tile_bytes())
            }
        }
    }
}

/// Returns the greatest stretch by Formula 1 of GraphM (Zhao et al., SC 2019, section 3.2). Each of
/// `workers` has a stretch of `S` of the `tiles` bytes in the `cache`, and the same share of the
/// `vertices` bytes of all jobs, beside a reserve `r`:
///
/// ```text
///  workers * (S + S / tiles * vertices) + r <= cache
/// ```
fn cached(cache: u64, workers: usize, vertices: u64, tiles: u64) -> u64 {
    let free = (cache - cache / RESERVED) as f64 / workers as f64;
    (free / (1.0 + vertices as f64 / tiles.max(1) as f64)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_of_all_workers_and_their_vertices_fit_the_cache() {
        let cache = 32 << 20;
        for (workers, vertices, tiles) in [(1, 0, 1), (2, 1 << 27, 1 << 28), (16, 1 << 40, 1 << 28)]
        {
            let stretch = cached(cache, workers, vertices, tiles);
            let with_vertices = stretch as f64 * (1.0 + vertices as f64 / tiles as f64);
            let all = with_vertices * workers as f64;
            assert!(all <= cache as f64 * 0.75, "{workers} workers: {stretch}");
            assert!(all >= cache as f64 * 0.74 - (tiles + vertices) as f64 / tiles as f64 * 16.0);
        }
        assert_eq!(cached(cache, 2, 0, 0), 12 << 20, "an empty graph");
    }
}
