//! The interface of all writers of tables.

use tegula_algorithms::answer::RowSink;

use crate::errors::Result;

/// Writes the rows of a table in a format.
pub trait RowWriter: RowSink {
    /// Writes the rest and gives the file its name; returns its length.
    fn finish(self: Box<Self>) -> Result<u64>;
}
