//! The vector, where a table has it.

use std::path::Path;

use tegula_engine::RunOptions;
use tegula_import::input::{Presence, ValueColumn};
use tegula_machine::Result;
use tegula_store::graph::Graph;

use crate::algorithm::SideFiles;
use crate::side_table::{self, Row, RowVisitor};

/// A value for each vertex.
#[derive(Debug, Default)]
pub struct Vector {
    /// By dense id. It has its length when there is a row, for which there is memory then.
    values: Vec<f32>,
    len: usize,
    /// Bytes that reading it takes.
    pub reading_size: u64,
}

impl Vector {
    /// Reads a row for each vertex whose value is not 0.
    ///
    /// # Errors
    /// Those of [`side_table::read`].
    pub fn read(path: &Path, graph: &Graph, options: &RunOptions<'_>) -> Result<Vector> {
        let mut vector = Vector { len: graph.vertex_count() as usize, ..Vector::default() };
        vector.reading_size = side_table::read(path, graph, options, &mut vector)?;
        Ok(vector)
    }

    /// The values of all vertices, by dense id.
    pub fn into_values(mut self) -> Vec<f32> {
        self.values.resize(self.len, 0.0);
        self.values
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
        presence: Presence::Required,
    }];

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let text = row.values[0].unwrap_or_default();
        let value = text.parse::<f32>().ok().filter(|value| value.is_finite());
        let value = value.ok_or_else(|| format!("`{text}` is no finite number"))?;
        self.values.resize(self.len, 0.0);
        self.values[row.vertex.index()] += value;
        Ok(())
    }

    fn size(&self) -> u64 {
        SideFiles::size(self)
    }
}
