//! Memory for jobs: which ones are admitted, wait or are refused.

mod members;

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use tegula_machine::disk::Lease;
use tegula_machine::threads::{Cancel, lock};
use tegula_store::graph::Graph;
use tegula_store::{Error, Result};

use self::members::{Members, Role, Shared};
use super::demand::{MemoryDemand, TilesRead};
use super::shared::{LOOK, SharedKey, SharedValue};
use crate::memory::{BLOCK_FRAMES, lease_with_overhead, overhead};
use crate::parts::Parts;
use crate::tile_source::{TileMemory, TileSource};

/// Leases memory to jobs: refuses them, makes them wait, and makes tiles give way.
pub struct Ledger<'g> {
    graph: &'g Graph,
    parts: Arc<Parts>,
    source: Arc<TileSource<'g>>,
    /// Bytes for all jobs and for the overhead.
    memory: u64,
    threads: usize,
    members: Mutex<Members>,
    /// The number of admitted runs.
    count: AtomicUsize,
    /// Notified when a job has left or its frames have come back, so that another may find room.
    has_room: Condvar,
    /// Memory for code, tables and stacks. If even this has no room, every job is refused.
    _overhead: Option<(Arc<Lease>, Lease)>,
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
    /// Bytes beyond the held ones. Shared values do not count.
    pub taken: u64,
}

/// Memory set aside for the runs of one caller, one run at a time. After a run, the bytes that it
/// held stay counted for its result. The memory is free again when this is dropped.
pub struct Reserve<'l> {
    admitted: Admitted<'l, 'l>,
}

