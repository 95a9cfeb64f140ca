//! Reads tables of vertices from text.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use tegula_machine::threads::Cancel;
use tegula_store::{At, Result};

use super::super::fault::bad_at;
use super::super::input_stream::InputStream;
use super::super::text::{
    Blocks, Excerpt, Field, Fields, Separator, is_comment, is_passed_over, line_at,
    quote_between_blanks,
};
use super::columns::{VALUES_MAX, VertexRow};
use super::layout::VertexLayout;

/// A text that is being read.
pub(in super::super) struct VertexLines {
    path: PathBuf,
    layout: VertexLayout,
    blocks: Blocks,
}

impl VertexLines {
    /// The longest line that is read.
    pub const LINE_BYTES_MAX: usize = 1 << 20;
    /// Bytes of a block of short lines.
    pub const BLOCK_BYTES: usize = 64 << 10;
    /// The most bytes that reading holds: a block as long as the longest line and the line after
    /// it, and the first lines, which are read twice.
    pub const SIZE_MAX: u64 = 4 * VertexLines::LINE_BYTES_MAX as u64;

    pub(super) fn open(
        path: &Path,
        stream: InputStream,
        layout: VertexLayout,
    ) -> Result<VertexLines> {
        let (block_bytes, line_bytes_max) = (VertexLines::BLOCK_BYTES, VertexLines::LINE_BYTES_MAX);
        let blocks = Blocks::new(path, stream, layout.start, block_bytes, line_bytes_max)?;
        Ok(VertexLines { path: path.to_owned(), layout, blocks })
    }

    /// Visits all rows. Returns whether the last row may be cut off: it does not end with a line
    /// feed, but the lines before it do.
    pub fn read(
        mut self,
        cancel: &Cancel,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<bool> {
        let (mut space, mut is_cut) = (Vec::new(), false);
        while let Some(block) = self.blocks.next(&mut space)? {
            cancel.check()?;
            let lines = &space[..block.bytes];
            let (mut at, mut number) = (0, block.first_line);
            while at < lines.len() {
                let (line, next) = line_at(lines, at);
                let row = self.row(lines, line);
                let row = row.map_err(|detail| bad_at(&self.path, At::Line(number), detail))?;
                if let Some(Cells { id, is_like_comment, values }) = &row {
                    is_cut |= block.open_end == Some(at);
                    let (at, values) = (At::Line(number), values.each_ref().map(Option::as_deref));
                    visit(VertexRow { at, id, is_like_comment: *is_like_comment, values })?;
                }
                (at, number) = (next, number + 1);
            }
        }
        Ok(is_cut)
    }

    /// Returns the cells of a line, if it is a row. If ids are strings, a comment that can be split
    /// like a row is a row.
    fn row<'b>(&self, block: &'b [u8], line: Range<usize>) -> Result<Option<Cells<'b>>, String> {
        if !is_passed_over(&block[line.clone()]) {
            return self.cells(block, line);
        }
        if !self.layout.has_string_ids || !is_comment(&block[line.clone()]) {
            return Ok(None);
        }
        let row = self.cells(block, line).ok().flatten();
        Ok(row.map(|cells| Cells { is_like_comment: true, ..cells }))
    }

    /// Returns the cells of a line.
    fn cells<'b>(&self, block: &'b [u8], line: Range<usize>) -> Result<Option<Cells<'b>>, String> {
        let mut fields = Fields::of(block, line, self.layout.separator);
        let values = [const { None }; VALUES_MAX];
        let mut cells = Cells { id: Cow::Borrowed(""), is_like_comment: false, values };
        let places = self.layout.places;
        let last = places.values.iter().flatten().fold(places.id, |last, &place| last.max(place));
        for index in 0..=last {
            let Some(field) = fields.next_field()? else {
                if index <= self.layout.last_required || index < self.layout.width {
                    return Err(self.too_few(index));
                }
                break;
            };
            if index == 0 && self.layout.is_dimacs {
                match field.bytes(block) {
                    b"v" => continue,
                    b"c" | b"p" => return Ok(None),
                    other => {
                        return Err(format!("{} does not begin a line of DIMACS", Excerpt(other)));
                    }
                }
            }
            let is_read = index == places.id || places.values.contains(&Some(index));
            if is_read && self.layout.separator == Separator::Blanks && field.opens_quote(block) {
                return Err(quote_between_blanks("cell", field.bytes(block)));
            }
            if index == places.id {
                cells.id = cell(&field, block)?.ok_or("the id is empty")?;
            }
            if let Some(value) = places.values.iter().position(|&place| place == Some(index)) {
                cells.values[value] = cell(&field, block)?;
                if cells.values[value].is_none() && !self.layout.may_be_empty[value] {
                    return Err("the value is empty".to_owned());
                }
            }
        }
        self.check_width(fields, last + 1)?;
        Ok(Some(cells))
    }

    /// Refuses a row with fewer columns than the header. `fields` are those after the first
    /// `found`.
    fn check_width(&self, mut fields: Fields<'_>, mut found: usize) -> Result<(), String> {
        while found < self.layout.width {
            fields.next_field()?.ok_or_else(|| self.too_few(found))?;
            found += 1;
        }
        Ok(())
    }

    fn too_few(&self, found: usize) -> String {
        let wanted = self.layout.width.max(self.layout.last_required + 1);
        let between = self.layout.separator.plural();
        format!("expected {wanted} columns separated by {between}, found {found}")
    }
}

/// The cells of a row.
struct Cells<'b> {
    id: Cow<'b, str>,
    /// Whether the line begins like a comment.
    is_like_comment: bool,
    values: [Option<Cow<'b, str>>; VALUES_MAX],
}

/// Returns the text of a field; `None` if it is empty and not in quotes.
pub(in super::super) fn cell<'b>(
    field: &Field,
    block: &'b [u8],
) -> Result<Option<Cow<'b, str>>, String> {
    let start = field.place.start;
    let is_quoted = start > 0 && block[start - 1] == b'"';
    if field.place.is_empty() && !is_quoted {
        return Ok(None);
    }
    let Ok(written) = str::from_utf8(field.bytes(block)) else {
        return Err(format!("{} is not UTF-8", Excerpt(field.bytes(block))));
    };
    if field.has_doubled_quotes {
        return Ok(Some(Cow::Owned(written.replace("\"\"", "\""))));
    }
    Ok(Some(Cow::Borrowed(written)))
}
