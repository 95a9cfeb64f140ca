//! The memory of piles, and their room on disk.

use std::io;
use std::path::PathBuf;

use tegula_machine::{Bytes, Error as MachineError};
use tegula_store::Error;

/// Where piles go, and how much memory they may take.
#[derive(Debug, Clone)]
pub(crate) struct Space {
    /// Folder of the spill files.
    pub folder: PathBuf,
    /// Bytes of records held in memory once written, all piles together.
    pub held: u64,
    /// Bytes of the blocks that writers fill, all writers together.
    pub writing: u64,
    /// Number of writers at one time.
    pub writers: usize,
}

impl Space {
    const BLOCK_BYTES_MAX: u64 = 64 << 10;
    const BLOCK_BYTES_MIN: u64 = 512;
    const WRITER_BYTES: u64 = 512 << 10;
    /// While a worker spills one slab it holds another, within the memory set aside for it.
    const SLAB_BYTES_MAX: u64 = 16 << 20;
    /// A pile takes one in `SLAB_SHARE` of its share of memory at a time.
    const SLAB_SHARE: u64 = 8;

    /// Returns the most piles for which the writers' blocks have a useful size.
    pub fn piles_max(&self) -> usize {
        let blocks = self.writing / self.writers.max(1) as u64 / Space::BLOCK_BYTES_MIN;
        // A single pile would divide nothing.
        blocks.clamp(2, 1 << 14) as usize
    }

    /// Returns the size of a block. The blocks of one writer together fit the L2 cache, up to a
    /// thousand of them, if the budget allows.
    pub fn block_bytes(&self, piles: usize) -> u64 {
        let writer = (self.writing / self.writers.max(1) as u64).min(Space::WRITER_BYTES);
        (writer / piles.max(1) as u64).clamp(Space::BLOCK_BYTES_MIN, Space::BLOCK_BYTES_MAX)
    }

    /// Returns the memory that a pile takes at a time: a part of its share, but at least one
    /// block.
    pub fn slab_bytes(&self, piles: usize) -> u64 {
        let takers = piles.max(self.writers).max(1) as u64;
        let share = self.held / (Space::SLAB_SHARE * takers);
        share.clamp(self.block_bytes(piles), Space::SLAB_BYTES_MAX)
    }
}

/// Fewer bytes of edges are not reported: then other files, and the blocks of the disk, count for
/// more.
const EDGE_BYTES_TOLD_MIN: u64 = 1 << 20;

/// Adds to the error of a full disk the most bytes that edges take in temporary files.
pub(crate) fn with_room_needed(error: Error, needed: u64) -> Error {
    match error {
        Error::Machine(MachineError::Io { action, path, source })
            if source.kind() == io::ErrorKind::StorageFull && needed >= EDGE_BYTES_TOLD_MIN =>
        {
            let needed = Bytes(needed);
            let detail = format!("{source}; temporary files of this import take up to {needed}");
            Error::io(action, path)(io::Error::new(source.kind(), detail))
        }
        other => other,
    }
}
