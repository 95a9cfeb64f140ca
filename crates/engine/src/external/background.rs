//! Exchanges the messages of the next segment while the workers scan the one at work.
//!
//! ```text
//!  workers   | generate 1 | scan 0     | generate 2 | scan 1     | ...
//!  exchange               | segment 1  |            | segment 2  | ...
//! ```
//!
//! A separate thread exchanges messages, because it mostly waits. If the system cannot start it, or
//! it has not begun when the messages are wanted, the worker that wants them exchanges them. So the
//! exchanges of a rank are always the same, one after the other, whichever thread does them.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Scope;

use tegula_machine::threads::{guarded, lock, start_in};
use tegula_store::{Error, Result};

use crate::program::Value;
use crate::ranks::Ranks;
use crate::superstep::exchange::Exchange;

/// Exchanges messages of segments with the other ranks of a run.
pub struct BackgroundExchange<'r, M> {
    ranks: Arc<Ranks<'r>>,
    stage: Mutex<Stage<'r, M>>,
    /// Notified when the stage changes.
    changed: Condvar,
}

/// How far the exchange of a segment is.
enum Stage<'r, M> {
    /// There is none.
    Idle,
    /// Nobody has begun it.
    Ready {
        exchange: Exchange<'r, M>,
        segment: usize,
    },
    Running,
    Done {
        exchange: Exchange<'r, M>,
        result: Result<()>,
    },
    /// The run has ended, and so does the thread.
    Over,
}

impl<'r, M: Value + PartialEq> BackgroundExchange<'r, M> {
    /// Makes an exchange between the ranks of a run.
    pub fn new(ranks: Ranks<'r>) -> BackgroundExchange<'r, M> {
        BackgroundExchange {
            ranks: Arc::new(ranks),
            stage: Mutex::new(Stage::Idle),
            changed: Condvar::new(),
        }
    }

    /// Returns the ranks.
    pub fn ranks(&self) -> &Arc<Ranks<'r>> {
        &self.ranks
    }

    /// Calls `body`, and exchanges messages on a thread meanwhile. An exchange that is not done
    /// then ends without a result.
    pub fn scope<R>(&self, body: impl FnOnce() -> R) -> R {
        std::thread::scope(|scope| {
            // Dropped even if `body` panics. Otherwise the scope would wait for the thread for
            // ever.
            let _ending = Ending(self);
            self.start_in(scope);
            body()
        })
    }

    fn start_in<'s>(&'s self, scope: &'s Scope<'s, '_>) {
        // `shortage` records a refusal. Then the workers exchange the messages.
        drop(start_in(scope, "tegula-exchange", || self.run_until_over()));
    }

    /// Begins to exchange the messages of a segment. The messages of this rank must be in their
    /// places.
    pub fn begin(&self, exchange: Exchange<'r, M>, segment: usize) {
        let mut stage = lock(&self.stage);
        assert!(matches!(*stage, Stage::Idle), "the exchange before was not waited for");
        *stage = Stage::Ready { exchange, segment };
        self.changed.notify_all();
    }

    /// Waits until the exchange that was begun last is done, and returns its messages; `None` if
    /// none was begun.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn wait(&self) -> Result<Option<Exchange<'r, M>>> {
        let _waiting = self.ranks.begin_wait();
        let mut stage = lock(&self.stage);
        loop {
            match std::mem::replace(&mut *stage, Stage::Idle) {
                Stage::Idle => return Ok(None),
                Stage::Ready { mut exchange, segment } => {
                    // The thread has not begun. It finds `Idle` from now on, so it does not begin.
                    drop(stage);
                    return exchange.bring_others(segment).map(|()| Some(exchange));
                }
                Stage::Running => *stage = Stage::Running,
                Stage::Done { exchange, result } => return result.map(|()| Some(exchange)),
                Stage::Over => {
                    *stage = Stage::Over;
                    return Err(Error::cancelled());
                }
            }
            stage = self.changed.wait(stage).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Exchanges the messages of a segment at once.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn exchange_now(&self, exchange: &mut Exchange<'r, M>, segment: usize) -> Result<()> {
        let _waiting = self.ranks.begin_wait();
        exchange.bring_others(segment)
    }

    fn run_until_over(&self) {
        let mut stage = lock(&self.stage);
        loop {
            match std::mem::replace(&mut *stage, Stage::Running) {
                Stage::Over => {
                    *stage = Stage::Over;
                    return;
                }
                Stage::Ready { mut exchange, segment } => {
                    drop(stage);
                    // After a panic the stage would stay `Running`, and `wait` would not end.
                    let result = guarded(|| exchange.bring_others(segment));
                    stage = lock(&self.stage);
                    // The run may have ended meanwhile. Then nobody takes the result.
                    if matches!(*stage, Stage::Running) {
                        *stage = Stage::Done { exchange, result };
                        self.changed.notify_all();
                    }
                }
                other => {
                    *stage = other;
                    stage = self.changed.wait(stage).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

/// Ends the thread when dropped.
struct Ending<'e, 'r, M>(&'e BackgroundExchange<'r, M>);

impl<M> Drop for Ending<'_, '_, M> {
    fn drop(&mut self) {
        let BackgroundExchange { ranks, stage, changed } = self.0;
        if let Stage::Running = std::mem::replace(&mut *lock(stage), Stage::Over) {
            // The run has failed, and the others may take long to notice.
            ranks.give_up();
        }
        changed.notify_all();
    }
}
