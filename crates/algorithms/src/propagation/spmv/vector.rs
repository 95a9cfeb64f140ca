//! Reads the vector from a table.

use std::sync::Arc;

use tegula_store::Result;
use tegula_tables::{Presence, ValueColumn};

use crate::algorithm::SideFiles;
use crate::side_table::{Row, RowVisitor, TableSource, Tables};

/// A value for each vertex.
#[derive(Debug, Default)]
pub struct Vector {
    /// By dense id. Allocated at the first row, after its size was checked against the budget.
    values: Arc<Vec<f32>>,
    len: usize,
    /// Bytes that reading it takes.
    pub reading_size: u64,
}

impl Vector {
    /// Reads a row for each vertex whose value is not 0.
    pub fn read(
        option: &'static str,
        source: &TableSource,
        tables: &mut Tables<'_>,
    ) -> Result<Vector> {
        let mut vector = Vector { len: tables.graph.vertex_count() as usize, ..Vector::default() };
        vector.reading_size = tables.read(option, source, &mut vector)?;
        // A table without rows has made no values yet.
        vector.all_values();
        Ok(vector)
    }

    /// Returns the values of all vertices, by dense id.
    pub fn values(&self) -> Arc<Vec<f32>> {
        Arc::clone(&self.values)
    }

    /// Returns a value for each vertex, which is 0 where no row was read.
    fn all_values(&mut self) -> &mut [f32] {
        // Nobody shares the values while they are read, so this copies none.
        let values = Arc::make_mut(&mut self.values);
        values.resize(self.len, 0.0);
        values
    }
}

impl SideFiles for Vector {
    fn size(&self) -> u64 {
        (self.len * size_of::<f32>()) as u64
    }
}

impl RowVisitor for Vector {
    const WHAT: &'static str = "the vector";
    const COLUMNS: &'static [ValueColumn] = &[ValueColumn {
        role: "value",
        names: &["value", "x", "rank", "weight"],
        is_number: true,
        presence: Presence::Required,
    }];

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let text = row.values[0].unwrap_or_default();
        let value = text.parse::<f32>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| format!("`{text}` is no finite number"))?;
        self.all_values()[row.vertex.index()] += value;
        Ok(())
    }

    fn size(&self) -> u64 {
        SideFiles::size(self)
    }
}
