//! Vertices that a table names.

use std::path::Path;

use tegula_engine::{Graph, RunOptions, VertexId};
use tegula_import::input::ValueColumn;
use tegula_machine::Result;

use crate::algorithm::SideFiles;
use crate::side_table::{self, Row, RowVisitor};

/// The vertices, in the order of the file.
#[derive(Debug, Default)]
pub struct VertexList {
    /// All of them; one that is named twice is there twice.
    pub vertices: Vec<VertexId>,
    /// Bytes that reading them takes.
    pub reading_size: u64,
}

impl VertexList {
    /// Reads a row for each vertex.
    ///
    /// # Errors
    /// Those of [`side_table::read`].
    pub fn read(path: &Path, graph: &Graph, options: &RunOptions<'_>) -> Result<VertexList> {
        let mut list = VertexList::default();
        list.reading_size = side_table::read(path, graph, options, &mut list)?;
        Ok(list)
    }

    /// Reads the file that an option names; none without one.
    ///
    /// # Errors
    /// Those of [`VertexList::read`].
    pub fn read_any(
        path: Option<&Path>,
        graph: &Graph,
        options: &RunOptions<'_>,
    ) -> Result<VertexList> {
        path.map_or_else(
            || Ok(VertexList::default()),
            |path| VertexList::read(path, graph, options),
        )
    }
}

impl SideFiles for VertexList {
    fn size(&self) -> u64 {
        size_of_val(&*self.vertices) as u64
    }
}

impl RowVisitor for VertexList {
    const WHAT: &'static str = "the vertices";
    const COLUMNS: &'static [ValueColumn] = &[];

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        self.vertices.push(row.vertex);
        Ok(())
    }

    fn size(&self) -> u64 {
        SideFiles::size(self)
    }
}
