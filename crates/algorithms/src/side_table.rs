//! Tables that options name, with a row for each vertex that the option is about.
//!
//! A table is read within the budget, however long it is and whatever it is compressed with: rows are
//! looked up block by block in what the budget leaves beside that which is made of them.

use std::ops::Range;
use std::path::Path;

use tegula_engine::{Estimate, RUN_OVERHEAD, RunOptions};
use tegula_import::input::{
    IdKind, VALUES_MAX, ValueColumn, VertexColumns, VertexRow, VertexTable,
};
use tegula_machine::{At, Error, Place, Result};
use tegula_store::graph::{Graph, OriginalIds};
use tegula_store::{OriginalId, VertexId};

/// Bytes of the smallest block of rows; what a budget that is too small for any run has room for, too.
const BLOCK_SIZE_MIN: u64 = 2 << 20;
/// Bytes of the largest block of rows.
const BLOCK_SIZE_MAX: u64 = 256 << 20;
/// Bytes that a row takes beside its text until its vertex is found.
const ROW_SIZE: u64 = size_of::<BlockRow>() as u64 + 72;

/// What is made of the rows of a table.
pub trait RowVisitor {
    /// What the table is, in an error.
    const WHAT: &'static str;
    /// The columns beside the ids.
    const COLUMNS: &'static [ValueColumn];
    /// Whether a text may also be of DIMACS.
    const MAY_BE_DIMACS: bool = false;
    /// What becomes of a row whose vertex the graph does not have.
    const STRANGERS: Strangers = Strangers::AreRefused;

    /// Takes a row; else tells what is wrong with it.
    fn take(&mut self, row: &Row<'_>) -> Result<(), String>;

    /// Bytes that it holds, and is going to hold if there are no further rows.
    fn size(&self) -> u64;
}

/// What becomes of rows whose vertices the graph does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strangers {
    /// They are an error.
    AreRefused,
    /// They say nothing.
    ArePassedOver,
}

/// A row whose vertex was found.
#[derive(Debug)]
pub struct Row<'a> {
    /// The vertex.
    pub vertex: VertexId,
    /// Its id as it is written.
    pub id: &'a str,
    /// The cells beside it; none where the row has no such column, or nothing in it.
    pub values: [Option<&'a str>; VALUES_MAX],
}

/// Has all rows of a table visited. Returns the bytes that this takes at the least, beside the overhead
/// of a process.
///
/// # Errors
/// Those of reading; [`Error::BadInput`] for a row that is not understood or has a vertex that is not there;
/// [`Error::OverBudget`] where the budget has no room for what is made of the rows; cancellation.
pub fn read<V: RowVisitor>(
    path: &Path,
    graph: &Graph,
    options: &RunOptions<'_>,
    visitor: &mut V,
) -> Result<u64> {
    let ids = graph.original_ids()?;
    let kind = if ids.are_strings() { IdKind::String } else { IdKind::Integer };
    let columns = VertexColumns { ids: kind, values: V::COLUMNS, may_be_dimacs: V::MAY_BE_DIMACS };
    let is_vertex = |name: &str| Ok(ids.find(&OriginalId::String(name.to_owned()))?.is_some());
    let table = VertexTable::open(path, &columns, &is_vertex, &options.cancel)?;
    let reading_size = table.size();
    let room = Room { what: V::WHAT, memory: options.memory, reading: reading_size };
    let has_header = table.has_header();
    let block = RowBlock::default();
    let mut reader = TableReader { path, graph, ids, has_header, room, block, visitor };
    reader.check_room()?;
    let result = table.read(&options.cancel, &mut |row| reader.push(&row));
    // A row that was read before one that could not be is looked up first, and refused first.
    match result {
        Ok(()) | Err(Error::BadInput { .. }) => reader.flush()?,
        Err(_) => {}
    }
    // What looked ids up has no more use for its memory.
    graph.reader().pool().trim();
    result.map(|()| reading_size + visitor.size() + BLOCK_SIZE_MIN)
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

/// The error for a file that does not say what it should.
pub fn bad(path: &Path, at: At, detail: String) -> Error {
    Error::bad_input(Place { file: path.to_owned(), at }, detail)
}

/// The memory that there is while a table is read.
struct Room {
    what: &'static str,
    memory: u64,
    /// Bytes that the reader of the format holds.
    reading: u64,
}

impl Room {
    /// Bytes that a block may have beside `held` bytes of what was made of rows.
    fn for_block(&self, held: u64) -> Result<u64> {
        let needed = RUN_OVERHEAD + self.reading + held + BLOCK_SIZE_MIN;
        // A table within the first bytes is read even where nothing can run: the run is then refused with
        // all that it needs.
        if needed > self.memory && self.reading + held > BLOCK_SIZE_MIN + VertexTable::TEXT_SIZE_MAX
        {
            let what = format!("reading {} so far", self.what);
            return Err(Error::OverBudget { what, needed, budget: self.memory });
        }
        let free = self.memory.saturating_sub(needed);
        Ok((BLOCK_SIZE_MIN + free / 4).min(BLOCK_SIZE_MAX))
    }
}

/// A table that is being read.
struct TableReader<'a, V: RowVisitor> {
    path: &'a Path,
    graph: &'a Graph,
    ids: OriginalIds,
    has_header: bool,
    room: Room,
    block: RowBlock,
    visitor: &'a mut V,
}

