//! Reads tables of vertices from Parquet.

use std::path::Path;

use tegula_machine::threads::Cancel;
use tegula_store::{At, Result};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};

use super::super::fault::{bad_at, bad_file};
use super::super::parquet::{ParquetColumns, as_text};
use super::columns::{Places, Presence, VALUES_MAX, ValueColumn, VertexColumns, VertexRow};

/// A table whose footer was read.
pub(super) struct VertexParquet {
    columns: ParquetColumns,
    places: Places,
    values: &'static [ValueColumn],
    /// What was guessed about the columns.
    pub guesses: Vec<String>,
}

impl VertexParquet {
    /// Opens a table and finds its columns by their names.
    pub fn open(path: &Path, wanted: &VertexColumns) -> Result<VertexParquet> {
        let mut columns = ParquetColumns::open(path)?;
        let names = columns.names();
        let places = Places::by_name(&names, wanted).map_err(|detail| bad_file(path, detail))?;
        let guesses = places.guesses(&names, wanted);
        columns.check_ids(path, places.id)?;
        columns.choose(places.values.iter().flatten().copied().chain([places.id]));
        Ok(VertexParquet { columns, places, values: wanted.values, guesses })
    }

    /// Bytes that reading holds.
    pub fn size(&self) -> u64 {
        self.columns.size()
    }

    /// Visits all rows.
    pub fn read(
        self,
        path: &Path,
        cancel: &Cancel,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<()> {
        self.columns.for_each_batch(path, cancel, &mut |first, batch| {
            self.visit_batch(path, batch, first, visit)
        })
    }

    fn visit_batch(
        &self,
        path: &Path,
        batch: &RecordBatch,
        first: u64,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let column = |place: usize, presence| {
            let name = self.columns.fields()[place].name();
            as_checked_text(batch.column(self.columns.place_in_batch(place)), name, presence)
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

/// Returns a column as strings. Refuses nulls unless the cells may be empty. The error has the row
/// and what is wrong with it.
fn as_checked_text(
    array: &ArrayRef,
    name: &str,
    presence: Presence,
) -> Result<ArrayRef, (usize, String)> {
    let text = as_text(array, name).map_err(|detail| (0, detail))?;
    match (0..text.len()).find(|&row| text.is_null(row)) {
        Some(row) if presence != Presence::MayBeEmpty => {
            Err((row, format!("column `{name}` is null here")))
        }
        Some(_) | None => Ok(text),
    }
}
