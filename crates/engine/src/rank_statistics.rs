//! What one rank has done in a run.

use std::ops::{Add, Sub};
use std::time::Duration;

/// Most intervals that are kept. Each rank gathers the intervals of all ranks, so bytes matter.
const INTERVALS_MAX: usize = 1 << 10;

/// The statistics of one rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankStatistics {
    /// Edges in the tiles that the rank has processed.
    pub edges_processed: u64,
    /// Time in which the rank sent and took messages, waiting included.
    pub exchanging: Duration,
    /// Time in which the workers of the rank waited for messages and scanned nothing.
    pub exchanging_alone: Duration,
    /// Time in which the thread that exchanges messages, or states after the run, waited for
    /// another rank: to receive, or until the other rank had taken what was sent.
    pub waiting: Duration,
    /// Time in which the rank waited, after its own scan, until all agreed on the next iteration.
    pub agreeing: Duration,
    /// The run, cut at the ends of its iterations.
    pub intervals: RankIntervals,
}

impl RankStatistics {
    /// Adds the statistics of a further run.
    pub fn add(&mut self, further: &RankStatistics) {
        self.edges_processed += further.edges_processed;
        self.exchanging += further.exchanging;
        self.exchanging_alone += further.exchanging_alone;
        self.waiting += further.waiting;
        self.agreeing += further.agreeing;
        let before = self.intervals.ended();
        for interval in further.intervals.as_slice() {
            self.intervals.push(RankInterval { ended: before + interval.ended, ..*interval });
        }
    }
}

/// Bytes that a rank has moved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MovedBytes {
    /// Bytes of the graph and of arrays that were read.
    pub read: u64,
    /// Bytes of arrays that were written.
    pub written: u64,
    /// Bytes of messages to other ranks.
    pub sent: u64,
    /// Bytes of messages of other ranks.
    pub received: u64,
}

impl Add for MovedBytes {
    type Output = MovedBytes;

    fn add(self, other: MovedBytes) -> MovedBytes {
        MovedBytes {
            read: self.read + other.read,
            written: self.written + other.written,
            sent: self.sent + other.sent,
            received: self.received + other.received,
        }
    }
}

impl Sub for MovedBytes {
    type Output = MovedBytes;

    fn sub(self, earlier: MovedBytes) -> MovedBytes {
        MovedBytes {
            read: self.read - earlier.read,
            written: self.written - earlier.written,
            sent: self.sent - earlier.sent,
            received: self.received - earlier.received,
        }
    }
}

/// An iteration of a rank, or what it does after the last one. The first interval also has what the
/// rank does before the first iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RankInterval {
    /// Time from the start of the run to the end of the interval.
    pub ended: Duration,
    /// Bytes moved in the interval.
    pub moved: MovedBytes,
}

impl RankInterval {
    /// Adds the interval that follows.
    fn add(&mut self, next: RankInterval) {
        *self = RankInterval { ended: next.ended, moved: self.moved + next.moved };
    }
}

/// The intervals of a run, from its start to its end. If there are more than 2^10, the last one has
/// all that is left.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankIntervals(Vec<RankInterval>);

impl RankIntervals {
    /// Adds the next interval.
    pub(crate) fn push(&mut self, next: RankInterval) {
        let is_full = self.0.len() == INTERVALS_MAX;
        match self.0.last_mut().filter(|_| is_full) {
            Some(last) => last.add(next),
            None => self.0.push(next),
        }
    }

    /// Returns all intervals, the first one first.
    pub fn as_slice(&self) -> &[RankInterval] {
        &self.0
    }

    /// Returns the bytes moved in all intervals.
    pub fn moved(&self) -> MovedBytes {
        self.0.iter().fold(MovedBytes::default(), |sum, interval| sum + interval.moved)
    }

    /// Returns the time from the start of the run to the end of the last interval.
    fn ended(&self) -> Duration {
        self.0.last().map_or(Duration::ZERO, |last| last.ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(seconds: u64, read: u64) -> RankInterval {
        let moved = MovedBytes { read, ..MovedBytes::default() };
        RankInterval { ended: Duration::from_secs(seconds), moved }
    }

    #[test]
    fn the_last_interval_has_all_that_is_left() {
        let mut intervals = RankIntervals::default();
        let count = INTERVALS_MAX as u64 + 2;
        (1..=count).for_each(|number| intervals.push(interval(number, number)));
        let kept = intervals.as_slice();
        assert_eq!(kept.len(), INTERVALS_MAX);
        assert_eq!(kept[INTERVALS_MAX - 2], interval(count - 3, count - 3));
        assert_eq!(kept[INTERVALS_MAX - 1], interval(count, 3 * count - 3));
        assert_eq!(intervals.moved().read, count * (count + 1) / 2);
    }

    #[test]
    fn a_further_run_begins_where_the_earlier_one_ended() {
        let of = |all: &[RankInterval]| RankStatistics {
            intervals: RankIntervals(all.to_vec()),
            ..RankStatistics::default()
        };
        let mut earlier = of(&[interval(1, 5), interval(3, 6)]);
        earlier.add(&of(&[interval(2, 7)]));
        assert_eq!(earlier, of(&[interval(1, 5), interval(3, 6), interval(5, 7)]));
    }
}