/// Rows whose vertices are to be looked up together.
#[derive(Default)]
struct RowBlock {
    /// Bytes that it may have.
    size_max: u64,
    /// Whether there was a block before.
    follows: bool,
    /// The cells of all rows, one behind the other.
    text: String,
    rows: Vec<BlockRow>,
}

/// A row, as places in the text of its block.
struct BlockRow {
    at: At,
    id: Range<usize>,
    is_like_comment: bool,
    values: [Option<Range<usize>>; VALUES_MAX],
}

impl RowBlock {
    fn size(&self) -> u64 {
        self.text.len() as u64 + ROW_SIZE * self.rows.len() as u64
    }

    fn get(&self, place: &Range<usize>) -> &str {
        &self.text[place.clone()]
    }

    fn push_text(&mut self, text: &str) -> Range<usize> {
        let start = self.text.len();
        self.text.push_str(text);
        start..self.text.len()
    }
}

impl<V: RowVisitor> TableReader<'_, V> {
    fn check_room(&mut self) -> Result<()> {
        self.block.size_max = self.room.for_block(self.visitor.size())?;
        Ok(())
    }

    fn push(&mut self, row: &VertexRow<'_>) -> Result<()> {
        let id = self.block.push_text(row.id);
        let values = row.values.map(|value| value.map(|text| self.block.push_text(text)));
        let is_like_comment = row.is_like_comment;
        self.block.rows.push(BlockRow { at: row.at, id, is_like_comment, values });
        if self.block.size() >= self.block.size_max { self.flush() } else { Ok(()) }
    }

    /// Looks up the rows of the block, hands them on, and is ready for the next block then.
    fn flush(&mut self) -> Result<()> {
        if self.block.rows.is_empty() {
            return Ok(());
        }
        let mut block = std::mem::take(&mut self.block);
        let names: Vec<&str> = block.rows.iter().map(|row| block.get(&row.id)).collect();
        let found = self.ids.find_all(&names)?;
        drop(names);
        let mut is_first = !block.follows && !self.has_header;
        for (row, vertex) in block.rows.iter().zip(found) {
            let taken = self.take(&block, row, vertex, is_first);
            taken.map_err(|detail| bad(self.path, row.at, detail))?;
            is_first &= row.is_like_comment;
        }
        block.text.clear();
        block.rows.clear();
        block.follows = true;
        self.block = block;
        self.check_room()
    }

    fn take(
        &mut self,
        block: &RowBlock,
        row: &BlockRow,
        vertex: Option<VertexId>,
        is_first: bool,
    ) -> Result<(), String> {
        let id = block.get(&row.id);
        if row.is_like_comment {
            return match vertex {
                None => Ok(()),
                Some(_) => Err(format!(
                    "this line begins as a comment does, and `{id}` is a vertex; put the id in quotes, \
                     with commas or tabs between the columns"
                )),
            };
        }
        let is_integer = id.bytes().all(|byte| byte.is_ascii_digit()) && id.parse::<u64>().is_ok();
        let hint = if is_first { header_hint::<V>() } else { String::new() };
        if !self.ids.are_strings() && !is_integer {
            let graph = self.graph.directory().display();
            return Err(format!("{graph} has no vertex `{id}`, as its ids are integers{hint}"));
        }
        let Some(vertex) = vertex else {
            return match V::STRANGERS {
                Strangers::ArePassedOver => Ok(()),
                Strangers::AreRefused => {
                    let graph = self.graph.directory().display();
                    Err(format!("{graph} has no vertex `{id}`{hint}"))
                }
            };
        };
        let values =
            row.values.each_ref().map(|value| value.as_ref().map(|place| block.get(place)));
        self.visitor.take(&Row { vertex, id, values })
    }
}

/// What else the first row may be.
fn header_hint<V: RowVisitor>() -> String {
    let values = V::COLUMNS.iter().filter_map(|column| column.names.first());
    let names: Vec<&str> = VertexTable::ID_NAMES.iter().take(1).chain(values).copied().collect();
    format!("; if it is a header, let it name the columns `{}`", names.join("`, `"))
}
