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
    /// Bytes beyond the held ones, without those of shared values.
    pub taken: u64,
}

/// Memory that no other job gets. The runs that use it may come one after the other; what the last
/// one has held stays for its result. The memory is free again when this is dropped.
pub struct Reserve<'l> {
    admitted: Admitted<'l, 'l>,
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
    /// reserve does not wait behind others. While others wait, it gets no more than is reserved.
    ///
    /// # Errors
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget) about the last demand, if none
    /// would fit even if the job were alone, or if none fits into a reserve and no run will leave;
    /// cancellation.
    pub fn admit(
        &self,
        ways: &[MemoryDemand<'_>],
        within: Option<&Reserve<'_>>,
        cancel: &Cancel,
    ) -> Result<Admitted<'_, 'g>> {
        let within = within.map(|reserve| reserve.admitted.number);
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

    fn admit_as(
        &self,
        role: Role,
        ways: &[MemoryDemand<'_>],
        cancel: &Cancel,
    ) -> Result<Admitted<'_, 'g>> {
        if let Some(last) =
            ways.last().filter(|_| ways.iter().all(|way| self.could_hold(way).is_err()))
        {
            self.could_hold(last)?;
        }
        let mut members = lock(&self.members);
        let number = members.next_number;
        members.next_number += 1;
        let waits_in_line = !matches!(role, Role::Run { within: Some(_) });
        if waits_in_line {
            members.waiting.push_back(number);
        }
        loop {
            let is_next = !waits_in_line || members.waiting.front() == Some(&number);
            let admitted =
                if is_next { self.try_admit(ways, number, role, &mut members) } else { Ok(None) };
            let is_cancelled = cancel.check();
            if let Role::Run { within: Some(reserve) } = role
                && let (Ok(None), 0, Some(last)) = (&admitted, members.run_count(), ways.last())
            {
                // No run will leave, and callers with reserves might wait for each other.
                let reserved = overhead(self.graph) + members.reserved(reserve);
                let needed = self.needed_alone(last);
                return Err(Error::over_budget(last.what.to_owned(), needed, reserved));
            }
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

    /// Returns the bytes that are free for a demand beyond its least ones; `None` if there is no
    /// room for these.
    fn free_for(
        &self,
        demand: &MemoryDemand<'_>,
        role: Role,
        members: &mut Members,
    ) -> Option<u64> {
        let stream = |tiles| self.stream_min(tiles);
        let room = self.memory.checked_sub(overhead(self.graph))?;
        let end = match role {
            Role::Run { within: Some(_) } if !members.waiting.is_empty() => {
                room.min(members.held(stream))
            }
            Role::Run { .. } | Role::Reserve { .. } => room,
        };
        let used = members.with_least(role, demand, |members| match role {
            Role::Run { within: Some(reserve) } => {
                members.held(stream) - members.unused(reserve, stream)
            }
            Role::Run { within: None } | Role::Reserve { .. } => members.held(stream),
        });
        end.checked_sub(used)
    }

    /// Admits a job if there is room now.
    fn try_admit(
        &self,
        ways: &[MemoryDemand<'_>],
        number: u64,
        role: Role,
        members: &mut Members,
    ) -> Result<Option<Admitted<'_, 'g>>> {
        for (choice, demand) in ways.iter().enumerate() {
            let Some(free) = self.free_for(demand, role, members) else { continue };
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
                    return if members.run_count() == 0 { Err(error) } else { Ok(None) };
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
        // What it takes at least to read tiles is for these.
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
        self.shared.clear();
        members.leave(self.number);
        self.lease = None;
        self.ledger.share_out(&members);
        self.ledger.has_room.notify_all();
    }
}

#[cfg(test)]
mod tests;
