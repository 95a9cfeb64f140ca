//! What writers of tables have in common.

use tegula_algorithms::answer::RowSink;

use crate::errors::Result;

/// Writes the rows of a table in some format.
pub trait RowWriter: RowSink {
    /// Writes what is left and gives the file its name; returns its length.
    ///
    /// # Errors
    /// Those of writing.
    fn finish(self: Box<Self>) -> Result<u64>;
}
