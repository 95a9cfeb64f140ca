//! Parses blocks of lines into chunks of edges.

use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr3};
use tegula_store::{Diagnostic, Hint};
use tegula_tables::read::text::{Excerpt, Field, Separator, is_comment, is_passed_over, line_at};

use super::super::bad_rows::BadLines;
use super::super::chunk::{Ends, Span};
use super::super::noted::PartNotes;
use super::super::reader::{Emit, Space};
use super::dialect::{Dialect, Form};
use super::edge_fields::EdgeFields;
use super::{Fault, Stop, numbers};
use crate::settings::SKIP_BAD_ROWS;

/// Parses a block whose ids are integers. An edge takes about 15 ns, its reading included: plain
/// lines need neither a search for their end nor a loop over their digits.
pub(super) fn integers(
    block: &[u8],
    dialect: &Dialect,
    space: &mut Space,
    emit: &Emit<'_>,
) -> Result<(), Stop> {
    let Space { pairs64: pairs, weights, bad_lines, long_rows, edges, .. } = space;
    pairs.clear();
    weights.clear();
    let plain = PlainLines::of(dialect);
    let mut at = 0;
    while at < block.len() {
        if pairs.len() >= emit.sizes.chunk_edges {
            *edges += pairs.len() as u64;
            emit.chunk(Ends::Pairs64(pairs), weights)?;
            pairs.clear();
            weights.clear();
        }
        if let Some(plain) = plain {
            let room = emit.sizes.chunk_edges - pairs.len();
            at = plain.parse(block, at, room, pairs, weights, long_rows);
            // If neither holds, the line at `at` is not plain.
            if pairs.len() == emit.sizes.chunk_edges || at == block.len() {
                continue;
            }
        }
        match integer_edge(block, at, dialect, long_rows) {
            Ok((edge, next)) => {
                if let Some((pair, weight)) = edge {
                    pairs.push(pair);
                    weights.extend(weight);
                }
                at = next;
            }
            Err(fault) => at = pass_over(fault, block, bad_lines, emit)?,
        }
    }
    *edges += pairs.len() as u64;
    if plain.is_some_and(|plain| !plain.notes_long_rows) {
        // The careful parser sees only some of these rows, so none are reported.
        *long_rows = PartNotes::default();
    }
    Ok(emit.chunk(Ends::Pairs64(pairs), weights)?)
}

/// The ends of an edge, and its weight if weights are read.
type IntegerEdge = ([u64; 2], Option<f32>);

/// Reads the line at `at`. Returns its edge, if it has one, and where the next line begins.
fn integer_edge(
    block: &[u8],
    at: usize,
    dialect: &Dialect,
    long_rows: &mut PartNotes,
) -> Result<(Option<IntegerEdge>, usize), Fault> {
    let (edge, next) = edge(block, at, dialect, long_rows)?;
    let Some(edge) = edge else { return Ok((None, next)) };
    let id = |field: &Field| {
        let text = field.bytes(block);
        let id = numbers::integer(text)?;
        if !dialect.joins_spellings() {
            numbers::check_spelling(text)?;
        }
        Ok(id)
    };
    let fault = |problem: Diagnostic| Fault::of_value(at, problem);
    let pair = [id(&edge.source).map_err(fault)?, id(&edge.target).map_err(fault)?];
    let weight = edge.weight.map(|weight| numbers::weight(weight.bytes(block)));
    let weight = weight.transpose().map_err(|detail| Fault::of_value(at, detail))?;
    Ok((Some((pair, weight)), next))
}

/// Parses a block whose ids are strings, which stay in the block. Each doubled quote becomes one,
/// in place. Comments are counted, because an id may begin like a comment.
pub(super) fn strings(
    block: &mut [u8],
    dialect: &Dialect,
    space: &mut Space,
    emit: &Emit<'_>,
) -> Result<(), Stop> {
    let Space { sources, targets, weights, bad_lines, comments, long_rows, edges, .. } = space;
    // One look at the block is cheaper than one at each id. Only a block with a fault is checked id
    // by id.
    let is_clean = std::str::from_utf8(block).is_ok() && memchr(0, block).is_none();
    let mut at = 0;
    while at < block.len() {
        sources.clear();
        targets.clear();
        weights.clear();
        while at < block.len() && sources.len() < emit.sizes.chunk_edges {
            match string_edge(block, at, dialect, is_clean, long_rows) {
                Ok((edge, next)) => {
                    if let Some((edge, weight)) = edge {
                        weights.extend(weight);
                        let (source, target) = join_doubled_quotes(edge, block);
                        sources.push(Span::of(source));
                        targets.push(Span::of(target));
                    } else if is_comment(&block[at..next]) {
                        comments.add(at);
                    }
                    at = next;
                }
                Err(fault) => at = pass_over(fault, block, bad_lines, emit)?,
            }
        }
        *edges += sources.len() as u64;
        emit.strings(block, sources, targets, weights)?;
    }
    Ok(())
}

