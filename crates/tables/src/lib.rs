//! Tables in files and streams. Text and Parquet are read; CSV, TSV, Parquet, Arrow and NPY are
//! written.
//!
//! **Reading.** A [`VertexTable`] has a row for each vertex that an option names; a few of its
//! columns are read. An [`AttributeTable`] is read with all its columns, whatever their names. Both
//! hand out their rows one by one. Their parts are in [`read`], because readers of edges use them,
//! too.
//!
//! **Writing.** A table is passed on in chunks of Arrow. [`FileFormat::writer`] makes the writer of
//! a format, a [`RowSink`] that takes these chunks. It writes to an [`Output`]: a [`NewFile`],
//! which appears under its name only when it is complete, or a [`Stream`] around any writer.
//!
//! ```
//! # use std::sync::Arc;
//! # use arrow_array::{Float32Array, RecordBatch, UInt64Array};
//! # use arrow_schema::{DataType, Field, Schema};
//! use tegula_tables::{FileFormat, Stream, TableFormat};
//!
//! let schema = Arc::new(Schema::new(vec![
//!     Field::new("vertex", DataType::UInt64, false),
//!     Field::new("rank", DataType::Float32, false),
//! ]));
//! let (vertices, ranks) = (UInt64Array::from(vec![1, 2]), Float32Array::from(vec![0.25, 0.75]));
//! let columns: [arrow_array::ArrayRef; 2] = [Arc::new(vertices), Arc::new(ranks)];
//! let rows = RecordBatch::try_new(Arc::clone(&schema), columns.into())?;
//!
//! let mut bytes = Vec::new();
//! let format = FileFormat::from(TableFormat::Csv);
//! let mut writer = format.writer(Stream::new("ranks", &mut bytes), &schema, 2, None)?;
//! writer.write(&rows)?;
//! writer.finish()?;
//! assert_eq!(bytes, b"vertex,rank\n1,0.25\n2,0.75\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compression;
pub mod read;
mod write;

pub use compression::{Compression, lower_name};
pub use read::attributes::{AttributeRow, AttributeTable};
pub use read::vertices::{
    Presence, TablePlace, VALUES_MAX, ValueColumn, VertexColumns, VertexRow, VertexTable,
};
pub use read::whole_text::read_text;
pub use write::compressor::Compressor;
pub use write::decimal::{append_float, decimal};
pub use write::error::{Error, Result};
pub use write::file_format::FileFormat;
pub use write::new_file::NewFile;
pub use write::output::{Output, Stream};
pub use write::place::{check_is_in_no_graph, check_is_new, check_parent, parent};
pub use write::row_writer::{RowSink, RowWriter};
pub use write::table_format::{TAB, TableFormat};
pub use write::text::{ROWS_PER_PART, TextRows, quoted_cell};
