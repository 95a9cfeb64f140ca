//! Rows as an Apache Arrow stream, which `pyarrow.ipc.open_stream` and `polars.read_ipc_stream`
//! read.

use std::io;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};
use tegula_store::Error;

use super::error::Result;
use super::output::Output;
use super::row_writer::{RowSink, RowWriter};

/// Writes an Arrow stream.
pub struct ArrowStream<O> {
    out: StreamWriter<O>,
    path: PathBuf,
}

impl<O: Output> ArrowStream<O> {
    /// Begins a stream with these columns.
    pub fn new(out: O, schema: &SchemaRef) -> Result<ArrowStream<O>> {
        let path = out.path().to_owned();
        let out = StreamWriter::try_new(out, schema).map_err(failed(&path))?;
        Ok(ArrowStream { out, path })
    }
}

impl<O: Output> RowSink for ArrowStream<O> {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        self.out.write(rows).map_err(failed(&self.path))
    }
}

impl<O: Output> RowWriter for ArrowStream<O> {
    fn finish(mut self: Box<Self>) -> Result<u64> {
        self.out.finish().map_err(failed(&self.path))?;
        self.out.into_inner().map_err(failed(&self.path))?.commit()
    }
}

/// Returns the operating system's error, if there is one.
fn failed(path: &Path) -> impl FnOnce(ArrowError) -> Error {
    let path = path.to_owned();
    move |error| {
        // Callers tell a closed pipe and a full disk by the error of the system, so it must not be
        // wrapped.
        let source = match error {
            ArrowError::IoError(_, source) => source,
            other => io::Error::other(other),
        };
        Error::io("write", path)(source)
    }
}
