//! What each rank has done in a run.

use std::time::Duration;

use tegula_store::Result;
use zerocopy::little_endian::U64;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::failure::{of_comm, rank_failed};
use super::{Ranks, tags};
use crate::statistics::{RankStatistics, RunStatistics};

/// The statistics as they travel.
#[derive(Debug, Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Record {
    edges_processed: U64,
    bytes_read: U64,
    bytes_written: U64,
    bytes_sent: U64,
    bytes_received: U64,
    exchanging_nanoseconds: U64,
    agreeing_nanoseconds: U64,
}

impl Ranks<'_> {
    /// Completes the statistics of this rank with those of all ranks.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn complete_statistics(&self, statistics: &mut RunStatistics) -> Result<()> {
        let all = self.all_statistics(statistics)?;
        statistics.edges_processed = all.iter().map(|rank| rank.edges_processed).sum();
        statistics.bytes_read = all.iter().map(|rank| rank.bytes_read).sum();
        statistics.bytes_written = all.iter().map(|rank| rank.bytes_written).sum();
        statistics.ranks = all;
        Ok(())
    }

    fn all_statistics(&self, statistics: &RunStatistics) -> Result<Vec<RankStatistics>> {
        let &RunStatistics { edges_processed, bytes_read, bytes_written, .. } = statistics;
        let own = RankStatistics {
            edges_processed,
            bytes_read,
            bytes_written,
            bytes_sent: self.comm.bytes_sent() - self.before.bytes_sent,
            bytes_received: self.comm.bytes_received() - self.before.bytes_received,
            exchanging: self.times.exchanging.get(),
            agreeing: self.times.agreeing.get(),
        };
        let record = Record {
            edges_processed: own.edges_processed.into(),
            bytes_read: own.bytes_read.into(),
            bytes_written: own.bytes_written.into(),
            bytes_sent: own.bytes_sent.into(),
            bytes_received: own.bytes_received.into(),
            exchanging_nanoseconds: (own.exchanging.as_nanos() as u64).into(),
            agreeing_nanoseconds: (own.agreeing.as_nanos() as u64).into(),
        };
        let record = record.as_bytes().to_vec();
        let all = self.comm.all_gather(record, tags::STATISTICS, &self.cancel).map_err(of_comm)?;
        let read = |(rank, bytes): (usize, &Vec<u8>)| {
            let garbled = |_| rank_failed(rank, "its statistics are garbled".to_owned());
            let record = Record::read_from_bytes(bytes).map_err(garbled)?;
            Ok(RankStatistics {
                edges_processed: record.edges_processed.get(),
                bytes_read: record.bytes_read.get(),
                bytes_written: record.bytes_written.get(),
                bytes_sent: record.bytes_sent.get(),
                bytes_received: record.bytes_received.get(),
                exchanging: Duration::from_nanos(record.exchanging_nanoseconds.get()),
                agreeing: Duration::from_nanos(record.agreeing_nanoseconds.get()),
            })
        };
        all.iter().enumerate().map(read).collect()
    }
}
