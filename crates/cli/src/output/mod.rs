//! Results as files. Tables mostly have a row per vertex, ordered by vertex, and are written a
//! chunk at a time. Graphs have a target here too.

mod arrow;
mod compress;
mod decimal;
mod file;
mod format;
mod npy;
mod parquet;
mod patient;
mod row_writer;
mod target;
mod text;

pub use compress::{Compression, Compressor, lower_name};
pub use decimal::append_float;
pub use file::NewFile;
pub use format::{EDGE_ENDINGS, Format, GraphFormat, TableFormat};
pub use row_writer::RowWriter;
pub use target::{EdgeTarget, Target, check_is_in_no_graph, check_is_new, check_parent, parent};
pub use text::{ROWS_PER_PART, TAB, TextTerminal, quoted_cell};
