//! Attributes of the written vertices, read from tables.

use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use tegula_algorithms::answer::{RowSink, Table};
use tegula_engine::{Graph, overhead, room_for_result};
use tegula_machine::threads::Cancel;
use tegula_store::graph::{IdType, OriginalIds, Strings};
use tegula_store::{At, Error, Result};
use tegula_tables::read::{bad_at, bad_file};
use tegula_tables::{AttributeRow, AttributeTable};

use super::kind::Kind;
use super::syntax::Attribute;

/// The number of rows of unlisted vertices after which they are looked up in the graph.
const STRANGERS_AT_ONCE: usize = 1 << 14;

/// The attributes of the vertices that are written.
#[derive(Default)]
pub struct Attributes {
    columns: Vec<Column>,
}

/// One attribute.
struct Column {
    name: String,
    /// The kind of its cells; `None` while it has no cell.
    kind: Option<Kind>,
    /// Its cells, concatenated.
    text: String,
    /// The range of each vertex's cell in `text`.
    places: Vec<Option<Range<usize>>>,
}

impl Attributes {
    /// Reads tables that name vertices of `graph` by their ids. Keeps the cells of vertices that
    /// `vertices` lists in the order of their ids, and passes over others.
    ///
    /// # Errors
    /// [`Error::BadInput`] for a row whose vertex the graph lacks or that had a row before, and for
    /// a column whose name an earlier table has.
    /// [`Error::OverBudget`](tegula_machine::Error::OverBudget) where the cells take more than half
    /// of what the graph leaves of the budget.
    pub fn read(
        files: &[PathBuf],
        graph: &Graph,
        vertices: &dyn Table,
        cancel: &Cancel,
    ) -> crate::errors::Result<Attributes> {
        let mut attributes = Attributes::default();
        if files.is_empty() {
            return Ok(attributes);
        }
        // All ids are held, since the rows of a table may come in any order.
        let mut listed = Listed::none(graph);
        vertices.write_rows(graph, &mut listed, cancel)?;
        for (index, file) in files.iter().enumerate() {
            let table = AttributeTable::open(file, cancel)?;
            let first = attributes.columns.len();
            attributes.add_columns(table.names(), file, &files[..index], listed.len())?;
            let held = attributes.size() + listed.size() + table.size();
            let rows = TableRows {
                file,
                graph,
                ids: graph.original_ids()?,
                listed: &listed,
                columns: &mut attributes.columns[first..],
                is_told: vec![false; listed.len()],
                strangers: Strangers::default(),
                room: Room { held, left: room_for_result(graph), beside: overhead(graph) },
            };
            rows.read(table, cancel)?;
        }
        Ok(attributes)
    }

    fn add_columns(
        &mut self,
        names: &[String],
        file: &Path,
        before: &[PathBuf],
        vertex_count: usize,
    ) -> Result<()> {
        for name in names {
            if self.columns.iter().any(|column| column.name == *name) {
                let before: Vec<String> =
                    before.iter().map(|file| file.display().to_string()).collect();
                let detail = format!(
                    "an attribute `{name}` is in {} already; give the column another name",
                    before.join(" or ")
                );
                return Err(bad_file(file, detail));
            }
            let places = vec![None; vertex_count];
            self.columns.push(Column {
                name: name.clone(),
                kind: None,
                text: String::new(),
                places,
            });
        }
        Ok(())
    }

    /// Returns the names and kinds of the attributes; text where no vertex has a value.
    pub fn names_and_kinds(&self) -> Vec<Attribute<'_>> {
        let kind = |column: &'_ Column| column.kind.unwrap_or(Kind::Text);
        self.columns
            .iter()
            .map(|column| Attribute { name: &column.name, kind: kind(column) })
            .collect()
    }

    /// Fills `values` with the values of the vertex listed at `index`.
    pub fn of<'a>(&'a self, index: usize, values: &mut Vec<Option<&'a str>>) {
        values.clear();
        values.extend(self.columns.iter().map(|column| {
            let place = column.places[index].as_ref();
            place.map(|place| &column.text[place.clone()])
        }));
    }

    /// Bytes of all columns.
    pub fn size(&self) -> u64 {
        self.columns.iter().map(Column::size).sum()
    }
}

impl Column {
    fn size(&self) -> u64 {
        (self.text.capacity() + size_of_val(&*self.places)) as u64
    }
}

/// The ids of the written vertices, ascending.
enum Listed {
    Integers(Vec<u64>),
    Strings(Strings),
}

