//! A cache of the pages of a file, which are read ahead of their use.
//!
//! A [`PageCache`] holds pages of one file (the blocks of a [`BlockFile`], each with its checksum).
//! [`prefetch`](PageCache::prefetch) takes the ranges needed next, the nearest first, and keeps the
//! number of reads in flight at a target. [`get`](PageCache::get) returns what is needed now.
//!
//! ```text
//!  prefetch(ranges) -> ReadPlan: coalesced requests -> Reader -> PageRun (of one request)
//!                        ^ makes room: CLOCK                  | in the table of pages
//!  get(ranges) -------> pinned under the lock <---------------+
//!                        waited for, checked and copied outside of it
//! ```
//!
//! This is the lower half of the run-ahead prefetcher of RASP (A. Roy et al., University of
//! Cambridge Computer Laboratory, Technical Report 823, 2012). Unlike in RASP, the pages belong to
//! the cache and not to the kernel: the cache knows which pages it holds, and reads none twice.
//!
//! # Why nobody waits forever
//!
//! The cache has its own pool of exactly its capacity, and takes memory from it only if that is
//! granted at once. So a wait is always for a read that already has its memory, never for memory or
//! for another caller's pins. If there is no room, because all is pinned or on its way, the range
//! is read past the cache through the file's own reader. The caller holds no pins at that time.

mod page_run;
mod pinned;
mod read_plan;
mod state;
mod targets;

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use crate::error::Result;
use crate::threads::{Cancel, lock};

pub use pinned::Pinned;
pub use state::PageStatistics;
pub use targets::Targets;

use super::block_file::BlockFile;
use super::buffer::GRID;
use super::pool::Pool;
use super::reader::{Reader, Request};
use page_run::PageRun;
use read_plan::{Limits, ReadPlan, Wanted};
use state::{Purpose, RUN_SIZE, State};

/// Pages of a random read, including gaps, for which the bytes in flight suffice.
const RANDOM_PAGES: u64 = 4;

/// Pages of one file in memory, up to a capacity. Any number of threads may share it.
pub struct PageCache {
    file: BlockFile,
    /// Has its own pool, whose budget is the capacity.
    reader: Reader,
    /// A page has `2^page_log2` bytes.
    page_log2: u32,
    limits: Limits,
    state: Mutex<State>,
    /// The runs that have arrived, in a cache that never evicts.
    kept: Option<Kept>,
}

/// A run of at most this many pages gets no more memory than it asks for.
const SMALL_RUN_PAGES: u64 = 8;
/// Most bytes of a run in a cache that never evicts.
const KEPT_RUN_SIZE: u64 = 2 << 20;

/// Bytes per page in the table of [`Kept`].
const KEPT_SIZE: u64 = size_of::<OnceLock<Arc<PageRun>>>() as u64;

/// The runs that have arrived, in a cache that never evicts. They are found without a lock.
struct Kept {
    /// The run of each page.
    runs: Vec<OnceLock<Arc<PageRun>>>,
    /// Pages that have a run.
    count: AtomicUsize,
}

impl Kept {
    fn new(pages: u64) -> Kept {
        let runs = std::iter::repeat_with(OnceLock::new).take(pages as usize).collect();
        Kept { runs, count: AtomicUsize::new(0) }
    }

    fn keep(&self, run: &Arc<PageRun>) {
        let pages = &self.runs[run.pages.start as usize..run.pages.end as usize];
        if pages.first().is_some_and(|first| first.get().is_some()) {
            return;
        }
        let new = pages.iter().filter(|page| page.set(Arc::clone(run)).is_ok()).count();
        self.count.fetch_add(new, Ordering::Relaxed);
    }
}

impl PageCache {
    /// Bytes that can be read behind every range of [`Pinned::padded`].
    pub const SLACK: usize = pinned::SLACK;

    /// Returns a capacity in which a file of `len` bytes [fits](PageCache::fits) with any targets.
    pub fn capacity_max(len: u64) -> u64 {
        let pages = len.div_ceil(GRID as u64);
        pages * (GRID as u64 + KEPT_SIZE) + len / 8
    }

