//! Times of iterations.

use std::fmt;
use std::time::Duration;

/// Most iterations whose times are kept. A path may have one iteration per vertex.
pub(crate) const TIMES_MAX: usize = 1 << 16;

/// Iterations of a run that are logged as `info`. Later ones are logged as `debug`.
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
    /// Returns the times of a single iteration.
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

    /// Returns the number of iterations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the times of the first 2^16 iterations.
    pub fn into_first(self) -> Vec<Duration> {
        self.first
    }
}
