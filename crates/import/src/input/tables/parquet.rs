//! Apache Parquet tables. Each worker decodes its own row groups.

use std::fs::File;
use std::path::Path;

use tegula_machine::threads::guarded_foreign;
use tegula_store::{At, Error, Result};
use tegula_tables::read::parquet::{failure, footer, panicked};
use tegula_tables::read::{bad_at, bad_file};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};

use super::super::options::InputOptions;
use super::super::reader::{Emit, Part, Reader, Space};
use super::{Batch, TableColumns};

/// Bytes that a worker needs for the pages and batches of three columns.
pub const WORKER_BYTES_MIN: u64 = 8 << 20;

/// A table whose footer was read.
#[derive(Debug)]
pub struct Table {
    metadata: ArrowReaderMetadata,
    bytes: u64,
    rows: u64,
    columns: TableColumns,
}

impl Table {
    pub fn open(path: &Path, options: &InputOptions) -> Result<Table> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let bytes = file.metadata().map_err(Error::io("read", path))?.len();
        let metadata = footer(path, &file)?;
        let columns = TableColumns::find(metadata.schema(), options)
            .map_err(|problem| bad_file(path, problem))?;
        let mut table = Table { metadata, bytes, rows: 0, columns };
        table.rows = table.group_rows().sum();
        Ok(table)
    }

    /// The columns that are read.
    pub fn columns(&self) -> &TableColumns {
        &self.columns
    }

    fn group_rows(&self) -> impl Iterator<Item = u64> {
        // A damaged footer may say a negative number.
        self.metadata.metadata().row_groups().iter().map(|group| group.num_rows().max(0) as u64)
    }

    /// Bytes of the file that count as read once `rows` rows are read.
    fn bytes_until(&self, rows: u64) -> u64 {
        let bytes = u128::from(self.bytes) * u128::from(rows) / u128::from(self.rows.max(1));
        bytes as u64
    }
}

/// A table that is being read.
pub struct TableReader<'a> {
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
            // A row group may be as long as the file.
            emit.cancel.check()?;
            let bad_row = |error: String| bad_at(self.path, place_of(row), error);
            let batch = guarded_foreign(|| {
                batches.next().transpose().map_err(|error| bad_row(error.to_string()))
            });
            let Some(rows) = batch.map_err(|error| panicked(self.path, place_of(row), error))?
            else {
                return Ok(());
            };
            let columns = &self.table.columns;
            Batch { path: self.path, columns, rows: &rows, first: row + 1 }.emit(space, emit)?;
            let next = row + rows.num_rows() as u64;
            emit.progress.advance(self.table.bytes_until(next) - self.table.bytes_until(row));
            row = next;
        }
    }

    /// Opens the file again, because workers that shared an open file would share its position.
    fn batches(&self, rows: usize) -> Result<ParquetRecordBatchReader> {
        let file = File::open(self.path).map_err(Error::io("open", self.path))?;
        let metadata = self.table.metadata.clone();
        let wanted = ProjectionMask::roots(metadata.parquet_schema(), self.table.columns.roots());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_row_groups(vec![self.index])
            .with_projection(wanted)
            .with_batch_size(rows);
        reader.build().map_err(|error| failure(self.path, error))
    }
}

/// The place of a row with `before` rows before it.
fn place_of(before: u64) -> At {
    At::Row(before + 1)
}
