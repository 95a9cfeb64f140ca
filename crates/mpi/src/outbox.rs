//! Messages that a rank's threads hand to its pump.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use tegula_machine::threads::lock;

/// A message to another rank.
pub(crate) struct Outgoing {
    pub(crate) to: usize,
    pub(crate) mpi_tag: i32,
    pub(crate) bytes: Vec<u8>,
}

/// What the pump has to do.
#[derive(Default)]
pub(crate) struct Outbox {
    state: Mutex<State>,
    rung: Condvar,
}

#[derive(Default)]
struct State {
    messages: Vec<Outgoing>,
    is_work_done: bool,
    is_rung: bool,
    is_pump_asleep: bool,
}

impl Outbox {
    pub(crate) fn push(&self, message: Outgoing) {
        self.change(|state| state.messages.push(message));
    }

    /// Tells the pump that the work of this rank is done.
    pub(crate) fn finish(&self) {
        self.change(|state| state.is_work_done = true);
    }

    /// Wakes the pump, to look at the mailbox.
    pub(crate) fn ring(&self) {
        self.change(|_| {});
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        state.is_rung = true;
        if state.is_pump_asleep {
            self.rung.notify_one();
        }
    }

    /// Moves all messages to `messages`. Returns whether the work is done, so that no more come.
    pub(crate) fn take(&self, messages: &mut Vec<Outgoing>) -> bool {
        let mut state = lock(&self.state);
        state.is_rung = false;
        messages.append(&mut state.messages);
        state.is_work_done
    }

    /// Waits until something changes after [`take`](Outbox::take), at most for `time`.
    pub(crate) fn nap(&self, time: Duration) {
        let mut state = lock(&self.state);
        // A message that came after `take` must not wait for the end of the nap.
        if !state.is_rung {
            state.is_pump_asleep = true;
            let waited = self.rung.wait_timeout(state, time);
            waited.unwrap_or_else(PoisonError::into_inner).0.is_pump_asleep = false;
        }
    }
}
