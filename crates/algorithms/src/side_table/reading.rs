//! Reads the rows of a table, looks up their vertices, and passes them on.

use std::ops::Range;
use std::path::Path;

use tegula_engine::RUN_OVERHEAD;
use tegula_store::graph::{Graph, OriginalIds};
use tegula_store::{
    At, Diagnostic, Error, Hint, OriginalId, Result, Setting, SettingValue, VertexId,
};
use tegula_tables::read::{bad_at, bad_file};
use tegula_tables::{TablePlace, VALUES_MAX, VertexColumns, VertexRow, VertexTable};

use super::options::Missing;
use super::table_read::TableRead;
use super::{Row, RowVisitor, TableSource, Tables};

/// Bytes of the smallest block of rows. Even a budget that is too small for any run has room for
/// it.
const BLOCK_SIZE_MIN: u64 = 2 << 20;
/// Bytes of the largest block of rows.
const BLOCK_SIZE_MAX: u64 = 256 << 20;
/// Bytes that a row takes beside its text until its vertices are found.
const ROW_SIZE: u64 = size_of::<BlockRow>() as u64 + 88;

/// Shows `visitor` all rows of a table. Returns what was read, and the least bytes that reading
/// takes beside the overhead of a process.
pub(super) fn read<V: RowVisitor>(
    tables: &Tables<'_>,
    option: &'static str,
    source: &TableSource,
    visitor: &mut V,
) -> Result<(TableRead, u64)> {
    let Tables { graph, run, sources, options, held, .. } = *tables;
    let path = source.name();
    let ids = graph.original_ids()?;
    let columns = VertexColumns {
        has_integer_ids: !ids.are_strings(),
        id_names: V::ID_NAMES,
        values: V::COLUMNS,
        has_header: options.header,
        may_be_dimacs: V::MAY_BE_DIMACS,
    };
    let is_vertex = |name: &str| Ok(ids.find(&OriginalId::String(name.to_owned()))?.is_some());
    let mut table = match sources.find(option, source)? {
        TablePlace::File(path) => VertexTable::open(path, &columns, &is_vertex, &run.cancel)?,
        TablePlace::Memory(schema, batches) => {
            VertexTable::of_batches(path, &schema, batches, &columns)?
        }
    };
    let reading_size = table.size();
    let mut reader = TableReader {
        path,
        graph,
        ids,
        has_header: table.has_header(),
        missing: options.missing.unwrap_or(V::MISSING),
        refuses_no_ids: options.missing.is_none(),
        room: Room { what: V::WHAT, memory: run.memory, reading: held + reading_size },
        block: RowBlock::default(),
        read: TableRead::new(option, table.take_guesses()),
        visitor,
    };
    reader.check_room()?;
    let result = table.read(&run.cancel, &mut |row| reader.push(&row));
    // Rows before a malformed one are looked up first, so an error in one of them comes first.
    match result {
        Ok(_) | Err(Error::BadInput { .. }) => reader.flush()?,
        Err(_) => {}
    }
    let TableReader { mut read, .. } = reader;
    // The look-up of ids needs its memory no longer.
    graph.reader().pool().trim();
    read.may_be_cut = result?;
    if read.rows == 0 && read.missing_rows > 0 {
        let detail = format!(
            "{} has no vertex of this table: it lacks {}",
            graph.directory().display(),
            read.missing()
        );
        return Err(bad_file(path, detail));
    }
    Ok((read, reading_size + visitor.size() + BLOCK_SIZE_MIN))
}

/// The memory for reading a table.
struct Room {
    what: &'static str,
    memory: u64,
    /// Bytes that the reader of the file format holds, and what was made of earlier tables.
    reading: u64,
}

