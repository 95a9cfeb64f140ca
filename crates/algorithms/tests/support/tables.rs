//! Runs algorithms of the catalogue by name, without their types, and returns their tables.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use serde_json::Value;
use tegula_algorithms::answer::RowSink;
use tegula_algorithms::side_table::LocalPaths;
use tegula_algorithms::{Error, find};
use tegula_engine::{Graph, RunOptions};
use tegula_testkit::Table;

/// Keeps all rows.
#[derive(Default)]
pub struct Kept(pub Vec<RecordBatch>);

impl RowSink for Kept {
    fn write(&mut self, rows: &RecordBatch) -> tegula_engine::Result<()> {
        self.0.push(rows.clone());
        Ok(())
    }
}

/// Runs an algorithm with these options and returns its rows.
#[track_caller]
pub fn answer(
    graph: &Graph,
    name: &str,
    wanted: Value,
    options: &RunOptions<'_>,
) -> Vec<RecordBatch> {
    try_answer(graph, name, wanted, options).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The same, or the error.
pub fn try_answer(
    graph: &Graph,
    name: &str,
    wanted: Value,
    options: &RunOptions<'_>,
) -> Result<Vec<RecordBatch>, Error> {
    let request = find(name).unwrap().request(wanted).unwrap();
    let found = request.prepare(graph, options, &LocalPaths)?.run(graph, options)?;
    let mut kept = Kept::default();
    found.answer.write_rows(graph, &mut kept, &options.cancel)?;
    Ok(kept.0)
}

/// The summary of an algorithm's answer.
#[track_caller]
pub fn summary(graph: &Graph, name: &str, wanted: Value, options: &RunOptions<'_>) -> Value {
    let request = find(name).unwrap().request(wanted).unwrap();
    let found = request.prepare(graph, options, &LocalPaths).unwrap().run(graph, options).unwrap();
    let summary = found.answer.summary(graph, 3, &options.cancel).unwrap();
    serde_json::to_value(&*summary).unwrap()
}

/// The second column of an answer, by the first.
#[track_caller]
pub fn numbers(graph: &Graph, name: &str, wanted: Value, options: &RunOptions<'_>) -> Table<f64> {
    let rows = answer(graph, name, wanted, options);
    rows.iter()
        .flat_map(|rows| ids(rows.column(0)).into_iter().zip(floats(rows.column(1))))
        .collect()
}

/// The same for counts or ids in the second column.
#[track_caller]
pub fn counts(graph: &Graph, name: &str, wanted: Value, options: &RunOptions<'_>) -> Table<u64> {
    let rows = answer(graph, name, wanted, options);
    rows.iter().flat_map(|rows| ids(rows.column(0)).into_iter().zip(ids(rows.column(1)))).collect()
}

fn ids(column: &dyn Array) -> Vec<u64> {
    match column.data_type() {
        DataType::UInt32 => {
            column.as_primitive::<UInt32Type>().values().iter().map(|&id| id.into()).collect()
        }
        _ => column.as_primitive::<UInt64Type>().values().to_vec(),
    }
}

/// A column of numbers.
pub fn floats(column: &dyn Array) -> Vec<f64> {
    match column.data_type() {
        DataType::Float32 => column
            .as_primitive::<Float32Type>()
            .values()
            .iter()
            .map(|&value| value.into())
            .collect(),
        _ => column.as_primitive::<Float64Type>().values().to_vec(),
    }
}
