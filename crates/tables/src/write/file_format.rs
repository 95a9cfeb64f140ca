//! The format of a file with its compression, as the file name tells, and the writer for it.

use std::path::Path;

use arrow_schema::{DataType, SchemaRef};
use tegula_machine::threads::Workers;

use super::arrow::ArrowStream;
use super::compressor::Compressor;
use super::error::{Error, Result};
use super::npy::NpyWriter;
use super::output::Output;
use super::parquet::ParquetWriter;
use super::row_writer::RowWriter;
use super::table_format::{BLANK, COMMA, TAB, TableFormat};
use super::text::{TextFile, TextRows};
use crate::compression::{Compression, lower_name};

/// A format, and how its text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFormat<F = TableFormat> {
    /// The format.
    pub format: F,
    /// The compression of the file; formats that are not text have none.
    pub compression: Compression,
}

impl<F> From<F> for FileFormat<F> {
    fn from(format: F) -> FileFormat<F> {
        FileFormat { format, compression: Compression::None }
    }
}

impl<F: Copy> FileFormat<F> {
    /// Returns the format that `of_ending` finds for the ending of a file name, and the compression
    /// that a further ending tells. A `given` format overrides the ending.
    ///
    /// # Errors
    /// [`Error::NoFormat`], and [`Error::NotText`] for a compressed format that is not text.
    pub fn of_file_name(
        path: &Path,
        given: Option<F>,
        of_ending: impl Fn(&str) -> Option<F>,
        is_text: impl Fn(F) -> bool,
    ) -> Result<FileFormat<F>> {
        let name = lower_name(path);
        let (compression, bare) = Compression::of_name(&name);
        let ending = bare.rsplit_once('.').map_or("", |(_, ending)| ending);
        let format = given.or_else(|| of_ending(ending));
        if compression != Compression::None && format.is_some_and(|format| !is_text(format)) {
            return Err(Error::NotText { path: path.to_owned() });
        }
        let format = format.ok_or_else(|| Error::NoFormat { path: path.to_owned() })?;
        Ok(FileFormat { format, compression })
    }
}

impl FileFormat {
    /// Returns the format of tables that a file name tells: `.parquet`, `.csv`, `.tsv.gz`, ..
    /// A `given` format overrides the ending.
    ///
    /// # Errors
    /// [`Error::NoFormat`], and [`Error::NotText`] for a compressed format that is not text.
    pub fn of_path(path: &Path, given: Option<TableFormat>) -> Result<FileFormat> {
        FileFormat::of_file_name(path, given, TableFormat::of_ending, TableFormat::is_text)
    }

    /// Refuses columns of strings where the format cannot hold them.
    ///
    /// # Errors
    /// [`Error::NoStrings`].
    pub fn check_type(self, data_type: &DataType) -> Result<()> {
        if *data_type == DataType::LargeUtf8 && !self.format.holds_strings() {
            return Err(Error::NoStrings { format: self.format });
        }
        Ok(())
    }

    /// Refuses columns that the format cannot hold. Parquet and Arrow hold columns of any type. The
    /// others hold `UInt32`, `UInt64`, `Float32`, `Float64` and `Boolean`, and `.csv` and `.tsv`
    /// also `LargeUtf8`.
    ///
    /// # Errors
    /// [`Error::NoStrings`] and [`Error::ColumnType`].
    pub fn check_schema(self, schema: &SchemaRef) -> Result<()> {
        let holds_any = matches!(self.format, TableFormat::Parquet | TableFormat::Arrow);
        schema.fields().iter().try_for_each(|field| match field.data_type() {
            _ if holds_any => Ok(()),
            DataType::UInt32 | DataType::UInt64 | DataType::Boolean => Ok(()),
            DataType::Float32 | DataType::Float64 => Ok(()),
            DataType::LargeUtf8 => self.check_type(field.data_type()),
            other => Err(Error::ColumnType {
                column: field.name().clone(),
                data_type: other.clone(),
                format: self.format,
            }),
        })
    }

