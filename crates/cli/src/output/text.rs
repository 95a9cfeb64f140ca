//! Rows as text: a header, then a line a row; an empty cell where there is no value.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use tegula_algorithms::answer::RowSink;
use tegula_machine::Error;

use super::compress::Compressor;
use super::decimal::{append_float, append_integer};
use super::row_writer::RowWriter;
use crate::errors::{Failure, Result};
use crate::{escape, report, stdout};

/// Separator of `.csv`.
pub const COMMA: u8 = b',';
/// Separator of `.tsv`.
pub const TAB: u8 = b'\t';

/// Turns rows into lines.
pub struct TextRows {
    separator: u8,
    /// What is shown of a number of double precision.
    round: fn(f64) -> f64,
    /// What is shown of a string.
    string: fn(&str) -> Cow<'_, str>,
    buffer: Vec<u8>,
}

impl TextRows {
    /// Begins with the header.
    pub fn new(separator: u8, schema: &SchemaRef) -> TextRows {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let mut buffer = names.join(&*char::from(separator).to_string()).into_bytes();
        buffer.push(b'\n');
        TextRows { separator, round: |exact| exact, string: |string| Cow::Borrowed(string), buffer }
    }

    /// Appends the lines of some rows.
    fn append(&mut self, rows: &RecordBatch) {
        let cells: Vec<Cells<'_>> = rows.columns().iter().map(|column| Cells::of(column)).collect();
        for row in 0..rows.num_rows() {
            for (index, column) in cells.iter().enumerate() {
                if index > 0 {
                    self.buffer.push(self.separator);
                }
                self.append_cell(column, row);
            }
            self.buffer.push(b'\n');
        }
    }

    fn append_cell(&mut self, column: &Cells<'_>, row: usize) {
        let out = &mut self.buffer;
        match column {
            Cells::Integers32(cells) if cells.is_valid(row) => {
                append_integer(cells.value(row), out)
            }
            Cells::Integers64(cells) if cells.is_valid(row) => {
                append_integer(cells.value(row), out)
            }
            Cells::Floats(cells) if cells.is_valid(row) => append_float(cells.value(row), out),
            Cells::Doubles(cells) if cells.is_valid(row) => {
                append_float((self.round)(cells.value(row)), out);
            }
            Cells::Booleans(cells) if cells.is_valid(row) => {
                out.extend_from_slice(if cells.value(row) { b"true" } else { b"false" });
            }
            Cells::Strings(cells) if cells.is_valid(row) => {
                let string = (self.string)(cells.value(row));
                out.extend_from_slice(quoted_cell(&string, self.separator).as_bytes());
            }
            _ => (),
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
}

/// A cell of text, in quotes where it could be mistaken for something else (RFC 4180): also where it would
/// be read as a comment, or without the blanks around it.
pub fn quoted_cell(string: &str, separator: u8) -> Cow<'_, str> {
    let is_special = |byte: u8| byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
    let is_bare = string.trim_ascii() == string && !string.starts_with(['#', '%']);
    if is_bare && !string.bytes().any(is_special) && !string.is_empty() {
        return Cow::Borrowed(string);
    }
    Cow::Owned(format!("\"{}\"", string.replace('"', "\"\"")))
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

impl RowSink for TextFile {
    fn write(&mut self, rows: &RecordBatch) -> tegula_machine::Result<()> {
        self.rows.append(rows);
        self.rows.flush_to(&mut self.out).map_err(Error::io("write", &self.path))
    }
}

impl RowWriter for TextFile {
    fn finish(mut self: Box<Self>) -> Result<u64> {
        let rest = self.rows.flush_to(&mut self.out);
        rest.map_err(Error::io("write", &self.path))?;
        self.out.finish().map_err(Error::io("write", &self.path))?.commit()
    }
}

/// Lines on a terminal.
pub struct TextTerminal {
    rows: TextRows,
    out: File,
    /// How many more rows are shown.
    left: usize,
}

impl TextTerminal {
    /// All rows.
    ///
    /// # Errors
    /// Those of opening standard output.
    pub fn whole(separator: u8, schema: &SchemaRef) -> Result<TextTerminal> {
        let rows = TextRows { string: escape::line, ..TextRows::new(separator, schema) };
        let out = stdout::open().map_err(Failure::stdout)?;
        Ok(TextTerminal { rows, out, left: usize::MAX })
    }

    /// The first rows, `rows_max` at most, without the last digits of numbers that were computed.
    ///
    /// # Errors
    /// Those of opening standard output.
    pub fn preview(schema: &SchemaRef, rows_max: usize) -> Result<TextTerminal> {
        let mut terminal = TextTerminal::whole(TAB, schema)?;
        terminal.rows.round = report::rounded;
        Ok(TextTerminal { left: rows_max, ..terminal })
    }
}

impl RowSink for TextTerminal {
    fn write(&mut self, rows: &RecordBatch) -> tegula_machine::Result<()> {
        let shown = rows.num_rows().min(self.left);
        self.left -= shown;
        self.rows.append(&rows.slice(0, shown));
        self.rows.flush_to(&mut self.out).map_err(Error::io("write to", stdout::NAME))
    }

    fn wants_more(&self) -> bool {
        self.left > 0
    }
}

impl RowWriter for TextTerminal {
    fn finish(mut self: Box<Self>) -> Result<u64> {
        self.rows.flush_to(&mut self.out).map_err(Failure::stdout)?;
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
        let mut shown = TextTerminal::preview(&schema, 2).unwrap().rows;
        shown.append(&rows);
        let shown = String::from_utf8(shown.buffer).unwrap();
        assert!(shown.contains("\t0.3\tfalse\n"), "{shown}");
    }
}
