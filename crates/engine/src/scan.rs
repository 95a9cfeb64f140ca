//! The scan: every tile that some job has a use for is brought into memory once and handed to each
//! of those jobs. A single run is a set of one.
//!
//! Each worker claims parts in the order of the file, or in the opposite one, keeps a window of groups
//! on their way, and owns the accumulators of the part it works on. There is no lock and no atomic in
//! a tile.

use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use tegula_machine::threads::{Cancel, panic_message};
use tegula_machine::{Error, Result};
use tegula_store::graph::TileEntry;
use tegula_store::tiles::{Tile, TileSummary};

use crate::tile_cache::{Part, PendingTiles, TileCache, Tiles};

/// Something that looks at tiles: one of a set that shares a scan.
pub trait ScanJob: Sync {
    /// Whether the job has a use for a tile: asked before the scan, before the tile is read and before it
    /// is processed. A tile for which it has none, even once, may be left out of this scan.
    fn needs(&self, tile: &TileSummary) -> bool;

    /// Whether a batch is to be finished even where no tile of it is needed.
    fn finishes_every_batch(&self) -> bool;

    /// What one worker does for this job during one scan.
    fn worker(&self) -> Box<dyn ScanWorker + '_>;
}

/// A worker of a job: owns the accumulators of one part at a time.
pub trait ScanWorker {
    /// A part begins.
    fn begin_part(&mut self, part: &Part);

    /// Processes a tile of the part; `weights` has a number for each entry, or is empty.
    ///
    /// # Errors
    /// What does not fit in the tile, in words.
    fn process(&mut self, tile: Tile<'_>, entry: &TileEntry, weights: &[f32])
    -> Result<(), String>;

    /// The part has ended.
    fn end_part(&mut self, part: &Part);
}

/// Which way a scan goes through the parts. Within a part, tiles come in the order of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// In the order of the file.
    FirstToLast,
    /// In the opposite order.
    LastToFirst,
}

/// What a scan did.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScanStatistics {
    /// Edges of the tiles that were processed, for each job that needed them.
    pub edges_processed: u64,
    /// Tiles that no job needed.
    pub tiles_skipped: u64,
}

/// Scans once for a set of jobs.
///
/// # Errors
/// Those of reading and of damaged tiles; [`Error::Cancelled`]; [`Error::WorkerFailed`] when a
/// worker panicked.
pub fn scan(
    cache: &TileCache<'_>,
    jobs: &[&dyn ScanJob],
    direction: Direction,
    threads: usize,
    cancel: &Cancel,
) -> Result<ScanStatistics> {
    let mut plan = Plan::new(cache, jobs);
    if direction == Direction::LastToFirst {
        plan.parts.reverse();
    }
    let shared = Shared {
        cache,
        jobs,
        plan: &plan,
        cancel,
        next_part: AtomicUsize::new(0),
        edges_processed: AtomicU64::new(0),
        tiles_processed: AtomicU64::new(0),
        failed: AtomicBool::new(false),
        failure: Mutex::new(None),
    };
    let workers = threads.clamp(1, plan.parts.len().max(1));
    if workers == 1 {
        shared.work();
    } else {
        std::thread::scope(|scope| {
            // The calling thread is a worker too.
            (1..workers).for_each(|_| drop(scope.spawn(|| shared.work())));
            shared.work();
        });
    }
    let edges_processed = shared.edges_processed.load(Ordering::Relaxed);
    let tiles_processed = shared.tiles_processed.load(Ordering::Relaxed);
    let tiles_skipped = cache.graph().tiles().len() as u64 - tiles_processed;
    let failure = shared.failure.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match failure {
        Some(error) => Err(error),
        None => Ok(ScanStatistics { edges_processed, tiles_skipped }),
    }
}

/// Which parts and groups this scan visits.
struct Plan {
    /// Indices of parts, each with the groups of it that are needed.
    parts: Vec<(usize, Range<usize>)>,
    groups: Vec<usize>,
}

impl Plan {
    fn new(cache: &TileCache<'_>, jobs: &[&dyn ScanJob]) -> Plan {
        let every_batch = jobs.iter().any(|job| job.finishes_every_batch());
        let mut plan = Plan { parts: Vec::new(), groups: Vec::new() };
        for (index, part) in cache.parts().iter().enumerate() {
            let start = plan.groups.len();
            plan.groups.extend(part.groups.clone().filter(|&group| is_needed(cache, jobs, group)));
            plan.parts.push((index, start..plan.groups.len()));
            // A batch is finished when all its parts are, so all of them take part or none.
            if part.number + 1 == part.count && !every_batch {
                let first = plan.parts.len() - part.count;
                if plan.parts[first..].iter().all(|(_, groups)| groups.is_empty()) {
                    plan.parts.truncate(first);
                }
            }
        }
        plan
    }
}

/// Whether a job has a use for a tile of a group.
fn is_needed(cache: &TileCache<'_>, jobs: &[&dyn ScanJob], group: usize) -> bool {
    let tiles = &cache.graph().tiles()[cache.groups()[group].tiles.clone()];
    tiles.iter().any(|tile| jobs.iter().any(|job| job.needs(&tile.summary)))
}

/// What the workers of one scan share.
struct Shared<'s> {
    cache: &'s TileCache<'s>,
    jobs: &'s [&'s dyn ScanJob],
    plan: &'s Plan,
    cancel: &'s Cancel,
    next_part: AtomicUsize,
    edges_processed: AtomicU64,
    tiles_processed: AtomicU64,
    failed: AtomicBool,
    failure: Mutex<Option<Error>>,
}

