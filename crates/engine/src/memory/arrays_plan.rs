//! A way to divide memory among arrays that lie on disk.

use std::ops::Range;

/// How a run with its arrays on disk uses memory. It decides only how often the run reads and
/// writes, and no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArraysPlan {
    /// The first column: 0, or that of the first target of a rank.
    pub first_column: u32,
    /// Columns in a group: their accumulators are in memory together.
    pub columns: u32,
    /// Groups of columns.
    pub groups: u32,
    /// Whether messages may be sent to the groups that need them, so that these need not read all
    /// again.
    pub sends: bool,
    /// Whether there is room for the messages of a second segment, so that the messages of the next
    /// segment travel between ranks while one is scanned.
    pub exchanges_ahead: bool,
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
        let first = self.first_column + group * self.columns;
        first..first + self.columns
    }

    /// Returns the group of a column, which must not be before the first one.
    pub(crate) fn group_of(&self, column: u32) -> u32 {
        (column - self.first_column) / self.columns
    }
}
