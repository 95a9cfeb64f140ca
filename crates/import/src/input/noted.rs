//! Kinds of lines that a user should know about: how many there are, and where the first one is.
//! Each part of the input notes its own lines.
//!
//! * Comments, if ids are strings: a line that begins with `#` or `%` may be an edge whose id
//!   begins so, but is not read. So may a line in a list of vertices.
//! * Rows with more columns than the first row, where a single byte separates: the further columns
//!   are not read. They are not noted if the first columns are integer ids and the first row has
//!   columns that are not read: this would take the search of every row.
//! * Last lines without a line feed, which may be cut off.

use std::path::{Path, PathBuf};
use std::sync::Mutex;

use memchr::memchr_iter;
use tegula_machine::threads::{lock, unlocked};
use tegula_store::{At, Place};

/// Lines of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Noted {
    /// How many there are.
    pub count: u64,
    /// Where the first one is.
    pub first: Option<Place>,
}

/// The lines of one kind in one part.
#[derive(Debug, Default)]
pub(super) struct PartNotes {
    count: u64,
    /// Where the first one begins in the block; its line number once the part is parsed.
    first: u64,
    path: PathBuf,
}

impl PartNotes {
    pub fn add(&mut self, line_start: usize) {
        if self.count == 0 {
            self.first = line_start as u64;
        }
        self.count += 1;
    }

    /// Gives the first one its number in the file at `path`; the block's first line has the number
    /// `first_line`.
    pub fn number(&mut self, path: &Path, block: &[u8], first_line: u64) {
        if self.count > 0 {
            let before = &block[..self.first as usize];
            self.first = first_line + memchr_iter(b'\n', before).count() as u64;
            self.path = path.to_owned();
        }
    }
}

/// Counts the lines of all parts, which may come in any order.
#[derive(Default)]
pub(super) struct Tally(Mutex<Counted>);

#[derive(Default)]
struct Counted {
    count: u64,
    /// The earliest part that has such a line, and the place of its first one.
    first: Option<(u64, Place)>,
}

impl Tally {
    pub fn add(&self, part: u64, notes: PartNotes) {
        let PartNotes { count, first, path } = notes;
        if count == 0 {
            return;
        }
        let mut counted = lock(&self.0);
        counted.count += count;
        if counted.first.as_ref().is_none_or(|(earliest, _)| part < *earliest) {
            counted.first = Some((part, Place { file: path, at: At::Line(first) }));
        }
    }

    pub fn close(self) -> Noted {
        let Counted { count, first } = unlocked(self.0);
        Noted { count, first: first.map(|(_, place)| place) }
    }
}
