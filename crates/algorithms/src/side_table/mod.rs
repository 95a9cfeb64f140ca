//! Tables that options name, with a row for each vertex that the option is about.
//!
//! A table is read within the budget, however long it is and whatever it is compressed with: rows are
//! looked up block by block in what the budget leaves beside that which is made of them.

mod options;
mod reading;
mod table_read;

use std::path::Path;

use tegula_engine::{Estimate, RunOptions};
use tegula_import::input::{VALUES_MAX, ValueColumn, VertexTable};
use tegula_machine::Result;
use tegula_store::VertexId;
use tegula_store::graph::Graph;

pub use options::{Missing, TableOptions};
pub use reading::bad;
pub use table_read::TableRead;

/// What is made of the rows of a table.
pub trait RowVisitor {
    /// What the table is, in an error.
    const WHAT: &'static str;
    /// Names by which the column of ids is known, in lower case.
    const ID_NAMES: &'static [&'static str] = VertexTable::ID_NAMES;
    /// The columns beside the ids.
    const COLUMNS: &'static [ValueColumn];
    /// Which of these columns has the id of another vertex, if one has.
    const OTHER_VERTEX: Option<usize> = None;
    /// Whether a text may also be of DIMACS.
    const MAY_BE_DIMACS: bool = false;
    /// What is done with a row whose vertex the graph does not have, unless [`TableOptions`] say it.
    const MISSING: Missing = Missing::Refuse;

    /// Takes a row; else tells what is wrong with it.
    fn take(&mut self, row: &Row<'_>) -> Result<(), String>;

    /// Bytes that it holds, and is going to hold if there are no further rows.
    fn size(&self) -> u64;
}

/// A row whose vertices were found.
#[derive(Debug)]
pub struct Row<'a> {
    /// The vertex.
    pub vertex: VertexId,
    /// Its id as it is written.
    pub id: &'a str,
    /// The [other vertex](RowVisitor::OTHER_VERTEX), if a column has one.
    pub other: Option<VertexId>,
    /// The cells beside it; none where the row has no such column, or nothing in it.
    pub values: [Option<&'a str>; VALUES_MAX],
}

/// Reads the tables that the options of one run name, and keeps account of what was read.
pub struct Tables<'a> {
    /// The graph that has the vertices.
    pub graph: &'a Graph,
    /// What reading may use.
    pub run: &'a RunOptions<'a>,
    options: TableOptions,
    read: Vec<TableRead>,
}

impl<'a> Tables<'a> {
    /// None is read yet.
    pub fn new(graph: &'a Graph, run: &'a RunOptions<'a>, options: TableOptions) -> Tables<'a> {
        Tables { graph, run, options, read: Vec::new() }
    }

    /// Has `visitor` visit all rows of the table that an option names. Returns the least bytes that this takes,
    /// beside the overhead of a process.
    ///
    /// # Errors
    /// Those of reading; [`BadInput`](tegula_machine::Error::BadInput) for a row that is not understood or, unless
    /// such rows are skipped, has a vertex that the graph does not have, and for a table of nothing else;
    /// [`OverBudget`](tegula_machine::Error::OverBudget) where the budget has no room for what is made of the rows;
    /// cancellation.
    pub fn read<V: RowVisitor>(
        &mut self,
        option: &'static str,
        path: &Path,
        visitor: &mut V,
    ) -> Result<u64> {
        let (read, size) = reading::read(self, option, path, visitor)?;
        self.read.push(read);
        Ok(size)
    }

    /// What was read, of each table in its order.
    pub fn into_read(self) -> Vec<TableRead> {
        self.read
    }
}

/// The estimate of a run before which tables are read, for which this takes `reading` bytes.
pub fn with_reading(estimate: Estimate, reading: u64) -> Estimate {
    let beside_streaming = reading.saturating_sub(estimate.stream_bytes_min);
    let on_disk = estimate.on_disk.map(|arrays| {
        let missing = beside_streaming.saturating_sub(arrays.least().bytes);
        arrays.beside(missing)
    });
    let vertex_bytes = estimate.vertex_bytes.max(beside_streaming);
    Estimate { vertex_bytes, on_disk, ..estimate }
}
