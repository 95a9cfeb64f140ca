//! Tables with a row for each vertex that an option of a run is about: its id and what is said of it.
//!
//! They are read as inputs are: the same formats, endings and compressions, the same lines, quotes and
//! comments. Cells are text, whatever a format holds, so that every format says the same.

use std::path::{Path, PathBuf};

use super::columns::usual;
use super::file::{Found, Stored, bad_file};
use super::stream::Stream;
use super::text::{VertexLayout, VertexLines};
use super::vertex_parquet::VertexParquet;
use super::{Format, IdKind};
use crate::error::{At, Error, Place, Result};
use crate::progress::Cancel;

/// The most columns that a table has beside its ids.
pub const VALUES_MAX: usize = 2;

/// What is read of a table.
#[derive(Debug, Clone, Copy)]
pub struct VertexColumns {
    /// What the ids of the graph are; anything but [`IdKind::Integer`] means strings.
    pub ids: IdKind,
    /// The columns beside the ids, in the order that they have where none has a name; at most
    /// [`VALUES_MAX`].
    pub values: &'static [ValueColumn],
    /// Whether a text may also be of DIMACS: lines `v id x y` among comments `c` and a line
    /// `p aux sp co`.
    pub may_be_dimacs: bool,
}

/// A column beside the ids.
#[derive(Debug, Clone, Copy)]
pub struct ValueColumn {
    /// What it says of a vertex: "weight".
    pub role: &'static str,
    /// Names by which it is known, in lower case.
    pub names: &'static [&'static str],
    /// Whether every row must have it.
    pub is_required: bool,
}

/// A row of a table.
#[derive(Debug, Clone, Copy)]
pub struct VertexRow<'a> {
    /// Its line in a text, its row in Parquet.
    pub at: At,
    /// The id as it is written.
    pub id: &'a str,
    /// What the columns beside it say; none where the row does not have one.
    pub values: [Option<&'a str>; VALUES_MAX],
}

/// A table that is about to be read.
pub struct VertexTable {
    path: PathBuf,
    has_header: bool,
    content: Content,
}

enum Content {
    Text(VertexLayout, Stream),
    Parquet(VertexParquet),
}

/// Where the columns of a table are, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    pub id: usize,
    /// None where the table does not have that column.
    pub values: [Option<usize>; VALUES_MAX],
}

impl VertexTable {
    /// Names by which the column of ids is known, in lower case.
    pub const ID_NAMES: &[&str] = &["vertex", "id", "node"];
    /// Bytes that reading a text holds at most, the window of zstd apart, for which the overhead of a process
    /// has room.
    pub const TEXT_SIZE_MAX: u64 = VertexLines::SIZE_MAX;

    /// Opens a table and finds its columns: by their names where it has any, else by their order. `-` is
    /// standard input.
    ///
    /// `is_vertex` is asked whether the graph has a vertex with the name of a column, which is no header
    /// then.
    ///
    /// # Errors
    /// Those of reading and of `is_vertex`; [`Error::BadInput`] for a format or columns that make no such
    /// table.
    ///
    /// # Panics
    /// When more than [`VALUES_MAX`] columns are wanted.
    pub fn open(
        path: &Path,
        columns: &VertexColumns,
        is_vertex: &dyn Fn(&str) -> Result<bool>,
        cancel: &Cancel,
    ) -> Result<VertexTable> {
        assert!(columns.values.len() <= VALUES_MAX, "{} columns", columns.values.len());
        if path.is_dir() {
            return Err(bad_file(path, "this is a folder; name a file"));
        }
        let found = Found::at(path, Format::Auto, Stream::WINDOW_LOG_USUAL, cancel)?;
        let format = match found.format {
            Format::Parquet => {
                let (table, has_header) = VertexParquet::open(path, columns)?;
                let content = Content::Parquet(table);
                return Ok(VertexTable { path: path.to_owned(), has_header, content });
            }
            format @ (Format::Auto | Format::Text | Format::Csv | Format::Tsv) => format,
            Format::Pairs32 | Format::Pairs64 => {
                return Err(bad_file(
                    path,
                    "raw pairs are edges, not vertices; give text or Parquet",
                ));
            }
        };
        let mut stream = match found.stored {
            Stored::File { compression, .. } => {
                Stream::open(path, compression, Stream::WINDOW_LOG_USUAL)?
            }
            Stored::Once(stream) => stream,
        };
        let layout = VertexLayout::sniff(path, &mut stream, format, columns, is_vertex)?;
        let has_header = layout.has_header();
        let content = Content::Text(layout, stream);
        Ok(VertexTable { path: path.to_owned(), has_header, content })
    }

    /// Whether names of columns were found.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    /// Bytes that reading holds at once, beside what `visit` keeps.
    pub fn size(&self) -> u64 {
        match &self.content {
            Content::Text(..) => VertexTable::TEXT_SIZE_MAX,
            Content::Parquet(table) => table.size(),
        }
    }

