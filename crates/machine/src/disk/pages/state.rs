//! The state of a page cache: which pages are held, for what, and which are evicted.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};

use super::page_run::PageRun;
use super::pinned::Pinned;

/// Searches for room, each for a miss, that an announced page survives. After that, probably nobody
/// wants it.
const LIVES: u8 = 3;
/// Runs that a search for room examines on behalf of a page that is only read ahead.
const SEARCH_MAX: usize = 1024;

/// Counts of what was asked of a cache, in pages unless stated otherwise. A page counts as often as
/// a range touches it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct PageStatistics {
    /// Pages touched by fetched ranges.
    pub wanted: u64,
    /// Wanted pages that were held or on their way.
    pub hits: u64,
    /// Hits that had arrived.
    pub ready: u64,
    /// Wanted pages that were not requested before.
    pub misses: u64,
    /// Requests made.
    pub requests: u64,
    /// Most requests in flight at a time.
    pub in_flight_max: u64,
    /// Pages read, including gaps.
    pub pages_read: u64,
    /// Bytes read into the cache.
    pub bytes_read: u64,
    /// Bytes read past the cache, for lack of room.
    pub bytes_past: u64,
}

impl PageStatistics {
    /// Returns the share of wanted pages that were held or on their way.
    pub fn hit_rate(&self) -> f64 {
        if self.wanted == 0 { 1.0 } else { self.hits as f64 / self.wanted as f64 }
    }
}

/// Why pages are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// They will be used later.
    Ahead,
    /// A caller waits for the first of them.
    Now,
    /// A caller is about to wait for them, but works on others first.
    Soon,
}

/// The pages of a cache.
pub(super) struct State {
    /// For each page, its slot number plus one; zero where it is not held.
    table: Vec<u32>,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Where the next search for room starts.
    hand: usize,
    /// Slots whose reads were not over at the last check.
    in_flight: Vec<u32>,
    bytes_in_flight: u64,
    /// Number of claims made so far, the clock that measures the age of claims.
    claims_made: u64,
    /// The time of the latest claim on a page that has been used.
    claim_used: u64,
    statistics: PageStatistics,
}

/// Holds a run that is read or on its way, or nothing.
#[derive(Default)]
struct Slot {
    run: Option<Arc<PageRun>>,
    /// Announced ranges that have not used it yet.
    claims: u32,
    /// The time of the latest claim.
    claimed_at: u64,
    /// Searches for room that it still survives due to its claims.
    lives: u8,
    /// Used since the hand last passed.
    referenced: bool,
    in_flight: bool,
    /// Its read was over at the last check.
    arrived: bool,
    /// It was not requested before it was needed.
    is_miss: bool,
}

/// Bytes that a run takes besides its pages: itself, the two counts of its `Arc`, and its slot.
pub(super) const RUN_SIZE: u64 =
    (size_of::<[usize; 2]>() + size_of::<PageRun>() + size_of::<Slot>()) as u64;

impl State {
    pub(super) fn new(pages: u64) -> Result<State> {
        let limit = u64::from(u32::MAX) - 1;
        if pages > limit {
            return Err(Error::Limit { what: "pages of a file", found: pages, limit });
        }
        Ok(State {
            table: vec![0; pages as usize],
            slots: Vec::new(),
            free: Vec::new(),
            hand: 0,
            in_flight: Vec::new(),
            bytes_in_flight: 0,
            claims_made: 0,
            claim_used: 0,
            statistics: PageStatistics::default(),
        })
    }

    pub(super) fn statistics(&self) -> PageStatistics {
        self.statistics
    }

    /// Returns the end of the run with this page, if there is one.
    pub(super) fn held_to(&self, page: u64) -> Option<u64> {
        self.slot_of(page).map(|slot| self.run(slot).pages.end)
    }

    /// Returns the number of reads in flight, and their bytes.
    pub(super) fn in_flight(&self) -> (usize, u64) {
        (self.in_flight.len(), self.bytes_in_flight)
    }

