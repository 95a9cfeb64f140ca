//! The choice that every iteration has: through tiles, or along rows.
//!
//! A scan costs what the tiles that are needed cost, however few of their sources are active. Seeking
//! costs little more than the rows of the active vertices. What either takes is predicted from how many
//! vertices are active, how long their rows are, which bytes are in memory, and what the device does;
//! and the predictions are corrected by what the iterations before really took. No result depends on
//! the choice.

use std::fmt;
use std::time::Duration;

use tegula_machine::disk::{Caching, Speed};
use tegula_store::VertexId;
use tegula_store::rows::RowReader;
use tegula_store::tiles::WINDOW_LOG2;

use crate::active::ActiveSet;
use crate::tile_cache::TileCache;
use crate::workers::Workers;

/// What a caller may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Executor {
    /// Whatever is predicted to be the quickest, in each iteration.
    #[default]
    Auto,
    /// Always tiles.
    Scan,
    /// Always rows. A program whose reduction is not [exact](crate::Program::IS_EXACT) scans all the same.
    Seek,
}

/// How the edges of one iteration are reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// Through all tiles that hold an active source and a target that is not settled.
    Scan,
    /// Along the rows of the active vertices.
    Seek,
    /// Through the rows of the vertices that are not settled, up to the first active neighbour.
    Pull,
}

impl Process {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Process::Scan => "scan",
            Process::Seek => "seek",
            Process::Pull => "pull",
        }
    }
}

/// What is known before an iteration.
pub struct Frontier<'j> {
    /// Whether edges may come in any order.
    pub may_seek: bool,
    /// Whether one active neighbour settles a vertex, and rows hold the edges to it.
    pub may_pull: bool,
    /// The active vertices, ascending, if they are known by a list.
    pub list: Option<&'j [VertexId]>,
    /// The active vertices, if they are not.
    pub active: &'j ActiveSet,
    /// How many vertices of each window are not settled.
    pub open_targets: &'j [u32],
}

/// What was chosen, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Choice {
    /// How the edges are reached.
    pub process: Process,
    /// Active vertices.
    pub active: u64,
    /// Seconds that a scan is predicted to take; `None` where it was not looked at.
    pub scan: Option<f64>,
    /// Seconds that seeking is predicted to take.
    pub seek: Option<f64>,
    /// Seconds that pulling is predicted to take.
    pub pull: Option<f64>,
    /// Pages that seeking is predicted to touch.
    pub pages: f64,
    /// Whether there is too little to do for more than one worker.
    pub is_small: bool,
}

impl Choice {
    /// Those of the workers for whom there is enough to do.
    pub(crate) fn workers<'r>(&self, workers: Workers<'r>) -> Workers<'r> {
        Workers { threads: if self.is_small { 1 } else { workers.threads }, ..workers }
    }
}

