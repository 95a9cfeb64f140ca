//! The memory of all frames, and other memory counted with it, under one hard budget.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use super::buffer::{Buffer, GRID, Mapping};
use crate::error::{Error, Result};
use crate::threads::lock;

/// Lends buffers. Lent, idle and [leased](Pool::lease) memory together never exceed its budget.
///
/// A returned buffer stays idle for the next request of its size, which saves the page faults of
/// fresh memory. Idle buffers are freed when a request of another size, or a lease, needs the room.
pub struct Pool {
    budget: usize,
    state: Mutex<State>,
    /// What the present leases of [`lease_sharing`](Self::lease_sharing) have in common.
    shared: Mutex<Weak<Lease>>,
}

/// Memory that belongs to no frame, but counts against the budget of a pool while this lives.
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

/// A request for a buffer, which is called when there is one.
pub(super) trait Waiter: Send {
    /// Returns the bytes of the buffer, as given by [`Pool::buffer_size`].
    fn size(&self) -> usize;
    /// Returns whether nobody wants the buffer any more.
    fn is_abandoned(&self) -> bool;
    /// Takes the buffer, or the error that the operating system has no memory.
    fn grant(self: Box<Self>, memory: io::Result<Buffer>);
}

/// A thread that waits for a buffer.
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
        // The channel has room for one message, and the borrower waits.
        drop(self.lender.send(memory));
    }
}

#[derive(Default)]
struct State {
    /// Bytes of leases.
    leased: usize,
    lent: usize,
    idle: BTreeMap<usize, Vec<Mapping>>,
    idle_bytes: usize,
    peak: usize,
    waiting: VecDeque<Box<dyn Waiter>>,
    /// A thread is granting memory; other threads leave it to that one.
    granting: bool,
}

/// What to do for the first request in the queue.
enum Turn {
    Skip(Box<dyn Waiter>),
    Grant(Box<dyn Waiter>, Option<Mapping>),
}

impl Pool {
    /// Makes a pool of at most `budget_bytes`. It allocates nothing before it is needed.
    pub fn new(budget_bytes: u64) -> Arc<Pool> {
        let budget = usize::try_from(budget_bytes).unwrap_or(usize::MAX);
        Arc::new(Pool { budget, state: Mutex::default(), shared: Mutex::default() })
    }

    /// Returns the most bytes that frames may take: what leases leave of the budget.
    pub fn frames_max(&self) -> u64 {
        self.lock().frames_max(self.budget) as u64
    }

    /// Returns the bytes that could be lent right now. Idle buffers count as available.
    pub fn available(&self) -> u64 {
        let state = self.lock();
        (state.frames_max(self.budget) - state.lent) as u64
    }

    /// Counts memory that belongs to no frame. Idle buffers are freed to make room for it. Lent
    /// buffers and requests in the queue keep their room.
    ///
    /// # Errors
    /// [`Error::OverBudget`], which names `what`, where the budget has fewer bytes left.
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

    /// Leases `own` bytes, and `shared` bytes that count only once while several such leases live. If
    /// more bytes are asked for than are shared already, they are leased anew.
    ///
    /// # Errors
    /// The error of [`lease`](Self::lease).
    pub fn lease_sharing(
        self: &Arc<Self>,
        what: &str,
        shared: u64,
        own: u64,
    ) -> Result<(Arc<Lease>, Lease)> {
        let mut present = lock(&self.shared);
        if let Some(present) = present.upgrade()
            && present.bytes as u64 >= shared
        {
            return Ok((present, self.lease(what, own)?));
        }
        let mut own = self.lease(what, shared.saturating_add(own))?;
        // It is no more than the budget, which is a `usize`.
        let bytes = shared as usize;
        own.bytes -= bytes;
        let shared = Arc::new(Lease { pool: Arc::clone(self), bytes });
        *present = Arc::downgrade(&shared);
        Ok((shared, own))
    }

    /// Returns the most bytes that the pool ever had, lent and idle together.
    pub fn peak(&self) -> u64 {
        self.lock().peak as u64
    }

    /// Frees all idle buffers, for when the next phase has a better use for the memory.
    pub fn trim(&self) {
        let mut state = self.lock();
        state.idle.clear();
        state.idle_bytes = 0;
    }

    /// Returns the size of the buffer that holds `bytes`. There are eight sizes per doubling, so
    /// that buffers can be reused and less than 1/8 is wasted.
    pub(super) fn buffer_size(&self, bytes: usize) -> usize {
        let pages = bytes.checked_next_multiple_of(GRID).unwrap_or(usize::MAX);
        let class = Pool::size_class(bytes);
        if class as u64 > self.frames_max() { pages } else { class }
    }

