//! Tables that are in no file: in memory, or from a stream.

use std::fmt;
use std::path::Path;
use std::sync::Mutex;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use tegula_machine::threads::lock;
use tegula_store::{At, Diagnostic, Result};
use tegula_tables::read::{bad_at, bad_file};

use super::super::columns::Columns;
use super::super::options::IdKind;
use super::super::reader::{Emit, Part, Reader, Space};
use super::{Batch, TableColumns};

/// Bytes that a worker needs for two columns of strings and their copies as `LargeUtf8`.
const STRING_BYTES_MIN: u64 = 8 << 20;

/// Tables of edges that are in no file. Their rows count from 0.
pub struct EdgeTables {
    name: &'static str,
    schema: SchemaRef,
    columns: Columns,
    tables: Tables,
}

enum Tables {
    Held(Vec<RecordBatch>),
    Stream(Mutex<Option<Stream>>),
}

type Stream = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

impl EdgeTables {
    /// Takes the parts of a table in memory, which are read several times. Errors call it `name`.
    ///
    /// # Panics
    /// If the schema lacks one of the columns.
    pub fn held(
        name: &'static str,
        schema: SchemaRef,
        columns: Columns,
        parts: Vec<RecordBatch>,
    ) -> EdgeTables {
        check(&schema, columns);
        EdgeTables { name, schema, columns, tables: Tables::Held(parts) }
    }

    /// Takes tables that are asked for one after the other, and read once. `schema` is that of the
    /// first one; the others must have columns of the same names, with ids of the same kind. Each
    /// worker has one table in hand at a time.
    ///
    /// # Panics
    /// If the schema lacks one of the columns.
    pub fn stream(
        name: &'static str,
        schema: SchemaRef,
        columns: Columns,
        tables: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
    ) -> EdgeTables {
        check(&schema, columns);
        let tables = Tables::Stream(Mutex::new(Some(Box::new(tables))));
        EdgeTables { name, schema, columns, tables }
    }

    /// Whether the edges have weights.
    pub(crate) fn weighted(&self) -> bool {
        self.columns.weight.is_some()
    }

    /// What errors call the tables.
    pub(in super::super) fn path(&self) -> &Path {
        Path::new(self.name)
    }
}

/// Checks that the columns are there.
fn check(schema: &SchemaRef, columns: Columns) {
    let Columns { source, target, weight } = columns;
    let count = schema.fields().len();
    assert!([Some(source), Some(target), weight].into_iter().flatten().all(|at| at < count));
}

impl fmt::Debug for EdgeTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EdgeTables")
            .field("name", &self.name)
            .field("schema", &self.schema)
            .field("columns", &self.columns)
            .finish_non_exhaustive()
    }
}

/// Tables whose columns were checked.
#[derive(Debug)]
pub struct Given {
    tables: EdgeTables,
    columns: TableColumns,
    /// Whether ids are read as strings, even integers.
    wants_strings: bool,
    /// Bytes of the columns that are read; `None` for a stream.
    bytes: Option<u64>,
}

impl Given {
    /// Checks the types of the columns. The user says that the ids are `ids`.
    pub fn of(tables: EdgeTables, ids: IdKind) -> Result<Given> {
        let columns = TableColumns::chosen(&tables.schema, tables.columns)
            .map_err(|problem| bad_file(tables.path(), problem))?;
        let wants_strings = [ids, columns.ids()].contains(&IdKind::String);
        let mut given = Given { tables, columns, wants_strings, bytes: None };
        if let Tables::Held(parts) = &given.tables.tables {
            let (mut rows, mut bytes) = (0, 0);
            for part in parts {
                bytes += size_of(&given.checked(part, rows)?);
                rows += part.num_rows() as u64;
            }
            given.bytes = Some(bytes);
        }
        Ok(given)
    }

    /// The columns that are read.
    pub fn columns(&self) -> &TableColumns {
        &self.columns
    }

