//! Where a result goes and in which format, as an option or the ending of its name tells.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use arrow_schema::{DataType, SchemaRef};
use clap::ValueEnum;
use rustix::fs::{Access, access};
use tegula_machine::Error;
use tegula_machine::threads::{Cancel, Workers};
use tegula_store::graph;

use super::arrow::ArrowStream;
use super::compress::{Compression, Compressor, lower_name};
use super::file::NewFile;
use super::npy::NpyWriter;
use super::parquet::ParquetWriter;
use super::row_writer::RowWriter;
use super::text::{BLANK, COMMA, TAB, TextFile, TextRows, TextTerminal};
use crate::errors::{Failure, Result};
use crate::stdout;

/// The endings of files to which edges are written.
pub const EDGE_ENDINGS: &str =
    ".el, .wel, .txt, .csv, .tsv, .parquet, .bin64, .arrows, or .el.gz, .csv.zst, ..";

/// The formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    /// Lines with commas.
    Csv,
    /// Lines with tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// A stream of Apache Arrow.
    Arrow,
    /// An array of NumPy.
    Npy,
    /// Lines of edges: blanks between the ends, and no header.
    #[value(skip)]
    EdgeList,
    /// Edges as pairs of 64-bit integers, with a 32-bit float behind each where there are weights.
    #[value(skip)]
    Pairs64,
}

impl TableFormat {
    /// By the ending of a name, without its dot.
    fn of_ending(ending: &str) -> Option<TableFormat> {
        match ending {
            "csv" => Some(TableFormat::Csv),
            "tsv" => Some(TableFormat::Tsv),
            "parquet" => Some(TableFormat::Parquet),
            // `.arrow` is the ending of Arrow's other format, that of files.
            "arrows" => Some(TableFormat::Arrow),
            "npy" => Some(TableFormat::Npy),
            _ => None,
        }
    }

    /// The same of tables of edges, which `tegula import` reads.
    fn of_ending_of_edges(ending: &str) -> Option<TableFormat> {
        match ending {
            "el" | "wel" | "txt" => Some(TableFormat::EdgeList),
            "bin64" => Some(TableFormat::Pairs64),
            "npy" => None,
            _ => TableFormat::of_ending(ending),
        }
    }

    /// What separates the cells of text.
    fn separator(self) -> Option<u8> {
        match self {
            TableFormat::Csv => Some(COMMA),
            TableFormat::Tsv => Some(TAB),
            TableFormat::EdgeList => Some(BLANK),
            TableFormat::Parquet | TableFormat::Arrow => None,
            TableFormat::Npy | TableFormat::Pairs64 => None,
        }
    }

    /// Whether it has a place for strings.
    fn holds_strings(self) -> bool {
        match self {
            TableFormat::Csv | TableFormat::Tsv => true,
            TableFormat::Parquet | TableFormat::Arrow => true,
            TableFormat::Npy | TableFormat::EdgeList | TableFormat::Pairs64 => false,
        }
    }
}

/// What a result is to be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    place: Place,
    format: TableFormat,
    compression: Compression,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    StandardOutput,
    File { path: PathBuf, replace: bool },
}

impl Target {
    /// What a path asks for; `-` is standard output. A format that is given counts more than an ending.
    ///
    /// # Errors
    /// [`Failure::Usage`] when there is no format, or one that a terminal does not show;
    /// [`Error::AlreadyExists`] when there is such a file that is not to be replaced.
    pub fn of(path: &Path, format: Option<TableFormat>, replace: bool) -> Result<Target> {
        let help = "end it with .parquet, .csv, .tsv, .npy, .arrows, or .csv.gz, .tsv.zst, ..; or \
                    give --format";
        Target::named(path, format, replace, TableFormat::of_ending, help)
    }

    /// What a path asks for to which edges are written.
    ///
    /// # Errors
    /// As of [`Target::of`].
    pub fn of_edges(path: &Path, format: Option<TableFormat>, replace: bool) -> Result<Target> {
        let help = format!("end it with {EDGE_ENDINGS}; or give --format");
        Target::named(path, format, replace, TableFormat::of_ending_of_edges, &help)
    }

