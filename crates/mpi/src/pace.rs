//! How often an idle pump looks for messages.

use std::time::{Duration, Instant};

use crate::outbox::Outbox;

/// How long an idle pump looks without a break. The answer to a short message comes within this
/// time: with 100 microseconds instead, a round trip takes 20 times as long on two busy cores.
const AWAKE: Duration = Duration::from_micros(300);
/// A break is this part of the time since the last message, so waiting takes little longer by it.
const NAP_PART: u32 = 8;
/// The longest break. A pump that looks every millisecond takes 3 % of a core.
const NAP_MAX: Duration = Duration::from_millis(1);

/// Makes breaks while nothing happens, longer and longer ones.
pub(crate) struct Pace {
    idle_since: Option<Instant>,
}

impl Pace {
    pub(crate) fn new() -> Pace {
        Pace { idle_since: None }
    }

    /// Notes that the pump had something to do.
    pub(crate) fn quicken(&mut self) {
        self.idle_since = None;
    }

    /// Makes a break, which ends early if a thread of this rank sends.
    pub(crate) fn rest(&mut self, now: Instant, outbox: &Outbox) {
        let idle = now.saturating_duration_since(*self.idle_since.get_or_insert(now));
        if idle < AWAKE {
            // The threads of this rank may need the core.
            std::thread::yield_now();
        } else {
            outbox.nap((idle / NAP_PART).min(NAP_MAX));
        }
    }
}
