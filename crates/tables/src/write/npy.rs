//! Rows as a NumPy array with named fields: `numpy.load("out.npy")["rank"]`.
//!
//! Ids are `<u8`, ranks and weights `<f4`, memberships `|b1`. Counts of hops are `<i8`, with -1 for
//! none; other distances are `<f8`, with NaN for none; a missing id is 2^64 - 1.

use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use tegula_store::Error;

use super::error::Result;
use super::output::Output;
use super::row_writer::{RowSink, RowWriter};

/// The length of the header is a multiple of this.
const ALIGNMENT: usize = 64;
/// Magic bytes and version 1.0.
const MAGIC: &[u8; 8] = b"\x93NUMPY\x01\x00";

/// Writes a `.npy` file.
pub struct NpyWriter<O> {
    out: O,
    path: PathBuf,
    buffer: Vec<u8>,
}

impl<O: Output> NpyWriter<O> {
    /// Begins an array of `row_count` rows.
    pub fn new(mut out: O, schema: &SchemaRef, row_count: u64) -> Result<NpyWriter<O>> {
        let path = out.path().to_owned();
        out.write_all(&header(schema, row_count)).map_err(Error::io("write", &path))?;
        Ok(NpyWriter { out, path, buffer: Vec::new() })
    }

    /// Begins with the first row, for raw pairs of ids followed by weights.
    pub fn without_header(out: O) -> NpyWriter<O> {
        NpyWriter { path: out.path().to_owned(), out, buffer: Vec::new() }
    }
}

fn header(schema: &SchemaRef, row_count: u64) -> Vec<u8> {
    let fields = schema.fields().iter().map(|field| {
        let code = match field.data_type() {
            DataType::Float32 => "<f4",
            DataType::Float64 => "<f8",
            DataType::Boolean => "|b1",
            DataType::UInt32 => "<i8",
            _ => "<u8",
        };
        format!("('{}', '{code}'), ", field.name())
    });
    let fields: String = fields.collect();
    let mut text =
        format!("{{'descr': [{fields}], 'fortran_order': False, 'shape': ({row_count},), }}");
    let length = (MAGIC.len() + 2 + text.len() + 1).next_multiple_of(ALIGNMENT);
    text.push_str(&" ".repeat(length - MAGIC.len() - 2 - text.len() - 1));
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

/// Returns the bytes of a cell of a column.
fn width(column: &dyn Array) -> usize {
    match column.data_type() {
        DataType::Float32 => 4,
        DataType::Boolean => 1,
        _ => 8,
    }
}

/// Copies the cells of a column into rows of `row_width` bytes, at `offset` in each row.
fn fill(column: &dyn Array, offset: usize, row_width: usize, out: &mut [u8]) {
    fn put<'r, const N: usize>(
        cells: impl Iterator<Item = [u8; N]>,
        rows: impl Iterator<Item = &'r mut [u8]>,
        offset: usize,
    ) {
        for (row, cell) in rows.zip(cells) {
            row[offset..offset + N].copy_from_slice(&cell);
        }
    }
    let rows = out.chunks_exact_mut(row_width);
    match column.data_type() {
        DataType::Float32 => {
            let cells = column.as_primitive::<Float32Type>().values().iter();
            put(cells.map(|cell| cell.to_le_bytes()), rows, offset);
        }
        DataType::Float64 => {
            let cells = column.as_primitive::<Float64Type>().iter();
            put(cells.map(|cell| cell.unwrap_or(f64::NAN).to_le_bytes()), rows, offset);
        }
        DataType::Boolean => {
            let cells = column.as_boolean().values().iter();
            put(cells.map(|cell| [u8::from(cell)]), rows, offset);
        }
        DataType::UInt32 => {
            let cells = column.as_primitive::<UInt32Type>().iter();
            put(cells.map(|cell| cell.map_or(-1, i64::from).to_le_bytes()), rows, offset);
        }
        _ => {
            let cells = column.as_primitive::<UInt64Type>().iter();
            put(cells.map(|cell| cell.unwrap_or(u64::MAX).to_le_bytes()), rows, offset);
        }
    }
}

impl<O: Output> RowSink for NpyWriter<O> {
    fn write(&mut self, rows: &RecordBatch) -> tegula_store::Result<()> {
        let row_width = rows.columns().iter().map(|column| width(column)).sum();
        self.buffer.resize(rows.num_rows() * row_width, 0);
        // Column by column, so that the type is told once and not for each cell.
        let mut offset = 0;
        for column in rows.columns() {
            fill(column, offset, row_width, &mut self.buffer);
            offset += width(column);
        }
        self.out.write_all(&self.buffer).map_err(Error::io("write", &self.path))
    }
}

impl<O: Output> RowWriter for NpyWriter<O> {
    fn finish(self: Box<Self>) -> Result<u64> {
        self.out.commit()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, Schema};

    use super::*;

    #[test]
    fn the_header_is_what_numpy_reads() {
        let fields = vec![
            Field::new("vertex", DataType::UInt64, false),
            Field::new("rank", DataType::Float32, false),
        ];
        let bytes = header(&Arc::new(Schema::new(fields)), 7);
        assert_eq!(bytes.len() % ALIGNMENT, 0);
        assert_eq!(usize::from(bytes[8]) + 256 * usize::from(bytes[9]) + 10, bytes.len());
        let text = String::from_utf8_lossy(&bytes[10..]).into_owned();
        let expected = "{'descr': [('vertex', '<u8'), ('rank', '<f4'), ], \
                        'fortran_order': False, 'shape': (7,), }";
        assert_eq!(text.trim_end(), expected);
        assert!(text.ends_with('\n'));
    }
}
