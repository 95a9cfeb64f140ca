//! Reads chosen columns of Parquet files, and words the errors of the library.

use std::fs::File;
use std::io;
use std::path::Path;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{ArrowError, DataType, Field, Fields};
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, guarded_foreign};
use tegula_store::{At, Error, Result};

use super::fault::{bad_at, bad_file};

/// The first bytes of a Parquet file.
pub const MAGIC: &[u8] = b"PAR1";

/// Rows to decode at a time.
const BATCH_ROWS: usize = 1 << 12;

/// A file whose footer was read.
pub(super) struct ParquetColumns {
    metadata: ArrowReaderMetadata,
    /// The positions of the columns that are read, ascending.
    roots: Vec<usize>,
}

impl ParquetColumns {
    /// Reads the footer of a file. No column is chosen yet.
    pub fn open(path: &Path) -> Result<ParquetColumns> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        Ok(ParquetColumns { metadata: footer(path, &file)?, roots: Vec::new() })
    }

    /// All columns of the file.
    pub fn fields(&self) -> &Fields {
        self.metadata.schema().fields()
    }

    /// The names of all columns.
    pub fn names(&self) -> Vec<String> {
        names_of(self.fields())
    }

    /// Chooses the columns to read.
    pub fn choose(&mut self, columns: impl IntoIterator<Item = usize>) {
        self.roots = columns.into_iter().collect();
        self.roots.sort_unstable();
        self.roots.dedup();
    }

    /// Returns where a batch has the chosen column `column` of the file.
    pub fn place_in_batch(&self, column: usize) -> usize {
        self.roots.partition_point(|&root| root < column)
    }

    /// Bytes that reading holds: twice the chosen columns of the largest row group, for their pages
    /// and their decoded values.
    pub fn size(&self) -> u64 {
        let metadata = self.metadata.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let group_size = |group: &RowGroupMetaData| {
            let leaves = group.columns().iter().enumerate();
            let chosen = leaves.filter(|(leaf, _)| {
                *leaf < schema.num_columns()
                    && self.roots.contains(&schema.get_column_root_idx(*leaf))
            });
            let sizes = chosen.map(|(_, column)| column.uncompressed_size().max(0) as u64);
            sizes.fold(0, u64::saturating_add)
        };
        metadata.row_groups().iter().map(group_size).max().unwrap_or(0).saturating_mul(2)
    }

    /// Visits all rows in batches; `visit` also takes the number of the batch's first row,
    /// from 1.
    pub fn for_each_batch(
        &self,
        path: &Path,
        cancel: &Cancel,
        visit: &mut dyn FnMut(u64, &RecordBatch) -> Result<()>,
    ) -> Result<()> {
        let mut first = 1;
        let batches = guarded_foreign(|| self.batches(path));
        let mut batches = batches.map_err(|error| panicked(path, At::Row(first), error))?;
        loop {
            cancel.check()?;
            let batch = guarded_foreign(|| {
                let bad = |error: ArrowError| bad_at(path, At::Row(first), error.to_string());
                batches.next().transpose().map_err(bad)
            });
            let Some(batch) = batch.map_err(|error| panicked(path, At::Row(first), error))? else {
                return Ok(());
            };
            visit(first, &batch)?;
            first += batch.num_rows() as u64;
        }
    }

    fn batches(&self, path: &Path) -> Result<ParquetRecordBatchReader> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let metadata = self.metadata.clone();
        let chosen = ProjectionMask::roots(metadata.parquet_schema(), self.roots.clone());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_projection(chosen)
            .with_batch_size(BATCH_ROWS);
        reader.build().map_err(|error| failure(path, error))
    }
}

/// Reads the footer of an open file.
pub fn footer(path: &Path, file: &File) -> Result<ArrowReaderMetadata> {
    let metadata = guarded_foreign(|| {
        ArrowReaderMetadata::load(file, ArrowReaderOptions::new())
            .map_err(|error| failure(path, error))
    });
    metadata.map_err(|error| panicked(path, At::File, error))
}

/// Returns the names of columns.
pub(super) fn names_of(fields: &Fields) -> Vec<String> {
    fields.iter().map(|field| field.name().clone()).collect()
}

/// Refuses a column of ids that holds neither integers nor strings.
pub(super) fn check_ids(path: &Path, column: &Field) -> Result<()> {
    let (name, kind) = (column.name(), column.data_type());
    if is_string(kind) || kind.is_integer() {
        return Ok(());
    }
    let detail = format!("column `{name}` is {kind}; ids are integers or strings");
    Err(bad_file(path, detail))
}

/// Whether a column holds strings. Bytes count too, because some writers do not mark UTF-8.
pub fn is_string(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_string(values),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        kind => kind.is_string(),
    }
}

/// Returns a column as strings; the error says what is wrong with it.
pub(super) fn as_text(array: &ArrayRef, name: &str) -> Result<ArrayRef, String> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let cast =
        guarded_foreign(|| Ok::<_, Error>(cast_with_options(array, &DataType::LargeUtf8, &strict)));
    match cast {
        Ok(cast) => cast.map_err(|error| format!("column `{name}`: {error}")),
        Err(panic) => Err(format!("column `{name}`: {panic}")),
    }
}

/// Turns an error of the Parquet library into one about the file.
pub fn failure(path: &Path, error: ParquetError) -> Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) if error.raw_os_error().is_some() => Error::io("read", path)(*error),
            Ok(error) => bad_file(path, format!("not a whole Parquet file: {error}")),
            Err(cause) => bad_file(path, format!("not a whole Parquet file: {cause}")),
        },
        error => bad_file(path, format!("not a whole Parquet file: {error}")),
    }
}

/// Turns a panic of the library into an error about the file: it panics on some damaged files.
pub fn panicked(path: &Path, at: At, error: Error) -> Error {
    match error {
        Error::Machine(MachineError::WorkerFailed { detail }) => {
            bad_at(path, at, format!("not a whole Parquet file: {detail}"))
        }
        error => error,
    }
}
