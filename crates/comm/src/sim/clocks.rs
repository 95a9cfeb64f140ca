//! The virtual clocks of the ranks, and what they prove about messages to come.

use std::time::Duration;

/// Nanoseconds of virtual time.
pub(super) type Time = u64;

/// A time that never comes.
pub(super) const NEVER: Time = Time::MAX;

/// The nanoseconds of a duration.
pub(super) fn nanoseconds(duration: Duration) -> Time {
    duration.as_nanos().try_into().unwrap_or(NEVER)
}

/// What a rank does as far as the others are concerned.
#[derive(Debug, Clone, Copy)]
pub(super) enum Activity {
    /// It computes or polls, and may send at its clock.
    Running,
    /// It waits for a message that has been sent and arrives at this time.
    Woken(Time),
    /// It waits for another rank to send.
    WaitsFor(usize),
    /// It sends no more.
    Gone,
}

/// Returns a time before which `rank` sends nothing: a rank that waits for another one sends only
/// after that one has sent to it, at least `latency` earlier.
pub(super) fn next_send_min(
    rank: usize,
    ranks: usize,
    latency: Time,
    state: impl Fn(usize) -> (Time, Activity),
) -> Time {
    let (mut rank, mut latencies, mut bound) = (rank, 0, 0);
    for _ in 0..ranks {
        let (clock, activity) = state(rank);
        let from_here = |time: Time| time.saturating_add(latencies);
        bound = bound.max(from_here(clock));
        match activity {
            Activity::Running => return bound,
            Activity::Woken(arrival) => return bound.max(from_here(arrival)),
            Activity::Gone => return NEVER,
            Activity::WaitsFor(other) => rank = other,
        }
        latencies = latencies.saturating_add(latency);
    }
    // These ranks wait for each other in a circle.
    NEVER
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(states: &[(Time, Activity)]) -> Time {
        next_send_min(0, states.len(), 10, |rank| states[rank])
    }

    #[test]
    fn a_rank_that_waits_sends_after_the_rank_it_waits_for() {
        use Activity::{Gone, Running, WaitsFor, Woken};
        assert_eq!(bound(&[(5, Running)]), 5);
        assert_eq!(bound(&[(5, Woken(7))]), 7);
        assert_eq!(bound(&[(5, WaitsFor(1)), (3, Running)]), 13);
        assert_eq!(bound(&[(50, WaitsFor(1)), (3, Running)]), 50);
        assert_eq!(bound(&[(5, WaitsFor(1)), (3, WaitsFor(2)), (4, Running)]), 24);
        assert_eq!(bound(&[(5, WaitsFor(1)), (3, WaitsFor(2)), (4, Woken(9))]), 29);
        assert_eq!(bound(&[(5, WaitsFor(1)), (3, Gone)]), NEVER);
        assert_eq!(bound(&[(5, WaitsFor(1)), (3, WaitsFor(0))]), NEVER);
    }
}
