//! Tables in files and streams: CSV, TSV, Parquet, Arrow and NPY.
//!
//! A table is passed on in chunks of Arrow. [`FileFormat::writer`] makes the writer of a format,
//! which takes them as a [`RowSink`]. It writes to an [`Output`]: a [`NewFile`], which appears
//! under its name only when it is complete, or a [`Stream`] around any writer.
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

mod arrow;
mod compress;
mod decimal;
mod error;
mod file_format;
mod new_file;
mod npy;
mod output;
mod parquet;
mod place;
mod row_writer;
mod table_format;
mod text;

pub use compress::{Compression, Compressor, lower_name};
pub use decimal::{append_float, decimal};
pub use error::{Error, Result};
pub use file_format::FileFormat;
pub use new_file::NewFile;
pub use output::{Output, Stream};
pub use place::{check_is_in_no_graph, check_is_new, check_parent, parent};
pub use row_writer::{RowSink, RowWriter};
pub use table_format::{TAB, TableFormat};
pub use text::{ROWS_PER_PART, TextRows, quoted_cell};
