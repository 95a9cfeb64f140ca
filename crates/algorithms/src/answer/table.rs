//! Tables, mostly of values by dense id that become rows by original id.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter;
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

    /// Returns the table of the rows that belong to these vertices, in the same order; `None` where
    /// rows belong to no vertex. Vertices are dense ids.
    fn rows_of(&self, _vertices: Range<u64>) -> Option<Box<dyn Table + '_>> {
        None
    }
}

/// A row for every vertex, in the order of the original ids.
impl<C: Columns> Table for C {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        schema_of(self, graph)
    }

    fn row_count(&self, graph: &Graph) -> u64 {
        graph.vertex_count()
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        RowsOf { columns: self, vertices: 0..graph.vertex_count() }.write_rows(graph, out, cancel)
    }

    fn rows_of(&self, vertices: Range<u64>) -> Option<Box<dyn Table + '_>> {
        Some(Box::new(RowsOf { columns: self, vertices }))
    }
}

fn schema_of(columns: &dyn Columns, graph: &Graph) -> SchemaRef {
    let id = id_type(graph);
    let mut fields = vec![Field::new("vertex", id.clone(), false)];
    fields.extend(columns.fields(id));
    Arc::new(Schema::new(fields))
}

/// A row for each of some vertices, in the order of the original ids.
struct RowsOf<'c> {
    columns: &'c dyn Columns,
    /// Dense ids.
    vertices: Range<u64>,
}

impl Table for RowsOf<'_> {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        schema_of(self.columns, graph)
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.vertices.end - self.vertices.start
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let (mut group, size) = (Group::default(), self.columns.group_size());
        graph.original_ids()?.for_each_chunk(|ids, vertices| {
            cancel.check()?;
            if !out.wants_more() {
                // The walk goes on without writing: only an error would end it early.
                return Ok(());
            }
            group.text += ids.text_len();
            group.ids.push(ids);
            group.vertices.extend_from_slice(vertices);
            if group.vertices.len() < size.rows && group.text < size.text {
                return Ok(());
            }
            group.write(self, graph, out, cancel)
        })?;
        group.write(self, graph, out, cancel)
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
    /// Writes the wanted rows of the group, and empties it.
    fn write(
        &mut self,
        wanted: &RowsOf<'_>,
        graph: &Graph,
        out: &mut dyn RowSink,
        cancel: &Cancel,
    ) -> Result<()> {
        let is_wanted = |vertex: &VertexId| wanted.vertices.contains(&vertex.0);
        // Values may lie on disk. They are not read for a group without a wanted row.
        if self.vertices.iter().any(is_wanted) {
            let schema = wanted.schema(graph);
            let rows = TableRows { first: self.first, vertices: &self.vertices };
            let arrays = wanted.columns.arrays(graph, &rows, cancel)?;
            let mut start = 0;
            for ids in self.ids.drain(..) {
                let vertices = &self.vertices[start..start + ids.len()];
                let mut row_arrays = vec![id_array(ids)];
                row_arrays.extend(arrays.iter().map(|array| array.slice(start, vertices.len())));
                start += vertices.len();
                if vertices.iter().any(is_wanted) {
                    write_arrays(&schema, wanted_of(row_arrays, vertices, is_wanted)?, out)?;
                }
            }
        }
        self.first += self.vertices.len();
        self.ids.clear();
        self.vertices.clear();
        self.text = 0;
        Ok(())
    }
}

/// Returns the wanted rows of columns that have a row for each of `vertices`.
fn wanted_of(
    arrays: Vec<ArrayRef>,
    vertices: &[VertexId],
    is_wanted: impl Fn(&VertexId) -> bool,
) -> Result<Vec<ArrayRef>> {
    if vertices.iter().all(&is_wanted) {
        return Ok(arrays);
    }
    let wanted: BooleanArray = vertices.iter().map(|vertex| Some(is_wanted(vertex))).collect();
    let arrays = arrays.iter().map(|array| filter(array, &wanted)).collect::<Result<_, _>>();
    Ok(arrays.map_err(mismatch)?)
}

/// Returns the error for columns that do not fit their own schema.
fn mismatch(error: ArrowError) -> Error {
    MachineError::WorkerFailed { detail: error.to_string() }.into()
}
