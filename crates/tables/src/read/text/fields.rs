//! Splits a line into fields, by all rules of quotes and blanks, with a message for each fault.

use std::ops::Range;

use memchr::memchr;

/// What stands between the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    /// Any run of blanks and tabs.
    Blanks,
    /// A tab.
    Tab,
    /// A comma.
    Comma,
    /// A semicolon.
    Semicolon,
    /// A byte that the user named.
    Other(u8),
}

impl Separator {
    /// The separating byte; for [`Separator::Blanks`], the blank.
    pub fn byte(self) -> u8 {
        match self {
            Separator::Blanks => b' ',
            Separator::Tab => b'\t',
            Separator::Comma => b',',
            Separator::Semicolon => b';',
            Separator::Other(byte) => byte,
        }
    }

    /// The separator that a user chooses by this byte.
    pub fn of_byte(byte: u8) -> Separator {
        match byte {
            b' ' => Separator::Blanks,
            b'\t' => Separator::Tab,
            b',' => Separator::Comma,
            b';' => Separator::Semicolon,
            other => Separator::Other(other),
        }
    }

    /// Names several of them, for messages.
    pub fn plural(self) -> String {
        match self {
            Separator::Blanks => "blanks".to_owned(),
            Separator::Tab => "tabs".to_owned(),
            Separator::Comma => "commas".to_owned(),
            Separator::Semicolon => "semicolons".to_owned(),
            Separator::Other(byte) => Excerpt(&[byte]).to_string(),
        }
    }
}

/// One column of a line, without the quotes around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    /// Its range in the block.
    pub place: Range<usize>,
    /// Whether a quote in it is doubled.
    pub has_doubled_quotes: bool,
}

impl Field {
    fn plain(place: Range<usize>) -> Field {
        Field { place, has_doubled_quotes: false }
    }

    /// Its bytes as written, with doubled quotes.
    pub fn bytes<'a>(&self, block: &'a [u8]) -> &'a [u8] {
        &block[self.place.clone()]
    }

    /// Whether it begins with a quote that is part of it.
    pub fn opens_quote(&self, block: &[u8]) -> bool {
        self.bytes(block).starts_with(b"\"")
    }

    /// Its text, with each doubled quote as one.
    pub fn text(&self, block: &[u8]) -> String {
        let written = String::from_utf8_lossy(self.bytes(block));
        if self.has_doubled_quotes { written.replace("\"\"", "\"") } else { written.into_owned() }
    }

    /// Makes one quote of each doubled quote, in place. The bytes after its new end are
    /// meaningless.
    pub fn join_doubled_quotes(&mut self, block: &mut [u8]) {
        if !std::mem::take(&mut self.has_doubled_quotes) {
            return;
        }
        let mut to = self.place.start;
        let mut from = self.place.start;
        while from < self.place.end {
            block[to] = block[from];
            from += if block[from] == b'"' { 2 } else { 1 };
            to += 1;
        }
        self.place.end = to;
    }
}

/// The columns of one line. Quotes around a column are removed where a single byte separates.
pub struct Fields<'a> {
    block: &'a [u8],
    at: usize,
    end: usize,
    separator: Separator,
}

