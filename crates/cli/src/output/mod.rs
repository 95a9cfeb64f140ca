//! Results as files: tables, mostly with a row per vertex, ordered by vertex, written chunk by chunk.

mod arrow;
mod compress;
mod decimal;
mod file;
mod npy;
mod parquet;
mod patient;
mod row_writer;
mod target;
mod text;

pub use compress::{Compression, Compressor, lower_name};
pub use file::NewFile;
pub use row_writer::RowWriter;
pub use target::{
    EDGE_ENDINGS, TableFormat, Target, check_is_in_no_graph, check_is_new, check_parent, parent,
};
pub use text::{ROWS_PER_PART, TAB, TextTerminal, quoted_cell};
