//! A way to divide memory among arrays that lie on disk.

use std::ops::Range;

/// How a run with its arrays on disk uses memory. It decides only how often the run reads and
/// writes, and no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArraysPlan {
    /// Columns in a group: their accumulators are in memory together.
    pub columns: u32,
    /// Groups of columns.
    pub groups: u32,
    /// Whether messages may be sent to the groups that need them, so that these need not read all
    /// again.
    pub sends: bool,
    /// Bytes for blocks that are read ahead during a scan and needed after it, beyond the usual
    /// buffers for blocks.
    pub ahead: u64,
    /// Blocks of states that stay in memory.
    pub states_held: usize,
    /// Blocks of messages that stay in memory, if messages are kept for further groups.
    pub messages_held: usize,
    /// Bytes of all these.
    pub bytes: u64,
}

impl ArraysPlan {
    /// Returns the columns of a group; the last one may have fewer.
    pub(crate) fn columns_of(&self, group: u32) -> Range<u32> {
        group * self.columns..(group + 1) * self.columns
    }
}
