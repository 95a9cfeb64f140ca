//! Which requests to make: pages that are missing, coalesced, as far as targets and room allow.

use std::ops::Range;
use std::sync::Arc;

use crate::disk::pool::Pool;

use super::state::{Purpose, State};

/// The targets in the units of a cache.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Reads in flight.
    pub(super) requests: usize,
    /// Bytes in flight from which on no further request begins.
    pub(super) bytes: u64,
    /// Reads that are waited for together.
    pub(super) awaited: usize,
    /// Pages of one request.
    pub(super) run_pages: u64,
    /// Pages that are read through to save a request.
    pub(super) gap_pages: u64,
}

/// Requests that are about to be made. Their pages are missing, and in one request only.
pub(super) struct ReadPlan<'p> {
    limits: Limits,
    pool: &'p Arc<Pool>,
    page_log2: u32,
    purpose: Purpose,
    wanted: Vec<Wanted>,
    /// Requests and bytes that may still be added. A request that was begun is made as large as it
    /// is wanted, and what is needed at once exceeds both.
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
    /// Ranges that announced their use of it.
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

    /// From now on the targets hold.
    pub(super) fn limit_to_targets(&mut self) {
        self.is_limited = true;
    }

    pub(super) fn into_parts(self) -> (Vec<Wanted>, Purpose) {
        (self.wanted, self.purpose)
    }

    /// Sees to it that all these pages are held, on their way or planned. False where a target is
    /// reached or room is lacking; some of the pages may be planned then.
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

    /// Notes for each run and request of the pages that one more range will use it.
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
                // Had to make room for a later page of the range.
                (None, None) => page + 1,
            };
        }
    }

    /// The request that has a page. Looks at the latest first: that is mostly the one.
    fn planned(&self, page: u64) -> Option<usize> {
        self.wanted.iter().rposition(|wanted| (wanted.first..wanted.end).contains(&page))
    }

    /// Plans to read a missing page: with its neighbours, or as a request of its own.
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

    /// The request at the smallest distance, which lies on the side where there is one.
    fn nearest(&self, distance: impl Fn(&Wanted) -> Option<u64>) -> Option<usize> {
        let distances = self.wanted.iter().enumerate();
        let distances = distances.filter_map(|(index, wanted)| Some((distance(wanted)?, index)));
        distances.min().map(|(_, index)| index)
    }

    /// Memory that a request takes.
    fn size(&self, wanted: &Wanted) -> u64 {
        let bytes = (wanted.end - wanted.first) << self.page_log2;
        self.pool.buffer_size(usize::try_from(bytes).unwrap_or(usize::MAX)) as u64
    }

    /// Takes `pages` of the targets, and finds memory for a request that grows from `old` to `new`
    /// bytes.
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
