//! Where a result goes and in which format, as an option or the ending of the file name tells.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use arrow_schema::{DataType, SchemaRef};
use rustix::fs::{Access, access};
use tegula_machine::Error as MachineError;
use tegula_machine::threads::{Cancel, Workers};
use tegula_store::{Error, graph};

use super::arrow::ArrowStream;
use super::compress::{Compression, Compressor, lower_name};
use super::file::NewFile;
use super::format::{EDGE_ENDINGS, Format, GraphFormat, TableFormat};
use super::npy::NpyWriter;
use super::parquet::ParquetWriter;
use super::row_writer::RowWriter;
use super::text::{TAB, TextFile, TextRows, TextTerminal};
use crate::errors::{Failure, Result};
use crate::stdout;

/// Where a result is written, in a format of tables or of graphs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<F = TableFormat> {
    place: Place,
    format: F,
    compression: Compression,
}

/// Where edges are written.
#[derive(Debug)]
pub enum EdgeTarget {
    /// A table with a row for each edge.
    Table(Target),
    /// A graph, with its vertices too.
    Graph(Target<GraphFormat>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    StandardOutput,
    File { path: PathBuf, replace: bool },
}

impl<F> Target<F> {
    /// Whether it is standard output.
    pub fn is_standard_output(&self) -> bool {
        self.place == Place::StandardOutput
    }

    /// Returns the path of the file, or a name for standard output.
    pub fn path(&self) -> &Path {
        match &self.place {
            Place::StandardOutput => Path::new(stdout::NAME),
            Place::File { path, .. } => path,
        }
    }

    fn begin(&self, cancel: &Cancel) -> Result<NewFile> {
        match &self.place {
            Place::StandardOutput => NewFile::standard_output(cancel),
            Place::File { path, replace } => NewFile::create(path, *replace, cancel),
        }
    }

    fn compressed(&self, file: NewFile) -> Result<Compressor> {
        let out = Compressor::new(file, self.compression);
        Ok(out.map_err(Error::io("create", self.path()))?)
    }
}

impl Target<Format> {
    /// Returns the target for a path; `-` is standard output. `format` overrides the ending.
    fn named(
        path: &Path,
        format: Option<Format>,
        replace: bool,
        of_ending: fn(&str) -> Option<Format>,
        help: &str,
    ) -> Result<Target<Format>> {
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Target::on_standard_output(format.unwrap_or(Format::Table(TableFormat::Tsv)));
        }
        let name = lower_name(path);
        let (compression, bare) = Compression::of_name(&name);
        let format = format.or_else(|| of_ending(ending(bare)));
        if compression != Compression::None && format.is_some_and(|format| !format.is_text()) {
            let message =
                format!("`{}` names compressed text, but the format is not text", path.display());
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

    fn on_standard_output(format: Format) -> Result<Target<Format>> {
        stdout::check()?;
        // Control characters in a name might command the terminal; only tables of text escape them.
        let is_shown = matches!(format, Format::Table(_)) && format.is_text();
        if !is_shown && io::stdout().is_terminal() {
            let help = "choose --format csv or tsv, a pipe, or a file with -o";
            return Err(Failure::usage_with("a terminal shows only tables of text", help));
        }
        Ok(Target { place: Place::StandardOutput, format, compression: Compression::None })
    }

    fn of_known_kind(self) -> EdgeTarget {
        let Target { place, format, compression } = self;
        match format {
            Format::Table(format) => EdgeTarget::Table(Target { place, format, compression }),
            Format::Graph(format) => EdgeTarget::Graph(Target { place, format, compression }),
        }
    }
}

impl EdgeTarget {
    /// Returns the target for a path to which edges are written.
    ///
    /// # Errors
    /// Those of [`Target::of`].
    pub fn of(path: &Path, format: Option<Format>, replace: bool) -> Result<EdgeTarget> {
        let help = format!("end it with {EDGE_ENDINGS}; or give --format");
        let target = Target::named(path, format, replace, Format::of_ending_of_edges, &help);
        target.map(Target::of_known_kind)
    }

    /// Whether it is standard output.
    pub fn is_standard_output(&self) -> bool {
        match self {
            EdgeTarget::Table(target) => target.is_standard_output(),
            EdgeTarget::Graph(target) => target.is_standard_output(),
        }
    }

    /// Returns the path of the file, or a name for standard output.
    pub fn path(&self) -> &Path {
        match self {
            EdgeTarget::Table(target) => target.path(),
            EdgeTarget::Graph(target) => target.path(),
        }
    }

    /// Whether a file of this name may hold edges.
    pub fn is_named_by(path: &Path) -> bool {
        let name = lower_name(path);
        let (_, bare) = Compression::of_name(&name);
        let is_stream = path == Path::new("-") || path == Path::new("/dev/stdout");
        is_stream || Format::of_ending_of_edges(ending(bare)).is_some()
    }

    /// Returns the target of a table.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a format of graphs.
    pub fn table(self) -> Result<Target> {
        match self {
            EdgeTarget::Table(target) => Ok(target),
            EdgeTarget::Graph(target) => {
                let message =
                    format!("{} holds a graph, but this is a table", target.format.name());
                let help = "choose a format of tables; `tegula export` and `tegula run subgraph` write graphs, \
                            with columns of tables as attributes";
                Err(Failure::usage_with(message, help))
            }
        }
    }
}

impl Target<GraphFormat> {
    /// The format.
    pub fn format(&self) -> GraphFormat {
        self.format
    }

