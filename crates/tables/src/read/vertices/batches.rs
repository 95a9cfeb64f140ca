//! Tables of vertices as batches of Arrow, which a library has in memory.

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Schema;
use tegula_machine::threads::Cancel;
use tegula_store::{At, Result};

use super::super::fault::{bad_at, bad_file};
use super::super::parquet::{as_text, check_ids, names_of};
use super::columns::{Places, Presence, VALUES_MAX, ValueColumn, VertexColumns, VertexRow};

/// A table in memory, whose columns are text.
pub(super) struct VertexBatches {
    batches: Vec<TextColumns>,
    /// What was guessed about the columns.
    pub guesses: Vec<String>,
}

impl VertexBatches {
    /// Finds the columns by their names, and turns them into text. All batches have the columns of
    /// `schema`.
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
        let mut first = 1;
        // Each batch is let go once it is text.
        let text = batches.into_iter().map(|batch| {
            let text = TextColumns::of(name, &batch, first, (&places, wanted.values))?;
            first += batch.num_rows() as u64;
            Ok(text)
        });
        Ok(VertexBatches { batches: text.collect::<Result<_>>()?, guesses })
    }

    /// Bytes of the text.
    pub fn size(&self) -> u64 {
        self.batches.iter().map(TextColumns::size).sum()
    }

    /// Visits all rows.
    pub fn read(
        self,
        cancel: &Cancel,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut first = 1;
        for batch in &self.batches {
            cancel.check()?;
            batch.visit(first, visit)?;
            first += batch.ids.len() as u64;
        }
        Ok(())
    }
}

/// The columns of a batch that are read, as text.
pub(super) struct TextColumns {
    ids: ArrayRef,
    values: [Option<ArrayRef>; VALUES_MAX],
}

impl TextColumns {
    /// Turns the columns at `places` of a batch into text. `values` says what they must hold, and
    /// `first` is the number of the first row in its table.
    pub fn of(
        path: &Path,
        batch: &RecordBatch,
        first: u64,
        (places, values): (&Places, &[ValueColumn]),
    ) -> Result<TextColumns> {
        let schema = batch.schema_ref();
        let column = |place: usize, presence| {
            as_checked_text(batch.column(place), schema.field(place).name(), presence)
                .map_err(|(row, detail)| bad_at(path, At::Row(first + row as u64), detail))
        };
        let ids = column(places.id, Presence::Required)?;
        let mut found = [const { None }; VALUES_MAX];
        for ((found, place), wanted) in found.iter_mut().zip(places.values).zip(values) {
            *found = place.map(|place| column(place, wanted.presence)).transpose()?;
        }
        Ok(TextColumns { ids, values: found })
    }

    /// Bytes of the text.
    fn size(&self) -> u64 {
        let columns = self.values.iter().flatten().chain([&self.ids]);
        // A slice of a longer column counts with its own rows alone.
        let bytes = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
        columns.map(bytes).sum::<usize>() as u64
    }

    /// Visits the rows, the first of which has the number `first`.
    pub fn visit(
        &self,
        first: u64,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let ids = self.ids.as_string::<i64>();
        let columns = self
            .values
            .each_ref()
            .map(|array| array.as_ref().map(|array| array.as_string::<i64>()));
        for row in 0..ids.len() {
            let at = At::Row(first + row as u64);
            let values = columns.map(|cells| {
                cells.filter(|array| array.is_valid(row)).map(|array| array.value(row))
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
