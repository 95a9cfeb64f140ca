//! Writers of tables, one file for each format, and where they write to.

mod arrow;
pub(crate) mod compressor;
pub(crate) mod decimal;
pub(crate) mod error;
pub(crate) mod file_format;
pub(crate) mod new_file;
mod npy;
pub(crate) mod output;
mod parquet;
pub(crate) mod place;
pub(crate) mod row_writer;
pub(crate) mod table_format;
pub(crate) mod text;
