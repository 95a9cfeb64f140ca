//! Where a result goes and in which format, by the ending of its name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::{DataType, SchemaRef};
use tegula_store::Error;

use super::compress::{Compression, Compressor, lower_name};
use super::npy::NpyWriter;
use super::parquet::ParquetWriter;
use super::text::{COMMA, TAB, TextFile, TextRows};
use super::{NewFile, RowWriter};
use crate::errors::{Failure, Result};

/// A file that a result is to be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    path: PathBuf,
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Parquet,
    Npy,
    Text { separator: u8, compression: Compression },
}

impl Target {
    /// What a path asks for.
    ///
    /// # Errors
    /// [`Failure::Usage`] when the ending says nothing, [`Error::AlreadyExists`] when there is such
    /// a file that is not to be replaced.
    pub fn of(path: &Path, replace: bool) -> Result<Target> {
        let name = lower_name(path);
        let (compression, bare) = Compression::of_name(&name);
        let ending = bare.rsplit_once('.').map_or("", |(_, ending)| ending);
        let format = match (ending, compression) {
            ("csv", _) => Format::Text { separator: COMMA, compression },
            ("tsv", _) => Format::Text { separator: TAB, compression },
            ("parquet", Compression::None) => Format::Parquet,
            ("npy", Compression::None) => Format::Npy,
            _ => {
                let message = format!("`{}` names no format of results", path.display());
                let help = "end it with .parquet, .csv, .tsv, .npy, or .csv.gz, .tsv.zst, ..";
                return Err(Failure::usage_with(message, help));
            }
        };
        check_is_new(path, replace)?;
        check_parent(path)?;
        Ok(Target { path: path.to_owned(), format })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Refuses what the format cannot hold.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub fn check_ids(&self, id_type: &DataType) -> Result<()> {
        if self.format == Format::Npy && *id_type == DataType::LargeUtf8 {
            let help = "choose .parquet, .csv or .tsv";
            return Err(Failure::usage_with("a .npy file cannot hold string ids or names", help));
        }
        Ok(())
    }

    /// Begins the file, for so many rows.
    ///
    /// # Errors
    /// Those of creating it; [`Failure::Usage`] where the format cannot hold a column.
    pub fn create(&self, schema: &SchemaRef, row_count: u64) -> Result<Box<dyn RowWriter>> {
        schema.fields().iter().try_for_each(|field| self.check_ids(field.data_type()))?;
        let file = NewFile::create(&self.path)?;
        Ok(match self.format {
            Format::Parquet => Box::new(ParquetWriter::new(file, schema)?),
            Format::Npy => Box::new(NpyWriter::new(file, schema, row_count)?),
            Format::Text { separator, compression } => {
                let out =
                    Compressor::new(file, compression).map_err(Error::io("create", &self.path))?;
                Box::new(TextFile::new(out, &self.path, TextRows::new(separator, schema)))
            }
        })
    }
}

/// Refuses to replace a file, unless that was asked for. Devices and pipes are no files.
///
/// # Errors
/// [`Error::AlreadyExists`].
pub fn check_is_new(path: &Path, replace: bool) -> Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() || (metadata.is_file() && !replace) => {
            Err(Error::AlreadyExists { path: path.to_owned() }.into())
        }
        _ => Ok(()),
    }
}

/// Finds out before the work, not after it, that a file has no place.
///
/// # Errors
/// [`Error::Io`].
pub fn check_parent(path: &Path) -> Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let named = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            let detail = format!("folder {} does not exist", parent.display());
            io::Error::new(io::ErrorKind::NotFound, detail)
        }
        _ => error,
    };
    fs::metadata(parent).map_err(named).map_err(Error::io("create", path))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        let of = |name: &str| Target::of(Path::new(name), true).map(|target| target.format);
        let text = |separator, compression| Format::Text { separator, compression };
        assert_eq!(of("A.PARQUET").unwrap(), Format::Parquet);
        assert_eq!(of("a.csv").unwrap(), text(COMMA, Compression::None));
        assert_eq!(of("a.b.tsv.gz").unwrap(), text(TAB, Compression::Gzip));
        assert_eq!(of("a.csv.zst").unwrap(), text(COMMA, Compression::Zstd));
        for name in ["csv", "a.parquet.gz", "a.txt", "a", "", "a.gz"] {
            assert!(matches!(of(name), Err(Failure::Usage { .. })), "{name}");
        }
    }
}
