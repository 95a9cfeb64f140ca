//! Results as files: tables, mostly with a row per vertex, ordered by vertex, written chunk by chunk.

mod arrow;
mod compress;
mod file;
mod ids;
mod npy;
mod parquet;
mod rows;
mod target;
mod text;

pub use compress::{Compression, Compressor, lower_name};
pub use file::NewFile;
pub use ids::{GroupSize, NO_RANK, find_ids, id_array, id_type};
pub use rows::{Columns, Table, write_arrays};
pub use target::{TableFormat, Target, check_is_new, check_parent};
pub use text::{TAB, TextTerminal, quoted_cell};

use arrow_array::RecordBatch;

use crate::errors::Result;

/// Writes the rows of a table in some format.
pub trait RowWriter {
    /// Writes the next rows.
    ///
    /// # Errors
    /// Those of writing.
    fn write(&mut self, rows: &RecordBatch) -> Result<()>;

    /// Whether further rows would be written.
    fn wants_more(&self) -> bool {
        true
    }

    /// Writes what is left and gives the file its name; returns its length.
    ///
    /// # Errors
    /// Those of writing.
    fn finish(self: Box<Self>) -> Result<u64>;
}
