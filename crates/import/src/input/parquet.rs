//! Apache Parquet tables. Each worker decodes its own row groups.

use std::fs::File;
use std::path::Path;

use tegula_machine::threads::guarded_foreign;
use tegula_store::{At, Diagnostic, Error, Result};
use tegula_tables::read::parquet::{failure, footer, is_string, panicked};
use tegula_tables::read::{bad_at, bad_file};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;

use super::chunk::{Ends, Span, StringColumn};
use super::columns::{Columns, ColumnsTaken};
use super::options::{IdKind, InputOptions};
use super::reader::{Emit, Part, Reader, Space};

/// Bytes that a worker needs for the pages and batches of three columns.
pub(super) const WORKER_BYTES_MIN: u64 = 8 << 20;

/// A table whose footer was read.
#[derive(Debug)]
pub(super) struct Table {
    metadata: ArrowReaderMetadata,
    bytes: u64,
    rows: u64,
    columns: Columns,
    taken: ColumnsTaken,
    remarks: Vec<Diagnostic>,
    ids: IdKind,
}

impl Table {
    pub fn open(path: &Path, options: &InputOptions) -> Result<Table> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let bytes = file.metadata().map_err(Error::io("read", path))?.len();
        let metadata = footer(path, &file)?;
        let names: Vec<String> =
            metadata.schema().fields().iter().map(|field| field.name().clone()).collect();
        let columns =
            Columns::by_name(&names, options).map_err(|problem| bad_file(path, problem))?;
        let taken = columns.named(&names);
        let remarks = columns.unread_weight(&names).into_iter().collect();
        let ids = IdKind::Integer;
        let mut table = Table { metadata, bytes, rows: 0, columns, taken, remarks, ids };
        table.rows = table.group_rows().sum();
        table.check_types(path)?;
        Ok(table)
    }

    /// The columns that are read.
    pub fn columns_taken(&self) -> &ColumnsTaken {
        &self.taken
    }

    /// What a user should know about how the table is read.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// What the ids are, according to the types of their columns.
    pub fn ids(&self) -> IdKind {
        self.ids
    }

    fn check_types(&mut self, path: &Path) -> Result<()> {
        for column in [self.columns.source, self.columns.target] {
            let field = self.metadata.schema().field(column);
            if is_string(field.data_type()) {
                self.ids = IdKind::String;
            } else if !field.data_type().is_integer() {
                let (name, kind) = (field.name(), field.data_type());
                let hint =
                    if kind.is_floating() { "; write it with a type of integers" } else { "" };
                return Err(bad_file(
                    path,
                    format!("column `{name}` is {kind}; ids are integers or strings{hint}"),
                ));
            }
        }
        if let Some(column) = self.columns.weight {
            let field = self.metadata.schema().field(column);
            if !field.data_type().is_numeric() {
                let (name, kind) = (field.name(), field.data_type());
                return Err(bad_file(
                    path,
                    format!("column `{name}` is {kind}; weights are numbers"),
                ));
            }
        }
        Ok(())
    }

    fn group_rows(&self) -> impl Iterator<Item = u64> {
        self.metadata.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64)
    }

    /// The positions of the columns that are read, ascending.
    fn roots(&self) -> Vec<usize> {
        let mut roots = vec![self.columns.source, self.columns.target];
        roots.extend(self.columns.weight);
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Bytes of the file that count as read once `rows` rows are read.
    fn bytes_until(&self, rows: u64) -> u64 {
        let bytes = u128::from(self.bytes) * u128::from(rows) / u128::from(self.rows.max(1));
        bytes as u64
    }
}

/// A table that is being read.
pub(super) struct TableReader<'a> {
    path: &'a Path,
    table: &'a Table,
    next_group: usize,
    next_row: u64,
}

impl<'a> TableReader<'a> {
    pub fn new(path: &'a Path, table: &'a Table) -> TableReader<'a> {
        TableReader { path, table, next_group: 0, next_row: 0 }
    }
}

impl<'a> Reader<'a> for TableReader<'a> {
    fn claim(&mut self, _space: &mut Space, _emit: &Emit<'_>) -> Result<Option<Part<'a>>> {
        let Some(rows) = self.table.group_rows().nth(self.next_group) else { return Ok(None) };
        let group = RowGroup {
            path: self.path,
            table: self.table,
            index: self.next_group,
            first_row: self.next_row,
        };
        self.next_group += 1;
        self.next_row += rows;
        Ok(Some(Box::new(move |space, emit| group.read(space, emit))))
    }
}

/// One row group of a table.
struct RowGroup<'a> {
    path: &'a Path,
    table: &'a Table,
    index: usize,
    /// The number of rows before it.
    first_row: u64,
}

impl RowGroup<'_> {
    fn read(&self, space: &mut Space, emit: &Emit<'_>) -> Result<()> {
        let mut batches = guarded_foreign(|| self.batches(emit.sizes.chunk_edges))
            .map_err(|error| panicked(self.path, place_of(self.first_row), error))?;
        let mut row = self.first_row;
        loop {
            emit.cancel.check()?;
            let batch = guarded_foreign(|| {
                batches.next().transpose().map_err(|error| self.bad_row(row, error.to_string()))
            });
            let Some(batch) = batch.map_err(|error| panicked(self.path, place_of(row), error))?
            else {
                return Ok(());
            };
            let rows = Rows { group: self, batch: &batch, first: row };
            match emit.ids {
                IdKind::String => rows.emit_strings(space, emit)?,
                IdKind::Integer | IdKind::Auto => rows.emit_integers(space, emit)?,
            }
            let next = row + batch.num_rows() as u64;
            emit.progress.advance(self.table.bytes_until(next) - self.table.bytes_until(row));
            row = next;
        }
    }

    /// Opens the file again, because workers that shared an open file would share its position.
    fn batches(&self, rows: usize) -> Result<ParquetRecordBatchReader> {
        let file = File::open(self.path).map_err(Error::io("open", self.path))?;
        let metadata = self.table.metadata.clone();
        let wanted = ProjectionMask::roots(metadata.parquet_schema(), self.table.roots());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_row_groups(vec![self.index])
            .with_projection(wanted)
            .with_batch_size(rows);
        reader.build().map_err(|error| failure(self.path, error))
    }

    fn bad_row(&self, row: u64, detail: String) -> Error {
        bad_at(self.path, place_of(row), detail)
    }
}

