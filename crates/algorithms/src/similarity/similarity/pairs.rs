//! Reads pairs of vertices from a table.

use tegula_engine::VertexId;
use tegula_store::Result;
use tegula_tables::{Presence, ValueColumn};

use crate::algorithm::SideFiles;
use crate::side_table::{Row, RowVisitor, TableSource, Tables};

/// The pairs of a table.
#[derive(Debug, Default)]
pub struct PairList {
    /// The pairs in the order of the file.
    pub pairs: Vec<[VertexId; 2]>,
    /// Bytes that reading them takes.
    pub reading_size: u64,
}

impl PairList {
    /// Reads a row for each pair.
    pub fn read(
        option: &'static str,
        source: &TableSource,
        tables: &mut Tables<'_>,
    ) -> Result<PairList> {
        let mut list = PairList::default();
        list.reading_size = tables.read(option, source, &mut list)?;
        Ok(list)
    }
}

impl SideFiles for PairList {
    fn size(&self) -> u64 {
        size_of_val(&*self.pairs) as u64
    }
}

impl RowVisitor for PairList {
    const WHAT: &'static str = "the pairs";
    const ID_NAMES: &'static [&'static str] =
        &["vertex", "id", "node", "u", "source", "from", "src"];
    const COLUMNS: &'static [ValueColumn] = &[ValueColumn {
        role: "other vertex",
        names: &["v", "other", "target", "to", "dst"],
        is_number: false,
        presence: Presence::Required,
    }];
    const OTHER_VERTEX: Option<usize> = Some(0);

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let other = row.other.ok_or("it has no other vertex")?;
        self.pairs.push([row.vertex, other]);
        Ok(())
    }

    fn size(&self) -> u64 {
        2 * SideFiles::size(self)
    }
}
