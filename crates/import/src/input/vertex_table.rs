//! Tables with a row for each vertex that an option of a run is about: its id and what is said of it.
//!
//! They are read as inputs are: the same formats, endings and compressions, the same lines, quotes and
//! comments. Cells are text, whatever a format holds, so that every format says the same.

use std::path::{Path, PathBuf};

use tegula_machine::Result;
use tegula_machine::threads::Cancel;

use super::file::{Found, Stored};
use super::options::Format;
use super::reader::bad_file;
use super::stream::Stream;
use super::text::{VertexLayout, VertexLines};
use super::vertex_columns::{self, VALUES_MAX, VertexColumns, VertexRow};
use super::vertex_parquet::VertexParquet;

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

impl VertexTable {
    /// Names by which the column of ids is known unless a table has others, in lower case.
    pub const ID_NAMES: &[&str] = vertex_columns::ID_NAMES;
    /// Bytes that reading a text holds at most, the window of zstd apart, for which the overhead of a process
    /// has room.
    pub const TEXT_SIZE_MAX: u64 = VertexLines::SIZE_MAX;

    /// Opens a table and finds its columns: by their names where it has any, else by their order. `-` is
    /// standard input.
    ///
    /// `is_vertex` is asked whether the graph has a vertex with the name of a column: a line that begins with
    /// one is a row.
    ///
    /// # Errors
    /// Those of reading and of `is_vertex`; [`BadInput`](tegula_machine::Error::BadInput) for a format or columns that make no such
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
        let (format, mut stream) = match VertexFile::open(path, cancel)? {
            VertexFile::Parquet => {
                let content = Content::Parquet(VertexParquet::open(path, columns)?);
                return Ok(VertexTable { path: path.to_owned(), has_header: true, content });
            }
            VertexFile::Text { format, stream } => (format, stream),
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
    /// Those of reading and of `visit`; [`BadInput`](tegula_machine::Error::BadInput) for a row without an id or without a column
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

/// A file that may be a table of vertices.
pub(super) enum VertexFile {
    /// Parquet, which is to be opened by its name.
    Parquet,
    /// Text in [`Format::Csv`], [`Format::Tsv`] or another form of lines.
    Text { format: Format, stream: Stream },
}

impl VertexFile {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// Those of reading; [`BadInput`](tegula_machine::Error::BadInput) for a format that has no rows of vertices.
    pub fn open(path: &Path, cancel: &Cancel) -> Result<VertexFile> {
        if path.is_dir() {
            return Err(bad_file(path, "this is a folder; name a file"));
        }
        let found = Found::at(path, Format::Auto, Stream::WINDOW_LOG_USUAL, cancel)?;
        let format = match found.format {
            Format::Parquet => return Ok(VertexFile::Parquet),
            format @ (Format::Auto | Format::Text | Format::Csv | Format::Tsv) => format,
            Format::Vertices => Format::Text,
            Format::Pairs32 | Format::Pairs64 => {
                return Err(bad_file(
                    path,
                    "raw pairs are edges, not vertices; give text or Parquet",
                ));
            }
            Format::MatrixMarket | Format::Dimacs | Format::Metis => {
                return Err(bad_file(path, "this is a format of edges, not of vertices"));
            }
            Format::Gapbs
            | Format::Graphalytics
            | Format::BvGraph
            | Format::GraphMl
            | Format::Gexf => {
                return Err(bad_file(path, "this is a format of graphs, not of vertices"));
            }
        };
        let stream = match found.stored {
            Stored::File { compression, .. } => {
                Stream::open(path, compression, Stream::WINDOW_LOG_USUAL)?
            }
            Stored::Once(stream) => stream,
        };
        Ok(VertexFile::Text { format, stream })
    }
}
