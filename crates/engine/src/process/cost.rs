//! The cost model: the numbers behind predictions.

use std::time::Duration;

use tegula_machine::disk::{Caching, Speed};
use tegula_store::ShortId;
use tegula_store::graph::Graph;
use tegula_store::partition::Balance;
use tegula_store::rows::RowReader;

use crate::superstep::frontier::Frontier;

// Seconds on one core, all in memory, fitted to searches of roads, grids, a web graph and R-MAT.
// They are rough, because machines differ and iterations correct their predictions. `cargo xtask
// bench --only costs` shows their errors. The numbers for messages through boxes and for pulling
// along unpacked rows come from single runs.
pub const SEEK_ROW: f64 = 180e-9;
pub const SEEK_EDGE: f64 = 5e-9;
/// If rows are unpacked.
pub const SEEK_ROW_UNPACKED: f64 = 30e-9;
pub const SEEK_EDGE_UNPACKED: f64 = 2.5e-9;
/// To unpack all rows.
const UNPACK_ROW: f64 = 70e-9;
const UNPACK_EDGE: f64 = 11e-9;
/// Factor for edges with weights, which are sorted.
const UNPACK_WEIGHTED: f64 = 2.0;
/// Saved once rows are unpacked.
const UNPACKED_SAVES_ROW: f64 = SEEK_ROW - SEEK_ROW_UNPACKED;
const UNPACKED_SAVES_EDGE: f64 = SEEK_EDGE - SEEK_EDGE_UNPACKED;
/// If messages go through boxes.
pub const SEEK_EDGE_SHARED: f64 = 9e-9;
pub const SEEK_EDGE_UNPACKED_SHARED: f64 = 4e-9;
/// To find a row in a cache that does not hold all rows.
const CACHED_ROW: f64 = 50e-9;
pub const PULL_ROW: f64 = 80e-9;
pub const PULL_EDGE: f64 = 5e-9;
/// If rows are unpacked.
pub const PULL_ROW_UNPACKED: f64 = 8e-9;
pub const PULL_EDGE_UNPACKED: f64 = 2e-9;
pub const SCAN_EDGE: f64 = 2e-9;
/// For a vertex whose message is generated or applied.
pub const SCAN_VERTEX: f64 = 1e-9;

/// How a graph is partitioned so that scans take all ranks the same time. A target costs as much as
/// ten edges, mostly because edges to targets with few edges lie in thin tiles: on R-MAT 24, two
/// ranks of one thread took some 2.6 ns an edge and 20 to 30 ns a target, on a loaded machine.
pub const SCAN_BALANCE: Balance = Balance { edge: SCAN_EDGE, vertex: 10.0 * SCAN_EDGE };

/// A sample has one active vertex in `SAMPLED_SHARE`, but at least `SAMPLE_MIN` and at most
/// `SAMPLE_MAX` of them. In a skewed graph, few vertices have most edges.
const SAMPLED_SHARE: usize = 64;
const SAMPLE_MIN: usize = 256;
const SAMPLE_MAX: usize = 1 << 13;

/// What work and reading cost on a run's machine.
#[derive(Debug, Clone)]
pub struct CostModel {
    /// Number of workers.
    pub threads: f64,
    /// Speed of reading.
    pub speed: Speed,
    /// Whether reading overlaps with work; if not, it takes a core.
    pub is_direct: bool,
}

impl CostModel {
    pub fn of(graph: &Graph, threads: usize, speed: &Speed) -> CostModel {
        let is_direct = graph.caching() == Caching::Direct;
        let speed = if is_direct { speed.clone() } else { Speed::of_page_cache() };
        CostModel { threads: threads as f64, speed, is_direct }
    }

    /// Returns the seconds of work and reading together.
    pub fn together(&self, working: f64, reading: f64) -> f64 {
        if self.is_direct { working.max(reading) } else { working + reading / self.threads }
    }

    /// Returns the seconds to unpack all rows, which are in memory.
    pub fn predict_unpacking(&self, rows: &RowReader) -> f64 {
        let (vertices, edges) = (rows.rows().vertex_count(), rows.rows().edge_count());
        let edge = UNPACK_EDGE * if rows.has_weights() { UNPACK_WEIGHTED } else { 1.0 };
        (f64::from(vertices) * UNPACK_ROW + edges as f64 * edge) / self.threads
    }

    /// Returns the seconds that one worker saves by unpacked rows when it seeks each row once.
    pub fn predict_saving(&self, rows: &RowReader) -> f64 {
        let (vertices, edges) = (rows.rows().vertex_count(), rows.rows().edge_count());
        f64::from(vertices) * UNPACKED_SAVES_ROW + edges as f64 * UNPACKED_SAVES_EDGE
    }

    /// Returns the seconds to read all rows that are not in memory, in order.
    pub fn predict_filling(&self, rows: &RowReader) -> f64 {
        (1.0 - rows.held_fraction()) * rows.byte_count() as f64
            / self.speed.sequential_bytes_per_second
    }