impl Listed {
    fn none(graph: &Graph) -> Listed {
        match graph.manifest().ids {
            IdType::Range | IdType::Integer => Listed::Integers(Vec::new()),
            IdType::String => Listed::Strings(Strings::default()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Listed::Integers(ids) => ids.len(),
            Listed::Strings(ids) => ids.len(),
        }
    }

    fn size(&self) -> u64 {
        match self {
            Listed::Integers(ids) => size_of_val(&**ids) as u64,
            Listed::Strings(ids) => (ids.text_len() + ids.len() * size_of::<u64>()) as u64,
        }
    }

    fn position(&self, id: &str) -> Option<usize> {
        match self {
            Listed::Integers(ids) => ids.binary_search(&integer(id)?).ok(),
            Listed::Strings(ids) => ids.position(id),
        }
    }

    /// Whether an id is of the same kind as the graph's ids.
    fn takes(&self, id: &str) -> bool {
        match self {
            Listed::Integers(_) => integer(id).is_some(),
            Listed::Strings(_) => true,
        }
    }
}

/// Parses an id of a graph with integer ids: digits alone.
fn integer(id: &str) -> Option<u64> {
    // The parser alone would accept a leading `+`.
    id.bytes().all(|byte| byte.is_ascii_digit()).then(|| id.parse().ok())?
}

impl RowSink for Listed {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let column = rows.column(0);
        match self {
            Listed::Integers(ids) => ids.extend(column.as_primitive::<UInt64Type>().values()),
            Listed::Strings(ids) => {
                column.as_string::<i64>().iter().flatten().for_each(|id| ids.push(id));
            }
        }
        Ok(())
    }
}

/// The memory for cells.
struct Room {
    /// Bytes taken.
    held: u64,
    /// Bytes that may be taken.
    left: u64,
    /// Bytes of everything else, for the message.
    beside: u64,
}

impl Room {
    /// Counts `bytes` more of text twice, as the text's buffer may be twice as large.
    fn take(&mut self, bytes: usize) -> Result<()> {
        self.held += 2 * bytes as u64;
        self.check()
    }

    fn check(&self) -> Result<()> {
        if self.held <= self.left {
            return Ok(());
        }
        // Cells may take half of the memory, so the whole is twice as much.
        let (needed, budget) = (self.beside + 2 * self.held, self.beside + 2 * self.left);
        Err(Error::over_budget("reading the attributes", needed, budget))
    }
}

/// A table that is being read.
struct TableRows<'a> {
    file: &'a Path,
    graph: &'a Graph,
    ids: OriginalIds,
    listed: &'a Listed,
    columns: &'a mut [Column],
    /// Which listed vertices had a row.
    is_told: Vec<bool>,
    strangers: Strangers,
    room: Room,
}

/// Rows of vertices that are not listed, and may be missing from the graph.
#[derive(Default)]
struct Strangers {
    ids: Strings,
    places: Vec<At>,
}

impl TableRows<'_> {
    fn read(mut self, table: AttributeTable, cancel: &Cancel) -> Result<()> {
        self.room.check()?;
        let result = table.read(cancel, &mut |row| self.take(&row));
        // Rows before a bad row were read first, so they are refused first.
        match result {
            Ok(()) | Err(Error::BadInput { .. }) => self.refuse_strangers()?,
            Err(_) => {}
        }
        result
    }

    fn take(&mut self, row: &AttributeRow<'_>) -> Result<()> {
        let id = row.id;
        let Some(index) = self.listed.position(id) else {
            if !row.is_like_comment {
                self.strangers.ids.push(id);
                self.strangers.places.push(row.at);
            }
            let is_full = self.strangers.places.len() == STRANGERS_AT_ONCE;
            return if is_full { self.refuse_strangers() } else { Ok(()) };
        };
        // Passing over the line would lose the values of a vertex without a word.
        if row.is_like_comment {
            let detail = format!(
                "this line begins as a comment does, and `{id}` is a vertex; put the id in quotes"
            );
            return Err(bad_at(self.file, row.at, detail));
        }
        if std::mem::replace(&mut self.is_told[index], true) {
            let detail = format!("the vertex `{id}` has a row already");
            return Err(bad_at(self.file, row.at, detail));
        }
        for (column, cell) in self.columns.iter_mut().zip(row.cells) {
            let Some(cell) = cell else { continue };
            self.room.take(cell.len())?;
            // `None` is below all kinds, and a kind includes those below it.
            column.kind = column.kind.max(Some(Kind::of(cell)));
            let start = column.text.len();
            column.text.push_str(cell);
            column.places[index] = Some(start..column.text.len());
        }
        Ok(())
    }

    /// Refuses the first row whose vertex the graph lacks.
    fn refuse_strangers(&mut self) -> Result<()> {
        let Strangers { ids, places } = std::mem::take(&mut self.strangers);
        let names: Vec<&str> = ids.iter().collect();
        let found = self.ids.find_all(&names)?;
        for ((id, at), vertex) in names.into_iter().zip(places).zip(found) {
            let graph = self.graph.directory().display();
            // A word among integer ids is missing for another reason, which the message names.
            if !self.listed.takes(id) {
                let detail = format!("{graph} has no vertex `{id}`, as its ids are integers");
                return Err(bad_at(self.file, at, detail));
            }
            if vertex.is_none() {
                return Err(bad_at(self.file, at, format!("{graph} has no vertex `{id}`")));
            }
        }
        Ok(())
    }
}
