//! Text edge lists: a line is `source target [weight]`; further columns are skipped. A line that
//! begins with `#` or `%` is a comment.
//!
//! `dialect` and `header` find from the first lines how all lines are built. `known_forms` does so
//! for Matrix Market, DIMACS and METIS, and `foreign` recognises files that are no edge lists. The
//! stream is cut into blocks at line ends. `parse` and `neighbours` parse each block on its own:
//! for integers, a loop handles the plain lines and leaves all others to the careful `edge_fields`.
//!
//! Blocks, lines and fields are those of [`tegula_tables::read::text`], which tables of vertices
//! have too.

mod dialect;
mod edge_fields;
mod foreign;
mod header;
mod known_forms;
mod neighbours;
mod numbers;
mod parse;

use std::path::Path;

use memchr::memchr_iter;
use tegula_store::{At, Diagnostic, Error, Hint, Result, Setting};
use tegula_tables::read::text::{Blocks, is_passed_over, line_at};
use tegula_tables::read::{InputStream, bad_at};

use self::dialect::Form;
pub(super) use self::dialect::{Dialect, Sniffed, sniff};
pub(super) use self::numbers::{check_spelling, integer, weight};
use super::options::IdKind;
use super::reader::{Emit, Part, Reader, Sizes, Space};
use crate::settings::{SOURCE_COLUMN, TARGET_COLUMN, WEIGHT_COLUMN};

/// A text that is being read.
pub(super) struct LineReader<'a> {
    path: &'a Path,
    dialect: &'a Dialect,
    blocks: Blocks,
    /// Vertices whose lists were handed out, if lines are adjacency lists.
    lists: u64,
}

/// A fault in one line of a block.
#[derive(Debug)]
struct Fault {
    /// Where the line begins in the block.
    line_start: usize,
    /// Whether an id or a weight is wrong, rather than how the line is built.
    in_value: bool,
    problem: Diagnostic,
}

impl<'a> LineReader<'a> {
    pub fn open(
        path: &'a Path,
        stream: InputStream,
        dialect: &'a Dialect,
        emit: &Emit<'_>,
    ) -> Result<LineReader<'a>> {
        let Sizes { block_bytes, line_bytes_max, .. } = emit.sizes;
        let blocks = Blocks::new(path, stream, dialect.start(), block_bytes, line_bytes_max)?;
        Ok(LineReader { path, dialect, blocks, lists: 0 })
    }
}

impl<'a> Reader<'a> for LineReader<'a> {
    fn claim(&mut self, space: &mut Space, emit: &Emit<'_>) -> Result<Option<Part<'a>>> {
        let block = self.blocks.next(&mut space.block);
        emit.progress.advance(self.blocks.stored_bytes_since());
        let Some(block) = block? else { return Ok(None) };
        let (path, dialect, first) = (self.path, self.dialect, self.lists + 1);
        if let Form::Neighbours(_) = dialect.form() {
            // Counted in the claim, which is in order: a part has to know the vertex of its first
            // line.
            self.lists += neighbours::count(&space.block[..block.bytes]);
        }
        Ok(Some(Box::new(move |space, emit| {
            // Taken out, because the other buffers of `space` are filled while the lines are
            // borrowed.
            let mut bytes = std::mem::take(&mut space.block);
            let lines = &mut bytes[..block.bytes];
            let parsed = match (dialect.form(), emit.ids) {
                (Form::Neighbours(lists), _) => neighbours::parse(lines, lists, first, space, emit),
                (_, IdKind::String) => parse::strings(lines, dialect, space, emit),
                (_, IdKind::Integer | IdKind::Auto) => parse::integers(lines, dialect, space, emit),
            };
            space.bad_lines.number(path, lines, block.first_line);
            space.comments.number(path, lines, block.first_line);
            space.long_rows.number(path, lines, block.first_line);
            let is_row = |at: &usize| !is_passed_over(&lines[line_at(lines, *at).0]);
            // A comment or blanks at the end are no row that may have been cut off.
            block.open_end.filter(is_row).into_iter().for_each(|at| space.open_ends.add(at));
            space.open_ends.number(path, lines, block.first_line);
            let result =
                stopped(parsed, |fault| fault.locate(path, dialect, lines, block.first_line));
            std::mem::swap(&mut space.block, &mut bytes);
            result
        })))
    }
}

/// Why the parsing of a block stopped early.
enum Stop {
    Fault(Fault),
    Sink(Error),
    /// More lines cannot be understood than may be skipped; `bad_rows` reports it.
    TooManyBadLines,
}

/// Turns the outcome of parsing a block into one for the user.
fn stopped(parsed: Result<(), Stop>, locate: impl FnOnce(Fault) -> Error) -> Result<()> {
    match parsed {
        Ok(()) | Err(Stop::TooManyBadLines) => Ok(()),
        Err(Stop::Sink(error)) => Err(error),
        Err(Stop::Fault(fault)) => Err(locate(fault)),
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Sink(error)
    }
}

impl Fault {
    /// A fault in how a line is built.
    fn of_line(line_start: usize, problem: impl Into<Diagnostic>) -> Fault {
        Fault { line_start, in_value: false, problem: problem.into() }
    }

    /// A fault in an id or a weight.
    fn of_value(line_start: usize, problem: impl Into<Diagnostic>) -> Fault {
        Fault { line_start, in_value: true, problem: problem.into() }
    }

    /// Makes the error for the user, with the number of the line in its file.
    fn locate(self, path: &Path, dialect: &Dialect, block: &[u8], first_line: u64) -> Error {
        let before = memchr_iter(b'\n', &block[..self.line_start]).count() as u64;
        let line = first_line + before;
        let mut problem = self.problem;
        if self.in_value && dialect.may_be_header(line) {
            problem.message.push_str("; is this a header?");
            let weight = dialect.columns().weight.map(|_| WEIGHT_COLUMN);
            let columns: Vec<Setting> =
                [SOURCE_COLUMN, TARGET_COLUMN].into_iter().chain(weight).collect();
            problem = problem.hint(Hint::set(columns).detail("to name its columns"));
        }
        bad_at(path, At::Line(line), problem)
    }
}
