//! The run of a rank, cut at the ends of its iterations.

use std::time::Instant;

use tegula_comm::Comm;
use tegula_machine::threads::lock;

use super::Ranks;
use crate::rank_statistics::{MovedBytes, RankInterval, RankIntervals};

/// The intervals that have ended.
#[derive(Debug)]
pub struct Intervals {
    started: Instant,
    /// What the counters showed at the end of the last interval.
    before: MovedBytes,
    ended: RankIntervals,
}

impl Intervals {
    /// Begins the first interval.
    pub fn start(comm: &dyn Comm) -> Intervals {
        let (started, ended) = (Instant::now(), RankIntervals::default());
        Intervals { started, before: counters(comm, 0, 0), ended }
    }

    /// Returns the intervals that have ended.
    pub fn ended(&self) -> &RankIntervals {
        &self.ended
    }

    fn end(&mut self, now: MovedBytes) {
        let moved = now - std::mem::replace(&mut self.before, now);
        self.ended.push(RankInterval { ended: self.started.elapsed(), moved });
    }
}

impl Ranks<'_> {
    /// Ends an interval. `bytes_read` and `bytes_written` count from the start of the run.
    pub fn end_interval(&self, bytes_read: u64, bytes_written: u64) {
        lock(&self.intervals).end(counters(self.comm, bytes_read, bytes_written));
    }
}

fn counters(comm: &dyn Comm, read: u64, written: u64) -> MovedBytes {
    MovedBytes { read, written, sent: comm.bytes_sent(), received: comm.bytes_received() }
}
