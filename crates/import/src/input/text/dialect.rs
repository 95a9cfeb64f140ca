//! Finds from the first lines of a text how its lines are built.

use std::ops::Range;
use std::path::Path;

use memchr::{memchr_iter, memrchr};
use tegula_store::{At, Diagnostic, Result};

use super::super::columns::{Columns, ColumnsTaken};
use super::super::options::{Delimiter, Format, IdKind, InputOptions};
use super::super::preamble::Preamble;
use super::super::reader::{Sizes, bad_at, bad_file};
use super::super::stream::Stream;
use super::blocks::{Start, line_too_long};
use super::fields::{Separator, is_passed_over, line_at};
use super::header::Head;
use super::{foreign, known_forms};

/// How the lines of one text are built.
#[derive(Debug, Clone)]
pub(in super::super) struct Dialect {
    pub(super) separator: Separator,
    pub(super) columns: Columns,
    /// The fewest columns of a row, if the first line shows them, else 0.
    pub(super) width: usize,
    pub(super) start: Start,
    pub(super) ids: Option<IdKind>,
    pub(super) taken: Option<ColumnsTaken>,
    /// The line of the first edge, if it may also be a header.
    pub(super) doubtful: Option<u64>,
    pub(super) joins_spellings: bool,
    pub(super) form: Form,
    pub(super) remarks: Vec<Diagnostic>,
}

/// How adjacency lists are built, one line for each vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lists {
    /// The number of vertices; the first line is the list of vertex 1.
    pub vertices: u64,
    /// Numbers to skip in each line before the neighbours.
    pub skipped: usize,
    /// Whether a weight follows each neighbour.
    pub is_weighted: bool,
}

/// What a line may be, other than blank or a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A row.
    Rows,
    /// A row whose first letter is its kind, a comment that begins with `c`, or a line of sizes
    /// that begins with `p`; <http://www.diag.uniroma1.it/challenge9/format.shtml>.
    Dimacs,
    /// The neighbours of the next vertex.
    Neighbours(Lists),
}

impl Dialect {
    pub(super) fn separator(&self) -> Separator {
        self.separator
    }

    pub(super) fn columns(&self) -> Columns {
        self.columns
    }

    /// The fewest columns of a row, including those that are not read.
    pub(super) fn width(&self) -> usize {
        self.width.max(self.columns.last() + 1)
    }

    /// Whether rows with more columns than `width` are noted. Where blanks separate, further columns
    /// may be words.
    pub(super) fn notes_long_rows(&self) -> bool {
        self.separator != Separator::Blanks && self.width > 0
    }

    pub(super) fn start(&self) -> Start {
        self.start
    }

    /// What the first edge's ids are; `None` if there is no edge.
    pub fn ids(&self) -> Option<IdKind> {
        self.ids
    }

    /// The columns that are read; `None` if there is no line.
    pub fn columns_taken(&self) -> Option<&ColumnsTaken> {
        self.taken.as_ref()
    }

    /// What a user should know about how the text is read.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// Whether lines are adjacency lists.
    pub fn has_lists(&self) -> bool {
        matches!(self.form, Form::Neighbours(_))
    }

    /// What a line may be.
    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Whether different spellings of an integer, such as `7` and `007`, are one id.
    pub(super) fn joins_spellings(&self) -> bool {
        self.joins_spellings
    }

    /// Whether line `number` is read as an edge but looks like names of columns.
    pub(super) fn may_be_header(&self, number: u64) -> bool {
        self.doubtful == Some(number)
    }

    /// Adapts the dialect to a stream whose first `bytes` bytes, which have no edge, are gone.
    pub fn forget_first(&mut self, bytes: u64) {
        self.start.bytes -= bytes;
    }
}

/// What the first bytes of a text show.
pub(in super::super) struct Sniffed {
    pub dialect: Dialect,
    pub preamble: Preamble,
    /// Bytes that were read from the stream and may have edges.
    pub head: Vec<u8>,
    /// Bytes before `head`: a byte order mark, blank lines and comments.
    pub dropped_bytes: u64,
}

