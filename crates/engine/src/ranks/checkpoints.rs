//! Checkpoints that all ranks have.
//!
//! Each rank keeps its last two checkpoints by itself, in two phases: before any rank begins to write
//! one, all ranks have the one before. So the ranks have one in common whenever they end, from the second
//! one on.

use tegula_store::Result;
use zerocopy::FromBytes;
use zerocopy::little_endian::U64;

use super::failure::{of_comm, rank_failed};
use super::{Ranks, tags};

impl Ranks<'_> {
    /// Waits until all ranks have the checkpoint before the one that is due. The caller has it.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn await_checkpoints(&self) -> Result<()> {
        self.comm.barrier(tags::CHECKPOINTS, &self.cancel).map_err(of_comm)
    }

    /// Returns a number of each rank, by rank.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn numbers_of_all(&self, own: u64) -> Result<Vec<u64>> {
        let own = own.to_le_bytes().to_vec();
        let all = self.comm.all_gather(own, tags::CHECKPOINTS, &self.cancel).map_err(of_comm)?;
        let read = |(rank, bytes): (usize, &Vec<u8>)| {
            let garbled = |_| rank_failed(rank, "its number is garbled".to_owned());
            Ok(U64::read_from_bytes(bytes).map_err(garbled)?.get())
        };
        all.iter().enumerate().map(read).collect()
    }
}
