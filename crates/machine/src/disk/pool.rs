//! The memory of all frames, and of whatever else is counted with them, under one hard budget.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use super::buffer::{Buffer, GRID, Mapping};
use crate::error::{Error, Result};
use crate::threads::lock;

/// Lends buffers and never has more memory than its budget: lent, idle and [leased](Pool::lease)
/// together.
///
/// Buffers that come back are kept idle for the next request of their size, which saves the page
/// faults of fresh memory; they are let go when a request of another size, or a lease, needs the room.
pub struct Pool {
    budget: usize,
    state: Mutex<State>,
}

/// Memory that is no frame's, counted in the budget of a pool for as long as this lives.
#[must_use = "dropping it gives the memory back"]
#[derive(Debug)]
pub struct Lease {
    pool: Arc<Pool>,
    bytes: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.pool.lock().leased -= self.bytes;
        self.pool.grant_waiting();
    }
}

/// Someone who wants a buffer and is called when there is one.
pub(super) trait Waiter: Send {
    /// Bytes of the buffer, as [`Pool::buffer_size`] gives them.
    fn size(&self) -> usize;
    /// Whether nobody is interested any more.
    fn is_abandoned(&self) -> bool;
    /// Takes the buffer, or learns that the operating system has no memory.
    fn grant(self: Box<Self>, memory: io::Result<Buffer>);
}

/// Someone who waits for a buffer.
struct Borrower {
    size: usize,
    lender: crossbeam_channel::Sender<io::Result<Buffer>>,
}

impl Waiter for Borrower {
    fn size(&self) -> usize {
        self.size
    }

    fn is_abandoned(&self) -> bool {
        false
    }

    fn grant(self: Box<Self>, memory: io::Result<Buffer>) {
        // There is room for one, and the borrower waits.
        drop(self.lender.send(memory));
    }
}

#[derive(Default)]
struct State {
    /// By leases.
    leased: usize,
    lent: usize,
    idle: BTreeMap<usize, Vec<Mapping>>,
    idle_bytes: usize,
    peak: usize,
    waiting: VecDeque<Box<dyn Waiter>>,
    /// A thread is handing out memory; others leave it to that one.
    granting: bool,
}

/// What is to be done for the first in the queue.
enum Turn {
    Skip(Box<dyn Waiter>),
    Grant(Box<dyn Waiter>, Option<Mapping>),
}

impl Pool {
    /// A pool of at most `budget_bytes`. Nothing is allocated before it is needed.
    pub fn new(budget_bytes: u64) -> Arc<Pool> {
        let budget = usize::try_from(budget_bytes).unwrap_or(usize::MAX);
        Arc::new(Pool { budget, state: Mutex::default() })
    }

    /// Bytes that frames may take at most: what leases leave of the budget.
    pub fn frames_max(&self) -> u64 {
        self.lock().frames_max(self.budget) as u64
    }

    /// Bytes that could be lent right now. Idle buffers count as available.
    pub fn available(&self) -> u64 {
        let state = self.lock();
        (state.frames_max(self.budget) - state.lent) as u64
    }

    /// Counts memory that is no frame's. Idle buffers make room for it; those that are lent, or waited
    /// for, have to come back before.
    ///
    /// # Errors
    /// [`Error::OverBudget`], about `what`, where that is more than the budget has left.
    pub fn lease(self: &Arc<Self>, what: &str, bytes: u64) -> Result<Lease> {
        let mut state = self.lock();
        let waiting: usize = state.waiting.iter().map(|waiter| waiter.size()).sum();
        let taken = state.leased.saturating_add(state.lent).saturating_add(waiting);
        let size = usize::try_from(bytes).unwrap_or(usize::MAX);
        let needed = taken.saturating_add(size);
        if needed > self.budget {
            let (needed, budget) = (needed as u64, self.budget as u64);
            return Err(Error::OverBudget { what: what.to_owned(), needed, budget });
        }
        state.leased += size;
        state.make_room(self.budget);
        Ok(Lease { pool: Arc::clone(self), bytes: size })
    }

    /// The most bytes that the pool ever had, lent and idle together.
    pub fn peak(&self) -> u64 {
        self.lock().peak as u64
    }

    /// Lets go of all idle buffers, for when what comes next has a better use for the memory.
    pub fn trim(&self) {
        let mut state = self.lock();
        state.idle.clear();
        state.idle_bytes = 0;
    }

    /// The size of the buffer that holds `bytes`: sizes come in eight steps per doubling, so
    /// that buffers can be used again, at less than 1/8 of waste.
    pub(super) fn buffer_size(&self, bytes: usize) -> usize {
        let pages = bytes.checked_next_multiple_of(GRID).unwrap_or(usize::MAX);
        let class = Pool::size_class(bytes);
        if class as u64 > self.frames_max() { pages } else { class }
    }

