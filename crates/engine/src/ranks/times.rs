//! The times that a rank spends on other ranks.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tegula_machine::threads::lock;

/// The times of a run.
#[derive(Debug, Default)]
pub struct Times {
    pub exchanging: Clock,
    /// Waits of the workers for messages.
    pub exchanging_alone: Clock,
    /// Waits for packets, and until packets are taken.
    pub waiting: Clock,
    pub agreeing: Clock,
}

/// A sum of times.
#[derive(Debug, Default)]
pub struct Clock(Mutex<Duration>);

impl Clock {
    /// Begins a time, which ends when the result is dropped.
    pub fn start(&self) -> Timing<'_> {
        Timing { clock: self, since: Instant::now() }
    }

    /// Returns the sum.
    pub fn get(&self) -> Duration {
        *lock(&self.0)
    }
}

/// A time that has not ended.
pub struct Timing<'c> {
    clock: &'c Clock,
    since: Instant,
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        *lock(&self.clock.0) += self.since.elapsed();
    }
}
