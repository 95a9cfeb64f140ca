//! Memory for jobs: which ones are admitted, wait or are refused.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use tegula_machine::disk::Lease;
use tegula_machine::threads::{Cancel, lock};
use tegula_store::{Error, Result};

use tegula_store::graph::Graph;

use crate::overhead::{BLOCK_FRAMES, lease_with_overhead, overhead};
use crate::parts::Parts;
use crate::tile_source::{TileMemory, TileSource};

/// Time between two checks whether a waiting job was cancelled.
const LOOK: Duration = Duration::from_millis(50);

/// The memory that a job needs.
pub struct MemoryDemand<'n> {
    /// What needs it, for the error message.
    what: &'static str,
    /// Least bytes that the job holds until it leaves.
    held: u64,
    /// How many of the given free bytes it takes beyond `held`.
    takes_of: Box<dyn Fn(u64) -> u64 + 'n>,
    tiles: TilesRead,
}

/// Which tiles a job reads. The greatest of several jobs decides what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum TilesRead {
    /// It follows rows alone.
    #[default]
    None,
    /// It needs no weights.
    Unweighted,
    /// It needs weights.
    Weighted,
}

impl TilesRead {
    fn of(has_weights: bool) -> TilesRead {
        if has_weights { TilesRead::Weighted } else { TilesRead::Unweighted }
    }
}

impl<'n> MemoryDemand<'n> {
    /// Makes the demand of a job that scans and itself holds `held` bytes.
    pub fn scan(what: &'static str, held: u64, has_weights: bool) -> MemoryDemand<'n> {
        MemoryDemand { what, held, takes_of: Box::new(|_| 0), tiles: TilesRead::of(has_weights) }
    }

    /// Makes the demand of a job that only follows rows. Of the bytes that are free beside the
    /// `held` ones, it takes as many as `takes_of` returns.
    pub fn rows(
        what: &'static str,
        held: u64,
        takes_of: impl Fn(u64) -> u64 + 'n,
    ) -> MemoryDemand<'n> {
        MemoryDemand { what, held, takes_of: Box::new(takes_of), tiles: TilesRead::None }
    }

    /// Makes the demand of a job that scans and follows rows.
    pub fn both(
        what: &'static str,
        held: u64,
        has_weights: bool,
        takes_of: impl Fn(u64) -> u64 + 'n,
    ) -> MemoryDemand<'n> {
        let tiles = TilesRead::of(has_weights);
        MemoryDemand { what, held, takes_of: Box::new(takes_of), tiles }
    }
}

/// Leases memory to jobs: refuses them, makes them wait, and makes tiles give way.
pub struct Ledger<'g> {
    graph: &'g Graph,
    parts: Arc<Parts>,
    source: Arc<TileSource<'g>>,
    /// Bytes for all jobs and for the overhead.
    memory: u64,
    threads: usize,
    members: Mutex<Members>,
    /// The number of admitted jobs.
    count: AtomicUsize,
    /// Notified when a job has left or its frames have come back, so that another may find room.
    has_room: Condvar,
    /// Memory for code, tables and stacks. If even this has no room, every job is refused.
    _overhead: Option<Lease>,
}

/// The admitted and the waiting jobs.
#[derive(Default)]
struct Members {
    admitted: Vec<Member>,
    /// In the order of arrival.
    waiting: VecDeque<u64>,
    next_number: u64,
}

struct Member {
    number: u64,
    held: u64,
    tiles: TilesRead,
}

/// An admitted job. Its memory is leased as long as this lives.
pub struct Admitted<'l, 'g> {
    ledger: &'l Ledger<'g>,
    number: u64,
    lease: Option<Lease>,
    /// The index of the [`MemoryDemand`] that was met.
    pub choice: usize,
    /// Bytes beyond the held ones.
    pub taken: u64,
}

