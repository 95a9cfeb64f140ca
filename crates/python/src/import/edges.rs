//! Imports tables of edges of other libraries.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use arrow_array::RecordBatch;
use pyo3::prelude::*;
use tegula_import::input::{ColumnChoice, Columns, EdgeTables, InputOptions};
use tegula_import::{ImportConfig, ImportReport, import_tables};
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{panic_message, start_in};
use tegula_store::Error;

use crate::failure::{Failure, Result};
use crate::stream::Tables;
use crate::work::Work;

/// A column by its name, or by its position from 0.
#[derive(Debug, Clone, FromPyObject)]
pub enum ColumnName {
    Position(usize),
    Name(String),
}

/// The columns of sources, targets and weights. An end that is not given is found as in a file with
/// names; without a column of weights, edges have none.
pub type EdgeColumns = (Option<ColumnName>, Option<ColumnName>, Option<ColumnName>);

/// What errors call the tables: the argument of `from_edges`.
const NAME: &str = "data";

/// Imports the edges of tables into the new directory `output`. Returns the report, and what should
/// be told of the tables. `are_held` says whether all tables are in memory.
///
/// # Errors
/// [`Failure`] for a missing column, and if there is no table; errors of the import; what Python
/// raises when it is asked for a table.
pub fn import(
    mut tables: Tables,
    wanted: EdgeColumns,
    are_held: bool,
    output: &Path,
    config: &ImportConfig,
    work: &Work,
) -> Result<(ImportReport, Option<String>)> {
    let Some(schema) = tables.schema()? else {
        return Err(Failure::bad_input("there is no table of edges"));
    };
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let columns = find(&names, wanted)?;
    let remark = columns.unread_weight_name(&names).map(|name| {
        format!("column `{name}` was not read; use weight=\"{name}\" if it holds weights")
    });
    let are_integers = [columns.source, columns.target]
        .iter()
        .all(|&end| schema.field(end).data_type().is_integer());
    let import = |tables| import_tables(tables, output, config, &work.progress, &work.cancel);
    // Strings are read once, so that tables of them need not stay in memory.
    let report = if are_held && are_integers {
        let parts = tables.all(&work.cancel)?;
        import(EdgeTables::held(NAME, schema, columns, parts))?
    } else {
        let given =
            |tables: Receiver<_>| EdgeTables::stream(NAME, schema, columns, tables.into_iter());
        while_asking(&mut tables, |tables| import(given(tables)))?
    };
    Ok((report, remark))
}

/// Runs an import on another thread, and meanwhile asks for its tables on this one: a generator of
/// Python may use what belongs to one thread.
fn while_asking(
    tables: &mut Tables,
    import: impl FnOnce(Receiver<Table>) -> tegula_store::Result<ImportReport> + Send,
) -> Result<ImportReport> {
    // Without a buffer, at most one table waits for the import.
    let (sender, receiver) = sync_channel(0);
    std::thread::scope(|scope| {
        let started = start_in(scope, "tegula-import", move || import(receiver));
        let thread = started.map_err(|error| {
            let detail = error.to_string();
            MachineError::WorkerFailed { detail }
        })?;
        let stop = send_all(tables, &sender);
        // The import waits for a further table until then.
        drop(sender);
        let report = thread.join().map_err(|panic| Failure::panic(&panic_message(&*panic)))?;
        // The import only knows that it was cancelled. The tables know why.
        report.map_err(|error| match (error, stop) {
            (Error::Machine(MachineError::Cancelled), Some(stop)) => stop,
            (error, _) => error.into(),
        })
    })
}

/// A table on its way to an import, or the end of an import.
type Table = tegula_store::Result<RecordBatch>;

/// Sends all tables. Returns why they ended early, if they did.
fn send_all(tables: &mut Tables, sender: &SyncSender<Table>) -> Option<Failure> {
    loop {
        let table = match tables.next() {
            Ok(Some(table)) => table,
            Ok(None) => return None,
            Err(failure) => {
                // If nobody takes this, the import has ended.
                let _ = sender.send(Err(MachineError::Cancelled.into()));
                return Some(failure);
            }
        };
        if sender.send(Ok(table)).is_err() {
            // The import has ended.
            return None;
        }
    }
}

/// Finds the columns of the first table.
fn find(names: &[String], wanted: EdgeColumns) -> Result<Columns> {
    let (source, target, weight) = wanted;
    let choice = |name: Option<ColumnName>, role| {
        // `InputOptions` counts positions from 1. A position is never ambiguous, as a name may be.
        let place = name.map(|name| position(names, &name, role)).transpose()?;
        Ok::<_, Failure>(place.map(|place| ColumnChoice::Position(place + 1)))
    };
    let options = InputOptions {
        weighted: weight.is_some(),
        source_column: choice(source, "source")?,
        target_column: choice(target, "target")?,
        weight_column: choice(weight, "weight")?,
        ..InputOptions::default()
    };
    Columns::by_name(names, &options).map_err(|problem| {
        let hint = "choose columns with source=, target= and weight=";
        Failure::bad_input_with(problem.message, hint)
    })
}

/// Returns the place of a column.
fn position(names: &[String], name: &ColumnName, role: &str) -> Result<usize> {
    let found = match name {
        ColumnName::Position(position) => Some(*position).filter(|&place| place < names.len()),
        ColumnName::Name(name) => names.iter().position(|known| known == name),
    };
    found.ok_or_else(|| {
        let what = match name {
            ColumnName::Position(position) => format!("column {position}"),
            ColumnName::Name(name) => format!("column `{name}`"),
        };
        let names = names.join("`, `");
        Failure::bad_input(format!("{role}: there is no {what}; the columns are `{names}`"))
    })
}
