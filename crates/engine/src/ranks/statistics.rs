//! What each rank has done in a run.

use std::time::Duration;

use tegula_machine::threads::lock;
use tegula_store::Result;
use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::failure::{of_comm, rank_failed};
use super::{Ranks, tags};
use crate::rank_statistics::{MovedBytes, RankInterval, RankIntervals, RankStatistics};
use crate::statistics::RunStatistics;

/// The most that the counts of a rank may sum up to, so that the sums of 2^12 ranks fit 64 bits.
const COUNTS_MAX: u64 = u64::MAX >> 12;

/// The statistics as they travel. The intervals follow.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Head {
    edges_processed: U64,
    exchanging_nanoseconds: U64,
    exchanging_alone_nanoseconds: U64,
    waiting_nanoseconds: U64,
    agreeing_nanoseconds: U64,
}

/// An interval as it travels.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct IntervalRecord {
    ended_nanoseconds: U64,
    read: U64,
    written: U64,
    sent: U64,
    received: U64,
}

impl Ranks<'_> {
    /// Gathers the statistics of all ranks, and adds up their totals. This ends the last interval.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn complete_statistics(&self, statistics: &mut RunStatistics) -> Result<()> {
        self.end_interval(statistics.bytes_read, statistics.bytes_written);
        let own = RankStatistics {
            edges_processed: statistics.edges_processed,
            exchanging: self.times.exchanging.get(),
            exchanging_alone: self.times.exchanging_alone.get(),
            waiting: self.times.waiting.get(),
            agreeing: self.times.agreeing.get(),
            intervals: lock(&self.intervals).ended().clone(),
        };
        let all =
            self.comm.all_gather(encode(&own), tags::STATISTICS, &self.cancel).map_err(of_comm)?;
        let read = |(rank, message): (usize, &Vec<u8>)| {
            decode(message)
                .ok_or_else(|| rank_failed(rank, "its statistics are garbled".to_owned()))
        };
        statistics.ranks = all.iter().enumerate().map(read).collect::<Result<_>>()?;
        let sum =
            |value: fn(&RankStatistics) -> u64| statistics.ranks.iter().map(value).sum::<u64>();
        let edges_processed = sum(|rank| rank.edges_processed);
        let bytes_read = sum(|rank| rank.intervals.moved().read);
        let bytes_written = sum(|rank| rank.intervals.moved().written);
        statistics.edges_processed = edges_processed;
        (statistics.bytes_read, statistics.bytes_written) = (bytes_read, bytes_written);
        Ok(())
    }
}

fn encode(statistics: &RankStatistics) -> Vec<u8> {
    let head = Head {
        edges_processed: statistics.edges_processed.into(),
        exchanging_nanoseconds: nanoseconds(statistics.exchanging),
        exchanging_alone_nanoseconds: nanoseconds(statistics.exchanging_alone),
        waiting_nanoseconds: nanoseconds(statistics.waiting),
        agreeing_nanoseconds: nanoseconds(statistics.agreeing),
    };
    let mut bytes = head.as_bytes().to_vec();
    for RankInterval { ended, moved } in statistics.intervals.as_slice() {
        let record = IntervalRecord {
            ended_nanoseconds: nanoseconds(*ended),
            read: moved.read.into(),
            written: moved.written.into(),
            sent: moved.sent.into(),
            received: moved.received.into(),
        };
        bytes.extend_from_slice(record.as_bytes());
    }
    bytes
}

fn decode(bytes: &[u8]) -> Option<RankStatistics> {
    let (head, rest) = Head::read_from_prefix(bytes).ok()?;
    let mut intervals = RankIntervals::default();
    let mut counted = head.edges_processed.get();
    for record in <[IntervalRecord]>::ref_from_bytes(rest).ok()? {
        for count in [record.read, record.written, record.sent, record.received] {
            // The counts are another rank's and may be damaged, so their sum must not overflow.
            counted = counted.saturating_add(count.get());
        }
        let moved = MovedBytes {
            read: record.read.get(),
            written: record.written.get(),
            sent: record.sent.get(),
            received: record.received.get(),
        };
        // Checked before `push`, which adds up the intervals for which it has no place.
        if counted > COUNTS_MAX {
            return None;
        }
        intervals.push(RankInterval { ended: duration(record.ended_nanoseconds), moved });
    }
    (counted <= COUNTS_MAX).then(|| RankStatistics {
        edges_processed: head.edges_processed.get(),
        exchanging: duration(head.exchanging_nanoseconds),
        exchanging_alone: duration(head.exchanging_alone_nanoseconds),
        waiting: duration(head.waiting_nanoseconds),
        agreeing: duration(head.agreeing_nanoseconds),
        intervals,
    })
}

fn nanoseconds(time: Duration) -> U64 {
    // 64 bits suffice for 584 years.
    (time.as_nanos() as u64).into()
}

fn duration(nanoseconds: U64) -> Duration {
    Duration::from_nanos(nanoseconds.get())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the message of a rank that has moved `sent` bytes in each of some intervals.
    fn message(edges_processed: u64, sent: &[u64]) -> Vec<u8> {
        let mut intervals = RankIntervals::default();
        for &sent in sent {
            let moved = MovedBytes { sent, ..MovedBytes::default() };
            intervals.push(RankInterval { ended: Duration::from_secs(1), moved });
        }
        encode(&RankStatistics { edges_processed, intervals, ..RankStatistics::default() })
    }

    #[test]
    fn decoded_statistics_are_those_that_were_encoded() {
        let decoded = decode(&message(5, &[1, 2])).unwrap();
        assert_eq!((decoded.edges_processed, decoded.intervals.moved().sent), (5, 3));
        assert_eq!(decoded.intervals.as_slice().len(), 2);
    }

    #[test]
    fn counts_whose_sums_might_overflow_are_refused() {
        assert!(decode(&message(0, &[COUNTS_MAX / 2, COUNTS_MAX / 2])).is_some());
        for (edges, sent) in [
            (u64::MAX, &[][..]),
            (0, &[u64::MAX, 1]),
            (0, &[COUNTS_MAX / 2, COUNTS_MAX / 2, 2]),
            (COUNTS_MAX, &[1]),
        ] {
            assert!(decode(&message(edges, sent)).is_none(), "{edges} edges, {sent:?} bytes");
        }
    }
}
