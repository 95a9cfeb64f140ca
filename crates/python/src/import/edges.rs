//! Tables of edges on their way to an import: they are checked, and written to a file of pairs or,
//! where ids are strings, of Parquet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use tegula_import::ImportConfig;
use tegula_import::input::{ColumnChoice, Columns, Format, IdKind, InputOptions};
use tegula_tables::{FileFormat, NewFile, RowWriter, TableFormat};

use super::pairs::PairsFile;
use crate::failure::{Failure, Result};
use crate::stream::Tables;
use crate::work::Work;

/// Rows that are checked and written at a time: some MiB.
const ROWS_AT_A_TIME: usize = 1 << 16;

/// A column by its name, or by its position from 0.
#[derive(Debug, Clone, FromPyObject)]
pub enum ColumnName {
    Position(usize),
    Name(String),
}

/// The columns of sources, targets and weights. An end that is not given is found as in a file with
/// names; without a column of weights, edges have none.
pub type EdgeColumns = (Option<ColumnName>, Option<ColumnName>, Option<ColumnName>);

/// The places of the columns, and what they hold.
struct Places {
    /// Source, target and, if edges have weights, weight.
    columns: Vec<usize>,
    /// A column that seems to hold weights and is not read.
    unread_weight: Option<String>,
    /// The schema of the tables.
    schema: SchemaRef,
    /// The type of ids in the file: strings, or integers of 32 or 64 bits.
    id_type: DataType,
}

/// Writes the edges of all tables to a file in `folder`. Sets the format in `config`, and whether
/// there are weights. Returns the path of the file, and what should be told of the tables.
///
/// # Errors
/// [`Failure`] for a missing column, for one with the wrong type, and for a row without an id.
pub fn write(
    tables: &mut Tables,
    wanted: EdgeColumns,
    folder: &Path,
    config: &mut ImportConfig,
    work: &Work,
) -> Result<(PathBuf, Option<String>)> {
    let Some(schema) = tables.schema()? else {
        return Err(Failure::bad_input("there is no table of edges"));
    };
    let places = Places::of(schema, wanted, config.input.ids)?;
    config.input.weighted = places.columns.len() > 2;
    let path = folder.join("edges");
    (config.input.format, config.input.ids) = places.format();
    let schema = places.written_schema();
    let mut out: Box<dyn RowWriter> = match places.id_type {
        DataType::LargeUtf8 => {
            let file = NewFile::create(&path, false)?;
            FileFormat::from(TableFormat::Parquet).writer(file, &schema, 0, None)?
        }
        _ => Box::new(PairsFile::create(&path)?),
    };
    let mut row = 0;
    while let Some(rows) = tables.next()? {
        // A table may have all rows, so it is not copied as a whole.
        for first in (0..rows.num_rows().max(1)).step_by(ROWS_AT_A_TIME) {
            work.cancel.check()?;
            let rows = rows.slice(first, ROWS_AT_A_TIME.min(rows.num_rows() - first));
            out.write(&places.checked(&rows, &schema, row)?)?;
            row += rows.num_rows() as u64;
        }
    }
    out.finish()?;
    Ok((path, places.remark()))
}

impl Places {
    fn of(schema: SchemaRef, wanted: EdgeColumns, ids: IdKind) -> Result<Places> {
        let (source, target, weight) = wanted;
        let names = names(&schema);
        let choice = |name: Option<ColumnName>, role| {
            // `InputOptions` counts positions from 1. A position is never ambiguous, as a name may
            // be.
            let place = name.map(|name| position(&names, &name, role)).transpose()?;
            Ok::<_, Failure>(place.map(|place| ColumnChoice::Position(place + 1)))
        };
        let options = InputOptions {
            weighted: weight.is_some(),
            source_column: choice(source, "source")?,
            target_column: choice(target, "target")?,
            weight_column: choice(weight, "weight")?,
            ..InputOptions::default()
        };
        let found = Columns::by_name(&names, &options).map_err(|problem| {
            let hint = "choose columns with source=, target= and weight=";
            Failure::bad_input_with(problem.message, hint)
        })?;
        let columns: Vec<usize> =
            [found.source, found.target].into_iter().chain(found.weight).collect();
        let are_strings = |&column: &usize| holds_strings(schema.field(column).data_type());
        let has_strings = ids == IdKind::String || columns[..2].iter().any(are_strings);
        let are_short = |&column: &usize| is_short(schema.field(column).data_type());
        let id_type = match has_strings {
            true => DataType::LargeUtf8,
            false if columns[..2].iter().all(are_short) => DataType::UInt32,
            false => DataType::UInt64,
        };
        let unread_weight = found.unread_weight_name(&names).cloned();
        let places = Places { columns, unread_weight, id_type, schema: SchemaRef::clone(&schema) };
        places.check_types(&schema, ids != IdKind::Integer)?;
        Ok(places)
    }

    /// Returns what should be told of a column that is not read.
    fn remark(&self) -> Option<String> {
        self.unread_weight.as_ref().map(|name| {
            format!("column `{name}` was not read; use weight=\"{name}\" if it holds weights")
        })
    }

