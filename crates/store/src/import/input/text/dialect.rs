//! How the lines of a text are built, found out from the first of them.

use std::ops::Range;
use std::path::Path;

use super::super::columns::{Columns, ColumnsTaken};
use super::super::file::bad_file;
use super::super::stream::Stream;
use super::super::{Format, IdKind, InputOptions};
use super::blocks::{LINE_BYTES_MAX, Start};
use super::fields::{Excerpt, Fields, Separator, integer, is_passed_over, line_at, weight};
use super::foreign;
use crate::error::{At, Error, Place, Result};

/// How the lines of one text are built.
#[derive(Debug, Clone)]
pub(in super::super) struct Dialect {
    separator: Separator,
    columns: Columns,
    start: Start,
    ids: Option<IdKind>,
    taken: Option<ColumnsTaken>,
    /// The line of the first edge, if it may as well be a header.
    doubtful: Option<u64>,
}

impl Dialect {
    pub(super) fn separator(&self) -> Separator {
        self.separator
    }

    pub(super) fn columns(&self) -> Columns {
        self.columns
    }

    pub(super) fn start(&self) -> Start {
        self.start
    }

    /// What the first edge's ids are; `None` if there is no edge.
    pub fn ids(&self) -> Option<IdKind> {
        self.ids
    }

    /// Which columns are read; `None` if there is no line.
    pub fn columns_taken(&self) -> Option<&ColumnsTaken> {
        self.taken.as_ref()
    }

    /// Whether line `number` is read as an edge and looks like names of columns.
    pub(super) fn may_be_header(&self, number: u64) -> bool {
        self.doubtful == Some(number)
    }
}

/// Finds the dialect of a text. Returns also what was read from the stream to this end.
pub(in super::super) fn sniff(
    path: &Path,
    stream: &mut Stream,
    format: Format,
    options: &InputOptions,
) -> Result<(Dialect, Vec<u8>)> {
    let head = read_head(stream, LINE_BYTES_MAX)?;
    if head.contains(&0) {
        return Err(bad_file(path, "this is not text: it has NUL bytes; pass --format"));
    }
    // Whoever says that the first line is an edge is believed.
    if let Some(detail) = foreign::refusal(&head).filter(|_| !options.no_header) {
        return Err(bad_file(path, detail));
    }
    let dialect = Head { bytes: &head, format, options }.dialect();
    let dialect = dialect.map_err(|(line, detail)| Error::BadInput {
        place: Place { file: path.to_owned(), at: At::Line(line) },
        detail,
    })?;
    Ok((dialect, head))
}

/// Reads until there are two lines that are not passed over, or to the end, or until there can be no
/// line that is longer than `line_bytes_max`.
pub(super) fn read_head(stream: &mut Stream, line_bytes_max: usize) -> Result<Vec<u8>> {
    const STEP_BYTES: usize = 16 << 10;
    let mut head = Vec::new();
    loop {
        let filled = head.len();
        head.resize(filled * 2 + STEP_BYTES, 0);
        let (read, result) = stream.fill(&mut head[filled..]);
        result?;
        let ended = filled + read < head.len();
        head.truncate(filled + read);
        // A line without its end does not count: the rest of it may be missing.
        let whole = memchr::memrchr(b'\n', &head).map_or(0, |at| at + 1);
        let enough = lines(&head[..whole], 0).take(2).count() == 2;
        if ended || enough || head.len() > line_bytes_max {
            return Ok(head);
        }
    }
}

/// A line that may be an edge or a header.
pub(super) struct Line {
    pub number: u64,
    pub place: Range<usize>,
    pub next: usize,
}

/// The lines of `bytes` from `start` that are not passed over.
pub(super) fn lines(bytes: &[u8], start: usize) -> impl Iterator<Item = Line> {
    let mut at = start;
    let mut number = 0;
    let all = std::iter::from_fn(move || {
        (at < bytes.len()).then(|| {
            let (place, next) = line_at(bytes, at);
            at = next;
            number += 1;
            Line { number, place, next }
        })
    });
    all.filter(|line| !is_passed_over(&bytes[line.place.clone()]))
}

/// The first bytes of a text, and what is known beside them.
struct Head<'a> {
    bytes: &'a [u8],
    format: Format,
    options: &'a InputOptions,
}