    /// Begins a table of `row_count` rows in `out`. The `workers` turn rows into text; without
    /// them, the calling thread does.
    ///
    /// # Errors
    /// [`Error::NoStrings`] and [`Error::ColumnType`] for a column that the format cannot hold, and
    /// [`Error::Store`] where the beginning cannot be written.
    pub fn writer<'w, O: Output + 'w>(
        self,
        out: O,
        schema: &SchemaRef,
        row_count: u64,
        workers: Option<&'w Workers>,
    ) -> Result<Box<dyn RowWriter + 'w>> {
        // The writers of text and arrays panic at a type that they do not know.
        self.check_schema(schema)?;
        let rows = match self.format {
            TableFormat::Parquet => return Ok(Box::new(ParquetWriter::new(out, schema)?)),
            TableFormat::Arrow => return Ok(Box::new(ArrowStream::new(out, schema)?)),
            TableFormat::Npy => return Ok(Box::new(NpyWriter::new(out, schema, row_count)?)),
            // A row of an array is packed as such a pair is: only the header differs.
            TableFormat::Pairs64 => return Ok(Box::new(NpyWriter::without_header(out))),
            TableFormat::EdgeList => TextRows::without_header(BLANK, workers),
            TableFormat::Csv => TextRows::new(COMMA, schema, workers),
            TableFormat::Tsv => TextRows::new(TAB, schema, workers),
        };
        let path = out.path().to_owned();
        let out = Compressor::new(out, self.compression);
        let out = out.map_err(tegula_store::Error::io("create", &path))?;
        Ok(Box::new(TextFile::new(out, &path, rows)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_schema::{Field, Schema};

    use super::*;
    use crate::write::output::Stream;

    #[test]
    fn a_given_format_overrides_the_ending() {
        let of = |name: &str, given| {
            let found = FileFormat::of_path(Path::new(name), given);
            found.map(|found| (found.format, found.compression))
        };
        for (name, expected) in [
            ("A.PARQUET", (TableFormat::Parquet, Compression::None)),
            ("a.csv", (TableFormat::Csv, Compression::None)),
            ("a.b.tsv.gz", (TableFormat::Tsv, Compression::Gzip)),
            ("a.csv.zst", (TableFormat::Csv, Compression::Zstd)),
            ("a.arrows", (TableFormat::Arrow, Compression::None)),
        ] {
            assert_eq!(of(name, None).unwrap(), expected, "{name}");
        }
        let csv = Some(TableFormat::Csv);
        assert_eq!(of("a.parquet", csv).unwrap(), (TableFormat::Csv, Compression::None));
        assert_eq!(of("a.gz", csv).unwrap(), (TableFormat::Csv, Compression::Gzip));
        for name in ["csv", "a.txt", "a", "", "a.gz", "a.arrow"] {
            assert!(matches!(of(name, None), Err(Error::NoFormat { .. })), "{name}");
        }
        assert!(matches!(of("a.parquet.gz", None), Err(Error::NotText { .. })));
        for name in ["a.gz", "a.csv.gz", "a.parquet.zst"] {
            let refused = of(name, Some(TableFormat::Parquet));
            assert!(matches!(refused, Err(Error::NotText { .. })), "{name}");
        }
    }

    #[test]
    fn columns_that_a_format_cannot_hold_are_refused_before_anything_is_written() {
        let write = |format, data_type| {
            let schema = Arc::new(Schema::new(vec![Field::new("a", data_type, false)]));
            let mut bytes = Vec::new();
            let out = Stream::new("out", &mut bytes);
            let writer = FileFormat::from(format).writer(out, &schema, 0, None);
            let written = writer.and_then(|writer| writer.finish());
            written.inspect(|&length| assert_eq!(length, bytes.len() as u64))
        };
        for format in [TableFormat::Parquet, TableFormat::Arrow, TableFormat::Csv] {
            assert!(write(format, DataType::LargeUtf8).unwrap() > 0, "{format:?}");
        }
        for format in [TableFormat::Npy, TableFormat::EdgeList, TableFormat::Pairs64] {
            let refused = write(format, DataType::LargeUtf8);
            assert!(matches!(refused, Err(Error::NoStrings { .. })), "{format:?}: {refused:?}");
        }
        assert!(write(TableFormat::Parquet, DataType::Int16).unwrap() > 0);
        let refused = write(TableFormat::Csv, DataType::Int16).unwrap_err();
        let message = "the column `a` has the type Int16, which csv cannot hold";
        assert_eq!(refused.to_string(), message);
    }
}
