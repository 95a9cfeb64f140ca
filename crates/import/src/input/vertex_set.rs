//! The vertices that options or files declare, with or without an edge.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tegula_machine::threads::Cancel;
use tegula_machine::{count as digits, counted};
use tegula_store::{At, Diagnostic, Error, Hint, Place, Result, VERTEX_COUNT_MAX};
use tegula_tables::read::{bad_at, bad_file};
use tegula_tables::{VertexColumns, VertexTable};

use super::noted::Noted;
use super::options::IdKind;
use super::text::{check_spelling, integer};
use super::xml;
use crate::settings::IDS_STRING;

/// Names between two checks for cancellation.
const NAMES_PER_LOOK: usize = 1 << 16;

/// The vertices that a user declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vertices {
    /// The ids `0..count`.
    Count(u64),
    /// The vertices in a text or a Parquet table, one in each row.
    Listed(PathBuf),
}

/// All vertices that options, inputs and lists declare.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct VertexSet {
    ranges: Vec<Range<u64>>,
    lists: Vec<List>,
}

/// A list of vertices.
#[derive(Debug, Clone, PartialEq, Eq)]
enum List {
    /// A table with a row for each, and perhaps their declared number and the file that declares
    /// it.
    Table(PathBuf, Option<(u64, PathBuf)>),
    /// An XML document with an element for each.
    Document(xml::Source),
}

/// Ids in a chunk.
const CHUNK_IDS: usize = 1 << 14;

impl VertexSet {
    pub fn add(&mut self, vertices: &Vertices) {
        match vertices {
            Vertices::Count(count) => self.ranges.push(0..*count),
            Vertices::Listed(path) => self.add_counted(path.clone(), None),
        }
    }

    /// Adds the vertices of a table. `told` is their declared number and the file that declares it.
    pub fn add_counted(&mut self, path: PathBuf, told: Option<(u64, PathBuf)>) {
        self.lists.push(List::Table(path, told));
    }

    pub fn add_range(&mut self, range: Range<u64>) {
        self.ranges.push(range);
    }

    pub(super) fn add_document(&mut self, document: xml::Source) {
        self.lists.push(List::Document(document));
    }

    /// The first file that lists vertices, if any.
    pub(super) fn first_list(&self) -> Option<&Path> {
        self.lists.first().map(List::path)
    }

    /// Whether no vertices are declared.
    pub fn is_unknown(&self) -> bool {
        self.ranges.is_empty() && self.lists.is_empty()
    }

    /// The number of vertices, if they are declared as `0..count`.
    pub fn count_from_zero(&self) -> Option<u64> {
        let is_it = self.lists.is_empty() && self.ranges.iter().all(|range| range.start == 0);
        if is_it { self.ranges.iter().map(|range| range.end).max() } else { None }
    }

    /// Refuses a range of more vertices than a graph may have, which a file of a few bytes can
    /// declare. Its ids would fill the disk before they were counted.
    fn check_ranges(&self) -> Result<()> {
        self.ranges.iter().try_for_each(|range| {
            let count = range.end.saturating_sub(range.start);
            if count <= VERTEX_COUNT_MAX {
                return Ok(());
            }
            Err(Error::limit("the number of vertices", count, VERTEX_COUNT_MAX))
        })
    }

    /// Visits integer ids in chunks, in no particular order; an id may come several times.
    ///
    /// # Errors
    /// [`Limit`](tegula_machine::Error::Limit) for a range of more vertices than a graph may have;
    /// [`BadInput`](tegula_store::Error::BadInput) for an id that is not an integer, or, unless
    /// `wanted` is [`IdKind::Integer`], for a spelling such as `007`.
    pub fn for_each_id(
        &self,
        wanted: IdKind,
        cancel: &Cancel,
        visit: &mut dyn FnMut(&[u64]) -> Result<()>,
    ) -> Result<()> {
        self.check_ranges()?;
        let mut ids = Vec::with_capacity(CHUNK_IDS);
        for range in &self.ranges {
            for first in range.clone().step_by(CHUNK_IDS) {
                cancel.check()?;
                ids.clear();
                ids.extend(first..range.end.min(first.saturating_add(CHUNK_IDS as u64)));
                visit(&ids)?;
            }
        }
        ids.clear();
        for list in &self.lists {
            list.for_each(IdKind::Integer, cancel, &mut |id, row| {
                let text = id.as_bytes();
                let id = integer(text).and_then(|id| match wanted {
                    IdKind::Integer => Ok(id),
                    IdKind::Auto | IdKind::String => check_spelling(text).map(|()| id),
                });
                ids.push(id.map_err(|problem| row.bad(list.path(), problem))?);
                if ids.len() == CHUNK_IDS {
                    visit(&ids)?;
                    ids.clear();
                }
                Ok(())
            })?;
        }
        if ids.is_empty() { Ok(()) } else { visit(&ids) }
    }

