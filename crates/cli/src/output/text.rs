//! Rows as text: a header, then a line a row; an empty cell where there is no value.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use tegula_store::Error;

use super::{Compressor, RowWriter};
use crate::errors::{Failure, Result};
use crate::report;

/// Separator of `.csv`.
pub const COMMA: u8 = b',';
/// Separator of `.tsv`.
pub const TAB: u8 = b'\t';

/// Turns rows into lines.
pub struct TextRows {
    separator: u8,
    /// What is shown of a number of double precision.
    round: fn(f64) -> f64,
    buffer: Vec<u8>,
}

impl TextRows {
    /// Begins with the header.
    pub fn new(separator: u8, schema: &SchemaRef) -> TextRows {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let mut buffer = names.join(&*char::from(separator).to_string()).into_bytes();
        buffer.push(b'\n');
        TextRows { separator, round: |exact| exact, buffer }
    }

    /// Appends the lines of some rows.
    fn append(&mut self, rows: &RecordBatch) {
        let cells: Vec<Cells<'_>> = rows.columns().iter().map(|column| Cells::of(column)).collect();
        for row in 0..rows.num_rows() {
            for (index, column) in cells.iter().enumerate() {
                if index > 0 {
                    self.buffer.push(self.separator);
                }
                column.append(row, self.separator, self.round, &mut self.buffer);
            }
            self.buffer.push(b'\n');
        }
    }

    fn flush_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }
}

