//! How the lines of a text are built, found out from the first of them.

use std::ops::Range;
use std::path::Path;

use memchr::{memchr_iter, memrchr};
use tegula_machine::{At, Diagnostic, Result};

use super::super::columns::{Columns, ColumnsTaken};
use super::super::options::{Format, IdKind, InputOptions};
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
    /// Columns that a row has at the least: those of the first line, where it tells.
    pub(super) width: usize,
    pub(super) start: Start,
    pub(super) ids: Option<IdKind>,
    pub(super) taken: Option<ColumnsTaken>,
    /// The line of the first edge, if it may as well be a header.
    pub(super) doubtful: Option<u64>,
    pub(super) joins_spellings: bool,
    pub(super) form: Form,
    pub(super) remarks: Vec<Diagnostic>,
}

/// How lists of neighbours are built, a line for each vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lists {
    /// Number of vertices: the first line is of vertex 1.
    pub vertices: u64,
    /// Numbers in each line before the neighbours.
    pub skipped: usize,
    /// Whether a weight stands behind each neighbour.
    pub is_weighted: bool,
}

/// What a line may be, beside one that is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A row.
    Rows,
    /// A row that begins with a letter that says what it is of, a comment that begins with `c`, or a line of sizes
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

    /// Columns that a row has at the least, also those that are not read.
    pub(super) fn width(&self) -> usize {
        self.width.max(self.columns.last() + 1)
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

    /// What a user should know of how the text is read.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// Whether lines are lists of neighbours.
    pub fn has_lists(&self) -> bool {
        matches!(self.form, Form::Neighbours(_))
    }

    /// What a line may be.
    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Whether integers that are spelled differently, as `7` and `007`, are one id.
    pub(super) fn joins_spellings(&self) -> bool {
        self.joins_spellings
    }

    /// Whether line `number` is read as an edge and looks like names of columns.
    pub(super) fn may_be_header(&self, number: u64) -> bool {
        self.doubtful == Some(number)
    }

    /// Makes it that of a stream whose first `bytes` bytes, which have no edge, are gone.
    pub fn forget_first(&mut self, bytes: u64) {
        self.start.bytes -= bytes;
    }
}

/// What is found out from the first bytes of a text.
pub(in super::super) struct Sniffed {
    pub dialect: Dialect,
    pub preamble: Preamble,
    /// What was read from the stream to this end and may have edges.
    pub head: Vec<u8>,
    /// Bytes before it, all of them comments.
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
                let lines = Head { bytes: whole, start: head.start, format, options };
                lines.dialect().map(|dialect| (dialect, Preamble::default()))
            }
        },
    };
    let found = found.map_err(|(line, problem)| bad_at(path, At::Line(line), problem));
    let (dialect, preamble) = found?;
    Ok(Sniffed { dialect, preamble, head: head.bytes, dropped_bytes: head.start.bytes })
}

/// The first bytes of a text from the first line on that may be an edge.
pub(super) struct FirstBytes {
    pub bytes: Vec<u8>,
    /// Bytes of it that are whole lines.
    whole: usize,
    /// Where it begins.
    pub start: Start,
    /// The first line of the text, which may be a comment; of a long one the first bytes.
    pub first_line: Vec<u8>,
}

impl FirstBytes {
    /// Reads until there are two lines that are not passed over, or to the end. Comments before the
    /// first one are dropped on the way, for there may be any number of them.
    ///
    /// `refusal` says why the first bytes of a file are no text, if they are none.
    pub fn read(
        path: &Path,
        stream: &mut Stream,
        line_bytes_max: usize,
        refusal: &dyn Fn(&[u8]) -> Option<Diagnostic>,
    ) -> Result<FirstBytes> {
        const STEP_BYTES: usize = 16 << 10;
        let (start, first_line) = (Start::default(), Vec::new());
        let mut head = FirstBytes { bytes: Vec::new(), whole: 0, start, first_line };
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
                // The second edge is behind comments without end: one has to do.
                1 if whole > line_bytes_max => return Ok(head),
                1 => {}
                _ => return Ok(head),
            }
        }
    }

    /// The whole lines.
    pub fn whole_lines(&self) -> &[u8] {
        &self.bytes[..self.whole]
    }

    /// Number of whole lines.
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
    /// Lines up to its end.
    pub number: u64,
    pub place: Range<usize>,
    pub next: usize,
}

/// The lines of `bytes` that are not passed over.
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