    /// Refuses weights that are no numbers, and ids that are no integers nor, with `strings`,
    /// strings.
    fn check_types(&self, schema: &Schema, strings: bool) -> Result<()> {
        for &column in &self.columns[..2] {
            let (name, kind) = (schema.field(column).name(), schema.field(column).data_type());
            let is_id = kind.is_integer() || (strings && holds_strings(kind));
            if !is_id {
                let wanted = if strings { "integers or strings" } else { "integers" };
                let message = format!("column `{name}` has the type {kind}; ids are {wanted}");
                return Err(Failure::bad_input(message));
            }
        }
        if let Some(&weight) = self.columns.get(2)
            && !schema.field(weight).data_type().is_numeric()
        {
            let (name, kind) = (schema.field(weight).name(), schema.field(weight).data_type());
            let message = format!("column `{name}` has the type {kind}; weights are numbers");
            return Err(Failure::bad_input(message));
        }
        Ok(())
    }

    /// The format of the file, and the kind of its ids.
    fn format(&self) -> (Format, IdKind) {
        match self.id_type {
            DataType::LargeUtf8 => (Format::Parquet, IdKind::String),
            DataType::UInt32 => (Format::Pairs32, IdKind::Integer),
            _ => (Format::Pairs64, IdKind::Integer),
        }
    }

    /// The columns of the file.
    fn written_schema(&self) -> SchemaRef {
        let id = &self.id_type;
        let mut fields =
            ["source", "target"].map(|end| Field::new(end, id.clone(), false)).to_vec();
        if self.columns.len() > 2 {
            fields.push(Field::new("weight", DataType::Float32, false));
        }
        Arc::new(Schema::new(fields))
    }

    /// Returns the rows as they are written. `first` rows came before.
    fn checked(&self, rows: &RecordBatch, schema: &SchemaRef, first: u64) -> Result<RecordBatch> {
        let (here, wanted) = (names(&rows.schema()), names(&self.schema));
        if here != wanted {
            let (here, wanted) = (here.join("`, `"), wanted.join("`, `"));
            let message = format!(
                "row {first}: this table has the columns `{here}`, but the first one has `{wanted}`"
            );
            return Err(Failure::bad_input(message));
        }
        // Ids of the first table are integers, unless one of its columns has strings.
        self.check_types(&rows.schema(), self.id_type == DataType::LargeUtf8)?;
        let columns = self.columns.iter().zip(schema.fields()).map(|(&place, field)| {
            let name = self.schema.field(place).name();
            checked_column(rows.column(place), field.data_type(), name, first)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(SchemaRef::clone(schema), columns)
            .map_err(|error| Failure::bad_input(error.to_string()))
    }
}

/// Returns the names of the columns.
fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
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

/// Whether all ids of this type fit into 32 bits.
fn is_short(data_type: &DataType) -> bool {
    use DataType::{Int8, Int16, Int32, UInt8, UInt16, UInt32};
    matches!(data_type, Int8 | Int16 | Int32 | UInt8 | UInt16 | UInt32)
}

/// Whether a column of this type holds strings.
fn holds_strings(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => holds_strings(values),
        _ => false,
    }
}

/// Casts a column, and refuses cells that are no id or no weight. The error has the row, from 0 as
/// Python counts, with `first` rows before.
fn checked_column(
    column: &ArrayRef,
    wanted: &DataType,
    name: &str,
    first: u64,
) -> Result<ArrayRef> {
    let refuse = |row: usize, problem: &str| {
        Failure::bad_input(format!("column `{name}`, row {}: {problem}", first + row as u64))
    };
    if column.null_count() > 0 {
        let row = (0..column.len()).find(|&row| column.is_null(row)).unwrap_or(0);
        return Err(refuse(row, "it is null"));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    let cast = |column: &ArrayRef, wanted: &DataType| {
        cast_with_options(column, wanted, &strict)
            .map_err(|error| Failure::bad_input(format!("column `{name}`: {error}")))
    };
    if wanted.is_unsigned_integer() && column.data_type().is_signed_integer() {
        let integers = cast(column, &DataType::Int64)?;
        let integers = integers.as_primitive::<Int64Type>().values();
        if let Some(row) = integers.iter().position(|&id| id < 0) {
            return Err(refuse(row, &format!("the id {} is negative", integers[row])));
        }
    }
    let array = cast(column, wanted)?;
    match wanted {
        DataType::Float32 => {
            let weights = array.as_primitive::<Float32Type>().values();
            if let Some(row) = weights.iter().position(|weight| !weight.is_finite()) {
                let problem = format!("the weight {} is not a finite 32-bit float", weights[row]);
                return Err(refuse(row, &problem));
            }
        }
        DataType::LargeUtf8 => {
            let ids = array.as_string::<i64>();
            if let Some(row) = (0..ids.len()).find(|&row| ids.value(row).is_empty()) {
                return Err(refuse(row, "the id is empty"));
            }
        }
        _ => {}
    }
    Ok(array)
}