    /// Checks which reads are over.
    pub(super) fn reap(&mut self) {
        let State { slots, in_flight, bytes_in_flight, .. } = self;
        in_flight.retain(|&slot| {
            let slot = &mut slots[slot as usize];
            slot.in_flight = slot.run.as_ref().is_some_and(|run| !run.is_settled());
            if let Some(run) = slot.run.as_ref().filter(|_| !slot.in_flight) {
                *bytes_in_flight -= run.range.end - run.range.start;
            }
            slot.in_flight
        });
    }

    /// Notes that one more range will use a held page, so it must stay.
    pub(super) fn claim(&mut self, page: u64) {
        if let Some(slot) = self.slot_of(page) {
            self.claims_made += 1;
            let slot = &mut self.slots[slot];
            slot.claims = slot.claims.saturating_add(1);
            slot.claimed_at = self.claims_made;
            slot.lives = LIVES;
        }
    }

    /// Removes one claim from each run of these pages.
    pub(super) fn retract(&mut self, pages: Range<u64>) {
        let mut page = pages.start;
        while page < pages.end {
            let Some(slot) = self.slot_of(page) else { return };
            page = self.run(slot).pages.end;
            let slot = &mut self.slots[slot];
            slot.claims = slot.claims.saturating_sub(1);
        }
    }