impl Room {
    /// Returns the bytes that a block may take beside `held` bytes of what was made of rows.
    fn for_block(&self, held: u64) -> Result<u64> {
        let needed = RUN_OVERHEAD + self.reading + held + BLOCK_SIZE_MIN;
        // A table of a few bytes is read even if nothing can run. The refusal of the run then tells
        // all that it needs.
        if needed > self.memory && self.reading + held > BLOCK_SIZE_MIN + VertexTable::TEXT_SIZE_MAX
        {
            let what = format!("reading {} so far", self.what);
            return Err(Error::over_budget(what, needed, self.memory));
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
    missing: Missing,
    /// Whether to refuse a text that cannot be an id of the graph, even where missing vertices are
    /// skipped by default: the user did not ask for that.
    refuses_no_ids: bool,
    room: Room,
    block: RowBlock,
    read: TableRead,
    visitor: &'a mut V,
}

/// Rows whose vertices are looked up together.
#[derive(Default)]
struct RowBlock {
    /// The most bytes that it may take.
    size_max: u64,
    /// Whether another block came before.
    follows: bool,
    /// The cells of all rows, one after the other.
    text: String,
    rows: Vec<BlockRow>,
}

/// A row, as ranges of the text of its block.
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

    /// Looks up the rows of the block, passes them on, and gets ready for the next block.
    fn flush(&mut self) -> Result<()> {
        if self.block.rows.is_empty() {
            return Ok(());
        }
        // Taken out, because the rest of `self` changes while its rows are read.
        let mut block = std::mem::take(&mut self.block);
        let found = self.find(&block, |row| Some(&row.id))?;
        let others = match V::OTHER_VERTEX {
            Some(column) => self.find(&block, |row| row.values[column].as_ref())?,
            None => Vec::new(),
        };
        // Only a first row may be a header with names that are not known.
        let mut is_first = !block.follows && !self.has_header;
        for (index, (row, vertex)) in block.rows.iter().zip(found).enumerate() {
            let other = others.get(index).copied().flatten();
            let taken = self.take(&block, row, [vertex, other], is_first);
            taken.map_err(|problem| bad_at(self.path, row.at, problem))?;
            is_first &= row.is_like_comment;
        }
        block.text.clear();
        block.rows.clear();
        block.follows = true;
        self.block = block;
        self.check_room()
    }

    /// Finds the vertices of all rows of a block. `cell` returns the cell that has the id.
    fn find(
        &self,
        block: &RowBlock,
        cell: impl Fn(&BlockRow) -> Option<&Range<usize>>,
    ) -> Result<Vec<Option<VertexId>>> {
        let id = |row| cell(row).map_or("", |place| block.get(place));
        let ids: Vec<&str> = block.rows.iter().map(id).collect();
        self.ids.find_all(&ids)
    }

    /// Passes on a row with its vertex and, where a column has one, its other vertex.
    fn take(
        &mut self,
        block: &RowBlock,
        row: &BlockRow,
        [vertex, other]: [Option<VertexId>; 2],
        is_first: bool,
    ) -> Result<(), Diagnostic> {
        let id = block.get(&row.id);
        if row.is_like_comment {
            return match vertex {
                None => Ok(()),
                Some(_) => Err(Diagnostic::from(format!(
                    "this line looks like a comment, but `{id}` is a vertex; put the id in quotes, and separate \
                     columns by commas or tabs"
                ))),
            };
        }
        let values =
            row.values.each_ref().map(|value| value.as_ref().map(|place| block.get(place)));
        let Some(vertex) = vertex.filter(|_| self.may_be_id(id)) else {
            return self.pass_over(id, is_first);
        };
        let other_id = V::OTHER_VERTEX.and_then(|column| values[column]);
        let other = match (other_id, other) {
            (Some(id), Some(other)) if self.may_be_id(id) => Some(other),
            (Some(id), _) => return self.pass_over(id, is_first),
            (None, _) => None,
        };
        self.visitor.take(&Row { vertex, id, other, values })?;
        self.read.add(id, &values);
        Ok(())
    }

    /// Returns whether a text can be an id of the graph.
    fn may_be_id(&self, id: &str) -> bool {
        self.ids.are_strings() || !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Skips or refuses a row whose id is not in the graph.
    fn pass_over(&mut self, id: &str, is_first: bool) -> Result<(), Diagnostic> {
        let is_refused = self.refuses_no_ids && !self.may_be_id(id);
        if self.missing == Missing::Skip && !is_refused {
            self.read.add_missing(id);
            return Ok(());
        }
        let graph = self.graph.directory().display();
        let why = if self.may_be_id(id) { "" } else { ", as its ids are integers" };
        let header =
            Hint::set([Setting::on("header")]).detail("if the first line names the columns");
        let skip = Setting { option: "missing", value: SettingValue::OneOf(&["skip"]) };
        let known = if is_first { known_names::<V>() } else { String::new() };
        let problem = Diagnostic::from(format!("{graph} has no vertex `{id}`{why}{known}"));
        Err(problem
            .hint(is_first.then_some(header))
            .hint(Hint::set([skip]).detail("to pass over such rows")))
    }
}

/// Says which column names turn the first line into a header.
fn known_names<V: RowVisitor>() -> String {
    let values = V::COLUMNS.iter().filter_map(|column| column.names.first());
    let names: Vec<&str> = V::ID_NAMES.iter().take(1).chain(values).copied().collect();
    format!("; a header is known by the column names `{}`", names.join("`, `"))
}
