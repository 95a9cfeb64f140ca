//! How long iterations took.

use std::fmt;
use std::time::Duration;

/// Iterations of which the times are kept: a path has as many as vertices.
pub(crate) const TIMES_MAX: usize = 1 << 16;

/// Iterations of a run that are logged at the level of information. All are at that of debugging.
const LOGGED_MAX: u64 = 1000;

/// Logs an iteration that has ended.
pub(crate) fn log_iteration(number: u64, text: fmt::Arguments<'_>) {
    if number < LOGGED_MAX {
        tracing::info!("iteration {number}: {text}");
    } else {
        tracing::debug!("iteration {number}: {text}");
    }
}

/// The number of iterations, and the times of the first of them.
#[derive(Debug, Clone, Default)]
pub struct IterationTimes {
    count: u64,
    first: Vec<Duration>,
}

impl From<Duration> for IterationTimes {
    /// Of a single one.
    fn from(took: Duration) -> IterationTimes {
        IterationTimes { count: 1, first: vec![took] }
    }
}

impl IterationTimes {
    /// Adds an iteration.
    pub fn push(&mut self, took: Duration) {
        self.count += 1;
        if self.first.len() < TIMES_MAX {
            self.first.push(took);
        }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The times of the first 2^16.
    pub fn into_first(self) -> Vec<Duration> {
        self.first
    }
}
