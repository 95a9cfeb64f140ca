//! Rows as text: a header, then a line for each row. A missing value is an empty cell.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use tegula_machine::threads::{Cancel, Workers, get_mut, lock};
use tegula_store::Error;

use super::compressor::Compressor;
use super::decimal::{append_float, append_integer};
use super::error::Result;
use super::output::Output;
use super::row_writer::{RowSink, RowWriter};

/// Rows that a worker turns into lines at a time.
pub const ROWS_PER_PART: usize = 1 << 12;

/// Turns rows into lines. The columns are of [`UInt32`](DataType::UInt32), `UInt64`, `Float32`,
/// `Float64`, `Boolean` or `LargeUtf8`.
pub struct TextRows<'w> {
    lines: Lines,
    workers: Option<&'w Workers>,
    /// Lines not yet written; each text is filled by one worker.
    texts: Vec<Mutex<Vec<u8>>>,
}

/// How lines are formatted.
#[derive(Clone, Copy)]
struct Lines {
    separator: u8,
    /// Rounds a double-precision number for display.
    round: fn(f64) -> f64,
    /// Escapes a string for display.
    string: fn(&str) -> Cow<'_, str>,
}

impl<'w> TextRows<'w> {
    /// Begins with the header.
    pub fn new(separator: u8, schema: &SchemaRef, workers: Option<&'w Workers>) -> TextRows<'w> {
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let mut header = names.join(&*char::from(separator).to_string()).into_bytes();
        header.push(b'\n');
        let rows = TextRows::without_header(separator, workers);
        // The first worker adds its lines behind the header, so both are written in one go.
        TextRows { texts: vec![Mutex::new(header)], ..rows }
    }

    /// Begins without a header.
    pub fn without_header(separator: u8, workers: Option<&'w Workers>) -> TextRows<'w> {
        let lines = Lines { separator, round: |exact| exact, string: |text| Cow::Borrowed(text) };
        TextRows { lines, workers, texts: Vec::new() }
    }

    /// Shows computed numbers as `round` returns them, and strings as `escape` does.
    pub fn shown(self, round: fn(f64) -> f64, escape: fn(&str) -> Cow<'_, str>) -> TextRows<'w> {
        let lines = Lines { round, string: escape, ..self.lines };
        TextRows { lines, ..self }
    }

    /// Appends the lines of some rows. Earlier lines must have been flushed.
    pub fn append(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        let count = rows.num_rows();
        let parts = count.div_ceil(ROWS_PER_PART);
        if self.texts.len() < parts {
            self.texts.resize_with(parts, Mutex::default);
        }
        let fill = |part: usize| {
            let first = part * ROWS_PER_PART;
            let rows = rows.slice(first, ROWS_PER_PART.min(count - first));
            // A worker takes its text out: the lengths of neighbouring texts would share a cache
            // line.
            let mut text = std::mem::take(&mut *lock(&self.texts[part]));
            self.lines.append(&rows, &mut text);
            *lock(&self.texts[part]) = text;
            Ok(())
        };
        match self.workers {
            Some(workers) => workers.for_each(parts, &Cancel::default(), &fill),
            None => (0..parts).try_for_each(fill),
        }
    }

    /// Writes the lines that were appended, after the header if that is not written yet.
    pub fn flush_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.texts.iter_mut().map(get_mut).try_for_each(|text| {
            out.write_all(text)?;
            text.clear();
            Ok(())
        })
    }
}

impl Lines {
    /// Appends the lines of some rows to a text.
    fn append(self, rows: &RecordBatch, text: &mut Vec<u8>) {
        let cells: Vec<Cells<'_>> = rows.columns().iter().map(|column| Cells::of(column)).collect();
        for row in 0..rows.num_rows() {
            for (index, column) in cells.iter().enumerate() {
                if index > 0 {
                    text.push(self.separator);
                }
                self.append_cell(column, row, text);
            }
            text.push(b'\n');
        }
    }

    fn append_cell(self, column: &Cells<'_>, row: usize, out: &mut Vec<u8>) {
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
            // A missing value is an empty cell.
            _ => (),
        }
    }
}

/// A column, downcast once.
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

/// Returns a cell of text. The cell is in quotes where RFC 4180 asks for them, where it would be
/// read as a comment, and where it would lose the blanks around it.
pub fn quoted_cell(string: &str, separator: u8) -> Cow<'_, str> {
    let is_special = |byte: u8| byte == separator || matches!(byte, b'"' | b'\n' | b'\r');
    let is_bare = string.trim_ascii() == string && !string.starts_with(['#', '%']);
    // An empty string is in quotes, because an empty cell is a missing value.
    if is_bare && !string.bytes().any(is_special) && !string.is_empty() {
        return Cow::Borrowed(string);
    }
    Cow::Owned(format!("\"{}\"", string.replace('"', "\"\"")))
}

