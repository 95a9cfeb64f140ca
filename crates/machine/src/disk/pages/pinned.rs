//! Ranges that were fetched together, and what keeps their bytes in memory.

use std::ops::Range;
use std::sync::Arc;

use crate::error::Result;

use super::page_run::PageRun;

/// Bytes from a [`PageCache`](super::PageCache). They stay in memory until this value is used again
/// or dropped. Using it again saves allocations.
#[derive(Default)]
pub struct Pinned {
    runs: Vec<Arc<PageRun>>,
    /// The slot of the last run in the cache.
    last_slot: Option<usize>,
    /// Runs that had not arrived when they were pinned.
    on_their_way: usize,
    spans: Vec<Span>,
    /// Indices of spans whose bytes lie in several runs, or end too close to the end of a run.
    split: Vec<usize>,
    scratch: Vec<u8>,
    /// Bytes that the split spans take in the scratch buffer.
    split_bytes: usize,
}

/// Where the bytes of a range are.
#[derive(Clone, Copy)]
struct Span {
    /// Index of the first run, or [`IN_SCRATCH`].
    run: usize,
    /// First byte in that run, or in the scratch buffer.
    start: usize,
    len: usize,
}

/// Bytes that can be read behind every range of [`Pinned::padded`].
pub(super) const SLACK: usize = 8;

const IN_SCRATCH: usize = usize::MAX;

/// Bytes of split ranges after which no further range is pinned. That much of the scratch buffer is
/// kept for reuse.
const SPLIT_BYTES_MAX: usize = 1 << 20;

impl Pinned {
    /// Returns the most bytes of copies that it holds, where no range exceeds `len` bytes.
    pub fn size_max(len: u64) -> u64 {
        (SPLIT_BYTES_MAX + SLACK) as u64 + len
    }

    /// Returns the number of pinned ranges.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns whether nothing is pinned.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the bytes of the `index`-th range.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn bytes(&self, index: usize) -> &[u8] {
        let Span { run, start, len } = self.spans[index];
        &self.source(run)[start..start + len]
    }

    /// Returns the bytes of the `index`-th range, followed by at least
    /// [`PageCache::SLACK`](super::PageCache::SLACK) bytes of arbitrary content.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    pub fn padded(&self, index: usize) -> &[u8] {
        let Span { run, start, .. } = self.spans[index];
        &self.source(run)[start..]
    }

    /// Iterates over the bytes of each range.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.len()).map(|index| self.bytes(index))
    }

    /// Unpins everything.
    pub fn clear(&mut self) {
        self.runs.clear();
        self.last_slot = None;
        self.on_their_way = 0;
        self.spans.clear();
        self.split.clear();
        self.split_bytes = 0;
        self.scratch.clear();
        self.scratch.shrink_to(SPLIT_BYTES_MAX);
    }

    fn source(&self, run: usize) -> &[u8] {
        if run == IN_SCRATCH { &self.scratch } else { self.runs[run].bytes() }
    }

    pub(super) fn runs(&self) -> &[Arc<PageRun>] {
        &self.runs
    }

    /// Returns the slot of the run that was pinned last.
    pub(super) fn last_slot(&self) -> Option<usize> {
        self.last_slot
    }

    /// Pins a run that lies in this slot of the cache.
    pub(super) fn push_run(&mut self, run: &Arc<PageRun>, slot: usize) {
        self.runs.push(Arc::clone(run));
        self.last_slot = Some(slot);
    }

    /// Unpins all but the first `len` runs; `last_slot` is the slot of the last one kept.
    pub(super) fn truncate_runs(&mut self, (len, last_slot): (usize, Option<usize>)) {
        self.runs.truncate(len);
        self.last_slot = last_slot;
    }

    /// Notes that one more run has to be waited for.
    pub(super) fn expect_arrival(&mut self) {
        self.on_their_way += 1;
    }

    /// Returns whether no further range may be pinned.
    pub(super) fn is_full(&self) -> bool {
        self.split_bytes >= SPLIT_BYTES_MAX
    }

    /// Returns the number of runs to wait for.
    pub(super) fn on_their_way(&self) -> usize {
        self.on_their_way
    }

    /// Adds a range whose bytes begin in run `first` and end in the last run.
    pub(super) fn push_range(&mut self, range: &Range<u64>, first: usize) {
        let len = (range.end - range.start) as usize;
        let run = self.runs.get(first).filter(|_| len > 0).map(|run| &run.range);
        let start = run.map_or(0, |run| (range.start - run.start) as usize);
        if run.is_none_or(|run| range.end + SLACK as u64 > run.end) {
            self.split.push(self.spans.len());
            self.split_bytes += len + SLACK;
        }
        self.spans.push(Span { run: first, start, len });
    }

    /// Copies each split range together, once all runs have arrived.
    pub(super) fn assemble(&mut self) {
        self.scratch.reserve_exact(self.split_bytes);
        for index in std::mem::take(&mut self.split) {
            let span = self.spans[index];
            let start = self.scratch.len();
            let (mut missing, mut skip) = (span.len, span.start);
            for run in self.runs.iter().skip(span.run) {
                if missing == 0 {
                    break;
                }
                let bytes = &run.bytes()[skip..];
                let part = bytes.len().min(missing);
                self.scratch.extend_from_slice(&bytes[..part]);
                (missing, skip) = (missing - part, 0);
            }
            debug_assert_eq!(missing, 0, "a range has all of its runs");
            self.scratch.resize(start + span.len + SLACK, 0);
            self.spans[index] = Span { run: IN_SCRATCH, start, len: span.len };
        }
    }

    /// Adds a range of `len` bytes that `read` fills in.
    pub(super) fn copy_in(
        &mut self,
        len: usize,
        read: impl FnOnce(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let start = self.scratch.len();
        self.scratch.reserve_exact(len + SLACK);
        self.scratch.resize(start + len + SLACK, 0);
        read(&mut self.scratch[start..start + len])?;
        self.spans.push(Span { run: IN_SCRATCH, start, len });
        Ok(())
    }
}
