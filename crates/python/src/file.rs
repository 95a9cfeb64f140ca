//! Tables that are written to files.

use std::path::Path;

use arrow_schema::SchemaRef;
use tegula_machine::threads::Workers;
use tegula_tables::{
    FileFormat, NewFile, ROWS_PER_PART, RowSink, TableFormat, check_is_new, check_parent,
};

use crate::failure::{Failure, Result};

/// The formats that tables are written in.
const FORMATS: [TableFormat; 5] = [
    TableFormat::Parquet,
    TableFormat::Csv,
    TableFormat::Tsv,
    TableFormat::Npy,
    TableFormat::Arrow,
];

/// A file to be written.
pub struct Target<'p> {
    path: &'p Path,
    format: FileFormat,
    /// Whether it may replace another file.
    replaces: bool,
}

impl<'p> Target<'p> {
    /// Chooses the format that the ending tells, unless one is given.
    ///
    /// # Errors
    /// [`Failure`] for an unknown format, and for a place where no file can be written.
    pub fn new(path: &'p Path, format: Option<&str>, replaces: bool) -> Result<Target<'p>> {
        let format = FileFormat::of_path(path, format.map(named).transpose()?)?;
        check_is_new(path, replaces)?;
        check_parent(path)?;
        Ok(Target { path, format, replaces })
    }

    /// Writes a table of `row_count` rows, which `rows` passes on, with up to `threads` threads.
    /// Returns the bytes of the file.
    ///
    /// # Errors
    /// [`Failure`] for types that the format does not have, and of the system.
    pub fn write(
        &self,
        schema: &SchemaRef,
        row_count: u64,
        threads: usize,
        rows: impl FnOnce(&mut dyn RowSink) -> Result<()>,
    ) -> Result<u64> {
        self.format.check_schema(schema)?;
        // At most one thread for each `ROWS_PER_PART` rows, as more would have nothing to do.
        let threads = row_count.div_ceil(ROWS_PER_PART as u64).clamp(1, threads as u64);
        Workers::scope(threads as usize, |workers| {
            let out = NewFile::create(self.path, self.replaces)?;
            let mut writer = self.format.writer(out, schema, row_count, Some(workers))?;
            rows(&mut *writer)?;
            writer.finish().map_err(Failure::from)
        })
    }
}

/// Returns the format with this name.
fn named(name: &str) -> Result<TableFormat> {
    FORMATS.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let names = FORMATS.map(TableFormat::name).join(", ");
        Failure::usage(format!("format=\"{name}\" is not one of {names}"))
    })
}