/// Reads the line at `at`. Returns its edge, if it has one, and where the next line begins.
/// `is_clean` says that the block is UTF-8 without NUL bytes.
fn string_edge(
    block: &[u8],
    at: usize,
    dialect: &Dialect,
    is_clean: bool,
    long_rows: &mut PartNotes,
) -> Result<(Option<(EdgeFields, Option<f32>)>, usize), Fault> {
    let (edge, next) = edge(block, at, dialect, long_rows)?;
    let Some(edge) = edge else { return Ok((None, next)) };
    let fault = |detail: String| Fault::of_value(at, detail);
    if !is_clean {
        for id in [&edge.source, &edge.target] {
            check_text(id.bytes(block)).map_err(fault)?;
        }
    }
    let weight = edge.weight.as_ref().map(|weight| numbers::weight(weight.bytes(block)));
    let weight = weight.transpose().map_err(fault)?;
    Ok((Some((edge, weight)), next))
}

fn check_text(id: &[u8]) -> Result<(), String> {
    if std::str::from_utf8(id).is_err() {
        return Err(format!("the id {} is not UTF-8", Excerpt(id)));
    }
    if id.contains(&0) {
        return Err(format!("the id {} has a NUL byte; this is not text", Excerpt(id)));
    }
    Ok(())
}

/// Skips a line that cannot be understood, if more may be skipped. Returns where the next line
/// begins.
fn pass_over(
    fault: Fault,
    block: &[u8],
    bad_lines: &mut BadLines,
    emit: &Emit<'_>,
) -> Result<usize, Stop> {
    if emit.bad_rows_max == 0 {
        let skip = Hint::set([SKIP_BAD_ROWS]).detail("to skip such rows");
        // A hint about ids means that all rows are at fault. Then it is no use to skip some.
        let is_of_row = !fault.in_value || fault.problem.hints.is_empty();
        let problem = fault.problem.hint(is_of_row.then_some(skip));
        return Err(Stop::Fault(Fault { problem, ..fault }));
    }
    let (_, next) = line_at(block, fault.line_start);
    bad_lines.add(fault.line_start, fault.problem);
    // Earlier parts may have bad lines too, so this part cannot tell which row exceeds the limit.
    if bad_lines.len() > emit.bad_rows_max { Err(Stop::TooManyBadLines) } else { Ok(next) }
}

/// Makes each doubled quote in the ends of an edge one, and returns where the ends lie then.
fn join_doubled_quotes(edge: EdgeFields, block: &mut [u8]) -> (Range<usize>, Range<usize>) {
    let EdgeFields { mut source, mut target, .. } = edge;
    source.join_doubled_quotes(block);
    target.join_doubled_quotes(block);
    (source.place, target.place)
}

/// Splits the line at `at`. Returns its edge, if it has one, and where the next line begins.
fn edge(
    block: &[u8],
    at: usize,
    dialect: &Dialect,
    long_rows: &mut PartNotes,
) -> Result<(Option<EdgeFields>, usize), Fault> {
    let (line, next) = line_at(block, at);
    if is_passed_over(&block[line.clone()]) {
        return Ok((None, next));
    }
    if dialect.form() == Form::Dimacs {
        match block[line.start] {
            b'a' | b'e' => {}
            b'c' => return Ok((None, next)),
            _ => {
                let problem = format!("{} does not begin a line of edges", Excerpt(&block[line]));
                return Err(Fault::of_line(at, problem));
            }
        }
    }
    if memchr(b'\r', &block[line.clone()]).is_some() {
        let detail = "a carriage return is within the line; end lines with line feeds";
        return Err(Fault::of_line(at, detail));
    }
    let (separator, columns) = (dialect.separator(), dialect.columns());
    match EdgeFields::of(block, line, separator, columns, dialect.width()) {
        Ok(edge) => {
            if edge.has_further_columns && dialect.notes_long_rows() {
                long_rows.add(at);
            }
            Ok((Some(edge), next))
        }
        Err(problem) => Err(Fault::of_line(at, problem)),
    }
}