    /// Returns the size of the buffer for `bytes`, regardless of the budget.
    pub(super) fn size_class(bytes: usize) -> usize {
        let step = (1usize << bytes.max(1).ilog2()) / 8;
        bytes.checked_next_multiple_of(step.max(GRID)).unwrap_or(usize::MAX)
    }

    /// Returns a buffer of at least `bytes`, once there is room. The caller must not keep a buffer
    /// that others wait for.
    pub(super) fn lend(self: &Arc<Self>, bytes: usize) -> io::Result<Buffer> {
        let (lender, lent) = crossbeam_channel::bounded(1);
        self.enqueue(Box::new(Borrower { size: self.buffer_size(bytes), lender }));
        self.grant_waiting();
        lent.recv().unwrap_or_else(|_| Err(io::ErrorKind::OutOfMemory.into()))
    }

    /// Queues a request for memory. The caller then calls [`grant_waiting`](Pool::grant_waiting).
    pub(super) fn enqueue(&self, waiter: Box<dyn Waiter>) {
        self.lock().waiting.push_back(waiter);
    }

    /// Returns buffers of all `sizes`, or `None` where it would have to wait.
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
        let lent: Vec<_> = pairs.map(|(&size, mapping)| self.deliver(size, mapping)).collect();
        if lent.iter().any(Result::is_err) {
            // A request may have been queued while the bytes counted as lent.
            self.grant_waiting();
        }
        Some(lent)
    }

    /// Grants memory from the head of the queue, while there is enough for the first request.
    ///
    /// Granting may itself return memory (a read that fails at once), and so call this again. The
    /// flag turns that recursion into another turn of the loop.
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

    /// Makes a buffer whose bytes are already counted as lent.
    fn deliver(self: &Arc<Self>, size: usize, idle: Option<Mapping>) -> io::Result<Buffer> {
        match idle.map_or_else(|| Mapping::new(size), Ok) {
            Ok(mapping) => Ok(Buffer::new(mapping, Arc::clone(self))),
            Err(error) => {
                self.lock().lent -= size;
                Err(error)
            }
        }
    }

    /// Takes back a buffer that is no longer used.
    pub(super) fn take_back(self: &Arc<Self>, mapping: Mapping) {
        {
            let mut state = self.lock();
            state.lent -= mapping.len();
            state.idle_bytes += mapping.len();
            state.idle.entry(mapping.len()).or_default().push(mapping);
        }
        self.grant_waiting();
    }

    /// Takes a lost buffer of `len` bytes off the books.
    pub(super) fn write_off(self: &Arc<Self>, len: usize) {
        self.lock().lent -= len;
        self.grant_waiting();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs between two changes that belong together, so a poisoned lock
        // still guards a consistent state.
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

    /// Counts `size` bytes as lent and makes room for them. Returns an idle buffer of that size, or
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

    /// Frees idle buffers until the budget holds all.
    fn make_room(&mut self, budget: usize) {
        while self.leased + self.lent + self.idle_bytes > budget {
            let Some(mut largest) = self.idle.last_entry() else { break };
            match largest.get_mut().pop() {
                Some(mapping) => self.idle_bytes -= mapping.len(),
                None => drop(largest.remove()),
            }
        }
    }

    /// Returns the most bytes that frames may take. A lease is granted only where the lent bytes
    /// still fit.
    fn frames_max(&self, budget: usize) -> usize {
        budget - self.leased
    }
}

/// Ends a turn of granting memory, even by a panic.
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

    /// Waits for a buffer of this size, and sends it.
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
    fn leases_count_what_they_share_once_until_the_last_is_dropped() {
        let pool = Pool::new(100);
        let refused = pool.lease_sharing("it", 60, 41).map(drop);
        assert!(matches!(refused, Err(Error::OverBudget { needed: 101, .. })), "{refused:?}");
        let first = pool.lease_sharing("it", 60, 10).unwrap();
        let second = pool.lease_sharing("it", 50, 30).unwrap();
        assert_eq!(pool.available(), 0);
        drop(first);
        assert_eq!(pool.available(), 10, "the second still needs what they share");
        drop(second);
        assert_eq!(pool.available(), 100);
        let small = pool.lease_sharing("it", 30, 0).unwrap();
        let large = pool.lease_sharing("it", 60, 5).unwrap();
        assert_eq!(pool.available(), 5, "more than the present one is leased anew");
        drop((small, large));
        assert_eq!(pool.available(), 100);
    }

    #[test]
    fn waiting_requests_come_before_leases_and_get_returned_memory() {
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