    /// Bytes of the columns that are read; `None` for a stream.
    pub fn bytes(&self) -> Option<u64> {
        self.bytes
    }

    /// The fewest bytes that a worker needs.
    pub fn worker_bytes_min(&self) -> u64 {
        if self.wants_strings { STRING_BYTES_MIN } else { 0 }
    }

    /// Returns the columns that are read of a table, and refuses one that is not like the first.
    /// `rows` rows come before it.
    fn checked(&self, table: &RecordBatch, rows: u64) -> Result<RecordBatch> {
        let refuse = |problem: Diagnostic| bad_at(self.tables.path(), At::Row(rows), problem);
        if table.schema_ref() != &self.columns.schema {
            let are_strings = self.wants_strings;
            self.columns.check_alike(table.schema_ref(), are_strings).map_err(refuse)?;
        }
        table.project(&self.columns.roots()).map_err(|error| refuse(error.to_string().into()))
    }
}

/// Tables that are being read.
pub struct GivenReader<'a> {
    given: &'a Given,
    tables: Box<dyn Iterator<Item = Result<RecordBatch>> + Send + 'a>,
    current: Option<Current>,
    /// Rows that are claimed, of all tables.
    claimed: u64,
}

/// The table that is being read.
struct Current {
    /// The columns that are read.
    table: RecordBatch,
    /// Rows that are claimed.
    claimed: usize,
    bytes: u64,
}

impl Current {
    /// Takes the next rows, at most `count`, and their bytes; `None` after the last.
    fn claim(&mut self, count: usize) -> Option<(RecordBatch, u64)> {
        let rows = self.table.num_rows();
        let count = count.min(rows - self.claimed);
        let bytes_until = |row: usize| {
            let bytes = u128::from(self.bytes) * row as u128 / rows.max(1) as u128;
            bytes as u64
        };
        let claimed = self.claimed;
        self.claimed += count;
        let bytes = bytes_until(self.claimed) - bytes_until(claimed);
        (count > 0).then(|| (self.table.slice(claimed, count), bytes))
    }
}

impl<'a> GivenReader<'a> {
    /// Begins before the first row.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) if a stream was read before.
    pub fn open(given: &'a Given) -> Result<GivenReader<'a>> {
        let tables: Box<dyn Iterator<Item = _> + Send + 'a> = match &given.tables.tables {
            // A clone of a table shares its columns.
            Tables::Held(parts) => Box::new(parts.iter().cloned().map(Ok)),
            Tables::Stream(stream) => lock(stream)
                .take()
                .ok_or_else(|| bad_file(given.tables.path(), "a stream can be read only once"))?,
        };
        Ok(GivenReader { given, tables, current: None, claimed: 0 })
    }
}

impl<'a> Reader<'a> for GivenReader<'a> {
    fn claim(&mut self, _space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>> {
        loop {
            let rows = emit.sizes.chunk_edges;
            if let Some((rows, bytes)) = self.current.as_mut().and_then(|now| now.claim(rows)) {
                let (given, first) = (self.given, self.claimed);
                self.claimed += rows.num_rows() as u64;
                return Ok(Some(Box::new(move |space, emit| {
                    let (path, columns) = (given.tables.path(), &given.columns);
                    Batch { path, columns, rows: &rows, first }.emit(space, emit)?;
                    emit.progress.advance(bytes);
                    Ok(())
                })));
            }
            // Let go before the next one is asked for.
            self.current = None;
            let Some(table) = self.tables.next().transpose()? else { return Ok(None) };
            let table = self.given.checked(&table, self.claimed)?;
            self.current = Some(Current { bytes: size_of(&table), table, claimed: 0 });
        }
    }
}

/// Bytes of the rows of a table, for the progress. They are known for all types of ids and weights.
fn size_of(table: &RecordBatch) -> u64 {
    let bytes = |column: &ArrayRef| column.to_data().get_slice_memory_size();
    table.columns().iter().map(|column| bytes(column).unwrap_or(0) as u64).sum()
}
