//! Splits one line with care: all rules of the format, and the message for each fault.

use std::ops::Range;

use memchr::memchr;
use tegula_store::{Diagnostic, Hint};

use super::super::columns::Columns;
use crate::settings::{DELIMITER, IDS_INTEGER, IDS_STRING, SKIP_BAD_ROWS, WEIGHTED};

/// What stands between the columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Separator {
    /// Any run of blanks and tabs.
    Blanks,
    Tab,
    Comma,
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
pub(super) struct Field {
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
pub(super) struct Fields<'a> {
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
        while let Some(field) = fields.next()? {
            texts.push(field.text(block));
        }
        Ok(texts)
    }

    /// Returns the next column.
    pub fn next(&mut self) -> Result<Option<Field>, String> {
        match self.separator {
            Separator::Blanks => Ok(self.next_word().map(Field::plain)),
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

/// The columns of an edge.
pub(super) struct EdgeFields {
    pub source: Field,
    pub target: Field,
    pub weight: Option<Field>,
    /// Whether a column after the first `width` is not empty. Unknown where blanks separate.
    pub has_further_columns: bool,
}

impl EdgeFields {
    /// Finds them in a line that is neither blank nor a comment and has at least `width` columns.
    pub fn of(
        block: &[u8],
        line: Range<usize>,
        separator: Separator,
        columns: Columns,
        width: usize,
    ) -> Result<EdgeFields, Diagnostic> {
        let (mut source, mut target, mut weight) = (Field::default(), Field::default(), None);
        let mut fields = Fields::of(block, line, separator);
        for index in 0..=columns.last() {
            let Some(field) = fields.next()? else {
                return Err(too_few(index, separator, columns, width));
            };
            if index == columns.source {
                source = field.clone();
            }
            if index == columns.target {
                target = field.clone();
            }
            if columns.weight == Some(index) {
                weight = Some(field);
            }
        }
        let mut found = columns.last() + 1;
        // Further columns are checked too: a quote left open there would continue on the next line.
        let mut has_further_columns = false;
        while separator != Separator::Blanks || found < width {
            let Some(field) = fields.next()? else { break };
            has_further_columns |= found >= width && !field.place.is_empty();
            found += 1;
        }
        if found < width {
            return Err(too_few(found, separator, columns, width));
        }
        for (role, field) in [("source", &source), ("target", &target)] {
            if field.place.is_empty() {
                return Err(format!("the {role} is empty").into());
            }
            if separator == Separator::Blanks && field.opens_quote(block) {
                return Err(quote_between_blanks(role, field.bytes(block)).into());
            }
        }
        Ok(EdgeFields { source, target, weight, has_further_columns })
    }
}

/// The message for a cell in quotes where blanks separate, so that quotes are part of the cell.
pub(super) fn quote_between_blanks(role: &str, cell: &[u8]) -> String {
    format!(
        "the {role} {} begins with a quote; quotes have no meaning where blanks separate, so leave them out, \
         or separate the columns by commas or tabs",
        Excerpt(cell)
    )
}

/// The error for a line that has `found` columns instead of at least `width`.
fn too_few(found: usize, separator: Separator, columns: Columns, width: usize) -> Diagnostic {
    let between = separator.plural();
    let hint = match columns.weight {
        _ if found > columns.last() => Some(Hint::set([SKIP_BAD_ROWS]).detail("to skip such rows")),
        Some(weight) if found <= weight => {
            Some(Hint::leave_out(WEIGHTED.option).detail("if there are no weights"))
        }
        _ if found == 1 => Some(Hint::set([DELIMITER]).detail("if something else separates them")),
        Some(_) | None => None,
    };
    let message = format!("expected {width} columns separated by {between}, found {found}");
    Diagnostic::from(message).hint(hint)
}

/// The line that begins at `start`: its range without the line end, and where the next line begins.
pub(super) fn line_at(block: &[u8], start: usize) -> (Range<usize>, usize) {
    let feed = memchr(b'\n', &block[start..]).map_or(block.len(), |at| start + at);
    let has_return = feed > start && block[feed - 1] == b'\r';
    (start..feed - usize::from(has_return), (feed + 1).min(block.len()))
}

/// Whether a line is blank or a comment, so that it has no edge.
pub(super) fn is_passed_over(line: &[u8]) -> bool {
    line.iter().all(|&byte| is_blank(byte)) || is_comment(line)
}

/// Whether a line is a comment.
pub(super) fn is_comment(line: &[u8]) -> bool {
    matches!(line.iter().find(|&&byte| !is_blank(byte)), Some(b'#' | b'%'))
}

/// Reads an unsigned 64-bit integer.
pub(in super::super) fn integer(text: &[u8]) -> Result<u64, Diagnostic> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        let (what, hint) = match is_number(text) {
            true if text.contains(&b'.') => (
                "not written as an unsigned integer but with a fraction point; write the column \
                 with a type of integers",
                None,
            ),
            true => ("not written as an unsigned integer; write it with digits alone", None),
            false => ("not an integer", Some(strings().detail("if the ids are names"))),
        };
        let message = format!("the id {} is {what}", Excerpt(text));
        return Err(Diagnostic::from(message).hint(hint));
    }
    if digits.len() < text.len() {
        let message =
            format!("the id {} is negative; ids that are integers are unsigned", Excerpt(text));
        return Err(Diagnostic::from(message).hint(strings()));
    }
    let value = digits
        .iter()
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    value.ok_or_else(|| {
        let message = format!("the id {} does not fit 64 bits", Excerpt(text));
        Diagnostic::from(message).hint(strings())
    })
}

