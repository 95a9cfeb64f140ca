//! Finds from the first lines of a text how its lines are built.

use std::path::Path;

use tegula_store::{At, Diagnostic, Result};
use tegula_tables::read::text::{FirstBytes, Separator, Start};
use tegula_tables::read::{Format, InputStream, bad_at, bad_file};

use super::super::columns::{Columns, ColumnsTaken};
use super::super::options::{IdKind, InputOptions};
use super::super::preamble::Preamble;
use super::super::reader::Sizes;
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
    stream: &mut InputStream,
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