    /// The size of the buffer where there is room for any.
    pub(super) fn size_class(bytes: usize) -> usize {
        let step = (1usize << bytes.max(1).ilog2()) / 8;
        bytes.checked_next_multiple_of(step.max(GRID)).unwrap_or(usize::MAX)
    }

    /// A buffer of at least so many bytes, as soon as there is room. Whoever calls this keeps none that others wait
    /// for.
    pub(super) fn lend(self: &Arc<Self>, bytes: usize) -> io::Result<Buffer> {
        let (lender, lent) = crossbeam_channel::bounded(1);
        self.enqueue(Box::new(Borrower { size: self.buffer_size(bytes), lender }));
        self.grant_waiting();
        lent.recv().unwrap_or_else(|_| Err(io::ErrorKind::OutOfMemory.into()))
    }

    /// Queues someone who wants memory. [`grant_waiting`](Pool::grant_waiting) is called after.
    pub(super) fn enqueue(&self, waiter: Box<dyn Waiter>) {
        self.lock().waiting.push_back(waiter);
    }

    /// Buffers of all `sizes`, or none where that would mean to wait.
    pub(super) fn try_lend(self: &Arc<Self>, sizes: &[usize]) -> Option<Vec<io::Result<Buffer>>> {
        let mappings: Vec<Option<Mapping>> = {
            let mut state = self.lock();
            let total = sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size))?;
            if !state.waiting.is_empty() || total > state.frames_max(self.budget) - state.lent {
                return None;
            }
            sizes.iter().map(|&size| state.lend(size, self.budget)).collect()
        };
        let pairs = sizes.iter().zip(mappings);
        Some(pairs.map(|(&size, mapping)| self.deliver(size, mapping)).collect())
    }

    /// Gives memory to those at the head of the queue, while there is enough for the first.
    ///
    /// Handing out may itself return memory (a read that fails at once), and so lead back to
    /// here; the flag turns that recursion into another turn of the loop.
    pub(super) fn grant_waiting(self: &Arc<Self>) {
        loop {
            let turn = {
                let mut state = self.lock();
                if state.granting {
                    return;
                }
                let Some(turn) = state.next_turn(self.budget) else { return };
                state.granting = true;
                turn
            };
            let granting = Granting(self);
            match turn {
                Turn::Skip(waiter) => drop(waiter),
                Turn::Grant(waiter, mapping) => {
                    let memory = self.deliver(waiter.size(), mapping);
                    waiter.grant(memory);
                }
            }
            drop(granting);
        }
    }

    /// Makes the buffer whose bytes are already counted as lent.
    fn deliver(self: &Arc<Self>, size: usize, idle: Option<Mapping>) -> io::Result<Buffer> {
        match idle.map_or_else(|| Mapping::new(size), Ok) {
            Ok(mapping) => Ok(Buffer::new(mapping, Arc::clone(self))),
            Err(error) => {
                self.lock().lent -= size;
                Err(error)
            }
        }
    }

    /// A buffer is no longer used.
    pub(super) fn take_back(self: &Arc<Self>, mapping: Mapping) {
        {
            let mut state = self.lock();
            state.lent -= mapping.len();
            state.idle_bytes += mapping.len();
            state.idle.entry(mapping.len()).or_default().push(mapping);
        }
        self.grant_waiting();
    }

    /// A buffer of `len` bytes is lost.
    pub(super) fn write_off(self: &Arc<Self>, len: usize) {
        self.lock().lent -= len;
        self.grant_waiting();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs between two changes of the state that belong together, so
        // a lock poisoned by a panic elsewhere still guards a sound state.
        lock(&self.state)
    }
}

impl State {
    fn next_turn(&mut self, budget: usize) -> Option<Turn> {
        let first = self.waiting.front()?;
        if first.is_abandoned() {
            return self.waiting.pop_front().map(Turn::Skip);
        }
        let size = first.size();
        if size > self.frames_max(budget) - self.lent {
            return None;
        }
        let first = self.waiting.pop_front()?;
        let mapping = self.lend(size, budget);
        Some(Turn::Grant(first, mapping))
    }

    /// Counts `size` bytes as lent and makes room for them: an idle buffer of that size, or
    /// `None` when one has to be mapped. The caller has checked that they fit the budget.
    fn lend(&mut self, size: usize, budget: usize) -> Option<Mapping> {
        self.lent += size;
        let reused = self.idle.get_mut(&size).and_then(Vec::pop);
        if reused.is_some() {
            self.idle_bytes -= size;
        }
        self.make_room(budget);
        self.peak = self.peak.max(self.lent + self.idle_bytes);
        reused
    }