    /// Adds a run that is on its way. None of its pages may be held.
    pub(super) fn insert(&mut self, run: Arc<PageRun>, claims: u32, purpose: Purpose) {
        let bytes = run.range.end - run.range.start;
        let pages = run.pages.start as usize..run.pages.end as usize;
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            // There are no more slots than pages.
            (self.slots.len() - 1) as u32
        });
        debug_assert!(self.table[pages.clone()].iter().all(|&slot| slot == 0));
        self.claims_made += u64::from(claims);
        self.statistics.pages_read += pages.len() as u64;
        self.table[pages].fill(number + 1);
        self.slots[number as usize] = Slot {
            run: Some(run),
            claims,
            claimed_at: self.claims_made,
            lives: LIVES,
            referenced: false,
            in_flight: true,
            arrived: false,
            is_miss: purpose != Purpose::Ahead,
        };
        self.in_flight.push(number);
        self.bytes_in_flight += bytes;
        self.statistics.requests += 1;
        self.statistics.bytes_read += bytes;
        let in_flight = self.in_flight.len() as u64;
        self.statistics.in_flight_max = self.statistics.in_flight_max.max(in_flight);
    }

    /// Pins the runs of a range if all of its pages are held or on their way.
    pub(super) fn pin(
        &mut self,
        range: &Range<u64>,
        pages: Range<u64>,
        pinned: &mut Pinned,
    ) -> bool {
        // Fast path: a row mostly lies in the same run as the row before it. Pinned runs keep their
        // slots.
        if let Some(slot) = pinned.last_slot()
            && self.run(slot).pages.contains(&pages.start)
            && self.run(slot).pages.end >= pages.end
        {
            self.use_slot(slot, pages.end - pages.start);
            pinned.push_range(range, pinned.runs().len() - 1);
            return true;
        }
        let kept = (pinned.runs().len(), pinned.last_slot());
        let mut first = kept.0;
        let mut page = pages.start;
        while page < pages.end {
            let Some(slot) = self.slot_of(page) else {
                pinned.truncate_runs(kept);
                return false;
            };
            let run = self.run(slot);
            page = run.pages.end;
            if pinned.last_slot() == Some(slot) {
                first = kept.0 - 1;
            } else {
                pinned.push_run(run, slot);
            }
        }
        self.use_pages(pages, pinned);
        pinned.push_range(range, first);
        true
    }

    /// Notes that held pages are used, and counts the runs to wait for.
    fn use_pages(&mut self, pages: Range<u64>, pinned: &mut Pinned) {
        let mut page = pages.start;
        while page < pages.end {
            let Some(slot) = self.slot_of(page) else { return };
            let end = self.run(slot).pages.end.min(pages.end);
            if !self.use_slot(slot, end - page) {
                pinned.expect_arrival();
            }
            page = end;
        }
    }

    /// Notes that `pages` pages of a run are used. Returns whether the run has arrived.
    fn use_slot(&mut self, slot: usize, pages: u64) -> bool {
        let slot = &mut self.slots[slot];
        if slot.claims > 0 {
            slot.claims -= 1;
            self.claim_used = self.claim_used.max(slot.claimed_at);
        }
        slot.referenced = true;
        let statistics = &mut self.statistics;
        statistics.wanted += pages;
        slot.arrived = slot.arrived || slot.run.as_ref().is_some_and(|run| run.is_settled());
        if slot.is_miss {
            statistics.misses += pages;
            // Later uses find it held.
            slot.is_miss = !slot.arrived;
        } else {
            statistics.hits += pages;
            statistics.ready += if slot.arrived { pages } else { 0 };
        }
        slot.arrived
    }

    /// Counts a range that is read past the cache.
    pub(super) fn count_past(&mut self, pages: Range<u64>, range: &Range<u64>) {
        self.statistics.wanted += pages.end - pages.start;
        self.statistics.misses += pages.end - pages.start;
        self.statistics.bytes_past += range.end - range.start;
    }

    /// Drops a run whose read failed.
    pub(super) fn forget(&mut self, run: &Arc<PageRun>) {
        if let Some(slot) = self.slot_of(run.pages.start)
            && Arc::ptr_eq(self.run(slot), run)
        {
            self.land(slot);
            self.remove(slot);
        }
    }

    /// Removes the read of a slot from those in flight.
    fn land(&mut self, number: usize) {
        let State { slots, in_flight, bytes_in_flight, .. } = self;
        let slot = &mut slots[number];
        if let Some(run) = slot.run.as_ref().filter(|_| slot.in_flight) {
            *bytes_in_flight -= run.range.end - run.range.start;
            slot.in_flight = false;
            in_flight.retain(|&other| other as usize != number);
        }
    }

    /// Evicts a run that is not pinned and has arrived, if there is one. CLOCK (F. J. Corbato, *A
    /// Paging Experiment with the Multics System*, 1968): a run that was used since the hand last
    /// passed gets a second chance; a run that was announced and not used yet gets several.
    pub(super) fn evict(&mut self, purpose: Purpose) -> bool {
        let sweeps = if purpose == Purpose::Ahead { 2 } else { usize::from(LIVES) + 2 };
        let mut steps = self.slots.len() * sweeps;
        if purpose == Purpose::Ahead {
            steps = steps.min(SEARCH_MAX);
        }
        // If claims this much newer are already used, the older ones are forgotten.
        let forgotten = self.claim_used.saturating_sub(self.slots.len() as u64);
        for _ in 0..steps {
            self.hand = (self.hand + 1) % self.slots.len();
            let slot = &mut self.slots[self.hand];
            // Pins are made under the lock of this state, so a count of one cannot rise here.
            let is_free = slot.run.as_ref().is_some_and(|run| Arc::strong_count(run) == 1);
            if !is_free || slot.in_flight {
                continue;
            }
            if slot.claims > 0 && slot.claimed_at < forgotten {
                slot.claims = 0;
            }
            if slot.claims > 0 {
                if purpose != Purpose::Ahead {
                    slot.lives -= 1;
                    slot.claims = if slot.lives == 0 { 0 } else { slot.claims };
                }
            } else if !std::mem::take(&mut slot.referenced) {
                self.remove(self.hand);
                return true;
            }
        }
        false
    }

    fn remove(&mut self, number: usize) {
        if let Some(run) = self.slots[number].run.take() {
            self.table[run.pages.start as usize..run.pages.end as usize].fill(0);
            // `insert` made it, so it fits.
            self.free.push(number as u32);
        }
    }

    fn slot_of(&self, page: u64) -> Option<usize> {
        let entry = *self.table.get(page as usize)?;
        (entry as usize).checked_sub(1)
    }

    fn run(&self, slot: usize) -> &Arc<PageRun> {
        self.slots[slot].run.as_ref().expect("the table names slots that hold a run")
    }
}
