//! Tables, mostly of values by dense id that become rows by original id.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use tegula_machine::Error as MachineError;
use tegula_machine::threads::Cancel;
use tegula_store::graph::{Graph, IdChunk};
use tegula_store::{Error, VertexId};
use tegula_tables::RowSink;

use super::{BATCH_ROWS, GroupSize, TableRows, id_array, id_type};
use crate::error::Result;

/// A result as a table.
pub trait Table {
    /// Returns its columns.
    fn schema(&self, graph: &Graph) -> SchemaRef;

    /// Returns the number of its rows.
    fn row_count(&self, graph: &Graph) -> u64;

    /// Writes all rows, a chunk at a time, until `out` wants no more.
    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()>;
}

/// A row for every vertex, in the order of the original ids.
impl<C: Columns> Table for C {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        let id = id_type(graph);
        let mut fields = vec![Field::new("vertex", id.clone(), false)];
        fields.extend(self.fields(id));
        Arc::new(Schema::new(fields))
    }

    fn row_count(&self, graph: &Graph) -> u64 {
        graph.vertex_count()
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        let (mut group, size) = (Group::default(), self.group_size());
        graph.original_ids()?.for_each_chunk(|ids, vertices| {
            cancel.check()?;
            if !out.wants_more() {
                return Ok(());
            }
            group.text += ids.text_len();
            group.ids.push(ids);
            group.vertices.extend_from_slice(vertices);
            if group.vertices.len() < size.rows && group.text < size.text {
                return Ok(());
            }
            group.write(graph, &schema, self, out, cancel)
        })?;
        if group.ids.is_empty() {
            return Ok(());
        }
        group.write(graph, &schema, self, out, cancel)
    }
}

/// Writes rows from finished columns.
pub fn write_arrays(
    schema: &SchemaRef,
    arrays: Vec<ArrayRef>,
    out: &mut dyn RowSink,
) -> Result<()> {
    Ok(out.write(&RecordBatch::try_new(SchemaRef::clone(schema), arrays).map_err(mismatch)?)?)
}

/// Writes rows from finished columns, in batches of [`BATCH_ROWS`].
pub fn write_in_batches(
    schema: &SchemaRef,
    arrays: &[ArrayRef],
    out: &mut dyn RowSink,
) -> Result<()> {
    let count = arrays.first().map_or(0, |array| array.len());
    (0..count).step_by(BATCH_ROWS).try_for_each(|start| {
        let rows = BATCH_ROWS.min(count - start);
        let arrays = arrays.iter().map(|array| array.slice(start, rows)).collect();
        write_arrays(schema, arrays, out)
    })
}

/// The columns of a table that has a row for each vertex.
pub trait Columns {
    /// Returns the fields of the columns; `id` is the type of a vertex.
    fn fields(&self, id: DataType) -> Vec<Field>;

    /// Returns how many rows to ask for at a time, at least.
    fn group_size(&self) -> GroupSize {
        GroupSize::LEAST
    }

    /// Returns the columns for these vertices.
    fn arrays(&self, graph: &Graph, rows: &TableRows<'_>, cancel: &Cancel)
    -> Result<Vec<ArrayRef>>;
}

/// Rows whose ids were read and whose values are not yet asked for.
#[derive(Default)]
struct Group {
    /// The id position of the first.
    first: usize,
    ids: Vec<IdChunk>,
    text: usize,
    vertices: Vec<VertexId>,
}

impl Group {
    fn write(
        &mut self,
        graph: &Graph,
        schema: &SchemaRef,
        columns: &dyn Columns,
        out: &mut dyn RowSink,
        cancel: &Cancel,
    ) -> Result<()> {
        let rows = TableRows { first: self.first, vertices: &self.vertices };
        let arrays = columns.arrays(graph, &rows, cancel)?;
        let mut start = 0;
        for ids in self.ids.drain(..) {
            let count = ids.len();
            let mut row_arrays = vec![id_array(ids)];
            row_arrays.extend(arrays.iter().map(|array| array.slice(start, count)));
            write_arrays(schema, row_arrays, out)?;
            start += count;
        }
        self.first += self.vertices.len();
        self.vertices.clear();
        self.text = 0;
        Ok(())
    }
}

/// Returns the error for columns that do not fit their own schema.
fn mismatch(error: ArrowError) -> Error {
    MachineError::WorkerFailed { detail: error.to_string() }.into()
}