/// A column whose type is known.
enum Cells<'a> {
    Integers32(&'a arrow_array::UInt32Array),
    Integers64(&'a arrow_array::UInt64Array),
    Floats(&'a arrow_array::Float32Array),
    Doubles(&'a arrow_array::Float64Array),
    Booleans(&'a arrow_array::BooleanArray),
    Strings(&'a arrow_array::LargeStringArray),
}

impl<'a> Cells<'a> {
    fn of(column: &'a dyn Array) -> Cells<'a> {
        match column.data_type() {
            DataType::UInt32 => Cells::Integers32(column.as_primitive::<UInt32Type>()),
            DataType::UInt64 => Cells::Integers64(column.as_primitive::<UInt64Type>()),
            DataType::Float32 => Cells::Floats(column.as_primitive::<Float32Type>()),
            DataType::Float64 => Cells::Doubles(column.as_primitive::<Float64Type>()),
            DataType::Boolean => Cells::Booleans(column.as_boolean()),
            _ => Cells::Strings(column.as_string::<i64>()),
        }
    }

    fn append(&self, row: usize, separator: u8, round: fn(f64) -> f64, out: &mut Vec<u8>) {
        // A vector takes whatever is written to it.
        let _ = match self {
            Cells::Integers32(cells) if cells.is_valid(row) => write!(out, "{}", cells.value(row)),
            Cells::Integers64(cells) if cells.is_valid(row) => write!(out, "{}", cells.value(row)),
            Cells::Floats(cells) if cells.is_valid(row) => write!(out, "{}", cells.value(row)),
            Cells::Doubles(cells) if cells.is_valid(row) => {
                write!(out, "{}", round(cells.value(row)))
            }
            Cells::Booleans(cells) if cells.is_valid(row) => write!(out, "{}", cells.value(row)),
            Cells::Strings(cells) if cells.is_valid(row) => {
                append_string(cells.value(row), separator, out);
                Ok(())
            }
            _ => Ok(()),
        };
    }
}

/// A string, in quotes where it could be mistaken for something else (RFC 4180): also where it would be
/// read as a comment, or without the blanks around it.
fn append_string(string: &str, separator: u8, out: &mut Vec<u8>) {
    let is_special = |byte: u8| byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
    let is_bare = string.trim_ascii() == string && !string.starts_with(['#', '%']);
    if is_bare && !string.bytes().any(is_special) && !string.is_empty() {
        out.extend_from_slice(string.as_bytes());
        return;
    }
    out.push(b'"');
    out.extend_from_slice(string.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

/// Lines in a file.
pub struct TextFile {
    rows: TextRows,
    out: Compressor,
    path: PathBuf,
}

impl TextFile {
    /// Lines in a file that is written through a compressor.
    pub fn new(out: Compressor, path: &Path, rows: TextRows) -> TextFile {
        TextFile { rows, out, path: path.to_owned() }
    }
}

impl RowWriter for TextFile {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        self.rows.append(rows);
        Ok(self.rows.flush_to(&mut self.out).map_err(Error::io("write", &self.path))?)
    }

    fn finish(mut self: Box<Self>) -> Result<u64> {
        let rest = self.rows.flush_to(&mut self.out);
        rest.map_err(Error::io("write", &self.path))?;
        Ok(self.out.finish().map_err(Error::io("write", &self.path))?.commit()?)
    }
}

/// Lines on standard output.
pub struct TextStdout {
    rows: TextRows,
    /// How many more rows are shown.
    left: usize,
}

impl TextStdout {
    /// Lines separated by tabs: all rows, as they are.
    pub fn for_program(schema: &SchemaRef) -> TextStdout {
        TextStdout { rows: TextRows::new(TAB, schema), left: usize::MAX }
    }

    /// The same of at most so many rows, without the last digits of numbers that were computed.
    pub fn for_person(schema: &SchemaRef, rows_max: usize) -> TextStdout {
        let rows = TextRows { round: report::rounded, ..TextRows::new(TAB, schema) };
        TextStdout { rows, left: rows_max }
    }
}

impl RowWriter for TextStdout {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let shown = rows.num_rows().min(self.left);
        self.left -= shown;
        self.rows.append(&rows.slice(0, shown));
        self.rows.flush_to(&mut io::stdout().lock()).map_err(Failure::stdout)
    }

    fn wants_more(&self) -> bool {
        self.left > 0
    }

    fn finish(mut self: Box<Self>) -> Result<u64> {
        let mut out = io::stdout().lock();
        self.rows.flush_to(&mut out).and_then(|()| out.flush()).map_err(Failure::stdout)?;
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Float32Array, Float64Array, LargeStringArray, UInt32Array};
    use arrow_schema::{Field, Schema};

    use super::*;

    #[test]
    fn cells_are_quoted_where_needed_and_empty_where_there_is_nothing() {
        let schema = Arc::new(Schema::new(vec![
            Field::new("vertex", DataType::LargeUtf8, false),
            Field::new("distance", DataType::UInt32, true),
            Field::new("rank", DataType::Float32, false),
            Field::new("length", DataType::Float64, true),
            Field::new("is_in", DataType::Boolean, false),
        ]));
        let rows = RecordBatch::try_new(
            Arc::clone(&schema),
            vec![
                Arc::new(LargeStringArray::from(vec!["a", "b,\"c\"", ""])),
                Arc::new(UInt32Array::from(vec![Some(0), None, Some(7)])),
                Arc::new(Float32Array::from(vec![0.1, 1e-9, 0.25])),
                Arc::new(Float64Array::from(vec![None, Some(0.1 + 0.2), Some(2.0)])),
                Arc::new(BooleanArray::from(vec![true, false, true])),
            ],
        );
        let rows = rows.unwrap();
        let mut text = TextRows::new(COMMA, &schema);
        text.append(&rows);
        let expected = "vertex,distance,rank,length,is_in\na,0,0.1,,true\n\
                        \"b,\"\"c\"\"\",,0.000000001,0.30000000000000004,false\n\"\",7,0.25,2,true\n";
        assert_eq!(String::from_utf8(text.buffer).unwrap(), expected);
        let mut shown = TextStdout::for_person(&schema, 2);
        shown.rows.append(&rows);
        let shown = String::from_utf8(shown.rows.buffer).unwrap();
        assert!(shown.contains("\t0.3\tfalse\n"), "{shown}");
    }
}
