//! Turns rows of vertices and of edges into the text of a graph file.

use std::io::Write;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, UInt64Type};
use arrow_array::{Array, Float32Array, LargeStringArray, RecordBatch, UInt64Array};
use arrow_schema::DataType;
use tegula_algorithms::answer::RowSink;
use tegula_machine::threads::Progress;
use tegula_store::{Error, Result};
use tegula_tables::Compressor;

use super::attributes::Attributes;
use super::syntax::{Edge, Shape, Spelled, Syntax, Unfit, Vertex};
use crate::output::ResultFile;

/// Bytes of text after which the buffer is written to the file.
const BUFFER_BYTES: usize = 1 << 18;

/// A graph file that is being written.
pub struct GraphText<'a> {
    pub syntax: &'a dyn Syntax,
    pub shape: &'a Shape<'a>,
    pub file: Compressor<ResultFile>,
    pub path: PathBuf,
    pub progress: &'a dyn Progress,
    buffer: Vec<u8>,
    /// The first text that could not be spelled; nothing is written after it.
    unfit: Option<Unfit>,
}

impl<'a> GraphText<'a> {
    /// Begins with an empty buffer.
    pub fn new(
        syntax: &'a dyn Syntax,
        shape: &'a Shape<'a>,
        file: Compressor<ResultFile>,
        path: PathBuf,
        progress: &'a dyn Progress,
    ) -> GraphText<'a> {
        GraphText { syntax, shape, file, path, progress, buffer: Vec::new(), unfit: None }
    }

    /// Appends what `say` spells.
    pub fn spell(
        &mut self,
        say: impl FnOnce(&dyn Syntax, &Shape<'_>, &mut Vec<u8>) -> Spelled,
    ) -> Result<()> {
        // A sink of rows has other errors, so the first such text is kept for `check`.
        if self.unfit.is_none() {
            self.unfit = say(self.syntax, self.shape, &mut self.buffer).err();
        }
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write_all(&self.buffer).map_err(Error::io("write", &self.path))?;
        self.buffer.clear();
        Ok(())
    }

    /// Fails if a text could not be spelled.
    pub fn check(&mut self) -> std::result::Result<(), Unfit> {
        self.unfit.take().map_or(Ok(()), Err)
    }

    /// Writes the rest of the buffer; returns the file.
    pub fn finish(mut self) -> Result<Compressor<ResultFile>> {
        self.flush()?;
        Ok(self.file)
    }
}

/// Writes the vertices.
pub struct VertexRows<'a, 't> {
    pub text: &'a mut GraphText<'t>,
    pub attributes: &'a Attributes,
    /// Vertices written so far.
    pub count: usize,
}

impl RowSink for VertexRows<'_, '_> {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let ids = Ids::of(rows.column(0));
        let (mut digits, mut values) = (itoa::Buffer::new(), Vec::new());
        for row in 0..rows.num_rows() {
            self.attributes.of(self.count, &mut values);
            let vertex = Vertex { id: ids.get(row, &mut digits), values: &values };
            self.text.spell(|syntax, shape, out| syntax.vertex(shape, &vertex, out))?;
            self.count += 1;
        }
        self.text.progress.advance(rows.num_rows() as u64);
        Ok(())
    }

    fn wants_more(&self) -> bool {
        self.text.unfit.is_none()
    }
}

/// Writes the edges.
pub struct EdgeRows<'a, 't> {
    pub text: &'a mut GraphText<'t>,
    /// Edges written so far.
    pub count: u64,
}

impl RowSink for EdgeRows<'_, '_> {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let (sources, targets) = (Ids::of(rows.column(0)), Ids::of(rows.column(1)));
        let weights: Option<&Float32Array> =
            self.text.shape.is_weighted.then(|| rows.column(2).as_primitive::<Float32Type>());
        let mut digits = [itoa::Buffer::new(), itoa::Buffer::new()];
        let [source_digits, target_digits] = &mut digits;
        for row in 0..rows.num_rows() {
            let edge = Edge {
                number: self.count,
                source: sources.get(row, source_digits),
                target: targets.get(row, target_digits),
                weight: weights.map(|weights| weights.value(row)),
            };
            self.text.spell(|syntax, shape, out| syntax.edge(shape, &edge, out))?;
            self.count += 1;
        }
        self.text.progress.advance(rows.num_rows() as u64);
        Ok(())
    }

    fn wants_more(&self) -> bool {
        self.text.unfit.is_none()
    }
}

/// A column of original ids.
enum Ids<'a> {
    Integers(&'a UInt64Array),
    Strings(&'a LargeStringArray),
}

impl<'a> Ids<'a> {
    fn of(column: &'a dyn Array) -> Ids<'a> {
        match column.data_type() {
            DataType::UInt64 => Ids::Integers(column.as_primitive::<UInt64Type>()),
            _ => Ids::Strings(column.as_string::<i64>()),
        }
    }

    /// Returns the id of a row; an integer is formatted into `digits`.
    fn get<'b>(&self, row: usize, digits: &'b mut itoa::Buffer) -> &'b str
    where
        'a: 'b,
    {
        match self {
            Ids::Integers(ids) => digits.format(ids.value(row)),
            Ids::Strings(ids) => ids.value(row),
        }
    }
}