    /// Whether the name of a file is one to which edges are written.
    pub fn is_edges(path: &Path) -> bool {
        let name = lower_name(path);
        let (_, bare) = Compression::of_name(&name);
        let ending = bare.rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_stream = path == Path::new("-") || path == Path::new("/dev/stdout");
        is_stream || TableFormat::of_ending_of_edges(ending).is_some()
    }

    fn named(
        path: &Path,
        format: Option<TableFormat>,
        replace: bool,
        of_ending: fn(&str) -> Option<TableFormat>,
        help: &str,
    ) -> Result<Target> {
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Target::standard_output(format.unwrap_or(TableFormat::Tsv));
        }
        let name = lower_name(path);
        let (compression, bare) = Compression::of_name(&name);
        let ending = bare.rsplit_once('.').map_or("", |(_, ending)| ending);
        let format = format.or_else(|| of_ending(ending));
        let is_text = |format: TableFormat| format.separator().is_some();
        if compression != Compression::None && format.is_some_and(|format| !is_text(format)) {
            let message = format!("`{}` would be compressed text", path.display());
            let help = "choose csv or tsv with --format, or another ending";
            return Err(Failure::usage_with(message, help));
        }
        let Some(format) = format else {
            let message = format!("`{}` names no format of results", path.display());
            return Err(Failure::usage_with(message, help));
        };
        check_is_new(path, replace)?;
        check_parent(path)?;
        Ok(Target { place: Place::File { path: path.to_owned(), replace }, format, compression })
    }

    /// Standard output.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a format that a terminal does not show; those of standard output.
    pub fn standard_output(format: TableFormat) -> Result<Target> {
        stdout::check()?;
        if format.separator().is_none() && io::stdout().is_terminal() {
            let help = "choose --format csv or tsv, a pipe, or a file with -o";
            return Err(Failure::usage_with("a terminal shows only text", help));
        }
        Ok(Target { place: Place::StandardOutput, format, compression: Compression::None })
    }

    /// Whether it is standard output.
    pub fn is_standard_output(&self) -> bool {
        self.place == Place::StandardOutput
    }

    /// The file, or what standard output is called.
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::StandardOutput => Path::new(stdout::NAME),
            Place::File { path, .. } => path,
        }
    }

    /// Refuses what the format cannot hold.
    ///
    /// # Errors
    /// [`Failure::Usage`].
    pub fn check_ids(&self, id_type: &DataType) -> Result<()> {
        if !self.format.holds_strings() && *id_type == DataType::LargeUtf8 {
            let what = match self.format {
                TableFormat::EdgeList => "lines with blanks cannot hold string ids",
                TableFormat::Pairs64 => "a .bin64 file cannot hold string ids",
                _ => "a .npy file cannot hold string ids or names",
            };
            let help = "choose .parquet, .arrows, .csv or .tsv";
            return Err(Failure::usage_with(what, help));
        }
        Ok(())
    }

    /// Begins the file, for `row_count` rows, which workers make text of. Waiting for a reader ends with `cancel`.
    ///
    /// # Errors
    /// Those of creating it; [`Failure::Usage`] where the format cannot hold a column.
    pub fn create<'w>(
        &self,
        schema: &SchemaRef,
        row_count: u64,
        workers: &'w Workers,
        cancel: &Cancel,
    ) -> Result<Box<dyn RowWriter + 'w>> {
        schema.fields().iter().try_for_each(|field| self.check_ids(field.data_type()))?;
        let separator = self.format.separator();
        let file = match (&self.place, separator) {
            (Place::StandardOutput, Some(separator)) if io::stdout().is_terminal() => {
                return Ok(Box::new(TextTerminal::whole(separator, schema)?));
            }
            (Place::StandardOutput, _) => NewFile::standard_output(cancel)?,
            (Place::File { path, replace }, _) => NewFile::create(path, *replace, cancel)?,
        };
        Ok(match self.format {
            TableFormat::Parquet => Box::new(ParquetWriter::new(file, schema)?),
            TableFormat::Arrow => Box::new(ArrowStream::new(file, schema)?),
            TableFormat::Npy => Box::new(NpyWriter::new(file, schema, row_count)?),
            TableFormat::Pairs64 => Box::new(NpyWriter::without_header(file)),
            TableFormat::Csv | TableFormat::Tsv | TableFormat::EdgeList => {
                let separator = separator.unwrap_or(TAB);
                let rows = match self.format {
                    TableFormat::EdgeList => TextRows::without_header(separator, Some(workers)),
                    _ => TextRows::new(separator, schema, Some(workers)),
                };
                let out = Compressor::new(file, self.compression);
                let out = out.map_err(Error::io("create", self.path()))?;
                Box::new(TextFile::new(out, self.path(), rows))
            }
        })
    }
}

