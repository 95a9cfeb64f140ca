//! The first lines of a text, which show how all its lines are built.

use std::ops::Range;
use std::path::Path;

use memchr::{memchr_iter, memrchr};
use tegula_store::{Diagnostic, Result};

use super::super::fault::bad_file;
use super::super::input_stream::InputStream;
use super::blocks::{Start, line_too_long};
use super::delimiter::Delimiter;
use super::fields::{is_passed_over, line_at};

/// The first bytes of a text, from the first line that is neither blank nor a comment.
pub struct FirstBytes {
    /// The bytes; the last line may be incomplete.
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
    /// Reads until there are two lines that may be rows, or to the end. Drops comments before the
    /// first such line on the way, because there may be any number of comments.
    ///
    /// `refusal` says why the first bytes are not text, if they are not.
    pub fn read(
        path: &Path,
        stream: &mut InputStream,
        line_bytes_max: usize,
        refusal: &dyn Fn(&[u8]) -> Option<Diagnostic>,
    ) -> Result<FirstBytes> {
        const STEP_BYTES: usize = 16 << 10;
        let (start, first_line) = (Start::default(), Vec::new());
        let bytes = Vec::new();
        let mut head = FirstBytes { bytes, whole: 0, start, first_line, delimiter: None };
        loop {
            let filled = head.bytes.len();
            // All bytes are searched again after each step, so the steps grow with them.
            head.bytes.resize(filled + filled.clamp(STEP_BYTES, line_bytes_max), 0);
            let (read, result) = stream.fill(&mut head.bytes[filled..]);
            result?;
            let has_ended = filled + read < head.bytes.len();
            head.bytes.truncate(filled + read);
            // `filled` is 0 again where all lines so far were comments, which were dropped.
            if filled == 0 && head.start.bytes == 0 {
                if let Some(problem) = refusal(&head.bytes) {
                    return Err(bad_file(path, problem));
                }
                head.drop_first(if head.bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 });
                head.take_delimiter();
                // Kept apart: comments are dropped below, and the first one may name the format.
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
                // Long comments follow the first row: one row has to do.
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

/// A line that may be a row or a header.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its number in the bytes, from 1.
    pub number: u64,
    /// Where it lies in the bytes, without its end.
    pub place: Range<usize>,
    /// Where the next line begins.
    pub next: usize,
}

/// The lines of `bytes` that are neither blank nor comments.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = Line> {
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