/// The fast parser, for plain lines: `digits separator digits`, perhaps a separator and a weight,
/// perhaps a separator and more, then the line end.
#[derive(Debug, Clone, Copy)]
struct PlainLines {
    separator: u8,
    /// A second separating byte, or the same again.
    separator_too: u8,
    weighted: bool,
    /// Columns that must follow those that are read.
    more: usize,
    /// Whether numbers may begin with zeros.
    joins_spellings: bool,
    /// Whether rows with further columns are noted. They are not if columns must follow, since all
    /// rows would have to be searched for more.
    notes_long_rows: bool,
}

impl PlainLines {
    /// Returns `None` unless the columns to read are the first ones.
    fn of(dialect: &Dialect) -> Option<PlainLines> {
        let columns = dialect.columns();
        let weighted = columns.weight.is_some();
        let separator = dialect.separator().byte();
        let separator_too =
            if dialect.separator() == Separator::Blanks { b'\t' } else { separator };
        let first =
            columns.source == 0 && columns.target == 1 && columns.weight.is_none_or(|at| at == 2);
        let joins_spellings = dialect.joins_spellings();
        let more = dialect.width() - columns.last() - 1;
        let notes_long_rows = more == 0 && dialect.notes_long_rows();
        first.then_some(PlainLines {
            separator,
            separator_too,
            weighted,
            more,
            joins_spellings,
            notes_long_rows,
        })
    }

    /// Parses lines from `at` until it has `room` edges or a line is not plain. Returns where the
    /// next line begins.
    fn parse(
        self,
        block: &[u8],
        mut at: usize,
        room: usize,
        pairs: &mut Vec<[u64; 2]>,
        weights: &mut Vec<f32>,
        long_rows: &mut PartNotes,
    ) -> usize {
        if self.weighted {
            for _ in 0..room {
                let edge = self.weighted_edge(block, at, long_rows);
                let Some((pair, weight, next)) = edge else { break };
                pairs.push(pair);
                weights.push(weight);
                at = next;
            }
        } else {
            for _ in 0..room {
                let Some((pair, next)) = self.edge(block, at, long_rows) else { break };
                pairs.push(pair);
                at = next;
            }
        }
        at
    }

    #[inline]
    fn edge(self, block: &[u8], at: usize, long_rows: &mut PartNotes) -> Option<([u64; 2], usize)> {
        let (pair, at) = self.pair(block, at)?;
        Some((pair, self.line_end(block, at, long_rows)?))
    }

    #[inline]
    fn weighted_edge(
        self,
        block: &[u8],
        at: usize,
        long_rows: &mut PartNotes,
    ) -> Option<([u64; 2], f32, usize)> {
        let (pair, at) = self.pair(block, at)?;
        let at = self.gap(block, at)?;
        let (weight, length) = fast_float2::parse_partial::<f32, _>(&block[at..]).ok()?;
        // The careful parser reads the line again, and words the fault.
        if !weight.is_finite() {
            return None;
        }
        Some((pair, weight, self.line_end(block, at + length, long_rows)?))
    }

    #[inline]
    fn pair(self, block: &[u8], at: usize) -> Option<([u64; 2], usize)> {
        let (source, at) = self.id(block, at)?;
        let (target, at) = self.id(block, self.gap(block, at)?)?;
        Some(([source, target], at))
    }

    /// Reads the number at `at`, unless it has leading zeros that the careful parser must check.
    #[inline]
    fn id(self, block: &[u8], at: usize) -> Option<(u64, usize)> {
        let (id, end) = number(block, at)?;
        let is_plain = block[at] != b'0' || end - at == 1 || self.joins_spellings;
        is_plain.then_some((id, end))
    }

    #[inline]
    fn gap(self, block: &[u8], at: usize) -> Option<usize> {
        self.separates(*block.get(at)?).then_some(at + 1)
    }

