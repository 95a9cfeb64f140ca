//! Reads tables of attributes from Parquet.

use std::borrow::Cow;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::can_cast_types;
use arrow_schema::DataType;
use tegula_machine::threads::Cancel;
use tegula_store::{At, Result};

use super::super::fault::{bad_at, bad_file};
use super::super::parquet::{ParquetColumns, as_text, check_ids};
use super::columns::{AttributeColumns, AttributeRow};

/// A table whose footer was read.
pub(super) struct AttributeParquet {
    file: ParquetColumns,
    columns: AttributeColumns,
}

impl AttributeParquet {
    /// Opens a table and finds its columns by their names.
    pub fn open(path: &Path) -> Result<AttributeParquet> {
        let mut file = ParquetColumns::open(path)?;
        let columns = AttributeColumns::of(&file.names());
        let columns = columns.map_err(|detail| bad_file(path, detail))?;
        check_ids(path, &file.fields()[columns.id])?;
        for (&place, name) in columns.places.iter().zip(&columns.names) {
            let kind = file.fields()[place].data_type();
            if kind.is_nested() || !can_cast_types(kind, &DataType::LargeUtf8) {
                let detail =
                    format!("column `{name}` is {kind}; attributes are numbers, truths or text");
                return Err(bad_file(path, detail));
            }
        }
        file.choose(columns.places.iter().copied().chain([columns.id]));
        Ok(AttributeParquet { file, columns })
    }

    pub fn columns(&self) -> &AttributeColumns {
        &self.columns
    }

    /// Bytes that reading holds.
    pub fn size(&self) -> u64 {
        self.file.size()
    }

    /// Visits all rows.
    pub fn read(
        self,
        path: &Path,
        cancel: &Cancel,
        visit: &mut dyn FnMut(AttributeRow<'_>) -> Result<()>,
    ) -> Result<()> {
        self.file.for_each_batch(path, cancel, &mut |first, batch| {
            self.visit_batch(path, batch, first, visit)
        })
    }

    fn visit_batch(
        &self,
        path: &Path,
        batch: &RecordBatch,
        first: u64,
        visit: &mut dyn FnMut(AttributeRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let column = |place: usize| {
            let name = self.file.fields()[place].name();
            as_text(batch.column(self.file.place_in_batch(place)), name)
                // The cast does not tell at which row it failed, so the message names the first
                // one.
                .map_err(|detail| bad_at(path, At::Row(first), detail))
        };
        let ids = column(self.columns.id)?;
        let ids = ids.as_string::<i64>();
        let attributes: Vec<ArrayRef> =
            self.columns.places.iter().map(|&place| column(place)).collect::<Result<_>>()?;
        let attributes: Vec<_> =
            attributes.iter().map(|attribute| attribute.as_string::<i64>()).collect();
        let mut cells = Vec::with_capacity(attributes.len());
        for row in 0..batch.num_rows() {
            let at = At::Row(first + row as u64);
            if ids.is_null(row) {
                return Err(bad_at(path, at, "the vertex is null"));
            }
            cells.clear();
            cells.extend(attributes.iter().map(|attribute| {
                attribute.is_valid(row).then(|| Cow::Borrowed(attribute.value(row)))
            }));
            visit(AttributeRow { at, id: ids.value(row), is_like_comment: false, cells: &cells })?;
        }
        Ok(())
    }
}