/// Lines in a file.
pub struct TextFile<'w, O: Output> {
    rows: TextRows<'w>,
    out: Compressor<O>,
    path: PathBuf,
}

impl<'w, O: Output> TextFile<'w, O> {
    /// Begins lines that are written through a compressor.
    pub fn new(out: Compressor<O>, path: &Path, rows: TextRows<'w>) -> TextFile<'w, O> {
        TextFile { rows, out, path: path.to_owned() }
    }
}

impl<O: Output> RowSink for TextFile<'_, O> {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        self.rows.append(rows)?;
        self.rows.flush_to(&mut self.out).map_err(Error::io("write", &self.path))
    }
}

impl<O: Output> RowWriter for TextFile<'_, O> {
    fn finish(mut self: Box<Self>) -> Result<u64> {
        let rest = self.rows.flush_to(&mut self.out);
        rest.map_err(Error::io("write", &self.path))?;
        self.out.finish().map_err(Error::io("write", &self.path))?.commit()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{BooleanArray, Float32Array, Float64Array, LargeStringArray, UInt32Array};
    use arrow_schema::{Field, Schema};

    use super::*;
    use crate::write::table_format::{COMMA, TAB};

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
        let text = text_of(TextRows::new(COMMA, &schema, None), &rows);
        let expected = "vertex,distance,rank,length,is_in\na,0,0.1,,true\n\
                        \"b,\"\"c\"\"\",,1e-9,0.30000000000000004,false\n\"\",7,0.25,2,true\n";
        assert_eq!(text, expected);
        let shown = TextRows::new(TAB, &schema, None);
        let shown = text_of(shown.shown(f64::round, |text| text.replace('b', "B").into()), &rows);
        assert!(shown.contains("\n\"B,\"\"c\"\"\"\t\t1e-9\t0\tfalse\n"), "{shown}");
    }

    #[test]
    fn lines_do_not_depend_on_the_number_of_threads() {
        let schema = Arc::new(Schema::new(vec![Field::new("vertex", DataType::UInt32, false)]));
        let part = ROWS_PER_PART as u32;
        for count in [0, 1, part, part + 1, 5 * part + 3] {
            let numbers = Arc::new(UInt32Array::from_iter_values(0..count));
            let rows = RecordBatch::try_new(Arc::clone(&schema), vec![numbers]).unwrap();
            let lines: String = (0..count).map(|number| format!("{number}\n")).collect();
            let expected = format!("vertex\n{lines}");
            assert!(text_of(TextRows::new(TAB, &schema, None), &rows) == expected);
            for threads in [1, 3] {
                let text = Workers::scope(threads, |workers| {
                    text_of(TextRows::new(TAB, &schema, Some(workers)), &rows)
                });
                assert!(text == expected, "{count} rows, {threads} threads");
            }
        }
    }

    fn text_of(mut text: TextRows<'_>, rows: &RecordBatch) -> String {
        let mut out = Vec::new();
        text.append(rows).unwrap();
        text.flush_to(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }
}