impl Head<'_> {
    fn dialect(&self) -> Result<Dialect, (u64, String)> {
        let mark = if self.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut lines = lines(self.bytes, mark);
        let mut dialect = Dialect {
            separator: Separator::Blanks,
            columns: Columns::by_position(self.options.weighted),
            start: Start { bytes: mark, lines: 0 },
            ids: None,
            taken: None,
            doubtful: None,
        };
        let Some(first) = lines.next() else { return Ok(dialect) };
        if self.bytes[first.place.clone()].contains(&b'\r') {
            return Err((
                first.number,
                "lines end with a carriage return alone; convert them to line feeds".into(),
            ));
        }
        dialect.separator = self.separator(&first);
        let second = lines.next();
        let header = self.header(&first, second.as_ref(), dialect.separator);
        let edge = match header.map_err(|detail| (first.number, detail))? {
            None => {
                dialect.taken = Some(ColumnsTaken::First);
                let in_doubt =
                    !self.options.no_header && !self.has_number(&first, dialect.separator);
                dialect.doubtful = in_doubt.then_some(first.number);
                Some(first)
            }
            Some((columns, taken)) => {
                dialect.columns = columns;
                dialect.taken = Some(taken);
                dialect.start = Start { bytes: first.next, lines: first.number };
                second
            }
        };
        dialect.ids = edge.map(|edge| self.ids(&edge, dialect.separator, dialect.columns));
        Ok(dialect)
    }

    fn field(&self, line: &Line, separator: Separator, index: usize) -> Option<&[u8]> {
        let mut fields = Fields::of(self.bytes, line.place.clone(), separator);
        for _ in 0..index {
            fields.next().ok()??;
        }
        fields.next().ok()?.map(|field| field.bytes(self.bytes))
    }

    fn names(&self, line: &Line, separator: Separator) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        let mut fields = Fields::of(self.bytes, line.place.clone(), separator);
        while let Some(field) = fields.next()? {
            names.push(field.text(self.bytes));
        }
        Ok(names)
    }

    /// Whether one of the wanted columns is a number, as no column is named.
    fn has_number(&self, line: &Line, separator: Separator) -> bool {
        let columns = Columns::by_position(self.options.weighted);
        let wanted = [Some(columns.source), Some(columns.target), columns.weight];
        let fields = wanted.into_iter().flatten().filter_map(|at| self.field(line, separator, at));
        fields.into_iter().any(|field| weight(field).is_ok())
    }

    fn ids(&self, line: &Line, separator: Separator, columns: Columns) -> IdKind {
        let fields =
            [columns.source, columns.target].map(|index| self.field(line, separator, index));
        let integers = fields.iter().flatten().all(|field| integer(field).is_ok());
        if integers { IdKind::Integer } else { IdKind::String }
    }

    fn has_columns(&self, line: &Line, separator: Separator) -> bool {
        self.field(line, separator, 1).is_some()
    }

    /// The separator under which the line begins with two integers, else that under which it has the
    /// usual names, else the first that occurs.
    fn separator(&self, line: &Line) -> Separator {
        use Separator::{Blanks, Comma, Semicolon, Tab};
        let candidates = match self.format {
            Format::Csv => [Comma, Semicolon, Tab, Blanks],
            _ => [Tab, Blanks, Comma, Semicolon],
        };
        let columns = Columns::by_position(false);
        let integers = |separator: &Separator| {
            self.has_columns(line, *separator)
                && self.ids(line, *separator, columns) == IdKind::Integer
        };
        if !matches!(self.format, Format::Csv | Format::Tsv) {
            // Blanks before tabs: integers may be aligned with both.
            if let Some(found) = [Blanks, Comma, Semicolon].into_iter().find(integers) {
                return found;
            }
            let usual = |separator: &Separator| {
                self.names(line, *separator).is_ok_and(|names| Columns::are_usual(&names))
            };
            if let Some(found) = [Tab, Comma, Semicolon, Blanks].into_iter().find(usual) {
                return found;
            }
        }
        let found = candidates.into_iter().find(|separator| self.has_columns(line, *separator));
        found.unwrap_or(candidates[0])
    }

    /// The columns if the first line names them: as the user says, by their usual names, or in a
    /// table by any names above integers.
    fn header(
        &self,
        first: &Line,
        second: Option<&Line>,
        separator: Separator,
    ) -> Result<Option<(Columns, ColumnsTaken)>, String> {
        let options = self.options;
        if options.no_header {
            return Ok(None);
        }
        let told = options.source_column.is_some()
            || options.target_column.is_some()
            || (options.weighted && options.weight_column.is_some());
        let is_table = matches!(self.format, Format::Csv | Format::Tsv);
        let names = match self.names(first, separator) {
            // Further columns may hold anything; a fault of a wanted one is found again.
            Err(_) if !told && !is_table => return Ok(None),
            names => names?,
        };
        if told || Columns::are_usual(&names) {
            let columns = Columns::by_name(&names, options)?;
            return Ok(Some((columns, columns.named(&names))));
        }
        if !is_table {
            return Ok(None);
        }
        let mut columns = Columns::by_position(options.weighted);
        let is_integer = |line: &Line| self.ids(line, separator, columns) == IdKind::Integer;
        let names_integers = !is_integer(first) && second.is_some_and(is_integer);
        if names_integers && options.ids != IdKind::String {
            if names.len() != 3 {
                columns.weight = Columns::weight_by_name(&names, options)?;
            }
            return Ok(Some((columns, columns.named(&names))));
        }
        let strings = options.ids != IdKind::Integer;
        if strings && names.len() > columns.last() && !self.has_number(first, separator) {
            return Err(format!(
                "{} may be the names of columns or an edge; name the columns with --source-column \
                 and --target-column, or say that there are no names with --no-header",
                Excerpt(&self.bytes[first.place.clone()])
            ));
        }
        Ok(None)
    }
}