    #[inline]
    fn line_end(self, block: &[u8], at: usize, long_rows: &mut PartNotes) -> Option<usize> {
        match *block.get(at)? {
            b'\n' if self.more == 0 => Some(at + 1),
            b'\r' if self.more == 0 => (*block.get(at + 1)? == b'\n').then_some(at + 2),
            byte if self.separates(byte) && self.notes_long_rows => {
                self.long_row_end(block, at, long_rows)
            }
            byte if self.separates(byte) => self.rest_end(block, at),
            _ => None,
        }
    }

    /// Returns the end of the line from the separator at `at` on, which follows the columns to
    /// read.
    #[inline]
    fn rest_end(self, block: &[u8], at: usize) -> Option<usize> {
        // A quote may hide the line end, and a lone carriage return is a fault.
        let end = at + memchr3(b'\n', b'\r', b'"', &block[at..])?;
        if self.more > 0 && !self.has_more(&block[at..end]) {
            return None;
        }
        match block[end] {
            b'\n' => Some(end + 1),
            b'\r' => (*block.get(end + 1)? == b'\n').then_some(end + 2),
            _ => None,
        }
    }

    /// Notes the row unless the columns from `at` on are empty, and returns the end of the line.
    /// Not inlined: that would slow down the lines without such columns.
    #[inline(never)]
    fn long_row_end(self, block: &[u8], at: usize, long_rows: &mut PartNotes) -> Option<usize> {
        let next = self.rest_end(block, at)?;
        let is_empty = |&byte: &u8| self.separates(byte) || byte.is_ascii_whitespace();
        if !block[at..next].iter().all(is_empty) {
            long_rows.add(at);
        }
        Some(next)
    }

    /// Whether the rest of a line, which begins with a separator, has the columns that must follow.
    #[inline]
    fn has_more(self, rest: &[u8]) -> bool {
        match self.separator {
            b' ' => {
                let words = rest.split(|&byte| self.separates(byte));
                words.filter(|word| !word.is_empty()).take(self.more).count() == self.more
            }
            separator => {
                self.more == 1 || memchr_iter(separator, rest).take(self.more).count() == self.more
            }
        }
    }

    #[inline]
    fn separates(self, byte: u8) -> bool {
        byte == self.separator || byte == self.separator_too
    }
}

/// Reads a number of 1 to 15 digits at `at`. Returns it and where it ends; `None` for any other
/// number, and near the block's end, where eight bytes cannot be loaded.
#[inline]
fn number(block: &[u8], at: usize) -> Option<(u64, usize)> {
    let (value, digits) = leading_number(load(block, at)?);
    match digits {
        0 => None,
        1..8 => Some((value, at + digits)),
        _ => long_number(block, at + 8, value),
    }
}

/// Reads the rest of a number whose first eight digits are `high`.
#[inline(never)]
fn long_number(block: &[u8], at: usize, high: u64) -> Option<(u64, usize)> {
    const POWERS: [u64; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    let (low, digits) = match load(block, at)? {
        word if digit_count(word) == 0 => (0, 0),
        word => leading_number(word),
    };
    Some((high * POWERS.get(digits)? + low, at + digits))
}

#[inline]
fn load(block: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*block.get(at..)?.first_chunk()?))
}

/// Counts the digits at the start of a word.
#[inline]
fn digit_count(word: u64) -> usize {
    const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
    // A digit becomes 0..=9; adding 0x76 sets the high bit of 10 and more. A carry out of a byte
    // disturbs only bytes after the first that is no digit.
    let values = word ^ 0x3030_3030_3030_3030;
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGH_BITS;
    others.trailing_zeros() as usize / 8
}

/// Returns the number at the start of a word, and how many digits it has: 0 to 8. With 0 digits,
/// the number is meaningless.
#[inline]
fn leading_number(word: u64) -> (u64, usize) {
    let digits = digit_count(word);
    // Moves the digits to the end of the word, which puts zeros before them.
    let values = (word & 0x0f0f_0f0f_0f0f_0f0f).wrapping_shl(64 - 8 * digits as u32);
    // Joins adjacent numbers: from 8 digits to 4 numbers of 2, 2 of 4, 1 of 8.
    let pairs = values.wrapping_mul(10).wrapping_add(values >> 8);
    let even = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let odd = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    (even.wrapping_add(odd) >> 32, digits)
}
