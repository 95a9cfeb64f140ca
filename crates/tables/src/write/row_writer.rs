//! The interfaces through which rows are passed on and written.

use arrow_array::RecordBatch;

use super::error::Result;

/// Takes the rows of a table.
pub trait RowSink {
    /// Takes the next rows.
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()>;

    /// Returns whether it wants further rows.
    fn wants_more(&self) -> bool {
        true
    }
}

/// Writes the rows of a table in a format.
pub trait RowWriter: RowSink {
    /// Writes the rest and completes the output; returns its length in bytes.
    ///
    /// # Errors
    /// [`Error::NameTaken`](crate::Error::NameTaken) where another file took the name of a
    /// [`NewFile`](crate::NewFile) during the work.
    fn finish(self: Box<Self>) -> Result<u64>;
}
