//! Reads tables of attributes from text.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tegula_machine::threads::Cancel;
use tegula_store::{At, Result};

use super::super::fault::{bad_at, bad_file};
use super::super::format::Format;
use super::super::input_stream::InputStream;
use super::super::text::{
    Blocks, Fields, FirstBytes, Separator, Start, is_blank, is_comment, line_at, lines,
};
use super::super::vertices::{VertexLines, cell};
use super::columns::{AttributeColumns, AttributeRow};

/// A text whose header was read.
pub(super) struct AttributeLines {
    path: PathBuf,
    separator: Separator,
    columns: AttributeColumns,
    /// Columns of each line.
    width: usize,
    blocks: Blocks,
}

impl AttributeLines {
    /// Reads the header of a text.
    pub fn open(path: &Path, mut stream: InputStream, format: Format) -> Result<AttributeLines> {
        let refusal = |first: &[u8]| {
            // Binary data has a NUL byte nearly always, and text never does.
            first.contains(&0).then(|| "neither text nor Parquet: it has NUL bytes".into())
        };
        let first = FirstBytes::read(path, &mut stream, VertexLines::LINE_BYTES_MAX, &refusal)?;
        let bytes = first.whole_lines();
        let Some(line) = lines(bytes).next() else {
            return Err(bad_file(
                path,
                "the table is empty: its first line has to name its columns",
            ));
        };
        let number = first.start.lines + line.number;
        let bad = |detail: String| bad_at(path, At::Line(number), detail);
        let told = first.delimiter.map(|told| Separator::of_byte(told.byte()));
        let (separator, header) = header(bytes, line.place, format, told).map_err(bad)?;
        let columns = AttributeColumns::of(&header).map_err(bad)?;
        // `first` has dropped the comments before the header, and `unread` does not put them back.
        // So the start counts bytes from the header, but lines from the beginning of the text, as
        // messages do.
        let start = Start { bytes: line.next as u64, lines: number };
        stream.unread(first.bytes);
        let (block_bytes, line_bytes_max) = (VertexLines::BLOCK_BYTES, VertexLines::LINE_BYTES_MAX);
        let blocks = Blocks::new(path, stream, start, block_bytes, line_bytes_max)?;
        Ok(AttributeLines {
            path: path.to_owned(),
            separator,
            columns,
            width: header.len(),
            blocks,
        })
    }

    pub fn columns(&self) -> &AttributeColumns {
        &self.columns
    }

    /// Visits all rows.
    pub fn read(
        mut self,
        cancel: &Cancel,
        visit: &mut dyn FnMut(AttributeRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut space = Vec::new();
        while let Some(block) = self.blocks.next(&mut space)? {
            cancel.check()?;
            let bytes = &space[..block.bytes];
            // The cells borrow from `space`, which the next block overwrites.
            let mut row = Row::default();
            let (mut at, mut number) = (0, block.first_line);
            while at < bytes.len() {
                let (line, next) = line_at(bytes, at);
                let place = At::Line(number);
                let is_row = self.fill(&mut row, bytes, line);
                if is_row.map_err(|detail| bad_at(&self.path, place, detail))? {
                    let Row { id, is_like_comment, cells } = &row;
                    visit(AttributeRow {
                        at: place,
                        id,
                        is_like_comment: *is_like_comment,
                        cells,
                    })?;
                }
                (at, number) = (next, number + 1);
            }
        }
        Ok(())
    }

    /// Splits a line into `row`; returns false if it is no row. A comment that can be split like a
    /// row is a row, with `is_like_comment` set.
    fn fill<'b>(
        &self,
        row: &mut Row<'b>,
        block: &'b [u8],
        line: Range<usize>,
    ) -> Result<bool, String> {
        let text = &block[line.clone()];
        if text.iter().all(|&byte| is_blank(byte)) {
            return Ok(false);
        }
        row.is_like_comment = is_comment(text);
        match self.fill_cells(row, block, line) {
            // A comment may hold quotes and separators as it likes: where it cannot be split, it is
            // no row and no fault.
            Err(_) if row.is_like_comment => Ok(false),
            filled => filled.map(|()| true),
        }
    }

    fn fill_cells<'b>(
        &self,
        row: &mut Row<'b>,
        block: &'b [u8],
        line: Range<usize>,
    ) -> Result<(), String> {
        row.cells.clear();
        let mut fields = Fields::of(block, line, self.separator);
        let (mut index, mut places) = (0, self.columns.places.iter().peekable());
        while let Some(field) = fields.next_field()? {
            if index == self.columns.id {
                row.id = cell(&field, block)?.ok_or("the id is empty")?;
            } else if places.next_if(|&&place| place == index).is_some() {
                row.cells.push(cell(&field, block)?);
            }
            index += 1;
        }
        if index == self.width {
            return Ok(());
        }
        let (width, between) = (self.width, self.separator.plural());
        Err(format!(
            "expected {width} columns separated by {between} as in the header, found {index}"
        ))
    }
}

/// The cells of a row.
#[derive(Default)]
struct Row<'b> {
    id: Cow<'b, str>,
    is_like_comment: bool,
    cells: Vec<Option<Cow<'b, str>>>,
}

/// Returns the names in the header, and the first separator that gives several of them. Only the
/// separator that the text has `told` counts, if it has.
fn header(
    bytes: &[u8],
    line: Range<usize>,
    format: Format,
    told: Option<Separator>,
) -> Result<(Separator, Vec<String>), String> {
    // A name may contain another separator, so the one that the format suggests comes first.
    let candidates = match format {
        Format::Csv => [Separator::Comma, Separator::Semicolon, Separator::Tab],
        _ => [Separator::Tab, Separator::Comma, Separator::Semicolon],
    };
    let candidates = candidates.into_iter().filter(|_| told.is_none());
    for separator in told.into_iter().chain(candidates) {
        let names = Fields::texts(bytes, line.clone(), separator)?;
        if names.len() > 1 {
            return Ok((separator, names));
        }
    }
    Err("the first line has to name several columns, with commas, tabs or semicolons between them"
        .to_owned())
}
