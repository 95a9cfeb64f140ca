//! Memory for jobs: which ones are admitted, wait or are refused.

use std::any::Any;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use tegula_machine::disk::Lease;
use tegula_machine::threads::{Cancel, lock};
use tegula_store::{Error, Result};

use tegula_store::graph::Graph;

use super::shared::{LOOK, Share, SharedKey, SharedValue};
use crate::overhead::{BLOCK_FRAMES, lease_with_overhead, overhead};
use crate::parts::Parts;
use crate::tile_source::{TileMemory, TileSource};

/// The memory that a job needs.
pub struct MemoryDemand<'n> {
    /// What needs it, for the error message.
    what: &'static str,
    /// Least bytes that the job holds until it leaves.
    held: u64,
    /// What it shares with other jobs.
    shares: Vec<Share>,
    takes_of: TakesOf<'n>,
    tiles: TilesRead,
}

/// Returns what a job takes of free bytes beyond the least ones. For each of its shares that is
/// held already, it gets the bytes beyond the least ones.
type TakesOf<'n> = Box<dyn Fn(u64, &[Option<u64>]) -> Taken + 'n>;

/// Bytes beyond the least ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// For the job alone.
    pub own: u64,
    /// For each of its shares, in their order. Where the share is held already, or there is no
    /// number, these are 0.
    pub shares: Vec<u64>,
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
        MemoryDemand::of(what, held, TilesRead::of(has_weights), |_| 0)
    }

    /// Makes the demand of a job that only follows rows and itself holds `held` bytes.
    pub fn rows(what: &'static str, held: u64) -> MemoryDemand<'n> {
        MemoryDemand::of(what, held, TilesRead::None, |_| 0)
    }

    /// Makes the demand of a job that scans and follows rows. Of the bytes that are free beside the
    /// `held` ones, it takes as many as `takes_of` returns.
    pub fn both(
        what: &'static str,
        held: u64,
        has_weights: bool,
        takes_of: impl Fn(u64) -> u64 + 'n,
    ) -> MemoryDemand<'n> {
        MemoryDemand::of(what, held, TilesRead::of(has_weights), takes_of)
    }

    fn of(
        what: &'static str,
        held: u64,
        tiles: TilesRead,
        takes_of: impl Fn(u64) -> u64 + 'n,
    ) -> MemoryDemand<'n> {
        let takes_of = move |free: u64, _: &[Option<u64>]| {
            let own = takes_of(free).min(free);
            Taken { own, shares: Vec::new() }
        };
        MemoryDemand { what, held, shares: Vec::new(), takes_of: Box::new(takes_of), tiles }
    }

    /// Adds shares that come before all others. `takes_of` replaces what the job takes of free
    /// bytes: it also gets, for each share that is held already, its bytes beyond the least ones.
    #[must_use]
    pub fn sharing(
        mut self,
        shares: impl IntoIterator<Item = Share>,
        takes_of: impl Fn(u64, &[Option<u64>]) -> Taken + 'n,
    ) -> MemoryDemand<'n> {
        self.shares.splice(..0, shares);
        MemoryDemand { takes_of: Box::new(takes_of), ..self }
    }

    /// Adds a share behind the others, of no more than the least bytes.
    #[must_use]
    pub fn with_share(mut self, share: Option<Share>) -> MemoryDemand<'n> {
        self.shares.extend(share);
        self
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
    shared: Vec<Shared>,
    /// In the order of arrival.
    waiting: VecDeque<u64>,
    next_number: u64,
}

struct Member {
    number: u64,
    held: u64,
    tiles: TilesRead,
}

/// A value that admitted jobs share.
struct Shared {
    value: SharedValue,
    held: u64,
    /// The number of jobs that use it.
    users: usize,
    lease: Option<Lease>,
}

/// An admitted job. Its memory is leased as long as this lives.
pub struct Admitted<'l, 'g> {
    ledger: &'l Ledger<'g>,
    number: u64,
    lease: Option<Lease>,
    /// What it shares with other jobs.
    shared: Vec<SharedValue>,
    /// The index of the [`MemoryDemand`] that was met.
    pub choice: usize,
    /// Bytes beyond the held ones, without those of shared values.
    pub taken: u64,
}

impl Admitted<'_, '_> {
    /// Returns a shared value of the demand. The first job loads it; `load` gets the bytes beyond
    /// the least ones.
    ///
    /// # Errors
    /// Those of `load`, after which another job may load; cancellation while another job loads.
    ///
    /// # Panics
    /// When the demand has no such value, or one of another type.
    pub fn load<T: Any + Send + Sync>(
        &self,
        key: SharedKey,
        cancel: &Cancel,
        load: impl FnOnce(u64) -> Result<T>,
    ) -> Result<Arc<T>> {
        let value = self.shared.iter().find(|value| value.key == key);
        value.expect("the demand has this share").load(cancel, load)
    }
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

