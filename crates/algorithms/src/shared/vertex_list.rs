//! Lists of vertices from tables.

use tegula_engine::VertexId;
use tegula_store::Result;
use tegula_tables::ValueColumn;

use crate::algorithm::SideFiles;
use crate::side_table::{Row, RowVisitor, TableSource, Tables};

/// The vertices, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct VertexList {
    /// All vertices; one that is named twice occurs twice.
    pub vertices: Vec<VertexId>,
    /// Bytes for reading them.
    pub reading_size: u64,
}

impl VertexList {
    /// Reads a vertex from each row.
    pub fn read(
        option: &'static str,
        source: &TableSource,
        tables: &mut Tables<'_>,
    ) -> Result<VertexList> {
        let mut list = VertexList::default();
        list.reading_size = tables.read(option, source, &mut list)?;
        Ok(list)
    }

    /// Reads the table that an option names, if there is one.
    pub fn read_any(
        option: &'static str,
        source: Option<&TableSource>,
        tables: &mut Tables<'_>,
    ) -> Result<VertexList> {
        source.map_or_else(
            || Ok(VertexList::default()),
            |source| VertexList::read(option, source, tables),
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