    /// Makes an empty cache. It takes at most `capacity` bytes for pages and for finding them, and
    /// another 4 bytes per page of the file. Its reads have memory of their own; it uses the pool
    /// of the file's reader only for ranges that find no room.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::error::Error::Limit) for a file of more than 2^32 - 2 pages.
    pub fn new(file: &BlockFile, capacity: u64, targets: &Targets) -> Result<PageCache> {
        let page_log2 = file.block_len().trailing_zeros();
        let pages = file.len().div_ceil(file.block_len());
        let in_pages = |bytes: u64| bytes >> page_log2;
        // At least four requests fit the capacity, so that one can be used while others come.
        let run_pages =
            |capacity: u64| in_pages(targets.request_bytes_max.min(capacity / 4)).max(1);
        // A request of many pages may get an eighth more memory than it asks for.
        let waste = if run_pages(capacity) <= SMALL_RUN_PAGES { 0 } else { file.len() / 8 };
        let fits = (pages << page_log2) + waste + pages * KEPT_SIZE <= capacity;
        let capacity = match fits {
            true => capacity - pages * KEPT_SIZE,
            // In the worst case, each page is a run of its own.
            false => capacity / (file.block_len() + RUN_SIZE) * file.block_len(),
        };
        let reader = file.reader().with_pool(Pool::new(capacity));
        let run_pages = run_pages(capacity);
        let requests = targets.random_requests.max(1) as usize;
        // Sequential reads need few bytes in flight, but random reads of some pages each need more.
        let bytes_min = (requests as u64 * RANDOM_PAGES) << page_log2;
        let limits = Limits {
            requests,
            awaited: requests.div_ceil(8),
            bytes: targets.sequential_bytes.max(bytes_min).min(capacity / 2),
            run_pages,
            gap_pages: in_pages(targets.gap_bytes_max),
        };
        let state = Mutex::new(State::new(pages)?);
        let mut cache =
            PageCache { file: file.clone(), reader, page_log2, limits, state, kept: None };
        if fits {
            // Where nothing is evicted, large runs cost the least: they lie on huge pages of
            // memory.
            if run_pages > SMALL_RUN_PAGES {
                cache.limits.run_pages = run_pages.max(in_pages(KEPT_RUN_SIZE.min(capacity / 4)));
            }
            cache.kept = Some(Kept::new(pages));
        }
        Ok(cache)
    }

    /// Returns the file.
    pub fn file(&self) -> &BlockFile {
        &self.file
    }

    /// Returns the most bytes that the pages may take.
    pub fn capacity(&self) -> u64 {
        self.reader.pool().frames_max()
    }

    /// Returns the most bytes that the pages ever took.
    pub fn peak(&self) -> u64 {
        self.reader.pool().peak()
    }

    /// Returns whether the whole file fits, so that no page is read twice.
    pub fn fits(&self) -> bool {
        self.kept.is_some()
    }

    /// Returns what was asked of the cache so far.
    pub fn statistics(&self) -> PageStatistics {
        self.lock().statistics()
    }

    /// Begins to read the pages of `ranges` (bytes of the payload) that are neither held nor on
    /// their way, each once. Returns how many of the ranges it handled. The caller comes back with
    /// the rest after it has used some pages.
    ///
    /// Stops where the targets of reads in flight are reached, or where room could only come from
    /// pages that are pinned, or announced and not used yet. Never blocks on a read. The first
    /// range is the one needed next. Ranges on the same or on neighbouring pages become one
    /// request, wherever they stand. A range outside of the file is skipped here;
    /// [`get`](PageCache::get) reports it. `ranges` must not use this cache, which is locked
    /// meanwhile.
    pub fn prefetch(&self, ranges: impl IntoIterator<Item = Range<u64>>) -> usize {
        let mut state = self.lock();
        let mut taken = 0;
        let mut plan = self.plan(&mut state, Purpose::Ahead);
        for range in ranges {
            let pages = if self.is_inside(&range) { self.pages(&range) } else { 0..0 };
            if !plan.want(&mut state, pages) {
                break;
            }
            taken += 1;
        }
        if self.submit(&mut state, plan) { taken } else { 0 }
    }

