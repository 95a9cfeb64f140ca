//! Tables that options name. Each row is about one vertex, or two.
//!
//! A table is read within the budget, however long it is and however it is compressed. Rows are
//! looked up in blocks, in the memory that is left beside what is made of the rows.

mod options;
mod reading;
mod source;
mod table_read;

use std::path::Path;

use tegula_engine::{Estimate, RunOptions};
use tegula_store::graph::Graph;
use tegula_store::{Result, VertexId};
use tegula_tables::read::bad_file;
use tegula_tables::{VALUES_MAX, ValueColumn, VertexTable};

pub use options::{Missing, TableOptions};
pub use source::{LocalPaths, TableSource, TableSources};
pub use table_read::TableRead;

/// Takes the rows of a table.
pub trait RowVisitor {
    /// What the table is, for errors.
    const WHAT: &'static str;
    /// Names of the column of ids, in lower case.
    const ID_NAMES: &'static [&'static str] = VertexTable::ID_NAMES;
    /// The columns beside the ids.
    const COLUMNS: &'static [ValueColumn];
    /// Which of these columns has the id of another vertex, if any.
    const OTHER_VERTEX: Option<usize> = None;
    /// Whether a text file may also be in the DIMACS format.
    const MAY_BE_DIMACS: bool = false;
    /// What to do with rows whose vertex is not in the graph, unless [`TableOptions`] say it.
    const MISSING: Missing = Missing::Refuse;

    /// Takes a row, or says what is wrong with it.
    fn take(&mut self, row: &Row<'_>) -> Result<(), String>;

    /// Returns the bytes that it holds, and will hold if no more rows come.
    fn size(&self) -> u64;
}

/// A row whose vertices were found.
#[derive(Debug)]
pub struct Row<'a> {
    /// The vertex.
    pub vertex: VertexId,
    /// Its id as the table writes it.
    pub id: &'a str,
    /// The [other vertex](RowVisitor::OTHER_VERTEX), if a column has one.
    pub other: Option<VertexId>,
    /// The other cells; `None` where the row has no such column, or the cell is empty.
    pub values: [Option<&'a str>; VALUES_MAX],
}

/// Reads the tables that the options of one run name, and records what was read.
pub struct Tables<'a> {
    /// The graph that has the vertices.
    pub graph: &'a Graph,
    /// The options of the run, with its resources.
    pub run: &'a RunOptions<'a>,
    /// Finds the tables.
    pub sources: &'a dyn TableSources,
    options: TableOptions,
    read: Vec<TableRead>,
    /// Bytes that are held of the tables read so far.
    held: u64,
    is_standard_input_taken: bool,
}

impl<'a> Tables<'a> {
    /// Starts before the first table.
    pub fn new(
        graph: &'a Graph,
        run: &'a RunOptions<'a>,
        sources: &'a dyn TableSources,
        options: TableOptions,
    ) -> Tables<'a> {
        Tables {
            graph,
            run,
            sources,
            options,
            read: Vec::new(),
            held: 0,
            is_standard_input_taken: false,
        }
    }

    /// Shows `visitor` all rows of the table that an option names. Returns the least bytes that
    /// this takes beside the overhead of a process.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) for a row that is not understood, and for a
    /// table with no vertex of the graph; also for a row with an unknown vertex, unless such rows
    /// are skipped. [`OverBudget`](tegula_machine::Error::OverBudget) if the budget has no room for
    /// what is made of the rows.
    pub fn read<V: RowVisitor>(
        &mut self,
        option: &'static str,
        source: &TableSource,
        visitor: &mut V,
    ) -> Result<u64> {
        self.check_standard_input(source)?;
        let (read, size) = reading::read(self, option, source, visitor)?;
        self.read.push(read);
        self.held += visitor.size();
        Ok(size)
    }

    /// Returns the path of a file that an option names and that is no table of vertices.
    ///
    /// # Errors
    /// A source that the face refuses.
    pub fn file<'s>(&mut self, option: &'static str, source: &'s TableSource) -> Result<&'s Path>
    where
        'a: 's,
    {
        self.check_standard_input(source)?;
        self.sources.file(option, source)
    }

    fn check_standard_input(&mut self, source: &TableSource) -> Result<()> {
        if source.is_standard_input() && std::mem::replace(&mut self.is_standard_input_taken, true)
        {
            let detail = "standard input can be read only once, and another option names it too";
            return Err(bad_file(source.name(), detail));
        }
        Ok(())
    }

    /// Returns what was read, one entry per table, in their order.
    pub fn into_read(self) -> Vec<TableRead> {
        self.read
    }
}

/// Returns the estimate of a run that first reads tables, which takes `reading` bytes.
pub fn with_reading(estimate: Estimate, reading: u64) -> Estimate {
    // Tables are read before anything is streamed, so they may use that memory.
    let beside_streaming = reading.saturating_sub(estimate.stream_bytes_min);
    let on_disk = estimate.on_disk.map(|arrays| {
        let missing = beside_streaming.saturating_sub(arrays.least().bytes);
        arrays.with_bytes(missing)
    });
    let vertex_bytes = estimate.vertex_bytes.max(beside_streaming);
    Estimate { vertex_bytes, on_disk, ..estimate }
}