    /// Returns the seconds to read the pages of rows that are not in memory. At most a fraction
    /// `missing_max` of them is assumed missing.
    pub fn predict_reading(&self, rows: &RowReader, work: &RowWork, missing_max: f64) -> f64 {
        let missing = 1.0 - rows.held_fraction();
        if missing <= 0.0 || work.rows == 0.0 {
            return 0.0;
        }
        let pages = work.pages(rows);
        let one_by_one = pages.touched / self.speed.random_pages_per_second;
        let in_order = pages.all * page_size(rows) / self.speed.sequential_bytes_per_second;
        missing.min(missing_max) * one_by_one.min(in_order) + self.speed.latency_seconds
    }
}

fn page_size(rows: &RowReader) -> f64 {
    rows.rows().data().block_len() as f64
}

/// The work along some rows.
#[derive(Debug, Clone, Copy)]
pub struct RowWork {
    /// Rows.
    pub rows: f64,
    /// Edges in them.
    pub edges: f64,
}

impl RowWork {
    /// Estimates the work along the rows of the active vertices from a sample.
    pub fn of(frontier: &Frontier, rows: &RowReader) -> RowWork {
        let share = frontier.count() as usize / SAMPLED_SHARE;
        let size = share.clamp(SAMPLE_MIN, SAMPLE_MAX);
        let sample: Vec<ShortId> = frontier.sample(size);
        let count = frontier.count() as f64;
        let edges: f64 = sample.iter().map(|&vertex| rows.degree(vertex)).sum();
        let edges = edges / sample.len().max(1) as f64 * count;
        RowWork { rows: count, edges }
    }

    /// Returns the seconds that one worker needs, all in memory.
    pub fn alone(&self, rows: &RowReader) -> f64 {
        match rows.unpacked().is_some() {
            true => self.rows * SEEK_ROW_UNPACKED + self.edges * SEEK_EDGE_UNPACKED,
            false => self.rows * (SEEK_ROW + finding(rows)) + self.edges * SEEK_EDGE,
        }
    }

    /// Returns the summed seconds of all workers that share the work through boxes.
    pub fn shared(&self, rows: &RowReader) -> f64 {
        match rows.unpacked().is_some() {
            true => self.rows * SEEK_ROW_UNPACKED + self.edges * SEEK_EDGE_UNPACKED_SHARED,
            false => self.rows * (SEEK_ROW + finding(rows)) + self.edges * SEEK_EDGE_SHARED,
        }
    }

    /// Returns the pages on which the rows lie. They are assumed to lie at random, so some share a
    /// page.
    pub fn pages(&self, rows: &RowReader) -> Pages {
        let page = page_size(rows);
        let of_file = |bytes: f64, len: u64| {
            let all = (len as f64 / page).max(1.0);
            let touched = self.rows + bytes / page;
            Pages { touched: all * (1.0 - (-touched / all).exp()), all }
        };
        let data = rows.rows().data().len();
        let bytes = self.edges * rows.rows().bits_per_edge().max(1.0) / 8.0;
        let mut pages = of_file(bytes, data);
        if rows.has_weights() {
            let weights = of_file(self.edges * size_of::<f32>() as f64, rows.byte_count() - data);
            pages.touched += weights.touched;
            pages.all += weights.all;
        }
        pages
    }
}

/// Returns the seconds to find a row in a cache that does not hold all rows; 0 if it does.
pub fn finding(rows: &RowReader) -> f64 {
    if rows.fits() { 0.0 } else { CACHED_ROW }
}

/// Pages of rows and weights.
#[derive(Debug, Clone, Copy)]
pub struct Pages {
    /// Pages of some rows.
    pub touched: f64,
    /// Pages of all rows.
    pub all: f64,
}

/// How much longer than predicted a process took recently.
#[derive(Debug, Clone, Copy)]
pub struct Correction(f64);

/// Least seconds of an iteration to learn from. The times of shorter ones depend more on the clock
/// than on the work.
const LEARN_FROM: f64 = 1e-3;
/// The greatest factor by which predictions are corrected, up or down.
const CORRECTION_MAX: f64 = 2.0;

impl Correction {
    /// Returns a correction that changes nothing.
    pub fn none() -> Correction {
        Correction(1.0)
    }

    /// Returns a corrected prediction.
    pub fn apply(self, seconds: f64) -> f64 {
        seconds * self.0
    }

    /// Learns from an iteration that took `took`, given its corrected prediction.
    pub fn learn(&mut self, predicted: f64, took: Duration) {
        if predicted > LEARN_FROM {
            let off = took.as_secs_f64() / predicted;
            self.0 = (self.0 * off.sqrt()).clamp(1.0 / CORRECTION_MAX, CORRECTION_MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_iterations_raise_predictions_within_bounds() {
        let mut correction = Correction::none();
        correction.learn(0.1, Duration::from_millis(200));
        assert!((1.4..1.42).contains(&correction.apply(1.0)));
        (0..9).for_each(|_| correction.learn(0.1, Duration::from_secs(9)));
        assert_eq!(correction.apply(1.0), CORRECTION_MAX);
        let mut correction = Correction::none();
        correction.learn(LEARN_FROM / 2.0, Duration::from_secs(9));
        assert_eq!(correction.apply(1.0), 1.0, "nothing is learnt from what is short");
    }
}