    /// Revokes the [`prefetch`](PageCache::prefetch) of these ranges, because they are not needed
    /// or will be announced again. It no longer keeps their pages in the cache.
    pub fn retract(&self, ranges: impl IntoIterator<Item = Range<u64>>) {
        let mut state = self.lock();
        for range in ranges {
            if self.is_inside(&range) {
                state.retract(self.pages(&range));
            }
        }
    }

    /// Returns the bytes of a range, pinned until `pinned` is used again or dropped.
    pub fn get<'p>(&self, range: Range<u64>, pinned: &'p mut Pinned) -> Result<&'p [u8]> {
        self.get_batch(&[range], pinned)?;
        Ok(pinned.bytes(0))
    }

    /// Pins the bytes of the first `ranges`, and returns how many: as many as find room together,
    /// and at least one, unless `ranges` is empty. It first unpins what `pinned` held before.
    /// Missing pages are read now; pages on their way are waited for. It returns early after an
    /// eighth of the reads that may be in flight, so that the caller can start others while it
    /// works. It also returns early after a MiB of ranges that cross from one request to another,
    /// because these are copied. Best called with 64 to 256 ranges by ascending start, alternating
    /// with [`prefetch`](PageCache::prefetch).
    ///
    /// Costs about 15 ns per range where all pages are held and neighbours share pages. A caller
    /// that holds another `Pinned` of this cache only leaves less room.
    ///
    /// # Errors
    /// Errors of reading, also of a page that was read ahead; the next call tries again.
    /// [`Error::Corrupt`](crate::error::Error::Corrupt) for a page that differs from its checksum,
    /// and for a range outside of the file.
    pub fn get_batch(&self, ranges: &[Range<u64>], pinned: &mut Pinned) -> Result<usize> {
        loop {
            pinned.clear();
            if self.pin(ranges, pinned)? == 0 && !ranges.is_empty() {
                self.read_past(&ranges[0], pinned)?;
                return Ok(1);
            }
            let arrived = self.await_runs(pinned);
            if !matches!(arrived, Ok(true)) {
                pinned.clear();
            }
            if arrived? {
                pinned.assemble();
                return Ok(pinned.len());
            }
        }
    }

    /// Returns the bytes of a range and the rest of its run, if one run has the whole range and is
    /// never evicted. Takes no lock and is not counted in the statistics. About 5 ns.
    #[inline(always)]
    pub fn held(&self, range: &Range<u64>) -> Option<&[u8]> {
        if range.is_empty() {
            return Some(&[]);
        }
        let run = self.kept.as_ref()?.runs.get((range.start >> self.page_log2) as usize)?.get()?;
        let start = (range.start - run.range.start) as usize;
        (range.end <= run.range.end).then(|| &run.bytes()[start..])
    }

    /// Returns whether every page has arrived and is never evicted.
    pub fn is_complete(&self) -> bool {
        let kept = self.kept.as_ref();
        kept.is_some_and(|kept| kept.count.load(Ordering::Relaxed) == kept.runs.len())
    }

    /// Reads the whole file in large requests. If the file [fits](PageCache::fits), every page is
    /// held afterwards.
    ///
    /// # Errors
    /// Errors of reading; [`Error::Cancelled`](crate::error::Error::Cancelled).
    pub fn fill(&self, cancel: &Cancel) -> Result<()> {
        let run_len = self.limits.run_pages << self.page_log2;
        let count = self.file.len().div_ceil(run_len);
        // Ends before the end of the run: a range with enough bytes behind it is not copied.
        let end = |run: u64| (run + 1) * run_len - PageCache::SLACK as u64;
        let range = |run: u64| run * run_len..end(run).min(self.file.len());
        let mut pinned = Pinned::default();
        let mut ahead = 0;
        for run in 0..count {
            cancel.check()?;
            ahead = ahead.max(run);
            ahead += self.prefetch((ahead..count).map(range)) as u64;
            self.get(range(run), &mut pinned)?;
        }
        Ok(())
    }

    /// Pins ranges and begins to read missing pages. Returns how many ranges are pinned.
    fn pin(&self, ranges: &[Range<u64>], pinned: &mut Pinned) -> Result<usize> {
        if let Some(bad) = ranges.iter().find(|range| !self.is_inside(range)) {
            return self.file.stream(bad.clone()).map(|_| 0);
        }
        let mut state = self.lock();
        let mut planned_to = 0;
        for (index, range) in ranges.iter().enumerate() {
            let pages = self.pages(range);
            if !state.pin(range, pages.clone(), pinned) {
                // The ranges behind it are requested together with it, unless that was tried
                // before.
                if index < planned_to {
                    return Ok(index);
                }
                planned_to = self.demand(&mut state, &ranges[index..], index == 0) + index;
                if !state.pin(range, pages, pinned) {
                    return Ok(index);
                }
            }
            if pinned.on_their_way() >= self.limits.awaited || pinned.is_full() {
                return Ok(index + 1);
            }
        }
        Ok(ranges.len())
    }

    /// Begins to read the missing pages of ranges that are needed now, and returns how many ranges.
    /// If `is_first`, the first range is requested regardless of the reads in flight.
    fn demand(&self, state: &mut State, ranges: &[Range<u64>], is_first: bool) -> usize {
        let mut plan = self.plan(state, if is_first { Purpose::Now } else { Purpose::Soon });
        let mut taken = 0;
        for range in ranges {
            if !plan.want(state, self.pages(range)) {
                break;
            }
            plan.limit_to_targets();
            taken += 1;
        }
        // If the first range finds no room, nothing is read here.
        if taken > 0 && self.submit(state, plan) { taken } else { 0 }
    }

    /// Waits for the pinned runs on their way. Returns false where a read failed and another caller
    /// got the error.
    fn await_runs(&self, pinned: &Pinned) -> Result<bool> {
        for run in pinned.runs() {
            let arrived = run.arrive(&self.file);
            if !matches!(arrived, Ok(true)) {
                self.lock().forget(run);
            }
            if !arrived? {
                return Ok(false);
            }
            if let Some(kept) = &self.kept {
                kept.keep(run);
            }
        }
        Ok(true)
    }

    /// Reads a range for which there is no room.
    fn read_past(&self, range: &Range<u64>, pinned: &mut Pinned) -> Result<()> {
        pinned.clear();
        self.lock().count_past(self.pages(range), range);
        pinned.copy_in((range.end - range.start) as usize, |out| {
            self.file.read_into(range.start, out)
        })
    }

    fn plan(&self, state: &mut State, purpose: Purpose) -> ReadPlan<'_> {
        let pool = self.reader.pool();
        ReadPlan::new(self.limits, pool, self.page_log2, purpose, state)
    }

    /// Makes the requests of a plan. Returns false where there was no memory after all.
    fn submit(&self, state: &mut State, plan: ReadPlan<'_>) -> bool {
        let (wanted, purpose) = plan.into_parts();
        if wanted.is_empty() {
            return true;
        }
        let bytes = |first: u64, end: u64| {
            let start = first << self.page_log2;
            start..(end << self.page_log2).min(self.file.len())
        };
        let request = |run: &Wanted| {
            let range = bytes(run.first, run.end);
            let len = (range.end - range.start) as usize;
            Request { file: self.file.handle(), offset: range.start, len }
        };
        let requests: Vec<Request<'_>> = wanted.iter().map(request).collect();
        let Some(pending) = self.reader.try_read_batch(&requests) else { return false };
        for (wanted, pending) in wanted.iter().zip(pending) {
            let range = bytes(wanted.first, wanted.end);
            let run = PageRun::new(wanted.first..wanted.end, range, pending);
            state.insert(Arc::new(run), wanted.claims, purpose);
        }
        true
    }

    /// Returns the pages of a range that lies in the file.
    fn pages(&self, range: &Range<u64>) -> Range<u64> {
        match range.is_empty() {
            true => 0..0,
            false => range.start >> self.page_log2..((range.end - 1) >> self.page_log2) + 1,
        }
    }

    fn is_inside(&self, range: &Range<u64>) -> bool {
        range.start <= range.end && range.end <= self.file.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each method leaves the state consistent, even if a caller's iterator panics in between.
        lock(&self.state)
    }
}

impl fmt::Debug for PageCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PageCache({:?}, {} bytes)", self.file, self.capacity())
    }
}
