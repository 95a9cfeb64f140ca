//! Tables with a row for each vertex that an option of a run names: its id and its values.
//!
//! Files are read like inputs, with the same formats, endings, compressions, lines, quotes and
//! comments. Libraries give batches of Arrow. Cells become text, so that all forms of a table give
//! the same result.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use tegula_machine::threads::Cancel;
use tegula_store::Result;

use super::super::fault::bad_file;
use super::super::format::Format;
use super::super::input_stream::InputStream;
use super::super::opened::Opened;
use super::batches::VertexBatches;
use super::columns::{self, VALUES_MAX, VertexColumns, VertexRow};
use super::layout::VertexLayout;
use super::lines::VertexLines;
use super::parquet::VertexParquet;

/// Where a table lies.
pub enum TablePlace<'p> {
    /// In a file; `-` is standard input.
    File(&'p Path),
    /// In memory. All batches have the columns of the schema.
    Memory(SchemaRef, Vec<RecordBatch>),
}

/// A table that is about to be read.
pub struct VertexTable {
    path: PathBuf,
    has_header: bool,
    content: Content,
}

enum Content {
    Text(VertexLayout, InputStream),
    Parquet(VertexParquet),
    Batches(VertexBatches),
}

impl VertexTable {
    /// Usual names of the column of ids, in lower case.
    pub const ID_NAMES: &[&str] = columns::ID_NAMES;
    /// The most bytes that reading a text holds. The window of zstd is not included; the overhead
    /// of a process has room for it.
    pub const TEXT_SIZE_MAX: u64 = VertexLines::SIZE_MAX;

    /// Opens a table and finds its columns by their names if it has any, else by their order. `-`
    /// is standard input.
    ///
    /// `is_vertex` says whether the graph has a vertex of a given name: a first line that begins
    /// with a vertex is a row rather than a header.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) if the format or the columns are not those of
    /// such a table.
    ///
    /// # Panics
    /// If `columns` has more than [`VALUES_MAX`] values.
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

    /// Takes a table in memory, finds its columns by their names, and keeps them as text. `name`
    /// stands for the table in errors. All batches have the columns of `schema`.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) if the columns are not those of such a table, or
    /// if a row lacks its id or a required cell.
    ///
    /// # Panics
    /// If `columns` has more than [`VALUES_MAX`] values.
    pub fn of_batches(
        name: &Path,
        schema: &Schema,
        batches: Vec<RecordBatch>,
        columns: &VertexColumns,
    ) -> Result<VertexTable> {
        assert!(columns.values.len() <= VALUES_MAX, "{} columns", columns.values.len());
        let content = Content::Batches(VertexBatches::new(name, schema, batches, columns)?);
        Ok(VertexTable { path: name.to_owned(), has_header: true, content })
    }

    /// Whether the table names its columns.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    /// Takes the warnings of columns that were taken although their names are not known.
    pub fn take_guesses(&mut self) -> Vec<String> {
        match &mut self.content {
            Content::Text(layout, _) => std::mem::take(&mut layout.guesses),
            Content::Parquet(table) => std::mem::take(&mut table.guesses),
            Content::Batches(table) => std::mem::take(&mut table.guesses),
        }
    }

    /// Bytes that reading holds, beside what `visit` keeps.
    pub fn size(&self) -> u64 {
        match &self.content {
            Content::Text(..) => VertexTable::TEXT_SIZE_MAX,
            Content::Parquet(table) => table.size(),
            Content::Batches(table) => table.size(),
        }
    }

    /// Visits all rows in their order. Returns whether the last row may be cut off: in a text, it
    /// does not end with a line feed, but the lines before it do.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) if a row lacks its id or a required column.
    pub fn read(
        self,
        cancel: &Cancel,
        visit: &mut dyn FnMut(VertexRow<'_>) -> Result<()>,
    ) -> Result<bool> {
        match self.content {
            Content::Text(layout, stream) => {
                VertexLines::open(&self.path, stream, layout)?.read(cancel, visit)
            }
            Content::Parquet(table) => table.read(&self.path, cancel, visit).map(|()| false),
            Content::Batches(table) => table.read(cancel, visit).map(|()| false),
        }
    }
}

/// A file that may be a table of vertices.
pub(in super::super) enum VertexFile {
    /// Parquet, which the caller opens by its path.
    Parquet,
    /// Text in [`Format::Csv`], [`Format::Tsv`] or another form of lines.
    Text { format: Format, stream: InputStream },
}

impl VertexFile {
    /// Opens a file; `-` is standard input.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) for a folder, or for a format that has no rows
    /// of vertices.
    pub fn open(path: &Path, cancel: &Cancel) -> Result<VertexFile> {
        if path.is_dir() {
            return Err(bad_file(path, "this is a folder; name a file"));
        }
        let found = Opened::at(path, Format::Auto, InputStream::WINDOW_LOG_USUAL, cancel)?;
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
        let stream = found.stored.stream(path, InputStream::WINDOW_LOG_USUAL)?;
        Ok(VertexFile::Text { format, stream })
    }
}
