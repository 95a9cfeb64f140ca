//! Ranks within one process, on a simulated cluster.
//!
//! Time is *virtual*: nothing waits for a simulated delay. Each rank has a clock, which stands
//! still while the rank computes and moves only in these ways:
//!
//! * A received message moves it to the message's time of arrival, if that is later. This is time
//!   spent waiting.
//! * A [`poll`](Comm::poll) without a message moves it by [`SimConfig::poll_time`].
//! * Any call may stall the rank by up to [`SimConfig::stall_max`].
//! * [`Sim::advance`] moves it by the time that work would take.
//!
//! A message leaves when its link is free, occupies the link for its bytes, and arrives after the
//! latency and a random delay. Each ordered pair of ranks has a link of its own, so ranks do not
//! share bandwidth. Messages with the same sender, receiver and tag arrive in order; other messages
//! may overtake each other. A message of a rank to itself arrives at once.
//!
//! A rank that polls waits, in real time, until the clocks of the others prove that nothing can
//! arrive earlier. So what a program of the ranks sees, and all virtual times, depend only on the
//! program and on [`SimConfig`], as long as one thread of each rank calls, and ranks wait for each
//! other only through messages. With more threads or other waits, messages are still exchanged as
//! [`Comm`] promises, but polls and times depend on the threads' real speed, and two ranks that
//! wait for each other in another way may hang.
//!
//! A [lost](Loss) rank fails with [`Error::Lost`] from some call on. What it has sent still
//! arrives. The first other rank that reaches the time at which [`SimConfig::silence`] has passed
//! ends the work of all with [`Error::Silent`]; a wait for a message that cannot come reaches this
//! time too. This end, as an abort, is outside of virtual time: it takes effect in all ranks at
//! once, however far they have come.

mod clocks;
mod config;
mod network;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tegula_machine::threads::{Cancel, lock};

pub use config::{Loss, SimConfig};
pub use network::{Link, SimStatistics};

use crate::comm::{Comm, MESSAGE_SIZE_MAX, MESSAGE_SIZE_MIN, Tag};
use crate::error::{Error, Result};
use crate::mailbox::CANCEL_LATENCY_MAX;
use network::{Found, Network};

/// A rank on a simulated cluster. See the [module](self). Dropping it ends the work of this rank.
pub struct Sim {
    rank: usize,
    shared: Arc<Shared>,
}

struct Shared {
    config: SimConfig,
    network: Mutex<Network>,
    changed: Condvar,
}

impl Sim {
    /// Makes `count` ranks that send each other messages.
    ///
    /// # Panics
    /// If [`SimConfig::message_size_max`] is not within [`MESSAGE_SIZE_MIN`] and
    /// [`MESSAGE_SIZE_MAX`], or [`SimConfig::loss`] names no rank.
    pub fn ranks(count: usize, config: &SimConfig) -> Vec<Sim> {
        assert!((MESSAGE_SIZE_MIN..=MESSAGE_SIZE_MAX).contains(&config.message_size_max));
        assert!(
            config.loss.is_none_or(|loss| loss.rank < count),
            "the lost rank is one of {count}"
        );
        let shared = Arc::new(Shared {
            config: config.clone(),
            network: Mutex::new(Network::new(count, config)),
            changed: Condvar::new(),
        });
        (0..count).map(|rank| Sim { rank, shared: Arc::clone(&shared) }).collect()
    }

    /// Moves this rank's clock by the time that its work would take on the simulated machine.
    pub fn advance(&self, time: Duration) -> Result<()> {
        let mut network = self.enter()?;
        network.advance(self.rank, time);
        self.changed();
        Ok(())
    }

    /// Returns the virtual times and the traffic of this rank so far.
    pub fn statistics(&self) -> SimStatistics {
        lock(&self.shared.network).statistics(self.rank)
    }