    /// Begins the file.
    ///
    /// # Errors
    /// [`Error::Cancelled`](tegula_machine::Error::Cancelled) while it waits for a reader.
    pub fn create(&self, cancel: &Cancel) -> Result<Compressor> {
        self.compressed(self.begin(cancel)?)
    }
}

impl Target {
    /// Returns the target for a path; `-` is standard output. `format` overrides the ending.
    ///
    /// # Errors
    /// [`Failure::Usage`] where the format is none of tables, or one that a terminal does not show.
    /// [`Error::AlreadyExists`](tegula_machine::Error::AlreadyExists) for an existing file without
    /// `replace`.
    pub fn of(path: &Path, format: Option<Format>, replace: bool) -> Result<Target> {
        let help = "end it with .parquet, .csv, .tsv, .npy, .arrows, or .csv.gz, .tsv.zst, ..; or \
                    give --format";
        let of_ending = |ending: &str| TableFormat::of_ending(ending).map(Format::Table);
        Target::named(path, format, replace, of_ending, help)?.of_known_kind().table()
    }

    /// Returns standard output as a target.
    ///
    /// # Errors
    /// [`Failure::Usage`] for a format that a terminal does not show.
    pub fn standard_output(format: TableFormat) -> Result<Target> {
        Target::on_standard_output(Format::Table(format))?.of_known_kind().table()
    }

    /// Refuses string ids where the format cannot hold them.
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

    /// Begins the file, for `row_count` rows, which `workers` turn into text. Waiting for a reader
    /// ends with `cancel`.
    ///
    /// # Errors
    /// [`Failure::Usage`] where the format cannot hold a column.
    pub fn create<'w>(
        &self,
        schema: &SchemaRef,
        row_count: u64,
        workers: &'w Workers,
        cancel: &Cancel,
    ) -> Result<Box<dyn RowWriter + 'w>> {
        schema.fields().iter().try_for_each(|field| self.check_ids(field.data_type()))?;
        let separator = self.format.separator();
        if let (Place::StandardOutput, Some(separator)) = (&self.place, separator)
            && io::stdout().is_terminal()
        {
            return Ok(Box::new(TextTerminal::whole(separator, schema)?));
        }
        let file = self.begin(cancel)?;
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
                Box::new(TextFile::new(self.compressed(file)?, self.path(), rows))
            }
        })
    }
}

/// Returns the ending of a name, without its dot.
fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Refuses an existing file, unless `replace`. Devices and pipes are no files.
///
/// # Errors
/// [`Error::AlreadyExists`](tegula_machine::Error::AlreadyExists);
/// [`Error::Io`](tegula_machine::Error::Io) for a folder.
pub fn check_is_new(path: &Path, replace: bool) -> Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        // A link to a missing file.
        Err(_) if !replace && path.is_symlink() => {
            return Err(MachineError::AlreadyExists { path: path.to_owned() }.into());
        }
        Err(_) => return Ok(()),
    };
    if metadata.is_dir() {
        return Err(Error::io("create", path)(io::ErrorKind::IsADirectory.into()).into());
    }
    if metadata.is_file() && !replace {
        return Err(MachineError::AlreadyExists { path: path.to_owned() }.into());
    }
    Ok(())
}

/// Checks before the work that a file or folder can be made at `path`. A graph directory is
/// refused: a further file in it could replace a part of the graph, or keep the graph from being
/// replaced.
///
/// # Errors
/// [`Error::Io`](tegula_machine::Error::Io); [`Failure::Usage`] for a graph directory.
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
    // A link to a file is written through, so the folder of that file counts too.
    if path.is_symlink() && path.is_file() {
        check_is_in_no_graph(path)?;
    }
    // Neither a device, a pipe nor a link needs a new file in this folder.
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

/// Refuses a graph directory and any path in one, because a graph that holds other files is not
/// replaced.
pub fn check_is_in_no_graph(path: &Path) -> Result<()> {
    let Some(graph) = graph::directory_around(path) else { return Ok(()) };
    let message = format!("{} is a graph directory", graph.display());
    Err(Failure::usage_with(message, "name a place outside of it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_overrides_the_ending() {
        let of = |name: &str, format: Option<TableFormat>| {
            let target = Target::of(Path::new(name), format.map(Format::Table), true);
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

    #[test]
    fn edges_go_to_a_table_or_to_a_graph() {
        let of = |name: &str| EdgeTarget::of(Path::new(name), None, true);
        for (name, format, compression) in [
            ("a.graphml", GraphFormat::GraphMl, Compression::None),
            ("a.GEXF.gz", GraphFormat::Gexf, Compression::Gzip),
            ("a.dot", GraphFormat::Dot, Compression::None),
            ("a.gv.zst", GraphFormat::Dot, Compression::Zstd),
        ] {
            let Ok(EdgeTarget::Graph(target)) = of(name) else { panic!("{name}") };
            assert_eq!((target.format, target.compression), (format, compression), "{name}");
            assert!(EdgeTarget::is_named_by(Path::new(name)), "{name}");
            assert!(matches!(of(name).unwrap().table(), Err(Failure::Usage { .. })), "{name}");
            assert!(matches!(Target::of(Path::new(name), None, true), Err(Failure::Usage { .. })));
        }
        assert!(matches!(of("a.el.gz"), Ok(EdgeTarget::Table(_))));
        let given = Some(Format::Graph(GraphFormat::Dot));
        let Err(Failure::Usage { message, .. }) = Target::of(Path::new("a"), given, true) else {
            panic!("a table as DOT")
        };
        assert!(message.contains("DOT holds a graph"), "{message}");
    }
}