impl fmt::Display for Choice {
    /// The choice and its reason: `seek, 17 active, predicted in ms: seek 0.021, scan 12.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} active", self.process.name(), self.active)?;
        let predictions = [("seek", self.seek), ("pull", self.pull), ("scan", self.scan)];
        let mut separator = ", predicted in ms: ";
        for (name, seconds) in predictions {
            if let Some(seconds) = seconds {
                write!(f, "{separator}{name} {:.3}", 1e3 * seconds)?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// Seconds of seeking below which one worker does it: to wake others takes about as long.
const SHARED_MIN: f64 = 400e-6;
/// Seconds of seeking below which a scan is not looked at: to predict it takes about as long.
const SEEK_AT_ONCE: f64 = 100e-6;
/// Seconds that an iteration is to take at the least for something to be learnt from it.
const LEARN_FROM: f64 = 1e-3;
/// The most that predictions are corrected by, either way.
const CORRECTION_MAX: f64 = 2.0;
/// Active vertices whose rows are looked at to predict.
const SAMPLE: usize = 256;

// Seconds on one core, all in memory; about, as iterations correct what they predict.
const SEEK_ROW: f64 = 50e-9;
const SEEK_EDGE: f64 = 4e-9;
/// Where messages go through boxes.
const SEEK_EDGE_SHARED: f64 = 9e-9;
const PULL_ROW: f64 = 50e-9;
const PULL_EDGE: f64 = 4e-9;
const SCAN_EDGE: f64 = 1.5e-9;
/// Of a vertex whose message is generated or applied.
const SCAN_VERTEX: f64 = 1e-9;

/// Chooses, and learns.
pub struct Chooser<'c> {
    executor: Executor,
    rows: Option<&'c RowReader>,
    cache: &'c TileCache<'c>,
    threads: f64,
    speed: Speed,
    /// Whether reading goes on beside the work, or takes a core.
    is_direct: bool,
    /// Which share of the pages that seeking touched had to be read of late.
    page_share: f64,
    /// Pages of rows read so far.
    pages_read: u64,
    /// How much longer than predicted scan, seek and pull took of late.
    corrections: [f64; 3],
}

impl<'c> Chooser<'c> {
    pub fn new(
        executor: Executor,
        rows: Option<&'c RowReader>,
        cache: &'c TileCache<'c>,
        threads: usize,
        speed: Speed,
    ) -> Chooser<'c> {
        let is_direct = cache.graph().caching() == Caching::Direct;
        let speed = if is_direct { speed } else { Speed::of_page_cache() };
        let (threads, corrections) = (threads as f64, [1.0; 3]);
        let (page_share, pages_read) = (1.0, rows.map_or(0, |rows| rows.statistics().pages_read));
        Chooser {
            executor,
            rows,
            cache,
            threads,
            speed,
            is_direct,
            page_share,
            pages_read,
            corrections,
        }
    }

    /// The choice for an iteration, and the rows where it needs them.
    pub fn choose(&self, frontier: &Frontier<'_>) -> (Choice, Option<&'c RowReader>) {
        let count = frontier.list.map_or(frontier.active.count(), |list| list.len() as u64);
        let scan = Choice {
            process: Process::Scan,
            active: count,
            scan: None,
            seek: None,
            pull: None,
            pages: 0.0,
            is_small: false,
        };
        let rows = self.rows.filter(|_| frontier.may_seek && self.executor != Executor::Scan);
        let Some(rows) = rows else { return (scan, None) };
        let work = RowWork::of(frontier, rows, count);
        let seek = self.corrected(Process::Seek, self.predict_seek(rows, &work));
        let is_small = work.alone() < SHARED_MIN;
        let (pages, _) = pages_of(rows, &work);
        let mut choice =
            Choice { process: Process::Seek, seek: Some(seek), pages, is_small, ..scan };
        if seek < SEEK_AT_ONCE {
            return (choice, Some(rows));
        }
        let mut least = seek;
        if frontier.may_pull {
            let pull = self.corrected(Process::Pull, self.predict_pull(frontier, rows, &work));
            choice.pull = Some(pull);
            if pull < least {
                (choice.process, choice.is_small, least) = (Process::Pull, false, pull);
            }
        }
        if self.executor == Executor::Auto {
            let scan = self.corrected(Process::Scan, self.predict_scan(frontier));
            choice.scan = Some(scan);
            if scan < least {
                choice.process = Process::Scan;
            }
        }
        (choice, Some(rows).filter(|_| choice.process != Process::Scan))
    }

    /// Takes into account how long an iteration took.
    pub fn learn(&mut self, choice: &Choice, took: Duration) {
        let predicted = match choice.process {
            Process::Scan => choice.scan,
            Process::Seek => choice.seek,
            Process::Pull => choice.pull,
        };
        if let Some(rows) = self.rows.filter(|_| choice.process != Process::Scan) {
            let before = std::mem::replace(&mut self.pages_read, rows.statistics().pages_read);
            let read = self.pages_read - before;
            // Where the frontier moves on to neighbours, most of their pages are there already.
            if choice.process == Process::Seek && self.is_direct {
                let share = read as f64 / choice.pages.max(1.0);
                self.page_share += (share.min(1.0) - self.page_share) / 4.0;
            }
            // What has been read once stays, and the next iteration is quicker.
            if read > 0 && !self.is_direct {
                return;
            }
        }
        // Short iterations tell more of the clock than of the work.
        let Some(predicted) = predicted.filter(|&predicted| predicted > LEARN_FROM) else { return };
        let correction = &mut self.corrections[choice.process as usize];
        let off = took.as_secs_f64() / predicted;
        *correction = (*correction * off.sqrt()).clamp(1.0 / CORRECTION_MAX, CORRECTION_MAX);
    }

    fn corrected(&self, process: Process, seconds: f64) -> f64 {
        seconds * self.corrections[process as usize]
    }

    fn predict_seek(&self, rows: &RowReader, work: &RowWork) -> f64 {
        let alone = work.alone();
        let shared = (work.rows * SEEK_ROW + work.edges * SEEK_EDGE_SHARED) / self.threads;
        let working = if alone < SHARED_MIN { alone } else { shared };
        self.together(working, self.predict_reading(rows, work))
    }

    /// Seconds of working and reading.
    fn together(&self, working: f64, reading: f64) -> f64 {
        if self.is_direct { working.max(reading) } else { working + reading / self.threads }
    }

    /// Seconds to bring the pages of rows into memory that are not there.
    fn predict_reading(&self, rows: &RowReader, work: &RowWork) -> f64 {
        let missing = 1.0 - rows.held_fraction();
        if missing <= 0.0 || work.rows == 0.0 {
            return 0.0;
        }
        let (touched, all) = pages_of(rows, work);
        let one_by_one = touched / self.speed.random_pages_per_second;
        let in_order = all * page_size(rows) / self.speed.sequential_bytes_per_second;
        missing.min(self.page_share) * one_by_one.min(in_order) + self.speed.latency_seconds
    }

    fn predict_pull(&self, frontier: &Frontier<'_>, rows: &RowReader, work: &RowWork) -> f64 {
        let open: f64 = frontier.open_targets.iter().map(|&open| f64::from(open)).sum();
        let vertices = f64::from(rows.rows().vertex_count()).max(1.0);
        let all_bits = rows.rows().bit_count() as f64;
        let degree = all_bits / rows.rows().bits_per_edge().max(1.0) / vertices;
        // Neighbours up to the first active one, as if they were drawn at random.
        let looks = (all_bits / work.bits.max(1.0)).min(degree);
        let working = open * (PULL_ROW + looks * PULL_EDGE) + vertices * SCAN_VERTEX;
        let all_open = RowWork { rows: open, bits: all_bits * open / vertices, edges: 0.0 };
        self.together(working / self.threads, self.predict_reading(rows, &all_open))
    }

    fn predict_scan(&self, frontier: &Frontier<'_>) -> f64 {
        let listed = frontier.list.map(|list| {
            let vertices = self.cache.graph().vertex_count() as usize;
            ActiveSet::summary_of(list, vertices)
        });
        let active = listed.as_ref().unwrap_or(frontier.active);
        let (mut edges, mut bytes) = (0, 0);
        for (index, group) in self.cache.groups().iter().enumerate() {
            let mut is_needed = false;
            for tile in &self.cache.graph().tiles()[group.tiles.clone()] {
                let window = (tile.summary.target_first >> WINDOW_LOG2) as usize;
                if frontier.open_targets[window] > 0 && active.may_meet(&tile.summary) {
                    edges += u64::from(tile.summary.edge_count);
                    is_needed = true;
                }
            }
            if is_needed && self.cache.get(index).is_none() {
                bytes += group.size;
            }
        }
        let vertices = f64::from(self.cache.graph().vertex_count());
        let working = (edges as f64 * SCAN_EDGE + vertices * SCAN_VERTEX) / self.threads;
        self.together(working, bytes as f64 / self.speed.sequential_bytes_per_second)
    }
}

fn page_size(rows: &RowReader) -> f64 {
    rows.rows().data().block_len() as f64
}

/// Pages that rows lie on, if they lie anywhere, and the pages of all rows: some share one by chance.
fn pages_of(rows: &RowReader, work: &RowWork) -> (f64, f64) {
    let all = (rows.rows().data().len() as f64 / page_size(rows)).max(1.0);
    let touched = work.rows + work.bits / 8.0 / page_size(rows);
    (all * (1.0 - (-touched / all).exp()), all)
}

/// How much there is to do along the rows of the active vertices.
struct RowWork {
    rows: f64,
    bits: f64,
    edges: f64,
}

impl RowWork {
    /// Seconds that one worker needs for it, all in memory.
    fn alone(&self) -> f64 {
        self.rows * SEEK_ROW + self.edges * SEEK_EDGE
    }

    /// Looks at the rows of some of the active vertices.
    fn of(frontier: &Frontier<'_>, rows: &RowReader, count: u64) -> RowWork {
        let sample: Vec<VertexId> = match frontier.list {
            Some(list) => {
                list.iter().step_by(list.len().div_ceil(SAMPLE).max(1)).copied().collect()
            }
            None => frontier.active.sample(SAMPLE),
        };
        let bits: u64 = sample.iter().map(|&vertex| rows.rows().extent(vertex).bit_count()).sum();
        let bits = bits as f64 / sample.len().max(1) as f64 * count as f64;
        RowWork { rows: count as f64, bits, edges: bits / rows.rows().bits_per_edge().max(1.0) }
    }
}
