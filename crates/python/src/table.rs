//! Tables in memory, and their columns.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use arrow_array::cast::AsArray;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader, UInt8Array,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};
use tegula_tables::RowSink;

use crate::ending::detached;
use crate::file::Target;
use crate::graph::threads_of;
use crate::work::work;

/// A table in memory: batches of rows.
#[pyclass(frozen, module = "tegula._internal")]
pub struct Table {
    schema: SchemaRef,
    /// None is empty.
    batches: Vec<RecordBatch>,
    /// Whether the cells of the first column ascend, once that was asked for.
    ascends: OnceLock<bool>,
}

impl Table {
    fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        // An empty batch has no first and no last cell to compare.
        let batches = batches.into_iter().filter(|batch| batch.num_rows() > 0).collect();
        Table { schema, batches, ascends: OnceLock::new() }
    }

    /// Makes a table of one batch.
    pub fn of_batch(rows: RecordBatch) -> Table {
        Table::new(rows.schema(), vec![rows])
    }

    /// The first column of each batch.
    fn first_column(&self) -> impl Iterator<Item = &ArrayRef> {
        self.batches.iter().map(|batch| batch.column(0))
    }

    /// Returns the number of the first row whose first cell is `id`.
    fn place_of(&self, id: &Id) -> Option<usize> {
        let ascends = *self.ascends.get_or_init(|| {
            let ends: Vec<&ArrayRef> = self.first_column().collect();
            self.first_column().all(ascends)
                && ends.windows(2).all(|pair| follows(pair[0], pair[1]))
        });
        let mut before = 0;
        for column in self.first_column() {
            let found = match ascends {
                true if is_less(column, column.len() - 1, id) => None,
                true => Some(partition_point(column.len(), |row| is_less(column, row, id))),
                false => (0..column.len()).find(|&row| is_equal(column, row, id)),
            };
            match found {
                Some(row) if is_equal(column, row, id) => return Some(before + row),
                Some(_) => return None,
                None => before += column.len(),
            }
        }
        None
    }

    /// Joins the cells of a column.
    fn joined(&self, index: usize) -> Result<ArrayRef, ArrowError> {
        let parts: Vec<&dyn Array> =
            self.batches.iter().map(|batch| batch.column(index).as_ref()).collect();
        match parts[..] {
            [] => Ok(arrow_array::new_empty_array(self.schema.field(index).data_type())),
            [_] => Ok(Arc::clone(self.batches[0].column(index))),
            _ => concat(&parts),
        }
    }
}

#[pymethods]
impl Table {
    /// Makes a table of columns, each a list of strings, or a buffer of unsigned 64-bit integers or
    /// of 32-bit floats.
    #[new]
    fn of_columns(names: Vec<String>, columns: Vec<Bound<'_, PyAny>>) -> PyResult<Table> {
        let arrays = columns.iter().map(crate::stream::array).collect::<PyResult<Vec<_>>>()?;
        let fields = names.into_iter().zip(arrays);
        let rows = RecordBatch::try_from_iter(fields).map_err(refused)?;
        Ok(Table::of_batch(rows))
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        column_names(&self.schema)
    }

    /// Returns a column by its name, with all its cells in one place. Copies them if the table has
    /// several batches.
    fn column(&self, py: Python<'_>, name: &str) -> PyResult<Column> {
        let index = self.schema.index_of(name).map_err(|_| PyKeyError::new_err(name.to_owned()))?;
        let array = detached(py, || self.joined(index))?.map_err(refused)?;
        Ok(Column { array })
    }