    /// Lets go of idle buffers until the budget holds all.
    fn make_room(&mut self, budget: usize) {
        while self.leased + self.lent + self.idle_bytes > budget {
            let Some(mut largest) = self.idle.last_entry() else { break };
            match largest.get_mut().pop() {
                Some(mapping) => self.idle_bytes -= mapping.len(),
                None => drop(largest.remove()),
            }
        }
    }

    /// Bytes that frames may take at most. A lease is given only where what is lent has room beside it.
    fn frames_max(&self, budget: usize) -> usize {
        budget - self.leased
    }
}

/// Ends a turn of handing out memory, even by panic.
struct Granting<'p>(&'p Pool);

impl Drop for Granting<'_> {
    fn drop(&mut self) {
        self.0.lock().granting = false;
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pool({} of {} bytes available)", self.available(), self.budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffer_sizes_waste_less_than_an_eighth_or_a_page() {
        let pool = Pool::new(1 << 40);
        for bytes in (1..100_000).chain([1 << 20, (1 << 20) + 1, 123_456_789]) {
            let size = pool.buffer_size(bytes);
            assert!(size >= bytes && size.is_multiple_of(GRID), "{bytes} -> {size}");
            assert!(size - bytes < GRID.max(bytes / 8 + 1), "{bytes} -> {size}");
        }
    }

    #[test]
    fn a_request_of_the_whole_budget_fits_it() {
        let pool = Pool::new(9 * 4096 * 1024 + 4096);
        assert_eq!(pool.buffer_size(9 * 4096 * 1024 + 1), 9 * 4096 * 1024 + 4096);
    }

    #[test]
    fn idle_buffers_are_used_again_and_give_way_to_other_sizes() {
        let pool = Pool::new(64 * 1024);
        let lend = |size| pool.try_lend(&[size]).map(|mut lent| lent.remove(0).expect("memory"));
        let address = lend(32 * 1024).map(|buffer| buffer.bytes().as_ptr() as usize);
        assert_eq!(pool.available(), 64 * 1024);
        let again = lend(32 * 1024).expect("it came back");
        assert_eq!(address, Some(again.bytes().as_ptr() as usize));
        drop(again);
        assert_eq!(pool.lock().idle_bytes, 32 * 1024);
        pool.trim();
        assert_eq!(pool.lock().idle_bytes, 0);
        drop(lend(32 * 1024).expect("memory"));
        let large = lend(64 * 1024).expect("the idle buffer gives way");
        assert!(lend(4096).is_none());
        drop(large);
        assert_eq!(pool.peak(), 64 * 1024);
    }

    #[test]
    fn a_lease_takes_from_frames_until_it_is_dropped() {
        let pool = Pool::new(64 * 1024);
        let lend = |size| pool.try_lend(&[size]).map(|mut lent| lent.remove(0).expect("memory"));
        drop(lend(32 * 1024).expect("memory"));
        let lease = pool.lease("a test", 48 * 1024).expect("the idle buffer gives way");
        assert_eq!(pool.lock().idle_bytes, 0);
        assert_eq!(pool.frames_max(), 16 * 1024);
        assert!(lend(32 * 1024).is_none());
        let lent = lend(16 * 1024).expect("there is as much left");
        let refused = pool.lease("another", 1);
        assert!(matches!(refused, Err(Error::OverBudget { needed, budget, .. })
            if (needed, budget) == (64 * 1024 + 1, 64 * 1024)));
        drop(lease);
        assert_eq!(pool.available(), 48 * 1024);
        drop(lent);
    }

    /// Waits for a buffer of a size, and tells when it has one.
    struct Waiting(usize, std::sync::mpsc::Sender<Buffer>);

    impl Waiter for Waiting {
        fn size(&self) -> usize {
            self.0
        }

        fn is_abandoned(&self) -> bool {
            false
        }

        fn grant(self: Box<Self>, memory: io::Result<Buffer>) {
            self.1.send(memory.expect("memory")).expect("the test listens");
        }
    }

    #[test]
    fn who_waits_for_memory_comes_before_a_lease_and_gets_what_a_lease_gives_back() {
        let pool = Pool::new(64 * 1024);
        let lease = pool.lease("a test", 48 * 1024).expect("nothing is lent");
        let (granted, buffers) = std::sync::mpsc::channel();
        pool.enqueue(Box::new(Waiting(32 * 1024, granted)));
        pool.grant_waiting();
        assert!(buffers.try_recv().is_err(), "there is no room");
        assert!(pool.lease("another", 8 * 1024).is_err(), "the one who waits comes first");
        drop(lease);
        assert_eq!(buffers.try_recv().expect("there is room now").bytes().len(), 32 * 1024);
    }
}