    /// Begins a call of this rank.
    fn enter(&self) -> Result<MutexGuard<'_, Network>> {
        let mut network = lock(&self.shared.network);
        let entered = network.enter(self.rank);
        // Even if the call fails: it may have ended the work of all.
        self.changed();
        entered.map(|()| network)
    }

    /// Tells all waiting threads that the network has changed.
    fn changed(&self) {
        self.shared.changed.notify_all();
    }

    fn wait<'n>(&self, network: MutexGuard<'n, Network>) -> MutexGuard<'n, Network> {
        let waited = self.shared.changed.wait_timeout(network, CANCEL_LATENCY_MAX);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Takes the message that a thread waits for, or fails; `None` if the thread has to go on
    /// waiting.
    fn try_receive(
        &self,
        network: &mut Network,
        from: usize,
        tag: Tag,
        is_idle: bool,
    ) -> Option<Result<Vec<u8>>> {
        let found = match network.find(self.rank, from, tag) {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        let error = match found {
            Found::Message(arrival) => {
                let waited = network.wait_until(self.rank, arrival);
                return Some(waited.map(|()| network.take(self.rank, from, tag)));
            }
            Found::Left => Error::Left { from, to: self.rank },
            Found::Silence => network.end_silent(),
            // A rank that waits elsewhere never reaches the time at which it notices the loss.
            Found::Unknown | Found::Never if is_idle && network.has_loss() => network.end_silent(),
            Found::Never if is_idle => network.end(Error::Stuck { from, to: self.rank }),
            Found::Unknown | Found::Never => return None,
        };
        Some(Err(error))
    }
}

/// Measures for how long, in real time, nothing has changed in the network.
struct Idle {
    changes: u64,
    since: Instant,
}

impl Idle {
    fn new(changes: u64) -> Idle {
        Idle { changes, since: Instant::now() }
    }

    fn time(&mut self, changes: u64) -> Duration {
        if changes != self.changes {
            *self = Idle::new(changes);
        }
        self.since.elapsed()
    }
}

impl Comm for Sim {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        lock(&self.shared.network).size()
    }

    fn send(&self, to: usize, tag: Tag, bytes: Vec<u8>) -> Result<()> {
        let mut network = self.enter()?;
        let (size, size_max) = (bytes.len(), self.shared.config.message_size_max);
        if size > size_max {
            return Err(Error::TooLong { to, size, size_max });
        }
        network.send(self.rank, to, tag, bytes);
        self.changed();
        Ok(())
    }

    fn poll(&self, from: usize, tag: Tag) -> Result<Option<Vec<u8>>> {
        let mut network = self.enter()?;
        loop {
            if let Some(has_come) = network.has_come(self.rank, from, tag)? {
                let polled = match has_come {
                    true => Ok(Some(network.take(self.rank, from, tag))),
                    false => network.poll_in_vain(self.rank).map(|()| None),
                };
                self.changed();
                return polled;
            }
            network = self.wait(network);
        }
    }

    fn receive(&self, from: usize, tag: Tag, cancel: &Cancel) -> Result<Vec<u8>> {
        let mut network = self.enter()?;
        network.begin_wait(self.rank, from, tag);
        self.changed();
        let mut idle = Idle::new(network.changes());
        let received = loop {
            let is_idle = idle.time(network.changes()) > self.shared.config.stuck_after;
            if let Some(received) = self.try_receive(&mut network, from, tag, is_idle) {
                break received;
            }
            if cancel.is_cancelled() {
                break Err(Error::Cancelled);
            }
            network = self.wait(network);
        };
        // Under the same lock: nobody may see a rank that has its message and still waits for it.
        network.end_wait(self.rank, from, tag);
        self.changed();
        received
    }

    fn abort(&self, reason: &str) {
        lock(&self.shared.network).abort(self.rank, reason);
        self.changed();
    }

    fn bytes_sent(&self) -> u64 {
        lock(&self.shared.network).bytes_sent(self.rank)
    }

    fn bytes_received(&self) -> u64 {
        lock(&self.shared.network).bytes_received(self.rank)
    }

    fn message_size_max(&self) -> usize {
        self.shared.config.message_size_max
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        lock(&self.shared.network).leave(self.rank);
        self.changed();
    }
}