/// Refuses to replace a file, unless that was asked for. Devices and pipes are no files.
///
/// # Errors
/// [`Error::AlreadyExists`]; [`Error::Io`] for a folder.
pub fn check_is_new(path: &Path, replace: bool) -> Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        // A link that leads nowhere.
        Err(_) if !replace && path.is_symlink() => {
            return Err(Error::AlreadyExists { path: path.to_owned() }.into());
        }
        Err(_) => return Ok(()),
    };
    if metadata.is_dir() {
        return Err(Error::io("create", path)(io::ErrorKind::IsADirectory.into()).into());
    }
    if metadata.is_file() && !replace {
        return Err(Error::AlreadyExists { path: path.to_owned() }.into());
    }
    Ok(())
}

/// Finds out before the work, not after it, that a file or folder has no place. In a graph directory it would take the
/// place of a part of the graph, or keep the graph from being replaced.
///
/// # Errors
/// [`Error::Io`]; [`Failure::Usage`] for a graph directory.
pub fn check_parent(path: &Path) -> Result<()> {
    let parent = parent(path);
    let named = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            let detail = format!("folder {} does not exist", parent.display());
            io::Error::new(io::ErrorKind::NotFound, detail)
        }
        _ => error,
    };
    fs::metadata(parent).map_err(named).map_err(Error::io("create", path))?;
    check_is_in_no_graph(parent)?;
    // A link to a file is written through.
    if path.is_symlink() && path.is_file() {
        check_is_in_no_graph(path)?;
    }
    // A device or a pipe is there already, and a link leads to another folder.
    if !path.is_symlink() && fs::metadata(path).map_or(true, |metadata| metadata.is_file()) {
        access(parent, Access::WRITE_OK)
            .map_err(|error| Error::io("create", path)(error.into()))?;
    }
    Ok(())
}

/// The folder that a path is in.
pub fn parent(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Refuses a graph directory and what lies in one, as a graph that holds anything else is not replaced.
///
/// # Errors
/// [`Failure::Usage`].
pub fn check_is_in_no_graph(path: &Path) -> Result<()> {
    let Some(graph) = graph::directory_around(path) else { return Ok(()) };
    let message = format!("{} is a graph directory", graph.display());
    Err(Failure::usage_with(message, "name a place outside of it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_tells_the_format_and_else_the_ending() {
        let of = |name: &str, format: Option<TableFormat>| {
            let target = Target::of(Path::new(name), format, true);
            target.map(|target| (target.format, target.compression))
        };
        for (name, expected) in [
            ("A.PARQUET", (TableFormat::Parquet, Compression::None)),
            ("a.csv", (TableFormat::Csv, Compression::None)),
            ("a.b.tsv.gz", (TableFormat::Tsv, Compression::Gzip)),
            ("a.csv.zst", (TableFormat::Csv, Compression::Zstd)),
            ("a.arrows", (TableFormat::Arrow, Compression::None)),
            ("-", (TableFormat::Tsv, Compression::None)),
        ] {
            assert_eq!(of(name, None).unwrap(), expected, "{name}");
        }
        let csv = Some(TableFormat::Csv);
        assert_eq!(of("a.parquet", csv).unwrap(), (TableFormat::Csv, Compression::None));
        assert_eq!(of("a.gz", csv).unwrap(), (TableFormat::Csv, Compression::Gzip));
        for name in ["csv", "a.parquet.gz", "a.txt", "a", "", "a.gz", "a.arrow"] {
            assert!(matches!(of(name, None), Err(Failure::Usage { .. })), "{name}");
        }
        let parquet = Some(TableFormat::Parquet);
        for name in ["a.gz", "a.csv.gz", "a.parquet.zst"] {
            let Err(Failure::Usage { message, .. }) = of(name, parquet) else { panic!("{name}") };
            assert!(message.contains("compressed text"), "{name}: {message}");
        }
    }
}
