//! The rows of a table of vertices that is Parquet.

use std::fs::File;
use std::path::Path;

use tegula_machine::threads::{Cancel, guarded_foreign};
use tegula_machine::{At, Error, Result};

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;

use super::parquet::{failure, is_string, panicked};
use super::reader::{bad_at, bad_file};
use super::vertex_columns::{Places, Presence, VALUES_MAX, ValueColumn, VertexColumns, VertexRow};

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1 << 12;

/// What the footer of a table tells.
pub(super) struct VertexParquet {
    metadata: ArrowReaderMetadata,
    places: Places,
    values: &'static [ValueColumn],
}

impl VertexParquet {
    /// Opens a table and finds its columns by their names.
    pub fn open(path: &Path, columns: &VertexColumns) -> Result<VertexParquet> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let metadata = guarded_foreign(|| {
            ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())
                .map_err(|error| failure(path, error))
        });
        let metadata = metadata.map_err(|error| panicked(path, At::File, error))?;
        let fields = metadata.schema().fields();
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let places = Places::by_name(&names, columns).map_err(|detail| bad_file(path, detail))?;
        let id = fields[places.id].data_type();
        if !is_string(id) && !id.is_integer() {
            let name = &names[places.id];
            let detail = format!("column `{name}` is {id}; ids are integers or strings");
            return Err(bad_file(path, detail));
        }
        Ok(VertexParquet { metadata, places, values: columns.values })
    }

    /// The wanted columns, in the order of the file.
    fn roots(&self) -> Vec<usize> {
        let mut roots = vec![self.places.id];
        roots.extend(self.places.values.iter().flatten());
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Twice the wanted columns of the largest row group: their pages, and what is decoded of them.
    pub fn size(&self) -> u64 {
        let (metadata, roots) = (self.metadata.metadata(), self.roots());
        let schema = metadata.file_metadata().schema_descr();
        let group_size = |group: &::parquet::file::metadata::RowGroupMetaData| {
            let leaves = group.columns().iter().enumerate();
            let wanted = leaves.filter(|(leaf, _)| {
                *leaf < schema.num_columns() && roots.contains(&schema.get_column_root_idx(*leaf))
            });
            wanted.map(|(_, column)| column.uncompressed_size().max(0) as u64).sum::<u64>()
        };
        2 * metadata.row_groups().iter().map(group_size).max().unwrap_or(0)
    }

    /// Visits all rows.
    pub fn read(
        self,
        path: &Path,
        cancel: &Cancel,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut first = 0;
        let batches = guarded_foreign(|| self.batches(path));
        let mut batches = batches.map_err(|error| panicked(path, At::Row(first), error))?;
        loop {
            cancel.check()?;
            let batch = guarded_foreign(|| {
                let bad = |error: arrow_schema::ArrowError| {
                    bad_at(path, At::Row(first), error.to_string())
                };
                batches.next().transpose().map_err(bad)
            });
            let Some(batch) = batch.map_err(|error| panicked(path, At::Row(first), error))? else {
                return Ok(());
            };
            self.visit_batch(path, &batch, first, visit)?;
            first += batch.num_rows() as u64;
        }
    }

    fn batches(&self, path: &Path) -> Result<ParquetRecordBatchReader> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let metadata = self.metadata.clone();
        let wanted = ProjectionMask::roots(metadata.parquet_schema(), self.roots());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_projection(wanted)
            .with_batch_size(BATCH_ROWS);
        reader.build().map_err(|error| failure(path, error))
    }

    fn visit_batch(
        &self,
        path: &Path,
        batch: &RecordBatch,
        first: u64,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let column = |place: usize, presence| {
            let index = self.roots().iter().filter(|&&root| root < place).count();
            let name = self.metadata.schema().field(place).name();
            as_text(batch.column(index), name, presence)
                .map_err(|(row, detail)| bad_at(path, At::Row(first + row as u64), detail))
        };
        let ids = column(self.places.id, Presence::Required)?;
        let mut values = [const { None }; VALUES_MAX];
        for ((value, place), wanted) in values.iter_mut().zip(self.places.values).zip(self.values) {
            *value = place.map(|place| column(place, wanted.presence)).transpose()?;
        }
        let ids = ids.as_string::<i64>();
        let values =
            values.each_ref().map(|value| value.as_ref().map(|array| array.as_string::<i64>()));
        for row in 0..batch.num_rows() {
            let at = At::Row(first + row as u64);
            let values = values.map(|value| {
                value.filter(|array| array.is_valid(row)).map(|array| array.value(row))
            });
            visit(VertexRow { at, id: ids.value(row), is_like_comment: false, values })?;
        }
        Ok(())
    }
}

/// A column as strings, without nulls unless its cells may be empty; else the row and what is wrong with it.
fn as_text(array: &ArrayRef, name: &str, presence: Presence) -> Result<ArrayRef, (usize, String)> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let text = cast_with_options(array, &DataType::LargeUtf8, &strict)
        .map_err(|error| (0, format!("column `{name}`: {error}")))?;
    match (0..text.len()).find(|&row| text.is_null(row)) {
        Some(row) if presence != Presence::MayBeEmpty => {
            Err((row, format!("column `{name}` is null here")))
        }
        Some(_) | None => Ok(text),
    }
}
