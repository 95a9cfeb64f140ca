//! Pairs of vertices that a table names.

use std::path::Path;

use tegula_engine::{Graph, RunOptions, VertexId};
use tegula_import::input::{Presence, ValueColumn};
use tegula_machine::Result;
use tegula_store::OriginalId;
use tegula_store::graph::OriginalIds;

use crate::algorithm::SideFiles;
use crate::side_table::{self, Row, RowVisitor};

/// The pairs, in the order of the file.
#[derive(Debug, Default)]
pub struct PairList {
    /// All of them.
    pub pairs: Vec<[VertexId; 2]>,
    /// Bytes that reading them takes.
    pub reading_size: u64,
}

impl PairList {
    /// Reads a row for each pair.
    ///
    /// # Errors
    /// Those of [`side_table::read`].
    pub fn read(path: &Path, graph: &Graph, options: &RunOptions<'_>) -> Result<PairList> {
        let mut reading = Reading { pairs: Vec::new(), ids: graph.original_ids()? };
        let reading_size = side_table::read(path, graph, options, &mut reading)?;
        Ok(PairList { pairs: reading.pairs, reading_size })
    }
}

impl SideFiles for PairList {
    fn size(&self) -> u64 {
        size_of_val(&*self.pairs) as u64
    }
}

/// Pairs that are being read.
struct Reading {
    pairs: Vec<[VertexId; 2]>,
    ids: OriginalIds,
}

impl RowVisitor for Reading {
    const WHAT: &'static str = "the pairs";
    const COLUMNS: &'static [ValueColumn] = &[ValueColumn {
        role: "other vertex",
        names: &["v", "other", "target", "to", "dst"],
        presence: Presence::Required,
    }];

    fn take(&mut self, row: &Row<'_>) -> Result<(), String> {
        let [other, _] = row.values;
        let other = other.unwrap_or_default();
        let found = self.ids.find(&OriginalId::String(other.to_owned()));
        match found.map_err(|error| error.to_string())? {
            Some(other) => self.pairs.push([row.vertex, other]),
            None => return Err(format!("the graph has no vertex `{other}`")),
        }
        Ok(())
    }

    fn size(&self) -> u64 {
        2 * size_of_val(&*self.pairs) as u64
    }
}
