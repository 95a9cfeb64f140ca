//! Tables of vertices as batches of Arrow, which a library has in memory.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use tegula_machine::threads::Cancel;
use tegula_store::{At, Result};

use super::super::fault::{bad_at, bad_file};
use super::super::parquet::{BATCH_ROWS, as_text, check_ids, names_of};
use super::columns::{Places, Presence, VALUES_MAX, ValueColumn, VertexColumns, VertexRow};

/// Bytes of a number as text, with its place in the text.
const NUMBER_SIZE: usize = 32;

/// A table in memory whose columns were found.
pub(super) struct VertexBatches {
    batches: Vec<RecordBatch>,
    places: Places,
    values: &'static [ValueColumn],
    /// What was guessed about the columns.
    pub guesses: Vec<String>,
}

impl VertexBatches {
    /// Finds the columns by their names. All batches have the columns of `schema`.
    pub fn new(
        name: &Path,
        schema: &Schema,
        batches: Vec<RecordBatch>,
        wanted: &VertexColumns,
    ) -> Result<VertexBatches> {
        let names = names_of(schema.fields());
        let places = Places::by_name(&names, wanted).map_err(|detail| bad_file(name, detail))?;
        let guesses = places.guesses(&names, wanted);
        check_ids(name, schema.field(places.id))?;
        Ok(VertexBatches { batches, places, values: wanted.values, guesses })
    }

    /// Bytes that reading holds beside the batches: the cells of a part as text. All parts of a
    /// batch are taken to be equally long.
    pub fn size(&self) -> u64 {
        let cells = |array: &ArrayRef| {
            let data = array.to_data();
            data.get_slice_memory_size().unwrap_or_else(|_| data.get_array_memory_size()) as u64
        };
        let part = |batch: &RecordBatch| {
            let parts = batch.num_rows().div_ceil(BATCH_ROWS).max(1) as u64;
            batch.columns().iter().map(cells).sum::<u64>().div_ceil(parts)
        };
        let numbers = (1 + VALUES_MAX) * BATCH_ROWS * NUMBER_SIZE;
        2 * self.batches.iter().map(part).max().unwrap_or(0) + numbers as u64
    }

    /// Visits all rows.
    pub fn read(
        self,
        name: &Path,
        cancel: &Cancel,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut first = 1;
        for batch in &self.batches {
            // A library may give all rows as one batch. Its text would be a second copy of them.
            for start in (0..batch.num_rows()).step_by(BATCH_ROWS) {
                cancel.check()?;
                let rows = batch.slice(start, BATCH_ROWS.min(batch.num_rows() - start));
                visit_batch(name, &rows, first, (&self.places, self.values), visit)?;
                first += rows.num_rows() as u64;
            }
        }
        Ok(())
    }
}

/// Visits the rows of a batch, the first of which has the number `first` in its table. The columns
/// are at `places` of the batch, and `values` says what they must hold.
pub(super) fn visit_batch(
    path: &Path,
    batch: &RecordBatch,
    first: u64,
    (places, values): (&Places, &[ValueColumn]),
    visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
) -> Result<()> {
    let schema = batch.schema_ref();
    let column = |place: usize, presence| {
        as_checked_text(batch.column(place), schema.field(place).name(), presence)
            .map_err(|(row, detail)| bad_at(path, At::Row(first + row as u64), detail))
    };
    let ids = column(places.id, Presence::Required)?;
    let mut cells = [const { None }; VALUES_MAX];
    for ((cells, place), wanted) in cells.iter_mut().zip(places.values).zip(values) {
        *cells = place.map(|place| column(place, wanted.presence)).transpose()?;
    }
    let ids = ids.as_string::<i64>();
    let cells = cells.each_ref().map(|cells| cells.as_ref().map(|array| array.as_string::<i64>()));
    for row in 0..batch.num_rows() {
        let at = At::Row(first + row as u64);
        let values = cells
            .map(|cells| cells.filter(|array| array.is_valid(row)).map(|array| array.value(row)));
        visit(VertexRow { at, id: ids.value(row), is_like_comment: false, values })?;
    }
    Ok(())
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
