//! Tables of attributes: a column of vertices and any number of further columns, which are all
//! read.
//!
//! A [`VertexTable`] is read for a few columns that an algorithm knows. Here only the names of the
//! columns are known, so a text needs a header. Cells become text, so that all formats give the
//! same result.

use std::path::{Path, PathBuf};

use tegula_machine::threads::Cancel;
use tegula_store::Result;

use super::super::vertices::{VertexFile, VertexTable};
use super::columns::AttributeRow;
use super::lines::AttributeLines;
use super::parquet::AttributeParquet;

/// A table of attributes that is about to be read.
pub struct AttributeTable {
    path: PathBuf,
    content: Content,
}

enum Content {
    Text(Box<AttributeLines>),
    Parquet(AttributeParquet),
}

impl AttributeTable {
    /// Opens a table and finds its columns by the names in its header. `-` is standard input.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) if the format or the columns are not those of
    /// such a table.
    pub fn open(path: &Path, cancel: &Cancel) -> Result<AttributeTable> {
        let content = match VertexFile::open(path, cancel)? {
            VertexFile::Parquet => Content::Parquet(AttributeParquet::open(path)?),
            VertexFile::Text { format, stream } => {
                Content::Text(Box::new(AttributeLines::open(path, stream, format)?))
            }
        };
        Ok(AttributeTable { path: path.to_owned(), content })
    }

    /// The names of the attributes, in the order of their columns. They are distinct and not empty.
    pub fn names(&self) -> &[String] {
        match &self.content {
            Content::Text(lines) => &lines.columns().names,
            Content::Parquet(table) => &table.columns().names,
        }
    }

    /// Bytes that reading holds, beside what `visit` keeps.
    pub fn size(&self) -> u64 {
        match &self.content {
            Content::Text(_) => VertexTable::TEXT_SIZE_MAX,
            Content::Parquet(table) => table.size(),
        }
    }

    /// Visits all rows in their order.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) if a row lacks its id, or if a line of text
    /// has another number of columns than the header.
    pub fn read(
        self,
        cancel: &Cancel,
        visit: &mut dyn FnMut(AttributeRow<'_>) -> Result<()>,
    ) -> Result<()> {
        match self.content {
            Content::Text(lines) => lines.read(cancel, visit),
            Content::Parquet(table) => table.read(&self.path, cancel, visit),
        }
    }
}