    /// Returns the number of jobs that wait.
    #[cfg(test)]
    pub fn waiting_count(&self) -> usize {
        lock(&self.members).waiting.len()
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
        let shares: u64 = demand.shares.iter().map(|share| share.least).sum();
        demand.held + shares + overhead(self.graph) + self.stream_min(demand.tiles)
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
            let least = demand.held + members.missing(&demand.shares);
            let Some(free) = self.memory.checked_sub(taken + least) else { continue };
            let taken = (demand.takes_of)(free, &members.extras(&demand.shares));
            debug_assert!(taken.own + taken.shares.iter().sum::<u64>() <= free, "{taken:?}");
            let before = members.shared.len();
            let shared = members.enter(number, demand, &taken);
            // Tiles without room go first.
            self.share_out(members);
            match self.lease_new(
                demand.what,
                demand.held + taken.own,
                &mut members.shared[before..],
            ) {
                Ok(lease) => {
                    let (ledger, lease, taken) = (self, Some(lease), taken.own);
                    return Ok(Some(Admitted { ledger, number, lease, shared, choice, taken }));
                }
                Err(error) => {
                    let keys: Vec<SharedKey> = shared.iter().map(|value| value.key).collect();
                    drop(shared);
                    members.leave(number, &keys);
                    self.share_out(members);
                    // Frames of others that are in flight come back. If the job is alone, there are
                    // none.
                    return if members.admitted.is_empty() { Err(error) } else { Ok(None) };
                }
            }
        }
        Ok(None)
    }

    /// Leases the memory of a job and of the shared values that came with it.
    fn lease_new(&self, what: &str, held: u64, shared: &mut [Shared]) -> Result<Lease> {
        let pool = self.graph.reader().pool();
        for new in shared {
            new.lease = Some(pool.lease(what, new.held)?);
        }
        Ok(pool.lease(what, held)?)
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
        let shared: u64 = self.shared.iter().map(|shared| shared.held).sum();
        self.admitted.iter().map(|member| member.held).sum::<u64>() + shared
    }

    fn find(&self, key: SharedKey) -> Option<&Shared> {
        self.shared.iter().find(|shared| shared.value.key == key)
    }

    /// Returns the least bytes of the shares that are not held yet.
    fn missing(&self, shares: &[Share]) -> u64 {
        let missing = shares.iter().filter(|share| self.find(share.key).is_none());
        missing.map(|share| share.least).sum()
    }

    /// Returns the bytes beyond the least ones of each share that is held already.
    fn extras(&self, shares: &[Share]) -> Vec<Option<u64>> {
        shares.iter().map(|share| Some(self.find(share.key)?.value.extra)).collect()
    }

    /// Counts a job, and the shares of its demand that are not held yet. Returns its shared values.
    fn enter(&mut self, number: u64, demand: &MemoryDemand<'_>, taken: &Taken) -> Vec<SharedValue> {
        let (held, tiles) = (demand.held + taken.own, demand.tiles);
        self.admitted.push(Member { number, held, tiles });
        let extras = taken.shares.iter().copied().chain(std::iter::repeat(0));
        let shares = demand.shares.iter().zip(extras);
        shares.map(|(share, extra)| self.join(share, extra)).collect()
    }

    /// Counts a user of a shared value.
    fn join(&mut self, share: &Share, extra: u64) -> SharedValue {
        let place = self.shared.iter().position(|shared| shared.value.key == share.key);
        let place = place.unwrap_or_else(|| {
            let value = SharedValue::new(share.key, extra);
            self.shared.push(Shared { value, held: share.least + extra, users: 0, lease: None });
            self.shared.len() - 1
        });
        let shared = &mut self.shared[place];
        shared.users += 1;
        shared.value.clone()
    }

    /// Counts a job no longer, and frees the shared values that no other job uses.
    fn leave(&mut self, number: u64, keys: &[SharedKey]) {
        self.admitted.retain(|member| member.number != number);
        for shared in &mut self.shared {
            shared.users -= keys.iter().filter(|&&key| key == shared.value.key).count();
        }
        self.shared.retain(|shared| shared.users > 0);
    }

    /// Returns the tiles that are read for all jobs together.
    fn tiles(&self) -> TilesRead {
        self.admitted.iter().map(|member| member.tiles).max().unwrap_or_default()
    }
}

impl Drop for Admitted<'_, '_> {
    fn drop(&mut self) {
        let mut members = lock(&self.ledger.members);
        let keys: Vec<SharedKey> = self.shared.drain(..).map(|value| value.key).collect();
        members.leave(self.number, &keys);
        self.lease = None;
        self.ledger.share_out(&members);
        self.ledger.has_room.notify_all();
    }
}

#[cfg(test)]
mod tests;