    /// Returns some rows, each as a dictionary.
    fn rows<'py>(
        &self,
        py: Python<'py>,
        start: usize,
        count: usize,
    ) -> PyResult<Bound<'py, PyList>> {
        let (mut before, mut wanted) = (0, start..start.saturating_add(count));
        let rows = PyList::empty(py);
        for batch in &self.batches {
            let here = wanted.start.max(before)..wanted.end.min(before + batch.num_rows());
            for row in here.clone() {
                let cells = PyDict::new(py);
                for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
                    cells.set_item(field.name(), cell(py, column, row - before)?)?;
                }
                rows.append(cells)?;
            }
            wanted.start = wanted.start.max(here.end);
            before += batch.num_rows();
        }
        Ok(rows)
    }

    /// Returns the number of the first row whose first cell is `id`; None if there is no such row.
    fn find(&self, py: Python<'_>, id: String) -> PyResult<Option<usize>> {
        let id = Id { integer: integer(&id), text: id };
        detached(py, || self.place_of(&id))
    }

    /// Writes it to a file, as a result writes its table. Returns its bytes.
    #[pyo3(signature = (path, format=None, replace=false))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        replace: bool,
    ) -> PyResult<u64> {
        work(py, None, |work| {
            let target = Target::new(&path, format, replace)?;
            target.write(&self.schema, self.__len__() as u64, threads_of(None)?, |rows| {
                self.batches.iter().try_for_each(|batch| {
                    work.cancel.check()?;
                    Ok(rows.write(batch)?)
                })
            })
        })
    }

    /// Returns it as an Arrow stream, of which `of_bytes` makes the same table in any process.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = detached(py, || {
            let mut out = StreamWriter::try_new(Vec::new(), &self.schema)?;
            self.batches.iter().try_for_each(|batch| out.write(batch))?;
            out.into_inner()
        });
        Ok(PyBytes::new(py, &bytes?.map_err(refused)?))
    }

    /// Makes a table of what `to_bytes` returned.
    #[staticmethod]
    fn of_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Table> {
        let table = detached(py, || {
            let rows = StreamReader::try_new(bytes, None)?;
            let schema = rows.schema();
            Ok(Table::new(schema, rows.collect::<Result<_, _>>()?))
        });
        table?.map_err(refused)
    }

    /// The schema, as the Arrow PyCapsule interface has it.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema_capsule(py, &self.schema)
    }

    /// The rows, as the Arrow PyCapsule interface has them. Nothing is copied, and the types are
    /// those of the table, whatever `requested_schema` asks for.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _types_stay = requested_schema;
        let batches = self.batches.clone().into_iter().map(Ok);
        let reader = RecordBatchIterator::new(batches, SchemaRef::clone(&self.schema));
        stream_capsule(py, reader)
    }
}

/// Returns the names of the columns.
pub fn column_names(schema: &SchemaRef) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

/// Returns a schema as the Arrow PyCapsule interface has it.
pub fn schema_capsule<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(refused)?;
    PyCapsule::new_with_value(py, schema, c"arrow_schema")
}

/// Returns rows as the Arrow PyCapsule interface has them.
pub fn stream_capsule(
    py: Python<'_>,
    rows: impl RecordBatchReader + Send + 'static,
) -> PyResult<Bound<'_, PyCapsule>> {
    let stream = FFI_ArrowArrayStream::new(Box::new(rows));
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

