//! Reads tables of vertices from Parquet.

use std::path::Path;

use tegula_machine::threads::Cancel;
use tegula_store::Result;

use super::super::fault::bad_file;
use super::super::parquet::{ParquetColumns, check_ids};
use super::batches::TextColumns;
use super::columns::{Places, ValueColumn, VertexColumns, VertexRow};

/// A table whose footer was read.
pub(super) struct VertexParquet {
    columns: ParquetColumns,
    /// Where the batches have the columns.
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
        check_ids(path, &columns.fields()[places.id])?;
        columns.choose(places.values.iter().flatten().copied().chain([places.id]));
        let in_batch = |place| columns.place_in_batch(place);
        let places = Places {
            id: in_batch(places.id),
            values: places.values.map(|place| place.map(in_batch)),
        };
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
        let wanted = (&self.places, self.values);
        self.columns.for_each_batch(path, cancel, &mut |first, batch| {
            TextColumns::of(path, batch, first, wanted)?.visit(first, visit)
        })
    }
}