impl Shared<'_> {
    /// The life of a worker. A panic or an error in it stops the others and is reported once.
    fn work(&self) {
        let result = catch_unwind(AssertUnwindSafe(|| self.process_parts()));
        let error = match result {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(panic) => Error::WorkerFailed { detail: panic_message(&*panic) },
        };
        self.failed.store(true, Ordering::Relaxed);
        let mut failure = self.failure.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        failure.get_or_insert(error);
    }

    fn process_parts(&self) -> Result<()> {
        let mut workers: Vec<_> = self.jobs.iter().map(|job| job.worker()).collect();
        let mut window = Window::new(self);
        while let Some(part) = window.next_part() {
            let part_info = &self.cache.parts()[self.plan.parts[part].0];
            workers.iter_mut().for_each(|worker| worker.begin_part(part_info));
            for group in &self.plan.groups[self.plan.parts[part].1.clone()] {
                if self.failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                window.fill();
                match self.cache.get(*group) {
                    Some(tiles) => self.process_group(*group, tiles, &mut workers)?,
                    None => {
                        let Some(tiles) = window.take(*group)? else { continue };
                        self.process_group(*group, &tiles, &mut workers)?;
                        self.cache.keep(*group, tiles);
                        window.release(*group);
                    }
                }
            }
            workers.iter_mut().for_each(|worker| worker.end_part(part_info));
        }
        Ok(())
    }

    fn process_group(
        &self,
        group: usize,
        tiles: &Tiles,
        workers: &mut [Box<dyn ScanWorker + '_>],
    ) -> Result<()> {
        let graph = self.cache.graph();
        let (mut edges, mut processed) = (0, 0);
        for index in self.cache.groups()[group].tiles.clone() {
            self.cancel.check()?;
            let entry = &graph.tiles()[index];
            let edges_before = edges;
            let bytes = self.cache.tile_bytes(tiles, group, index);
            let weights: &[f32] = match self.cache.weight_bytes(tiles, group, index) {
                [] => &[],
                bytes => zerocopy::FromBytes::ref_from_bytes(bytes)
                    .map_err(|_| graph.damaged_tile(index, "its weights are not aligned".into()))?,
            };
            let damaged = |detail| graph.damaged_tile(index, detail);
            for (job, worker) in self.jobs.iter().zip(&mut *workers) {
                if job.needs(&entry.summary) {
                    let tile = Tile::parse(bytes).map_err(damaged)?;
                    worker.process(tile, entry, weights).map_err(damaged)?;
                    edges += u64::from(entry.summary.edge_count);
                }
            }
            processed += u64::from(edges > edges_before);
        }
        self.tiles_processed.fetch_add(processed, Ordering::Relaxed);
        self.edges_processed.fetch_add(edges, Ordering::Relaxed);
        Ok(())
    }
}

/// The parts that a worker has claimed, and the groups of them that are on their way.
///
/// Its reads take no more than its share of the budget, and it waits for them in the order in which
/// it asked, so no worker can wait for memory that another holds.
struct Window<'s> {
    shared: &'s Shared<'s>,
    claimed: VecDeque<usize>,
    /// Groups in the order in which they are used, none of them in memory; without their tiles those
    /// that nobody needs any more.
    pending: VecDeque<(usize, Option<PendingTiles>)>,
    /// The claimed part whose groups are being asked for, and those of them not asked for yet.
    asking: Range<usize>,
    outstanding: u64,
    is_exhausted: bool,
}

impl<'s> Window<'s> {
    fn new(shared: &'s Shared<'s>) -> Window<'s> {
        Window {
            shared,
            claimed: VecDeque::new(),
            pending: VecDeque::new(),
            asking: 0..0,
            outstanding: 0,
            is_exhausted: false,
        }
    }

    /// The next part to work on.
    fn next_part(&mut self) -> Option<usize> {
        if self.claimed.is_empty() {
            self.claim();
        }
        self.fill();
        self.claimed.pop_front()
    }

    fn claim(&mut self) -> bool {
        let part = self.shared.next_part.fetch_add(1, Ordering::Relaxed);
        self.is_exhausted = part >= self.shared.plan.parts.len();
        if !self.is_exhausted {
            self.claimed.push_back(part);
            self.asking = self.shared.plan.parts[part].1.clone();
        }
        !self.is_exhausted
    }

    /// Asks for groups while there is room; a further part is claimed early only to keep reads on
    /// their way, never when all is in memory.
    fn fill(&mut self) {
        let cache = self.shared.cache;
        loop {
            let Some(index) = self.asking.next() else {
                let wants_more = !self.pending.is_empty() && !self.is_exhausted;
                if wants_more && self.claimed.len() < 2 && self.claim() {
                    continue;
                }
                return;
            };
            let group = self.shared.plan.groups[index];
            if cache.get(group).is_some() {
                continue;
            }
            if !is_needed(cache, self.shared.jobs, group) {
                self.pending.push_back((group, None));
                continue;
            }
            let size = cache.groups()[group].size;
            if self.outstanding > 0 && self.outstanding + size > cache.stream_size() {
                self.asking.start = index;
                return;
            }
            self.outstanding += size;
            self.pending.push_back((group, Some(cache.request(group))));
        }
    }

    /// Waits for a group that was asked for; it comes first, since groups are used in order. `None` if
    /// nobody needed it any more when it was its turn.
    fn take(&mut self, group: usize) -> Result<Option<Tiles>> {
        let (first, pending) = self.pending.pop_front().expect("a group is asked for before use");
        assert_eq!(first, group, "groups are used in the order in which they were asked for");
        pending.map(|pending| self.shared.cache.receive(group, pending)).transpose()
    }

    /// A group that was taken is done with, or kept: its room is free for a further read.
    fn release(&mut self, group: usize) {
        self.outstanding -= self.shared.cache.groups()[group].size;
    }
}
