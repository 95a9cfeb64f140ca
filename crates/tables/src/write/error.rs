//! Why a table was not written.

use std::path::PathBuf;

use arrow_schema::DataType;

use super::table_format::TableFormat;

/// Shorthand for results of writing.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a table was not written. What to do instead depends on the face, so each face words it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Writing failed, or the file exists already.
    #[error(transparent)]
    Store(#[from] tegula_store::Error),
    /// The ending of a file name belongs to no format, and no format was given.
    #[error("`{}` names no format of results", path.display())]
    NoFormat {
        /// The path given.
        path: PathBuf,
    },
    /// The ending of a file name asks for compression, but only text is compressed.
    #[error("`{}` names compressed text, but the format is not text", path.display())]
    NotText {
        /// The path given.
        path: PathBuf,
    },
    /// The format holds no strings.
    #[error("{}", no_strings(*format))]
    NoStrings {
        /// The format.
        format: TableFormat,
    },
    /// The format holds no column of this type.
    #[error("the column `{column}` has the type {data_type}, which {} cannot hold", format.name())]
    ColumnType {
        /// The name of the column.
        column: String,
        /// Its type.
        data_type: DataType,
        /// The format.
        format: TableFormat,
    },
    /// The place lies in a graph directory. A graph that holds other files is not replaced.
    #[error("{} is a graph directory", graph.display())]
    InGraph {
        /// The graph directory.
        graph: PathBuf,
    },
    /// Something took the name of the file while it was written.
    #[error("{} was created during the run; the result is in {}", path.display(), kept.display())]
    NameTaken {
        /// The path given.
        path: PathBuf,
        /// Where the result is.
        kept: PathBuf,
    },
}

fn no_strings(format: TableFormat) -> &'static str {
    match format {
        TableFormat::EdgeList => "lines with blanks cannot hold string ids",
        TableFormat::Pairs64 => "a .bin64 file cannot hold string ids",
        _ => "a .npy file cannot hold string ids or names",
    }
}

impl From<tegula_machine::Error> for Error {
    fn from(error: tegula_machine::Error) -> Error {
        Error::Store(error.into())
    }
}