/// Finds the dialect of a text.
pub(in super::super) fn sniff(
    path: &Path,
    stream: &mut Stream,
    format: Format,
    options: &InputOptions,
) -> Result<Sniffed> {
    let refusal = |first: &[u8]| foreign::binary_refusal(path, first, options);
    let head = FirstBytes::read(path, stream, Sizes::line_bytes_max(options), &refusal)?;
    let whole = head.whole_lines();
    let found = match known_forms::known(&head, format, options) {
        Some(known) => known,
        None => match foreign::text_refusal(whole, options) {
            Some(problem) => return Err(bad_file(path, problem)),
            None => {
                let told = head.delimiter;
                let lines = Head { bytes: whole, start: head.start, told, format, options };
                lines.dialect().map(|dialect| (dialect, Preamble::default()))
            }
        },
    };
    let found = found.map_err(|(line, problem)| bad_at(path, At::Line(line), problem));
    let (dialect, preamble) = found?;
    Ok(Sniffed { dialect, preamble, head: head.bytes, dropped_bytes: head.start.bytes })
}

/// The first bytes of a text, from the first line that may be an edge.
pub(super) struct FirstBytes {
    pub bytes: Vec<u8>,
    /// How many of the bytes are whole lines.
    whole: usize,
    /// Where the bytes begin in the text.
    pub start: Start,
    /// The first line of the text, which may be a comment, or the first bytes of a long line.
    pub first_line: Vec<u8>,
    /// The delimiter that a line before them names for spreadsheets, as `sep=;` does.
    pub delimiter: Option<Delimiter>,
}

impl FirstBytes {
    /// Reads until there are two lines that may be edges, or to the end. Drops comments before the
    /// first such line on the way, because there may be any number of comments.
    ///
    /// `refusal` says why the first bytes are not text, if they are not.
    pub fn read(
        path: &Path,
        stream: &mut Stream,
        line_bytes_max: usize,
        refusal: &dyn Fn(&[u8]) -> Option<Diagnostic>,
    ) -> Result<FirstBytes> {
        const STEP_BYTES: usize = 16 << 10;
        let (start, first_line) = (Start::default(), Vec::new());
        let bytes = Vec::new();
        let mut head = FirstBytes { bytes, whole: 0, start, first_line, delimiter: None };
        loop {
            let filled = head.bytes.len();
            head.bytes.resize(filled + filled.clamp(STEP_BYTES, line_bytes_max), 0);
            let (read, result) = stream.fill(&mut head.bytes[filled..]);
            result?;
            let has_ended = filled + read < head.bytes.len();
            head.bytes.truncate(filled + read);
            if filled == 0 && head.start.bytes == 0 {
                if let Some(problem) = refusal(&head.bytes) {
                    return Err(bad_file(path, problem));
                }
                head.drop_first(if head.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 });
                head.take_delimiter();
                head.first_line = head.bytes[line_at(&head.bytes, 0).0].to_vec();
            }
            let whole = memrchr(b'\n', &head.bytes).map_or(0, |at| at + 1);
            head.whole = if has_ended { head.bytes.len() } else { whole };
            if has_ended {
                return Ok(head);
            }
            if head.bytes.len() - whole > line_bytes_max {
                return Err(line_too_long(
                    path,
                    head.start.lines + head.lines() + 1,
                    line_bytes_max,
                ));
            }
            match lines(&head.bytes[..whole]).take(2).count() {
                0 => {
                    head.start.lines += head.lines();
                    head.drop_first(whole);
                    head.whole = 0;
                }
                // Long comments follow the first edge: one edge has to do.
                1 if whole > line_bytes_max => return Ok(head),
                1 => {}
                _ => return Ok(head),
            }
        }
    }

    /// Drops a first line that only names the delimiter.
    fn take_delimiter(&mut self) {
        let (line, next) = line_at(&self.bytes, 0);
        self.delimiter = Delimiter::told_by(&self.bytes[line]);
        if self.delimiter.is_some() {
            self.drop_first(next);
            self.start.lines = 1;
        }
    }

    /// The whole lines.
    pub fn whole_lines(&self) -> &[u8] {
        &self.bytes[..self.whole]
    }

    /// The number of line feeds.
    fn lines(&self) -> u64 {
        memchr_iter(b'\n', &self.bytes).count() as u64
    }

    fn drop_first(&mut self, bytes: usize) {
        self.bytes.drain(..bytes);
        self.start.bytes += bytes as u64;
    }
}

/// A line that may be an edge or a header.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Its number in the bytes, from 1.
    pub number: u64,
    pub place: Range<usize>,
    pub next: usize,
}

/// The lines of `bytes` that are neither blank nor comments.
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = Line> {
    let mut at = 0;
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
