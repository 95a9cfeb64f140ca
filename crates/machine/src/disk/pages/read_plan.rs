//! Plans requests for missing pages: coalesced, within the targets and the free memory.

use std::ops::Range;
use std::sync::Arc;

use crate::disk::pool::Pool;

use super::state::{Purpose, State};

/// The [`Targets`](super::Targets) in the units of a cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Reads in flight.
    pub(super) requests: usize,
    /// Bytes in flight at which no further request begins.
    pub(super) bytes: u64,
    /// Reads to wait for together.
    pub(super) awaited: usize,
    /// Most pages of one request.
    pub(super) run_pages: u64,
    /// Most unwanted pages to read in order to save a request.
    pub(super) gap_pages: u64,
}

/// Requests about to be made. Their pages are missing, and each lies in one request only.
pub(super) struct ReadPlan<'p> {
    limits: Limits,
    pool: &'p Arc<Pool>,
    page_log2: u32,
    purpose: Purpose,
    wanted: Vec<Wanted>,
    /// Requests that may still be added, and their bytes. A request that has begun may grow beyond
    /// `bytes_left`, and a page that is needed at once exceeds both.
    requests_left: usize,
    bytes_left: u64,
    is_limited: bool,
    /// Memory that the requests take.
    memory: u64,
}

/// A request: neighbouring pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) first: u64,
    pub(super) end: u64,
    /// Number of ranges that will use it.
    pub(super) claims: u32,
}

impl<'p> ReadPlan<'p> {
    pub(super) fn new(
        limits: Limits,
        pool: &'p Arc<Pool>,
        page_log2: u32,
        purpose: Purpose,
        state: &mut State,
    ) -> ReadPlan<'p> {
        let (requests, bytes) = state.in_flight();
        if requests >= limits.requests || bytes >= limits.bytes {
            state.reap();
        }
        let (requests, bytes) = state.in_flight();
        ReadPlan {
            limits,
            pool,
            page_log2,
            purpose,
            wanted: Vec::new(),
            requests_left: limits.requests.saturating_sub(requests),
            bytes_left: limits.bytes.saturating_sub(bytes),
            is_limited: purpose != Purpose::Now,
            memory: 0,
        }
    }

    /// Makes the targets apply from now on.
    pub(super) fn limit_to_targets(&mut self) {
        self.is_limited = true;
    }

    pub(super) fn into_parts(self) -> (Vec<Wanted>, Purpose) {
        (self.wanted, self.purpose)
    }

    /// Ensures that all these pages are held, on their way or planned. Returns false where a target
    /// is reached or memory is lacking; some of the pages may be planned then.
    pub(super) fn want(&mut self, state: &mut State, pages: Range<u64>) -> bool {
        let mut page = pages.start;
        while page < pages.end {
            page = match (state.held_to(page), self.planned(page)) {
                (Some(end), _) => end,
                (None, Some(index)) => self.wanted[index].end,
                (None, None) if self.add(state, page) => page + 1,
                (None, None) => return false,
            };
        }
        if self.purpose == Purpose::Ahead {
            self.claim(state, pages);
        }
        true
    }

    /// Notes for each run and each planned request of the pages that one more range will use it.
    fn claim(&mut self, state: &mut State, pages: Range<u64>) {
        let mut page = pages.start;
        while page < pages.end {
            page = match (state.held_to(page), self.planned(page)) {
                (Some(end), _) => {
                    state.claim(page);
                    end
                }
                (None, Some(index)) => {
                    self.wanted[index].claims += 1;
                    self.wanted[index].end
                }
                // It was evicted to make room for a later page of the range.
                (None, None) => page + 1,
            };
        }
    }

    /// Returns the planned request with a page. Searches from the latest one, which is the
    /// likeliest.
    fn planned(&self, page: u64) -> Option<usize> {
        self.wanted.iter().rposition(|wanted| (wanted.first..wanted.end).contains(&page))
    }

    /// Plans to read a missing page, as part of a neighbouring request or as its own.
    fn add(&mut self, state: &mut State, page: u64) -> bool {
        let below = |wanted: &Wanted| page.checked_sub(wanted.end);
        let above = |wanted: &Wanted| wanted.first.checked_sub(page + 1);
        for (index, is_below) in [(self.nearest(below), true), (self.nearest(above), false)] {
            let Some(index) = index else { continue };
            let old = self.wanted[index];
            let (first, end) = if is_below { (old.first, page + 1) } else { (page, old.end) };
            let mut gap = if is_below { old.end..page } else { page + 1..old.first };
            let is_near = gap.end - gap.start <= self.limits.gap_pages;
            let is_short = end - first <= self.limits.run_pages;
            if is_near && is_short && gap.all(|page| state.held_to(page).is_none()) {
                let added = (end - first) - (old.end - old.first);
                if !self.take(
                    state,
                    added,
                    self.size(&old),
                    self.size(&Wanted { first, end, ..old }),
                ) {
                    return false;
                }
                self.wanted[index] = Wanted { first, end, ..old };
                return true;
            }
        }
        let single = Wanted { first: page, end: page + 1, claims: 0 };
        let is_first = self.wanted.is_empty() && state.in_flight().0 == 0;
        let has_left = self.requests_left > 0 && (self.bytes_left > 0 || is_first);
        if self.is_limited && !has_left {
            return false;
        }
        if !self.take(state, 1, 0, self.size(&single)) {
            return false;
        }
        self.requests_left = self.requests_left.saturating_sub(1);
        self.wanted.push(single);
        true
    }

    /// Returns the request at the smallest distance, among those for which `distance` has a value.
    fn nearest(&self, distance: impl Fn(&Wanted) -> Option<u64>) -> Option<usize> {
        let distances = self.wanted.iter().enumerate();
        let distances = distances.filter_map(|(index, wanted)| Some((distance(wanted)?, index)));
        distances.min().map(|(_, index)| index)
    }

    /// Returns the memory that a request takes.
    fn size(&self, wanted: &Wanted) -> u64 {
        let bytes = (wanted.end - wanted.first) << self.page_log2;
        self.pool.buffer_size(usize::try_from(bytes).unwrap_or(usize::MAX)) as u64
    }

    /// Takes `pages` from the bytes left, and makes room for a request that grows from `old` to
    /// `new` bytes. Returns false where it finds no room.
    fn take(&mut self, state: &mut State, pages: u64, old: u64, new: u64) -> bool {
        let memory = self.memory - old + new;
        let mut has_reaped = false;
        while self.pool.available() < memory {
            if !state.evict(self.purpose) {
                if has_reaped {
                    return false;
                }
                state.reap();
                has_reaped = true;
            }
        }
        self.memory = memory;
        self.bytes_left = self.bytes_left.saturating_sub(pages << self.page_log2);
        true
    }
}