/// The hint to have ids read as strings.
fn strings() -> Hint {
    Hint::set([IDS_STRING])
}

/// Refuses an id with leading zeros, such as `007`, which would be the vertex `7`.
pub(in super::super) fn check_spelling(text: &[u8]) -> Result<(), Diagnostic> {
    if text.len() == 1 || text.first() != Some(&b'0') {
        return Ok(());
    }
    let zeros = text.iter().take_while(|&&byte| byte == b'0').count().min(text.len() - 1);
    let (id, same) = (Excerpt(text), Excerpt(&text[zeros..]));
    let problem = Diagnostic::from(format!("{id} would be the same vertex as {same}"));
    let apart = strings().detail("to keep them apart");
    Err(problem.hint(apart).hint(Hint::set([IDS_INTEGER]).detail("to make them one")))
}

/// Whether a text is a number that may mean an unsigned integer, in any notation: `7`, `007`, `+7`,
/// `7.0`, `1e3`. A negative or too large integer in plain digits counts as a name.
pub(super) fn is_like_integer(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let is_usual = digits.iter().all(u8::is_ascii_digit) && !digits.starts_with(b"0");
    let is_name = is_usual && integer(text).is_err();
    is_number(text) && !is_name
}

/// Whether a text is a number, which no name of a column is.
pub(super) fn is_number(text: &[u8]) -> bool {
    text.iter().any(u8::is_ascii_digit) && weight(text).is_ok()
}

/// Reads a finite weight.
pub(in super::super) fn weight(text: &[u8]) -> Result<f32, String> {
    let unsigned = text.strip_prefix(b"+").unwrap_or(text);
    match fast_float2::parse::<f32, _>(unsigned) {
        Ok(weight) if weight.is_finite() => Ok(weight),
        Ok(weight) if weight.is_infinite() => {
            let is_written_out = text.iter().any(u8::is_ascii_digit);
            let fault = if is_written_out { "too large" } else { "infinite" };
            let weight = Excerpt(text);
            Err(format!("the weight {weight} is {fault}; weights are 32-bit floats, up to 3.4e38"))
        }
        _ => Err(format!("the weight {} is not a number", Excerpt(text))),
    }
}

/// The first bytes of a piece of input, printable on one line.
pub(super) struct Excerpt<'a>(pub &'a [u8]);

impl std::fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const BYTES_MAX: usize = 40;
        let shown = &self.0[..self.0.len().min(BYTES_MAX)];
        let more = if shown.len() < self.0.len() { ".." } else { "" };
        write!(f, "`{}{more}`", String::from_utf8_lossy(shown).escape_debug())
    }
}

pub(super) fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

fn trim(block: &[u8], field: Range<usize>) -> Range<usize> {
    let bytes = &block[field.clone()];
    let end = field.start + bytes.trim_ascii_end().len();
    let start = end - block[field.start..end].trim_ascii_start().len();
    start..end
}