impl<'a> Fields<'a> {
    /// Returns the columns of the range `line` of `block`.
    pub fn of(block: &'a [u8], line: Range<usize>, separator: Separator) -> Fields<'a> {
        Fields { block, at: line.start, end: line.end, separator }
    }

    /// The texts of all columns of a line.
    pub fn texts(
        block: &[u8],
        line: Range<usize>,
        separator: Separator,
    ) -> Result<Vec<String>, String> {
        let mut fields = Fields::of(block, line, separator);
        let mut texts = Vec::new();
        while let Some(field) = fields.next_field()? {
            texts.push(field.text(block));
        }
        Ok(texts)
    }

    /// Returns the next column.
    pub fn next_field(&mut self) -> Result<Option<Field>, String> {
        match self.separator {
            Separator::Blanks => Ok(self.next_word().map(Field::plain)),
            // Only the last column moves `at` past the end. At the end itself, an empty column
            // follows a separator.
            _ if self.at > self.end => Ok(None),
            separator => self.next_delimited(separator.byte()).map(Some),
        }
    }

    fn next_word(&mut self) -> Option<Range<usize>> {
        let start = self.skip_blanks(self.at);
        let rest = &self.block[start..self.end];
        let length = rest.iter().position(|&byte| is_blank(byte)).unwrap_or(rest.len());
        self.at = start + length;
        (length > 0).then_some(start..self.at)
    }

    fn next_delimited(&mut self, separator: u8) -> Result<Field, String> {
        let start = self.at;
        let rest = &self.block[start..self.end];
        // Tabs before a quote are not skipped: a tab may be the separator.
        if let Some(quote) =
            rest.iter().position(|&byte| byte != b' ').filter(|&at| rest[at] == b'"')
        {
            return self.next_quoted(start + quote + 1, separator);
        }
        let stop = memchr(separator, rest).map_or(self.end, |at| start + at);
        self.at = stop + 1;
        Ok(Field::plain(trim(self.block, start..stop)))
    }

    fn next_quoted(&mut self, start: usize, separator: u8) -> Result<Field, String> {
        let mut has_doubled_quotes = false;
        let mut searched = start;
        let stop = loop {
            let quote = memchr(b'"', &self.block[searched..self.end])
                .ok_or("a quote is opened but not closed on its line; rows over several lines are not read")?;
            let quote = searched + quote;
            if quote + 1 == self.end || self.block[quote + 1] != b'"' {
                break quote;
            }
            has_doubled_quotes = true;
            searched = quote + 2;
        };
        let mut after = stop + 1;
        while after < self.end && self.block[after] == b' ' {
            after += 1;
        }
        if after < self.end && self.block[after] != separator {
            return Err(
                "a separator has to follow the closing quote; a quote inside of quotes is written twice"
                    .into(),
            );
        }
        self.at = after + 1;
        Ok(Field { place: start..stop, has_doubled_quotes })
    }

    fn skip_blanks(&self, at: usize) -> usize {
        let rest = &self.block[at..self.end];
        at + rest.iter().position(|&byte| !is_blank(byte)).unwrap_or(rest.len())
    }
}

/// The message for a cell in quotes where blanks separate, so that quotes are part of the cell.
pub fn quote_between_blanks(role: &str, cell: &[u8]) -> String {
    format!(
        "the {role} {} begins with a quote; quotes have no meaning where blanks separate, so leave them out, \
         or separate the columns by commas or tabs",
        Excerpt(cell)
    )
}

/// The line that begins at `start`: its range without the line end, and where the next line begins.
#[inline]
pub fn line_at(block: &[u8], start: usize) -> (Range<usize>, usize) {
    let feed = memchr(b'\n', &block[start..]).map_or(block.len(), |at| start + at);
    let has_return = feed > start && block[feed - 1] == b'\r';
    (start..feed - usize::from(has_return), (feed + 1).min(block.len()))
}

/// Whether a line is blank or a comment, so that it is no row.
#[inline]
pub fn is_passed_over(line: &[u8]) -> bool {
    line.iter().all(|&byte| is_blank(byte)) || is_comment(line)
}

/// Whether a line is a comment.
#[inline]
pub fn is_comment(line: &[u8]) -> bool {
    matches!(line.iter().find(|&&byte| !is_blank(byte)), Some(b'#' | b'%'))
}

/// The number of columns of a line, without empty ones at its end: a trailing separator makes no
/// column.
pub fn width_of(cells: &[String]) -> usize {
    cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1)
}

/// Reads an unsigned 64-bit integer, written with digits alone.
pub fn unsigned(text: &[u8]) -> Option<u64> {
    // The parser of the standard library would accept a leading `+`.
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    text.iter()
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

/// The first bytes of a piece of input, printable on one line.
pub struct Excerpt<'a>(pub &'a [u8]);

impl std::fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const BYTES_MAX: usize = 40;
        let shown = &self.0[..self.0.len().min(BYTES_MAX)];
        let more = if shown.len() < self.0.len() { ".." } else { "" };
        write!(f, "`{}{more}`", String::from_utf8_lossy(shown).escape_debug())
    }
}

/// Whether a byte is a blank or a tab.
#[inline]
pub fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn trim(block: &[u8], field: Range<usize>) -> Range<usize> {
    let bytes = &block[field.clone()];
    // Trimmed at its end first, a field of blanks becomes the empty range at its start.
    let end = field.start + bytes.trim_ascii_end().len();
    let start = end - block[field.start..end].trim_ascii_start().len();
    start..end
}