impl<'g> Ledger<'g> {
    /// Makes a ledger of `memory` bytes, but at most what the pool of the graph has left, for jobs
    /// on `threads` workers.
    pub fn new(
        graph: &'g Graph,
        parts: Arc<Parts>,
        source: Arc<TileSource<'g>>,
        memory: u64,
        threads: usize,
    ) -> Ledger<'g> {
        let pool = graph.reader().pool();
        Ledger {
            graph,
            parts,
            source,
            memory: memory.min(pool.frames_max()),
            threads,
            members: Mutex::default(),
            count: AtomicUsize::new(0),
            has_room: Condvar::new(),
            _overhead: lease_with_overhead(graph, "the run", 0).ok(),
        }
    }

    /// Returns the number of admitted jobs.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Wakes waiting jobs after frames have come back.
    pub fn note_room(&self) {
        self.has_room.notify_all();
    }

    /// Returns the bytes that all jobs share.
    pub fn memory(&self) -> u64 {
        self.memory
    }

    /// Waits until a job has its memory, by the first of several demands that fits.
    ///
    /// # Errors
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget) about the last demand, if none
    /// would fit even if the job were alone; cancellation.
    pub fn admit(&self, ways: &[MemoryDemand<'_>], cancel: &Cancel) -> Result<Admitted<'_, 'g>> {
        if let Some(last) =
            ways.last().filter(|_| ways.iter().all(|way| self.could_hold(way).is_err()))
        {
            self.could_hold(last)?;
        }
        let mut members = lock(&self.members);
        let number = members.next_number;
        members.next_number += 1;
        members.waiting.push_back(number);
        loop {
            let is_first = members.waiting.front() == Some(&number);
            let admitted =
                if is_first { self.try_admit(ways, number, &mut members) } else { Ok(None) };
            let is_cancelled = cancel.check();
            if let (Ok(None), Ok(())) = (&admitted, &is_cancelled) {
                let waited = self.has_room.wait_timeout(members, LOOK);
                members = waited.unwrap_or_else(|lock| lock.into_inner()).0;
                continue;
            }
            members.waiting.retain(|&waiting| waiting != number);
            self.has_room.notify_all();
            drop(members);
            is_cancelled?;
            return admitted?.ok_or(Error::cancelled());
        }
    }

    /// Returns the bytes that a job needs when it is alone.
    fn needed_alone(&self, demand: &MemoryDemand<'_>) -> u64 {
        demand.held + overhead(self.graph) + self.stream_min(demand.tiles)
    }

    /// Checks that a job would fit if it were alone.
    pub fn could_hold(&self, demand: &MemoryDemand<'_>) -> Result<()> {
        let (what, needed) = (demand.what.to_owned(), self.needed_alone(demand));
        let budget = self.memory;
        if needed <= budget { Ok(()) } else { Err(Error::over_budget(what, needed, budget)) }
    }

    fn stream_min(&self, tiles: TilesRead) -> u64 {
        let size = |has_weights| TileSource::size_min(&self.parts, self.threads, has_weights);
        match tiles {
            TilesRead::None => 0,
            TilesRead::Unweighted => size(false),
            TilesRead::Weighted => size(true),
        }
    }

    /// Admits a job if there is room now.
    fn try_admit(
        &self,
        ways: &[MemoryDemand<'_>],
        number: u64,
        members: &mut Members,
    ) -> Result<Option<Admitted<'_, 'g>>> {
        for (choice, demand) in ways.iter().enumerate() {
            let tiles = members.tiles().max(demand.tiles);
            let taken = overhead(self.graph) + members.held() + self.stream_min(tiles);
            let free = self.memory.saturating_sub(taken);
            if demand.held > free {
                continue;
            }
            let more = (demand.takes_of)(free - demand.held).min(free - demand.held);
            let held = demand.held + more;
            members.admitted.push(Member { number, held, tiles: demand.tiles });
            // Tiles without room go first.
            self.share_out(members);
            match self.graph.reader().pool().lease(demand.what, held) {
                Ok(lease) => {
                    let lease = Some(lease);
                    let (ledger, taken) = (self, more);
                    return Ok(Some(Admitted { ledger, number, lease, choice, taken }));
                }
                Err(error) => {
                    members.admitted.pop();
                    self.share_out(members);
                    // Frames of others that are in flight come back. If the job is alone, there are
                    // none.
                    return if members.admitted.is_empty() { Err(error.into()) } else { Ok(None) };
                }
            }
        }
        Ok(None)
    }

    /// Gives the tiles the memory that the admitted jobs leave.
    fn share_out(&self, members: &Members) {
        self.count.store(members.admitted.len(), Ordering::Relaxed);
        // If nobody scans, tiles left from earlier scans must make room, too.
        let has_weights = members.tiles() != TilesRead::Unweighted;
        let held = overhead(self.graph) + members.held();
        let lent = self.graph.reader().pool().frames_max().saturating_sub(BLOCK_FRAMES);
        let bytes = self.memory.saturating_sub(held).min(lent);
        self.source.resize(TileMemory { bytes, workers: self.threads, has_weights });
    }
}

impl Members {
    fn held(&self) -> u64 {
        self.admitted.iter().map(|member| member.held).sum()
    }

    /// Returns the tiles that are read for all jobs together.
    fn tiles(&self) -> TilesRead {
        self.admitted.iter().map(|member| member.tiles).max().unwrap_or_default()
    }
}

impl Drop for Admitted<'_, '_> {
    fn drop(&mut self) {
        let mut members = lock(&self.ledger.members);
        members.admitted.retain(|member| member.number != self.number);
        self.lease = None;
        self.ledger.share_out(&members);
        self.ledger.has_room.notify_all();
    }
}

#[cfg(test)]
mod tests;
