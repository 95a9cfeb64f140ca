//! Values for some of the vertices.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use tegula_engine::{Cancel, Graph};
use tegula_tables::RowSink;

use super::ids::{GroupSize, find_ids, id_type};
use super::scores::Score;
use super::table::{Table, write_in_batches};
use crate::error::Result;
use crate::shared::original_ids::ShortIdPosition;

/// Some of the vertices, with a value each.
#[derive(Debug)]
pub struct Listing<V> {
    /// The name of the column.
    pub column: &'static str,
    /// Ascending by vertex.
    pub rows: Vec<(ShortIdPosition, V)>,
    /// The budget.
    pub memory: u64,
}

impl<V: Score> Table for Listing<V> {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        Arc::new(Schema::new(vec![
            Field::new("vertex", id_type(graph), false),
            Field::new(self.column, V::TYPE, false),
        ]))
    }

    fn row_count(&self, _graph: &Graph) -> u64 {
        self.rows.len() as u64
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        let schema = self.schema(graph);
        for rows in self.rows.chunks(GroupSize::for_memory(self.memory).rows) {
            if !out.wants_more() {
                break;
            }
            let ids = find_ids(graph, rows.iter().map(|row| row.0.into()), cancel)?;
            let values = V::column(rows.iter().map(|row| row.1).collect());
            write_in_batches(&schema, &[ids, values], out)?;
        }
        Ok(())
    }
}