    /// Visits all rows in their order.
    ///
    /// # Errors
    /// Those of reading and of `visit`; [`Error::BadInput`] for a row without an id or without a column
    /// that is required; cancellation.
    pub fn read(
        self,
        cancel: &Cancel,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<()> {
        match self.content {
            Content::Text(layout, stream) => {
                VertexLines::open(&self.path, stream, layout)?.read(cancel, visit)
            }
            Content::Parquet(table) => table.read(&self.path, cancel, visit),
        }
    }
}

/// The first column with one of the known names, in their order.
fn position(names: &[String], known: &[&str]) -> Option<usize> {
    known.iter().find_map(|known| names.iter().position(|name| usual(name) == *known))
}

impl Places {
    /// The first columns, in their order.
    pub fn by_position(columns: &VertexColumns) -> Places {
        Places::after(0, columns)
    }

    /// The id, and the columns after it.
    pub fn after(id: usize, columns: &VertexColumns) -> Places {
        let place = |value| (value < columns.values.len()).then_some(id + 1 + value);
        Places { id, values: std::array::from_fn(place) }
    }

    /// The columns by their usual names; `None` where no name is usual for ids. Beside the ids, other
    /// names will do where there are just the columns that are wanted.
    pub fn by_name(names: &[String], columns: &VertexColumns) -> Result<Option<Places>, String> {
        let Some(id) = position(names, VertexTable::ID_NAMES) else { return Ok(None) };
        let mut places = Places { id, values: [None; VALUES_MAX] };
        for (place, value) in places.values.iter_mut().zip(columns.values) {
            *place = position(names, value.names);
        }
        let others: Vec<usize> = (0..names.len()).filter(|&column| column != id).collect();
        if places.values == [None; VALUES_MAX] && others.len() == columns.values.len() {
            places.values.iter_mut().zip(others).for_each(|(place, column)| *place = Some(column));
            return Ok(Some(places));
        }
        for (place, value) in places.values.iter().zip(columns.values) {
            if place.is_none() && (value.is_required || !others.is_empty()) {
                let there = names.join("`, `");
                let ValueColumn { role, names, .. } = value;
                let names = names.join("`, `");
                return Err(format!(
                    "no column is known as the {role}; there are `{there}`: name one of them `{names}`"
                ));
            }
        }
        Ok(Some(places))
    }

    /// Whether `names` has the usual name of every column.
    pub fn are_usual(names: &[String], columns: &VertexColumns) -> bool {
        position(names, VertexTable::ID_NAMES).is_some()
            && columns.values.iter().all(|value| position(names, value.names).is_some())
    }

    /// The position of the last column that a row cannot do without.
    pub fn last_required(&self, columns: &VertexColumns) -> usize {
        let values = self.values.iter().zip(columns.values);
        let required = values.filter(|(_, value)| value.is_required);
        required.filter_map(|(place, _)| *place).fold(self.id, usize::max)
    }
}

/// The error for a row.
pub(super) fn bad_row(path: &Path, at: At, detail: String) -> Error {
    Error::BadInput { place: Place { file: path.to_owned(), at }, detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: VertexColumns = VertexColumns {
        ids: IdKind::Integer,
        values: &[
            ValueColumn { role: "x", names: &["x", "lon"], is_required: true },
            ValueColumn { role: "y", names: &["y", "lat"], is_required: true },
        ],
        may_be_dimacs: false,
    };
    const SEED: VertexColumns = VertexColumns {
        values: &[ValueColumn { role: "weight", names: &["weight"], is_required: false }],
        ..PLACE
    };

    fn by_name(names: &str, columns: &VertexColumns) -> Result<Option<Places>, String> {
        let names: Vec<String> = names.split(',').map(str::to_owned).collect();
        Places::by_name(&names, columns)
    }

    #[test]
    fn columns_are_found_by_their_names_in_any_order() {
        let places = |id, values| Ok(Some(Places { id, values }));
        assert_eq!(by_name("lat,Node,of,lon", &PLACE), places(1, [Some(3), Some(0)]));
        assert_eq!(by_name("id:ID,x:double,y:double", &PLACE), places(0, [Some(1), Some(2)]));
        assert_eq!(by_name("weight,id", &SEED), places(1, [Some(0), None]));
        assert_eq!(by_name("ID", &SEED), places(0, [None, None]));
        assert_eq!(by_name("x,y,name", &PLACE), Ok(None));
    }

    #[test]
    fn other_names_will_do_where_there_is_no_choice() {
        let places = |id, values| Ok(Some(Places { id, values }));
        assert_eq!(by_name("east,vertex,north", &PLACE), places(1, [Some(0), Some(2)]));
        assert_eq!(by_name("vertex,rank", &SEED), places(0, [Some(1), None]));
        for (names, columns, role) in [
            ("vertex,in_degree,out_degree", &SEED, "weight"),
            ("vertex,x,north", &PLACE, "the y"),
            ("vertex,east,north,up", &PLACE, "the x"),
            ("vertex", &PLACE, "the x"),
        ] {
            let detail = by_name(names, columns).expect_err(names);
            assert!(
                detail.contains(role) && detail.contains(&names.replace(',', "`, `")),
                "{detail}"
            );
        }
    }
}
