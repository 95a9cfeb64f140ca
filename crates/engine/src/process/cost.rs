//! What things cost: the numbers behind predictions.

use std::time::Duration;

use tegula_machine::disk::{Caching, Speed};
use tegula_store::ShortId;
use tegula_store::graph::Graph;
use tegula_store::rows::RowReader;

use crate::superstep::frontier::Frontier;

// Seconds on one core, all in memory, as fitted to searches of roads, grids, a web graph and R-MAT; about, as machines
// differ and iterations correct what they predict. `cargo xtask bench --only costs` shows how far they are off. Those
// of messages through boxes and of pulling along unpacked rows come from single runs.
pub const SEEK_ROW: f64 = 180e-9;
pub const SEEK_EDGE: f64 = 5e-9;
/// Where rows are unpacked.
pub const SEEK_ROW_UNPACKED: f64 = 30e-9;
pub const SEEK_EDGE_UNPACKED: f64 = 2.5e-9;
/// Of taking all rows apart.
const UNPACK_ROW: f64 = 70e-9;
const UNPACK_EDGE: f64 = 11e-9;
/// How many times as long edges with weights take, which are sorted.
const UNPACK_WEIGHTED: f64 = 2.0;
/// What is saved once they are.
const UNPACKED_SAVES_ROW: f64 = SEEK_ROW - SEEK_ROW_UNPACKED;
const UNPACKED_SAVES_EDGE: f64 = SEEK_EDGE - SEEK_EDGE_UNPACKED;
/// Where messages go through boxes.
pub const SEEK_EDGE_SHARED: f64 = 9e-9;
pub const SEEK_EDGE_UNPACKED_SHARED: f64 = 4e-9;
/// To find a row in the cache, where not all stay.
const CACHED_ROW: f64 = 50e-9;
pub const PULL_ROW: f64 = 80e-9;
pub const PULL_EDGE: f64 = 5e-9;
/// Where rows are unpacked.
pub const PULL_ROW_UNPACKED: f64 = 8e-9;
pub const PULL_EDGE_UNPACKED: f64 = 2e-9;
pub const SCAN_EDGE: f64 = 2e-9;
/// Of a vertex whose message is generated or applied.
pub const SCAN_VERTEX: f64 = 1e-9;

/// Active vertices whose rows are looked at to predict.
const SAMPLE: usize = 256;

/// What working and reading cost on the machine of a run.
#[derive(Debug, Clone)]
pub struct CostModel {
    /// Workers.
    pub threads: f64,
    /// What reading takes.
    pub speed: Speed,
    /// Whether reading goes on beside the work, or takes a core.
    pub is_direct: bool,
}

impl CostModel {
    pub fn of(graph: &Graph, threads: usize, speed: &Speed) -> CostModel {
        let is_direct = graph.caching() == Caching::Direct;
        let speed = if is_direct { speed.clone() } else { Speed::of_page_cache() };
        CostModel { threads: threads as f64, speed, is_direct }
    }

    /// Seconds of working and reading.
    pub fn together(&self, working: f64, reading: f64) -> f64 {
        if self.is_direct { working.max(reading) } else { working + reading / self.threads }
    }

    /// Seconds to take all rows apart that are in memory.
    pub fn predict_unpacking(&self, rows: &RowReader) -> f64 {
        let (vertices, edges) = (rows.rows().vertex_count(), rows.rows().edge_count());
        let edge = UNPACK_EDGE * if rows.has_weights() { UNPACK_WEIGHTED } else { 1.0 };
        (f64::from(vertices) * UNPACK_ROW + edges as f64 * edge) / self.threads
    }

    /// Seconds that seeking each row once is quicker where they are taken apart, by one worker.
    pub fn predict_saving(&self, rows: &RowReader) -> f64 {
        let (vertices, edges) = (rows.rows().vertex_count(), rows.rows().edge_count());
        f64::from(vertices) * UNPACKED_SAVES_ROW + edges as f64 * UNPACKED_SAVES_EDGE
    }

    /// Seconds to read in order all rows that are not in memory.
    pub fn predict_filling(&self, rows: &RowReader) -> f64 {
        (1.0 - rows.held_fraction()) * rows.byte_count() as f64
            / self.speed.sequential_bytes_per_second
    }

    /// Seconds to bring the pages of rows into memory that are not there, at the most `missing_max` of them.
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

/// How much there is to do along some rows.
#[derive(Debug, Clone, Copy)]
pub struct RowWork {
    /// Rows.
    pub rows: f64,
    /// Edges in them.
    pub edges: f64,
}

impl RowWork {
    /// That along the rows of the active vertices, judged by some of them.
    pub fn of(frontier: &Frontier, rows: &RowReader) -> RowWork {
        let sample: Vec<ShortId> = frontier.sample(SAMPLE);
        let count = frontier.count() as f64;
        let edges: f64 = sample.iter().map(|&vertex| rows.degree(vertex)).sum();
        let edges = edges / sample.len().max(1) as f64 * count;
        RowWork { rows: count, edges }
    }

    /// Seconds that one worker needs for it, all in memory.
    pub fn alone(&self, rows: &RowReader) -> f64 {
        match rows.unpacked().is_some() {
            true => self.rows * SEEK_ROW_UNPACKED + self.edges * SEEK_EDGE_UNPACKED,
            false => self.rows * (SEEK_ROW + finding(rows)) + self.edges * SEEK_EDGE,
        }
    }

    /// Seconds that all workers together need for it, where they share it by way of boxes.
    pub fn shared(&self, rows: &RowReader) -> f64 {
        match rows.unpacked().is_some() {
            true => self.rows * SEEK_ROW_UNPACKED + self.edges * SEEK_EDGE_UNPACKED_SHARED,
            false => self.rows * (SEEK_ROW + finding(rows)) + self.edges * SEEK_EDGE_SHARED,
        }
    }

    /// Pages that the rows lie on, if they lie anywhere: some share one by chance.
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

/// Seconds that it takes to find a row in the cache, where not all rows stay.
pub fn finding(rows: &RowReader) -> f64 {
    if rows.fits() { 0.0 } else { CACHED_ROW }
}

/// Pages of rows and weights.
#[derive(Debug, Clone, Copy)]
pub struct Pages {
    /// Those of some rows.
    pub touched: f64,
    /// Those of all rows.
    pub all: f64,
}

/// How much longer than predicted a process took of late.
#[derive(Debug, Clone, Copy)]
pub struct Correction(f64);

/// Seconds that an iteration is to take at the least for something to be learnt from it: short ones tell more
/// of the clock than of the work.
const LEARN_FROM: f64 = 1e-3;
/// The most that predictions are corrected by, either way.
const CORRECTION_MAX: f64 = 2.0;

impl Correction {
    /// None so far.
    pub fn none() -> Correction {
        Correction(1.0)
    }

    /// A prediction, corrected.
    pub fn apply(self, seconds: f64) -> f64 {
        seconds * self.0
    }

    /// Takes into account how long it took what was predicted, as corrected, to take `predicted` seconds.
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
    fn what_takes_longer_is_predicted_to_take_longer_within_bounds() {
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
