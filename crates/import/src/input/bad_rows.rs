//! Rows that cannot be understood. Up to a limit that the user sets, they are skipped.
//!
//! Each part of the input notes its own bad rows. They are counted in the order of the parts, so
//! that the first one and the first one beyond the limit do not depend on the workers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use memchr::memchr_iter;
use tegula_machine::counted;
use tegula_machine::threads::{lock, unlocked};
use tegula_store::{At, Diagnostic, Error, Hint, Place};

use crate::settings::SKIP_BAD_ROWS;

/// Rows that were skipped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadRows {
    /// How many there are.
    pub count: u64,
    /// Where the first one is, and what is wrong with it.
    pub first: Option<(Place, Diagnostic)>,
}

/// Lines of one part that were skipped.
#[derive(Debug, Default)]
pub(super) struct BadLines {
    /// Where each begins in the block; their line numbers once the part is parsed.
    lines: Vec<u64>,
    /// What is wrong with the first one, if any.
    first: Option<Diagnostic>,
    path: PathBuf,
}

impl BadLines {
    pub fn add(&mut self, line_start: usize, problem: Diagnostic) {
        self.first.get_or_insert(problem);
        self.lines.push(line_start as u64);
    }

    pub fn len(&self) -> u64 {
        self.lines.len() as u64
    }

    /// Gives the lines their numbers in the file at `path`; the block's first line has the number
    /// `first_line`.
    pub fn number(&mut self, path: &Path, block: &[u8], first_line: u64) {
        // Counted on from the line before: from the beginning each time, many bad lines would cost
        // the square of their number.
        let (mut at, mut number) = (0, first_line);
        for line in &mut self.lines {
            let start = *line as usize;
            number += memchr_iter(b'\n', &block[at..start]).count() as u64;
            (at, *line) = (start, number);
        }
        if !self.lines.is_empty() {
            self.path = path.to_owned();
        }
    }

    fn place(&self, index: usize) -> Place {
        Place { file: self.path.clone(), at: At::Line(self.lines[index]) }
    }
}

/// Counts the skipped rows of all parts.
pub(super) struct BadRowCounter {
    rows_max: u64,
    is_exceeded: AtomicBool,
    settled: Mutex<Settled>,
}

#[derive(Default)]
struct Settled {
    /// Skipped rows of all settled parts, which may come in any order.
    count: u64,
    /// The part to count next, and later parts that were settled before it.
    next_part: u64,
    waiting: BTreeMap<u64, BadLines>,
    counted: BadRows,
    /// The part with the first row beyond the limit, and the place of that row.
    excess: Option<(u64, Place)>,
}

impl BadRowCounter {
    pub fn new(rows_max: u64) -> BadRowCounter {
        BadRowCounter { rows_max, is_exceeded: AtomicBool::new(false), settled: Mutex::default() }
    }

    /// Whether more rows than allowed are already known.
    pub fn is_exceeded(&self) -> bool {
        self.is_exceeded.load(Ordering::Relaxed)
    }

    /// Takes the skipped lines of a part. Every claimed part is settled once.
    pub fn settle(&self, part: u64, lines: BadLines) {
        let mut settled = lock(&self.settled);
        settled.count += lines.len();
        // Known before the parts are in order: readers stop early, and `close` names the row that
        // comes first in the order of the files.
        if settled.count > self.rows_max {
            self.is_exceeded.store(true, Ordering::Relaxed);
        }
        settled.waiting.insert(part, lines);
        loop {
            let part = settled.next_part;
            let Some(lines) = settled.waiting.remove(&part) else { return };
            settled.next_part += 1;
            let Some(first) = &lines.first else { continue };
            let room = self.rows_max.saturating_sub(settled.counted.count);
            if settled.excess.is_none() && lines.len() > room {
                settled.excess = Some((part, lines.place(room as usize)));
            }
            settled.counted.count += lines.len();
            settled.counted.first.get_or_insert_with(|| (lines.place(0), first.clone()));
        }
    }

    /// Returns the skipped rows. It is an error if there are too many, unless the work failed in an
    /// earlier part.
    pub fn close(self, failed_part: Option<u64>) -> Result<BadRows, Error> {
        let settled = unlocked(self.settled);
        let excess =
            settled.excess.filter(|(part, _)| failed_part.is_none_or(|failed| *part <= failed));
        let (Some((_, place)), Some((first, problem))) = (excess, &settled.counted.first) else {
            return Ok(settled.counted);
        };
        let rows_max = counted(self.rows_max, "row", "rows");
        let message = format!(
            "more than {rows_max} cannot be understood; this row exceeds the limit; the first is \
             {first}: {problem}"
        );
        let problem = Diagnostic { message, hints: problem.hints.clone() };
        Err(Error::bad_input(place, problem.hint(Hint::raise(SKIP_BAD_ROWS.option))))
    }
}
