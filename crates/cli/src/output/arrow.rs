//! Rows as an Apache Arrow stream, which `pyarrow.ipc.open_stream` and `polars.read_ipc_stream`
//! read.

use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use tegula_algorithms::answer::RowSink;
use tegula_store::Error;

use super::file::NewFile;
use super::row_writer::RowWriter;
use crate::errors::Result;

/// Writes an Arrow stream.
pub struct ArrowStream {
    out: StreamWriter<NewFile>,
    path: PathBuf,
}

impl ArrowStream {
    /// Begins a stream with these columns.
    pub fn new(file: NewFile, schema: &SchemaRef) -> Result<ArrowStream> {
        let path = file.path().to_owned();
        let out = StreamWriter::try_new(file, schema).map_err(failed(&path))?;
        Ok(ArrowStream { out, path })
    }
}

impl RowSink for ArrowStream {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        self.out.write(rows).map_err(failed(&self.path))
    }
}

impl RowWriter for ArrowStream {
    fn finish(mut self: Box<Self>) -> Result<u64> {
        self.out.finish().map_err(failed(&self.path))?;
        self.out.into_inner().map_err(failed(&self.path))?.commit()
    }
}

/// Returns the operating system's error, if there is one.
fn failed(path: &Path) -> impl FnOnce(ArrowError) -> Error {
    let path = path.to_owned();
    move |error| {
        let source = match error {
            ArrowError::IoError(_, source) => source,
            other => io::Error::other(other),
        };
        Error::io("write", path)(source)
    }
}
