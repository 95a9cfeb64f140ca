//! Results as files: tables, mostly with a row per vertex, ordered by vertex, written chunk by chunk.

mod arrow;
mod compress;
mod file;
mod npy;
mod parquet;
mod target;
mod text;

pub use compress::{Compression, Compressor, lower_name};
pub use file::NewFile;
pub use target::{TableFormat, Target, check_is_new, check_parent};
pub use text::{TAB, TextTerminal, quoted_cell};

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