/// The place of a row with `before` rows before it.
fn place_of(before: u64) -> At {
    At::Row(before + 1)
}

/// A batch of rows, with `first` rows before it.
struct Rows<'a> {
    group: &'a RowGroup<'a>,
    batch: &'a RecordBatch,
    first: u64,
}

impl Rows<'_> {
    fn emit_integers(&self, space: &mut Space, emit: &Emit<'_>) -> Result<()> {
        let columns = self.group.table.columns;
        let pairs = &mut space.pairs64;
        pairs.clear();
        pairs.resize(self.batch.num_rows(), [0; 2]);
        for (end, column) in [columns.source, columns.target].into_iter().enumerate() {
            self.integers(column, |row, id| pairs[row][end] = id)?;
        }
        self.weights(&mut space.weights)?;
        emit.chunk(Ends::Pairs64(pairs), &space.weights)
    }

    fn emit_strings(&self, space: &mut Space, emit: &Emit<'_>) -> Result<()> {
        let columns = self.group.table.columns;
        let sources = self.column(columns.source, &DataType::Utf8)?;
        let targets = self.column(columns.target, &DataType::Utf8)?;
        for (array, column) in [(&sources, columns.source), (&targets, columns.target)] {
            let mut ends = array.as_string::<i32>().value_offsets().windows(2);
            if let Some(row) = ends.position(|pair| pair[0] == pair[1]) {
                let name = self.name(column);
                return Err(self.bad_row(row, format!("the id in column `{name}` is empty")));
            }
        }
        self.weights(&mut space.weights)?;
        let sources = strings(&sources, &mut space.sources);
        let targets = strings(&targets, &mut space.targets);
        emit.chunk(Ends::Strings { sources, targets }, &space.weights)
    }

    fn integers(&self, column: usize, mut put: impl FnMut(usize, u64)) -> Result<()> {
        if self.array(column).data_type().is_unsigned_integer() {
            let array = self.column(column, &DataType::UInt64)?;
            array
                .as_primitive::<UInt64Type>()
                .values()
                .iter()
                .enumerate()
                .for_each(|(row, &id)| put(row, id));
            return Ok(());
        }
        let array = self.column(column, &DataType::Int64)?;
        for (row, &id) in array.as_primitive::<Int64Type>().values().iter().enumerate() {
            let unsigned = u64::try_from(id).map_err(|_| {
                let name = self.name(column);
                self.bad_row(
                    row,
                    format!("the id {id} in column `{name}` is negative; ids are unsigned"),
                )
            })?;
            put(row, unsigned);
        }
        Ok(())
    }

    fn weights(&self, weights: &mut Vec<f32>) -> Result<()> {
        weights.clear();
        let Some(column) = self.group.table.columns.weight else { return Ok(()) };
        let array = self.column(column, &DataType::Float32)?;
        weights.extend_from_slice(array.as_primitive::<Float32Type>().values());
        match weights.iter().position(|weight| !weight.is_finite()) {
            None => Ok(()),
            Some(row) => {
                let weight = weights[row];
                let detail =
                    format!("the weight {weight} is not finite; weights are 32-bit floats");
                Err(self.bad_row(row, detail))
            }
        }
    }

    /// Returns a column as `kind`; refuses nulls.
    fn column(&self, column: usize, kind: &DataType) -> Result<ArrayRef> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let bad = |error: &dyn std::fmt::Display| {
            self.bad_row(0, format!("column `{}`: {error}", self.name(column)))
        };
        let cast = guarded_foreign(|| Ok(cast_with_options(self.array(column), kind, &strict)));
        let array = cast.map_err(|panic: Error| bad(&panic))?.map_err(|error| bad(&error))?;
        if let Some(row) =
            (0..array.len()).find(|&row| array.null_count() > 0 && array.is_null(row))
        {
            return Err(self.bad_row(row, format!("column `{}` is null here", self.name(column))));
        }
        Ok(array)
    }

    fn array(&self, column: usize) -> &ArrayRef {
        let before = self.group.table.roots().iter().filter(|&&root| root < column).count();
        self.batch.column(before)
    }

    fn name(&self, column: usize) -> &str {
        self.group.table.metadata.schema().field(column).name()
    }

    fn bad_row(&self, row: usize, detail: String) -> Error {
        self.group.bad_row(self.first + row as u64, detail)
    }
}

fn strings<'a>(array: &'a ArrayRef, spans: &'a mut Vec<Span>) -> StringColumn<'a> {
    let array = array.as_string::<i32>();
    spans.clear();
    spans.extend(
        array.value_offsets().windows(2).map(|pair| Span::of(pair[0] as usize..pair[1] as usize)),
    );
    StringColumn::new(array.value_data(), spans)
}