impl Admitted<'_, '_> {
    /// Returns a shared value of the demand. The first job loads it; `load` gets the bytes beyond
    /// the least ones.
    ///
    /// # Errors
    /// Cancellation while another job loads. If `load` fails, another job may load.
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
        let shared = lease_with_overhead(graph, "the run", 0).ok();
        let leased = shared.as_ref().map_or(0, |_| overhead(graph) - BLOCK_FRAMES);
        let left = graph.reader().pool().frames_max();
        Ledger {
            graph,
            parts,
            source,
            // `leased` is added, because each look at free bytes subtracts the overhead again.
            memory: memory.min(left + leased),
            threads,
            members: Mutex::default(),
            count: AtomicUsize::new(0),
            has_room: Condvar::new(),
            _overhead: shared,
        }
    }

    /// Returns whether a reserve is of this ledger.
    pub fn has_made(&self, reserve: &Reserve<'_>) -> bool {
        std::ptr::addr_eq(reserve.admitted.ledger, self)
    }

    /// Returns the number of admitted runs.
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

    /// Waits until a run has its memory, by the first of several demands that fits. A run within a
    /// reserve does not wait behind others. While others wait, it gets no more than its reserve, or
    /// than its last run has left.
    ///
    /// # Errors
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget) about the last demand, if none
    /// would fit even if the job were alone, or if none fits beside other reserves and no run is
    /// left that could free memory; cancellation.
    ///
    /// # Panics
    /// When another run within the same reserve has not ended.
    pub fn admit(
        &self,
        ways: &[MemoryDemand<'_>],
        within: Option<&Reserve<'_>>,
        cancel: &Cancel,
    ) -> Result<Admitted<'_, 'g>> {
        let within = within.map(|reserve| reserve.admitted.number);
        let is_busy = within.is_some_and(|reserve| lock(&self.members).has_runs_within(reserve));
        assert!(!is_busy, "a reserve is for one run at a time");
        self.admit_as(Role::Run { within }, ways, cancel)
    }

    /// Waits until `bytes` can be reserved.
    ///
    /// # Errors
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget) if they would not fit even if no
    /// job were there; cancellation.
    pub fn reserve(&self, bytes: u64, cancel: &Cancel) -> Result<Reserve<'_>> {
        let demand = MemoryDemand::rows("the job", bytes);
        let mut admitted = self.admit_as(Role::Reserve { kept: 0 }, &[demand], cancel)?;
        // Its runs lease what they use.
        admitted.lease = None;
        Ok(Reserve { admitted })
    }

    /// Admits a holder of `held` bytes without waiting. Returns `None` if they are not free, or if
    /// anyone waits for memory.
    pub fn admit_now(&self, what: &'static str, held: u64) -> Option<Admitted<'_, 'g>> {
        let mut members = lock(&self.members);
        if !members.waiting.is_empty() || !members.waiting_within.is_empty() {
            return None;
        }
        let number = members.next_number;
        members.next_number += 1;
        let (demand, role) = (MemoryDemand::rows(what, held), Role::Run { within: None });
        self.try_admit(&[demand], number, role, self.memory, &mut members).ok().flatten()
    }

    fn admit_as(
        &self,
        role: Role,
        ways: &[MemoryDemand<'_>],
        cancel: &Cancel,
    ) -> Result<Admitted<'_, 'g>> {
        // Refused before it stands in line, where it would block all behind it for ever.
        if let Some(last) =
            ways.last().filter(|_| ways.iter().all(|way| self.could_hold(way).is_err()))
        {
            self.could_hold(last)?;
        }
        let mut members = lock(&self.members);
        let number = members.next_number;
        members.next_number += 1;
        let waits_in_line = !matches!(role, Role::Run { within: Some(_) });
        match waits_in_line {
            true => members.waiting.push_back(number),
            false => members.waiting_within.push(number),
        }
        loop {
            // Runs within reserves come first. Else those in the line could overtake them for ever.
            let is_first = members.waiting.front() == Some(&number);
            let is_next = !waits_in_line || is_first && members.waiting_within.is_empty();
            let mut admitted =
                if is_next { self.admit_next(ways, number, role, &mut members) } else { Ok(None) };
            let is_cancelled = cancel.check();
            if let Role::Run { within: Some(reserve) } = role
                && let (Ok(None), Some(last)) = (&admitted, ways.last())
                && self.is_hopeless(ways, role, &mut members)
            {
                // Callers with reserves might wait for each other.
                let left = self.memory - members.reserved_beside(reserve);
                let needed = self.needed_alone(last);
                admitted = Err(Error::over_budget(last.what.to_owned(), needed, left));
            }
            if let (Ok(None), Ok(())) = (&admitted, &is_cancelled) {
                // With a limit, because a cancellation notifies nobody.
                let waited = self.has_room.wait_timeout(members, LOOK);
                members = waited.unwrap_or_else(|lock| lock.into_inner()).0;
                continue;
            }
            members.waiting.retain(|&waiting| waiting != number);
            members.waiting_within.retain(|&waiting| waiting != number);
            // Others may be first in line now, even if this one was refused.
            self.has_room.notify_all();
            // Dropping `admitted` takes this lock, too.
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

    /// Returns whether a member does not fit although no run is there.
    fn is_hopeless(&self, ways: &[MemoryDemand<'_>], role: Role, members: &mut Members) -> bool {
        let is_alone = members.run_count() == 0;
        let fits = |way| self.free_for(way, role, self.memory, members).is_some();
        is_alone && !ways.iter().any(fits)
    }

    /// Returns how many bytes of `memory` a demand may take beyond its least ones; `None` if these
    /// do not fit.
    fn free_for(
        &self,
        demand: &MemoryDemand<'_>,
        role: Role,
        memory: u64,
        members: &mut Members,
    ) -> Option<u64> {
        let stream = |tiles| self.stream_min(tiles);
        let (held, unused) = members.with_least(role, demand, |members| {
            let unused = match role {
                Role::Run { within: Some(reserve) } => members.unused(reserve, stream),
                Role::Run { within: None } | Role::Reserve { .. } => 0,
            };
            (members.held(stream), unused)
        });
        Some(memory.checked_sub(overhead(self.graph) + held)? + unused)
    }

    /// Admits the next job if there is room now. While others wait, a run within a reserve gets no
    /// more than is counted for it already, unless it needs more and no other run is there.
    fn admit_next(
        &self,
        ways: &[MemoryDemand<'_>],
        number: u64,
        role: Role,
        members: &mut Members,
    ) -> Result<Option<Admitted<'_, 'g>>> {
        if matches!(role, Role::Run { within: Some(_) }) && !members.waiting.is_empty() {
            let held = overhead(self.graph) + members.held(|tiles| self.stream_min(tiles));
            let admitted = self.try_admit(ways, number, role, held.min(self.memory), members)?;
            if admitted.is_some() || members.run_count() > 0 {
                return Ok(admitted);
            }
        }
        self.try_admit(ways, number, role, self.memory, members)
    }

    /// Admits a job if it fits into `memory` bytes now.
    fn try_admit(
        &self,
        ways: &[MemoryDemand<'_>],
        number: u64,
        role: Role,
        memory: u64,
        members: &mut Members,
    ) -> Result<Option<Admitted<'_, 'g>>> {
        for (choice, demand) in ways.iter().enumerate() {
            let Some(free) = self.free_for(demand, role, memory, members) else { continue };
            let taken = (demand.takes_of)(free, &members.extras(&demand.shares));
            debug_assert!(taken.own + taken.shares.iter().sum::<u64>() <= free, "{taken:?}");
            let before = members.shared.len();
            let shared = members.enter(number, role, demand, &taken);
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
                    drop(shared);
                    members.withdraw(number);
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
        self.count.store(members.run_count(), Ordering::Relaxed);
        // If nobody scans, tiles left from earlier scans must make room, too.
        let has_weights = members.tiles() != TilesRead::Unweighted;
        // `held` has the least bytes for reading tiles, which are for these.
        let stream = self.stream_min(members.tiles());
        let held = overhead(self.graph) + members.held(|_| stream) - stream;
        let lent = self.graph.reader().pool().frames_max().saturating_sub(BLOCK_FRAMES);
        let bytes = self.memory.saturating_sub(held).min(lent);
        self.source.resize(TileMemory { bytes, workers: self.threads, has_weights });
    }
}

impl Drop for Admitted<'_, '_> {
    fn drop(&mut self) {
        let mut members = lock(&self.ledger.members);
        // Values go before the leases that count them, and leases before tiles get the memory.
        self.shared.clear();
        members.leave(self.number);
        self.lease = None;
        self.ledger.share_out(&members);
        self.ledger.has_room.notify_all();
    }
}

#[cfg(test)]
mod tests;
