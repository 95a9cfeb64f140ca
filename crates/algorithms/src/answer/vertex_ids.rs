//! The vertices of a graph as a table.

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use tegula_engine::{Cancel, Graph};

use super::table::Columns;
use super::values::TableRows;
use crate::error::Result;

/// A row for every vertex, with only its id.
pub struct VertexIds;

impl Columns for VertexIds {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        Vec::new()
    }

    fn arrays(
        &self,
        _graph: &Graph,
        _rows: &TableRows<'_>,
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        Ok(Vec::new())
    }
}
