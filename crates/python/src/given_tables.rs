//! Tables that options are given as objects, such as data frames.

use std::collections::BTreeMap;
use std::sync::Mutex;

use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_schema::{ArrowError, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tegula_algorithms::side_table::{LocalPaths, TableSource, TableSources};
use tegula_machine::threads::{Cancel, lock};
use tegula_store::Result as StoreResult;
use tegula_tables::TablePlace;

use crate::failure::{Failure, Result};
use crate::stream::reader;

/// Tables by option, before their rows are read.
pub struct GivenStreams(BTreeMap<String, ArrowArrayStreamReader>);

impl GivenStreams {
    /// Takes the tables of a dictionary whose keys are options.
    ///
    /// # Errors
    /// [`Failure`] for an object without the Arrow PyCapsule interface. It names the option.
    pub fn of(tables: &Bound<'_, PyDict>) -> Result<GivenStreams> {
        let streams = tables.iter().map(|(option, table)| {
            let option: String = option.extract()?;
            let stream = reader(&table).map_err(|failure| failure.about(&option))?;
            Ok((option, stream))
        });
        streams.collect::<Result<_>>().map(GivenStreams)
    }

    /// Reads all rows. This may run code of Python, so the caller must hold nothing for which such
    /// code could wait.
    ///
    /// # Errors
    /// [`Failure`] if a table ends early; it names the option. Cancellation.
    pub fn read(self, cancel: &Cancel) -> Result<GivenTables> {
        let tables = self.0.into_iter().map(|(option, stream)| {
            let schema = stream.schema();
            let mut batches = Vec::new();
            for batch in stream {
                cancel.check()?;
                let broken = |error: ArrowError| Failure::bad_input(error.to_string());
                batches.push(batch.map_err(|error| broken(error).about(&option))?);
            }
            Ok((option, (schema, batches)))
        });
        tables.collect::<Result<_>>().map(|tables| GivenTables(Mutex::new(tables)))
    }
}

/// The rows of tables, by option. Options that are not among them name paths. A table is found
/// once, so that its rows can be let go then.
pub struct GivenTables(Mutex<BTreeMap<String, (SchemaRef, Vec<RecordBatch>)>>);

impl TableSources for GivenTables {
    fn find<'s>(
        &'s self,
        option: &'static str,
        source: &'s TableSource,
    ) -> StoreResult<TablePlace<'s>> {
        match lock(&self.0).remove(option) {
            Some((schema, batches)) => Ok(TablePlace::Memory(schema, batches)),
            None => LocalPaths.find(option, source),
        }
    }
}
