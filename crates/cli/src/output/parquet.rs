//! Rows as an Apache Parquet file.

use std::path::PathBuf;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use tegula_store::Error;

use super::{NewFile, RowWriter};
use crate::errors::Result;

/// Rows that are held until they are written.
const ROW_GROUP_ROWS: usize = 1 << 18;

/// Writes a Parquet file, compressed with zstd.
pub struct ParquetWriter {
    out: ArrowWriter<NewFile>,
    path: PathBuf,
}

impl ParquetWriter {
    /// Begins a file with these columns.
    ///
    /// # Errors
    /// Those of writing.
    pub fn new(file: NewFile, schema: &SchemaRef) -> Result<ParquetWriter> {
        let path = file.path().to_owned();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
            .build();
        let out = ArrowWriter::try_new(file, SchemaRef::clone(schema), Some(properties));
        Ok(ParquetWriter { out: out.map_err(failed(&path))?, path })
    }
}

impl RowWriter for ParquetWriter {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        Ok(self.out.write(rows).map_err(failed(&self.path))?)
    }

    fn finish(self: Box<Self>) -> Result<u64> {
        Ok(self.out.into_inner().map_err(failed(&self.path))?.commit()?)
    }
}

fn failed(path: &std::path::Path) -> impl FnOnce(ParquetError) -> Error {
    let path = path.to_owned();
    move |error| Error::io("write", path)(std::io::Error::other(error))
}