fn refused(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The id of a vertex, which a column of integers or of strings may have.
struct Id {
    integer: Option<u64>,
    text: String,
}

/// Returns the integer that a text is, written as integers are: `007` is none.
pub fn integer(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// Whether the cell of a row is less than an id. Strings compare by their bytes.
fn is_less(column: &ArrayRef, row: usize, id: &Id) -> bool {
    match column.data_type() {
        DataType::UInt64 => {
            let cell = column.as_primitive::<UInt64Type>().value(row);
            id.integer.is_some_and(|id| cell < id)
        }
        DataType::LargeUtf8 => column.as_string::<i64>().value(row) < id.text.as_str(),
        _ => false,
    }
}

/// Whether the cell of a row is an id.
fn is_equal(column: &ArrayRef, row: usize, id: &Id) -> bool {
    match column.data_type() {
        DataType::UInt64 => Some(column.as_primitive::<UInt64Type>().value(row)) == id.integer,
        DataType::LargeUtf8 => column.as_string::<i64>().value(row) == id.text,
        _ => false,
    }
}

/// Whether the cells of a column ascend.
fn ascends(column: &ArrayRef) -> bool {
    match column.data_type() {
        DataType::UInt64 => column.as_primitive::<UInt64Type>().values().is_sorted(),
        DataType::LargeUtf8 => column.as_string::<i64>().iter().is_sorted(),
        _ => false,
    }
}

/// Whether the cells of a column, which ascend, go on in another one.
fn follows(column: &ArrayRef, next: &ArrayRef) -> bool {
    let last = column.len() - 1;
    match column.data_type() {
        DataType::UInt64 => {
            let [column, next] = [column, next].map(|cells| cells.as_primitive::<UInt64Type>());
            column.value(last) <= next.value(0)
        }
        DataType::LargeUtf8 => {
            let [column, next] = [column, next].map(|cells| cells.as_string::<i64>());
            column.value(last) <= next.value(0)
        }
        _ => false,
    }
}

/// Returns how many of `count` rows come before the others, which are not `before`.
fn partition_point(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = usize::midpoint(low, high);
        if before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Returns a cell as an object of Python; None where there is nothing.
fn cell<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::UInt32 => {
            column.as_primitive::<UInt32Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::UInt64 => {
            column.as_primitive::<UInt64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Float32 => {
            column.as_primitive::<Float32Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Float64 => {
            column.as_primitive::<Float64Type>().value(row).into_pyobject(py)?.into_any()
        }
        DataType::Boolean => {
            column.as_boolean().value(row).into_pyobject(py)?.to_owned().into_any()
        }
        DataType::LargeUtf8 => column.as_string::<i64>().value(row).into_pyobject(py)?.into_any(),
        other => return Err(PyTypeError::new_err(format!("no cell of type {other}"))),
    })
}

/// A column in one piece.
#[pyclass(frozen, module = "tegula._internal")]
pub struct Column {
    array: ArrayRef,
}

#[pymethods]
impl Column {
    /// The number of cells.
    fn __len__(&self) -> usize {
        self.array.len()
    }

    /// The number of empty cells.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    /// Whether the cells are strings.
    #[getter]
    fn is_text(&self) -> bool {
        *self.array.data_type() == DataType::LargeUtf8
    }

    /// Returns the cells as a list of strings, with None where there is nothing.
    fn strings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let strings = self.array.as_string_opt::<i64>();
        let strings = strings.ok_or_else(|| PyTypeError::new_err("the cells are no strings"))?;
        PyList::new(py, strings.iter())
    }

    /// Returns the cells as numbers that have a place in memory: true and false become 1 and 0.
    fn numbers(&self) -> PyResult<Column> {
        let array: ArrayRef = match self.array.data_type() {
            DataType::Boolean => {
                let cells = self.array.as_boolean().values().iter();
                Arc::new(cells.map(u8::from).collect::<UInt8Array>())
            }
            DataType::LargeUtf8 => return Err(PyTypeError::new_err("the cells are strings")),
            _ => Arc::clone(&self.array),
        };
        Ok(Column { array })
    }

    /// Returns which cells are empty: 1, others 0.
    fn nulls(&self) -> Column {
        let nulls = (0..self.array.len()).map(|row| u8::from(self.array.is_null(row)));
        Column { array: Arc::new(nulls.collect::<UInt8Array>()) }
    }

    /// Where the cells lie, as NumPy's array interface has it: NumPy copies nothing, may not write,
    /// and keeps this object.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let kind = match self.array.data_type() {
            DataType::UInt8 => "|u1",
            DataType::UInt32 => "<u4",
            DataType::UInt64 => "<u8",
            DataType::Float32 => "<f4",
            DataType::Float64 => "<f8",
            other => return Err(PyTypeError::new_err(format!("no numbers, but {other}"))),
        };
        let data = self.array.to_data();
        let width = data.data_type().primitive_width().unwrap_or(1);
        let start = data.buffers()[0].as_ptr() as usize + data.offset() * width;
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (self.array.len(),))?;
        interface.set_item("typestr", kind)?;
        interface.set_item("data", (start, true))?;
        Ok(interface)
    }
}

/// Collects the rows of a table.
pub struct Collected {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Collected {
    /// Begins without rows.
    pub fn new(schema: SchemaRef) -> Collected {
        Collected { schema, batches: Vec::new() }
    }

    /// Returns the table of all rows.
    pub fn into_table(self) -> Table {
        Table::new(self.schema, self.batches)
    }
}

impl RowSink for Collected {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        self.batches.push(rows.clone());
        Ok(())
    }
}
