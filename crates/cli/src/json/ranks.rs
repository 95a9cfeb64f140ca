//! What `tegula run` tells of each rank.

use serde::Serialize;
use tegula_engine::{MovedBytes, RankInterval, RankStatistics};

use super::Seconds;

/// A rank of a run.
#[derive(Debug, Serialize)]
pub struct Rank {
    pub edges_processed: u64,
    #[serde(flatten)]
    pub moved: Moved,
    /// Time in which it sent and took messages.
    pub exchanging_seconds: Seconds,
    /// Time in which it could not scan, because messages had not come.
    pub exchanging_alone_seconds: Seconds,
    /// Time in which it waited for messages and states of others, or until others took its own.
    pub waiting_seconds: Seconds,
    /// Time in which it waited, after its own scans, until all agreed.
    pub agreeing_seconds: Seconds,
    /// The run, cut at the ends of its iterations.
    pub intervals: Vec<Interval>,
}

impl Rank {
    pub fn of(rank: &RankStatistics) -> Rank {
        Rank {
            edges_processed: rank.edges_processed,
            moved: Moved::of(rank.intervals.moved()),
            exchanging_seconds: Seconds(rank.exchanging),
            exchanging_alone_seconds: Seconds(rank.exchanging_alone),
            waiting_seconds: Seconds(rank.waiting),
            agreeing_seconds: Seconds(rank.agreeing),
            intervals: rank.intervals.as_slice().iter().map(Interval::of).collect(),
        }
    }
}

/// An iteration of a rank, or what it does after the last one.
#[derive(Debug, Serialize)]
pub struct Interval {
    /// From the start of the run to the end of the interval.
    pub ended_seconds: Seconds,
    #[serde(flatten)]
    pub moved: Moved,
}

impl Interval {
    fn of(interval: &RankInterval) -> Interval {
        Interval { ended_seconds: Seconds(interval.ended), moved: Moved::of(interval.moved) }
    }
}

/// Bytes that a rank has moved.
#[derive(Debug, Serialize)]
pub struct Moved {
    pub bytes_read: u64,
    pub bytes_written: u64,
    pub bytes_sent: u64,
    pub bytes_received: u64,
}

impl Moved {
    fn of(moved: MovedBytes) -> Moved {
        Moved {
            bytes_read: moved.read,
            bytes_written: moved.written,
            bytes_sent: moved.sent,
            bytes_received: moved.received,
        }
    }
}
