//! A read that is on its way: the waiter's end and the worker's end.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::error::{Error, Result};
use crate::threads::lock;

use super::buffer::Frame;
use super::pool::Pool;

/// A frame that is being read. Dropping it without waiting is safe: a read that has not begun is
/// cancelled; otherwise its memory returns to the pool once the kernel is done.
#[must_use = "a request that nobody waits for is called off"]
pub struct Pending {
    slot: Arc<Slot>,
    pool: Arc<Pool>,
}

/// The other end of a [`Pending`]. If it is dropped without an answer, it answers that its worker
/// died.
pub(super) struct Promise {
    slot: Arc<Slot>,
}

#[derive(Default)]
struct Slot {
    state: Mutex<State>,
    answered: Condvar,
}

#[derive(Default)]
enum State {
    #[default]
    Open,
    Answered(Result<Frame>),
    /// The answer was taken, or nobody wants it any more.
    Closed,
}

/// Makes both ends of a new read.
pub(super) fn promise(pool: &Arc<Pool>) -> (Promise, Pending) {
    let slot = Arc::new(Slot::default());
    (Promise { slot: Arc::clone(&slot) }, Pending { slot, pool: Arc::clone(pool) })
}

impl Pending {
    /// Waits until the frame is there, or the read has failed.
    pub fn wait(self) -> Result<Frame> {
        let mut state = self.slot.lock();
        loop {
            match std::mem::replace(&mut *state, State::Closed) {
                State::Answered(answer) => return answer,
                State::Open => *state = State::Open,
                // Only `wait` and `drop` close a slot, and both consume the one `Pending`.
                State::Closed => return Err(worker_died()),
            }
            let woken = self.slot.answered.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns whether [`wait`](Pending::wait) would return at once.
    pub fn is_ready(&self) -> bool {
        !matches!(*self.slot.lock(), State::Open)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let answer = std::mem::replace(&mut *self.slot.lock(), State::Closed);
        if let State::Open = answer {
            // It may be first in the queue for memory: let the requests behind it pass.
            self.pool.grant_waiting();
        }
    }
}

impl Promise {
    /// Answers the waiter. If there is none any more, the frame goes back to its pool.
    pub(super) fn answer(self, answer: Result<Frame>) {
        self.slot.answer(answer);
    }

    pub(super) fn is_abandoned(&self) -> bool {
        matches!(*self.slot.lock(), State::Closed)
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.slot.answer(Err(worker_died()));
    }
}

impl Slot {
    /// Stores the answer if it is the first. An answer that nobody takes is dropped after the lock
    /// is released, because a frame that returns to its pool may start other reads.
    fn answer(&self, answer: Result<Frame>) {
        let mut state = self.lock();
        if let State::Open = *state {
            *state = State::Answered(answer);
            self.answered.notify_all();
        } else {
            drop(state);
            drop(answer);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is replaced in one step, so a poisoned lock still guards a consistent state.
        lock(&self.state)
    }
}

fn worker_died() -> Error {
    Error::WorkerFailed { detail: "the thread that reads files has stopped".to_owned() }
}

impl fmt::Debug for Pending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_ready() { "Pending(ready)" } else { "Pending(on its way)" })
    }
}
