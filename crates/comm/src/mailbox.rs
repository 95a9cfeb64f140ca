//! The messages that have arrived at a rank and were not taken yet.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tegula_machine::threads::{Cancel, lock};

use crate::comm::Tag;
use crate::error::{Error, Result};

/// How often a waiting thread looks whether it was cancelled.
pub(crate) const CANCEL_LATENCY_MAX: Duration = Duration::from_millis(50);

/// The messages that have arrived at a rank. Its transport delivers them; any threads take them.
pub struct Mailbox {
    rank: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queues: HashMap<(usize, Tag), VecDeque<Vec<u8>>>,
    /// Ranks that send no more.
    left: Vec<usize>,
    /// Why the work of all ranks has ended.
    end: Option<Error>,
    bytes_taken: u64,
    waiting: usize,
}

impl Mailbox {
    /// Makes the empty mailbox of a rank.
    pub fn new(rank: usize) -> Mailbox {
        Mailbox { rank, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Adds a message of `from`.
    pub fn deliver(&self, from: usize, tag: Tag, bytes: Vec<u8>) {
        let mut state = lock(&self.state);
        state.queues.entry((from, tag)).or_default().push_back(bytes);
        self.wake(&state);
    }

    /// Ends the work: all calls fail with this error. Only the first call counts.
    pub fn end(&self, error: Error) {
        let mut state = lock(&self.state);
        state.end.get_or_insert(error);
        self.wake(&state);
    }

    /// Notes that `from` sends no more. What it has sent can still be taken.
    pub fn leave(&self, from: usize) {
        let mut state = lock(&self.state);
        state.left.push(from);
        self.wake(&state);
    }

    /// Fails once the work has ended.
    pub fn check(&self) -> Result<()> {
        lock(&self.state).check()
    }

    /// Takes the next message, as [`Comm::poll`](crate::Comm::poll) does.
    pub fn poll(&self, from: usize, tag: Tag) -> Result<Option<Vec<u8>>> {
        let mut state = lock(&self.state);
        state.check()?;
        Ok(state.take(self.rank, from, tag))
    }

    /// Waits for the next message, as [`Comm::receive`](crate::Comm::receive) does.
    pub fn receive(&self, from: usize, tag: Tag, cancel: &Cancel) -> Result<Vec<u8>> {
        let mut state = lock(&self.state);
        loop {
            state.check()?;
            if let Some(bytes) = state.take(self.rank, from, tag) {
                return Ok(bytes);
            }
            // Only now, since what it sent before it left can still be taken.
            if state.left.contains(&from) {
                return Err(Error::Left { from, to: self.rank });
            }
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            state.waiting += 1;
            let waited = self.changed.wait_timeout(state, CANCEL_LATENCY_MAX);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
    }

    /// Returns the bytes of all messages of other ranks that were taken.
    pub fn bytes_taken(&self) -> u64 {
        lock(&self.state).bytes_taken
    }

    /// Wakes all threads that wait: each may wait for another message.
    fn wake(&self, state: &State) {
        if state.waiting > 0 {
            self.changed.notify_all();
        }
    }
}

impl State {
    fn check(&self) -> Result<()> {
        self.end.clone().map_or(Ok(()), Err)
    }

    fn take(&mut self, rank: usize, from: usize, tag: Tag) -> Option<Vec<u8>> {
        let queue = self.queues.get_mut(&(from, tag))?;
        let bytes = queue.pop_front()?;
        // Tags come and go, for example with jobs.
        if queue.is_empty() {
            self.queues.remove(&(from, tag));
        }
        if from != rank {
            self.bytes_taken += bytes.len() as u64;
        }
        Some(bytes)
    }
}
