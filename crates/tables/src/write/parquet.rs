//! Rows as an Apache Parquet file.

use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use tegula_store::Error;

use super::error::Result;
use super::output::Output;
use super::row_writer::{RowSink, RowWriter};

/// Rows held in memory until they are written.
const ROW_GROUP_ROWS: usize = 1 << 17;
/// The largest size of a dictionary in bytes.
const DICTIONARY_BYTES: usize = 1 << 18;

/// Writes a Parquet file, compressed with zstd.
pub struct ParquetWriter<O: Output> {
    out: ArrowWriter<O>,
    path: PathBuf,
}

impl<O: Output> ParquetWriter<O> {
    /// Begins a file with these columns.
    pub fn new(out: O, schema: &SchemaRef) -> Result<ParquetWriter<O>> {
        let path = out.path().to_owned();
        let properties = properties(schema);
        let out = ArrowWriter::try_new(out, SchemaRef::clone(schema), Some(properties));
        Ok(ParquetWriter { out: out.map_err(failed(&path))?, path })
    }
}

/// Sets no dictionary for vertices, which ascend, nor for ranks, which differ: it would not pay.
fn properties(schema: &SchemaRef) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_dictionary_page_size_limit(DICTIONARY_BYTES);
    for (index, field) in schema.fields().iter().enumerate() {
        let path = ColumnPath::from(field.name().as_str());
        let is_vertex = index == 0;
        if is_vertex && *field.data_type() == DataType::UInt64 {
            properties =
                properties.set_column_encoding(path.clone(), Encoding::DELTA_BINARY_PACKED);
        }
        if is_vertex || *field.data_type() == DataType::Float32 {
            properties = properties.set_column_dictionary_enabled(path, false);
        }
    }
    properties.build()
}

impl<O: Output> RowSink for ParquetWriter<O> {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        self.out.write(rows).map_err(failed(&self.path))
    }
}

impl<O: Output> RowWriter for ParquetWriter<O> {
    fn finish(self: Box<Self>) -> Result<u64> {
        self.out.into_inner().map_err(failed(&self.path))?.commit()
    }
}

/// Returns the operating system's error, if there is one.
fn failed(path: &Path) -> impl FnOnce(ParquetError) -> Error {
    let path = path.to_owned();
    move |error| {
        let source = match error {
            // The library boxes an error of the system, by which callers tell a full disk.
            ParquetError::External(inner) => {
                inner.downcast().map_or_else(io::Error::other, |source| *source)
            }
            other => io::Error::other(other),
        };
        Error::io("write", path)(source)
    }
}