    /// Visits names, in no particular order; a name may come several times. Returns the comments in
    /// the lists that may have been meant as vertices.
    ///
    /// # Errors
    /// [`Limit`](tegula_machine::Error::Limit) for a range of more vertices than a graph may have.
    pub fn for_each_name(
        &self,
        cancel: &Cancel,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Noted> {
        self.check_ranges()?;
        for range in &self.ranges {
            for (index, id) in range.clone().enumerate() {
                if index.is_multiple_of(NAMES_PER_LOOK) {
                    cancel.check()?;
                }
                visit(id.to_string().as_bytes())?;
            }
        }
        let mut comments = Noted::default();
        for list in &self.lists {
            let found = list.for_each(IdKind::String, cancel, &mut |id, _| visit(id.as_bytes()))?;
            comments.count += found.count;
            comments.first = comments.first.or(found.first);
        }
        Ok(comments)
    }

    /// Returns what is wrong with an edge that ends at an undeclared vertex, whose `id` may be
    /// unknown.
    pub fn missing(&self, id: Option<u64>) -> Diagnostic {
        let end = id.map_or("at a vertex".to_owned(), |id| format!("at the vertex {id}"));
        let place = match &self.lists[..] {
            [] => String::new(),
            [list] => format!(" in {}", list.path().display()),
            [first, others @ ..] => {
                let others = counted(others.len() as u64, "other list", "other lists");
                format!(" in {} or {others}", first.path().display())
            }
        };
        let message = format!("an edge ends {end} that is not listed{place}");
        let of_strings = Hint::set([IDS_STRING]).detail("if ids are names");
        let problem = Diagnostic::from(message);
        if id.is_some() && !self.lists.is_empty() { problem.hint(of_strings) } else { problem }
    }
}

impl List {
    fn path(&self) -> &Path {
        match self {
            List::Table(path, _) => path,
            List::Document(document) => &document.path,
        }
    }

    /// Visits the ids, except in rows that begin like comments. If ids are strings, it returns
    /// the ids of such rows after the first id.
    fn for_each(
        &self,
        ids: IdKind,
        cancel: &Cancel,
        visit: &mut dyn FnMut(&str, ListRow) -> Result<()>,
    ) -> Result<Noted> {
        let mut comments = Noted::default();
        let (path, told) = match self {
            List::Table(path, told) => (path, told),
            List::Document(document) => {
                document.for_each_vertex(cancel, &mut |id, at| {
                    visit(id, ListRow { at, may_be_header: false })
                })?;
                return Ok(comments);
            }
        };
        let columns = VertexColumns {
            has_integer_ids: ids == IdKind::Integer,
            id_names: VertexTable::ID_NAMES,
            values: &[],
            has_header: false,
            may_be_dimacs: false,
        };
        // Before the list is read, no name is known to be a vertex.
        let table = VertexTable::open(path, &columns, &|_| Ok(false), cancel)?;
        let mut may_be_header = !table.has_header();
        let mut found = 0;
        table.read(cancel, &mut |row| {
            if row.is_like_comment {
                if found > 0 {
                    comments.count += 1;
                    let place = || Place { file: path.clone(), at: row.at };
                    comments.first.get_or_insert_with(place);
                }
                return Ok(());
            }
            found += 1;
            let row_of_list = ListRow { at: row.at, may_be_header };
            may_be_header = false;
            visit(row.id, row_of_list)
        })?;
        match told {
            Some((count, told_by)) if *count != found => {
                let declared = counted(*count, "vertex", "vertices");
                let problem = format!(
                    "it declares {declared} but has {}, in {}",
                    digits(found),
                    path.display()
                );
                Err(bad_file(told_by, problem))
            }
            Some(_) | None => Ok(comments),
        }
    }
}

/// The place of an id in a list.
#[derive(Debug, Clone, Copy)]
struct ListRow {
    at: At,
    /// Whether it is the first row of a table without a known header.
    may_be_header: bool,
}

impl ListRow {
    /// The error for an id that cannot be a vertex.
    fn bad(self, path: &Path, mut problem: Diagnostic) -> Error {
        if self.may_be_header {
            let name = VertexTable::ID_NAMES[0];
            problem.message += &format!("; if this is the header, name the column `{name}`");
        }
        bad_at(path, self.at, problem)
    }
}
