//! Tables of other libraries: anything with the Arrow PyCapsule interface, and NumPy's arrays.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::{
    ArrayRef, Float32Array, Float64Array, LargeStringArray, RecordBatch, RecordBatchReader,
    UInt64Array,
};
use arrow_schema::SchemaRef;
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyIterator};
use tegula_machine::threads::Cancel;
use tegula_tables::{FileFormat, NewFile, RowWriter, TableFormat};

use crate::failure::{Failure, Result};
use crate::work::work;

/// Makes a column of a list of strings, or copies the numbers of a buffer.
pub fn array(column: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let py = column.py();
    if let Ok(integers) = PyBuffer::<u64>::get(column) {
        return Ok(Arc::new(UInt64Array::from(integers.to_vec(py)?)));
    }
    if let Ok(floats) = PyBuffer::<f32>::get(column) {
        return Ok(Arc::new(Float32Array::from(floats.to_vec(py)?)));
    }
    if let Ok(floats) = PyBuffer::<f64>::get(column) {
        return Ok(Arc::new(Float64Array::from(floats.to_vec(py)?)));
    }
    // Last: a buffer without numbers would be a list without strings.
    if let Ok(strings) = column.extract::<Vec<String>>() {
        return Ok(Arc::new(LargeStringArray::from(strings)));
    }
    Err(PyTypeError::new_err("a column is a list of strings, or a buffer of u64, f32 or f64"))
}

/// Returns the rows of an object with the Arrow PyCapsule interface.
///
/// # Errors
/// [`Failure`] for another object, and what it raises.
pub fn reader(table: &Bound<'_, PyAny>) -> Result<ArrowArrayStreamReader> {
    if !table.hasattr("__arrow_c_stream__")? {
        let kind = table.get_type().name()?;
        let message = format!("a {kind} is no table with the Arrow PyCapsule interface");
        return Err(Failure::bad_input(message));
    }
    let capsule = table.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>();
    let capsule = capsule.map_err(PyErr::from)?;
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?;
    // SAFETY: a capsule of this name holds an Arrow C stream, as the PyCapsule interface asks for.
    // The stream is moved out; what stays behind is marked as released.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream.as_ptr().cast()) };
    reader.map_err(|error| {
        let kind = table.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        Failure::bad_input(format!("a {kind} is no table: {error}"))
    })
}

/// The rows of tables that a Python iterator yields. It is asked for one table after the other.
pub struct Tables {
    iterator: Py<PyIterator>,
    now: Option<ArrowArrayStreamReader>,
    /// How many tables were begun.
    count: u64,
}

impl Tables {
    /// Begins before the first table.
    pub fn new(iterator: Py<PyIterator>) -> Tables {
        Tables { iterator, now: None, count: 0 }
    }

    /// Begins the next table.
    fn advance(&mut self) -> Result<bool> {
        self.count += 1;
        self.now = Python::attach(|py| {
            let table = self.iterator.bind(py).clone().next();
            table.map(|table| reader(&table?)).transpose()
        })?;
        Ok(self.now.is_some())
    }

    /// Returns the next rows; `None` after the last.
    pub fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.now.as_mut().map(Iterator::next) {
                Some(Some(Ok(rows))) => return Ok(Some(rows)),
                Some(Some(Err(error))) => {
                    return Err(Failure::bad_input(format!("table {}: {error}", self.count)));
                }
                Some(None) | None if self.advance()? => {}
                Some(None) | None => return Ok(None),
            }
        }
    }

    /// Returns all rows that are left.
    pub fn all(&mut self, cancel: &Cancel) -> Result<Vec<RecordBatch>> {
        let mut all = Vec::new();
        while let Some(rows) = self.next()? {
            cancel.check()?;
            all.push(rows);
        }
        Ok(all)
    }

    /// Returns the columns of the first table; `None` if there is no table.
    pub fn schema(&mut self) -> Result<Option<SchemaRef>> {
        if self.now.is_none() && !self.advance()? {
            return Ok(None);
        }
        Ok(self.now.as_ref().map(RecordBatchReader::schema))
    }
}

/// Writes a table of another library to a new Parquet file, which an option can name.
#[pyfunction]
pub fn write_table(py: Python<'_>, table: Bound<'_, PyAny>, path: PathBuf) -> PyResult<u64> {
    let rows = reader(&table).map_err(|failure| failure.exception(py))?;
    work(py, None, |work| {
        let schema = rows.schema();
        let file = NewFile::create(&path, false)?;
        let mut out: Box<dyn RowWriter> =
            FileFormat::from(TableFormat::Parquet).writer(file, &schema, 0, None)?;
        for batch in rows {
            work.cancel.check()?;
            let batch = batch.map_err(|error| Failure::bad_input(error.to_string()))?;
            out.write(&batch)?;
        }
        Ok(out.finish()?)
    })
}
