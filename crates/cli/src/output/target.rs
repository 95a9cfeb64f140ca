//! Where a result goes and in which format, as an option or the ending of the file name tells.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use arrow_schema::{DataType, SchemaRef};
use tegula_machine::threads::{Cancel, Workers};
use tegula_store::Error;
use tegula_tables::{Compressor, FileFormat, RowWriter, TableFormat, check_is_new, check_parent};

use super::file::ResultFile;
use super::format::{EDGE_ENDINGS, Format, GraphFormat};
use super::terminal::TextTerminal;
use crate::errors::{Failure, Result};
use crate::stdout;

/// Where a result is written, in a format of tables or of graphs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<F = TableFormat> {
    place: Place,
    file: FileFormat<F>,
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

    fn begin(&self, cancel: &Cancel) -> Result<ResultFile> {
        match &self.place {
            Place::StandardOutput => ResultFile::standard_output(cancel),
            Place::File { path, replace } => ResultFile::create(path, *replace, cancel),
        }
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
        // Opened by its path, a redirected standard output would be a file to be replaced.
        if path == Path::new("-") || path == Path::new("/dev/stdout") {
            return Target::on_standard_output(format.unwrap_or(Format::Table(TableFormat::Tsv)));
        }
        let file = FileFormat::of_file_name(path, format, of_ending, Format::is_text);
        let file = file.map_err(|error| match error {
            tegula_tables::Error::NoFormat { .. } => Failure::usage_with(error.to_string(), help),
            other => other.into(),
        })?;
        check_is_new(path, replace)?;
        check_parent(path)?;
        Ok(Target { place: Place::File { path: path.to_owned(), replace }, file })
    }

    fn on_standard_output(format: Format) -> Result<Target<Format>> {
        stdout::check()?;
        // Control characters in a name might command the terminal; only tables of text escape them.
        let is_shown = matches!(format, Format::Table(_)) && format.is_text();
        if !is_shown && io::stdout().is_terminal() {
            let help = "choose --format csv or tsv, a pipe, or a file with -o";
            return Err(Failure::usage_with("a terminal shows only tables of text", help));
        }
        Ok(Target { place: Place::StandardOutput, file: format.into() })
    }

    fn of_known_kind(self) -> EdgeTarget {
        let Target { place, file: FileFormat { format, compression } } = self;
        match format {
            Format::Table(format) => {
                EdgeTarget::Table(Target { place, file: FileFormat { format, compression } })
            }
            Format::Graph(format) => {
                EdgeTarget::Graph(Target { place, file: FileFormat { format, compression } })
            }
        }
    }
}

impl EdgeTarget {
    /// Returns the target for a path to which edges are written.
    ///
    /// # Errors
    /// [`Failure::Usage`] for an ending of no format, or a format that a terminal does not show;
    /// [`Error::AlreadyExists`](tegula_machine::Error::AlreadyExists) for an existing file without
    /// `replace`.
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
        let is_stream = path == Path::new("-") || path == Path::new("/dev/stdout");
        let file =
            FileFormat::of_file_name(path, None, Format::of_ending_of_edges, Format::is_text);
        is_stream || !matches!(file, Err(tegula_tables::Error::NoFormat { .. }))
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
                    format!("{} holds a graph, but this is a table", target.file.format.name());
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
        self.file.format
    }

    /// Begins the file.
    ///
    /// # Errors
    /// [`Error::Cancelled`](tegula_machine::Error::Cancelled) while it waits for a reader.
    pub fn create(&self, cancel: &Cancel) -> Result<Compressor<ResultFile>> {
        let out = Compressor::new(self.begin(cancel)?, self.file.compression);
        Ok(out.map_err(Error::io("create", self.path()))?)
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
        Ok(self.file.check_type(id_type)?)
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
        // Before the output is opened, which may wait for the reader of a pipe.
        self.file.check_schema(schema)?;
        if let (Place::StandardOutput, Some(separator)) =
            (&self.place, self.file.format.separator())
            && io::stdout().is_terminal()
        {
            return Ok(Box::new(TextTerminal::whole(separator, schema)?));
        }
        Ok(self.file.writer(self.begin(cancel)?, schema, row_count, Some(workers))?)
    }
}

#[cfg(test)]
mod tests {
    use tegula_tables::Compression;

    use super::*;

    #[test]
    fn a_result_without_a_format_is_wrong_use() {
        let of = |name: &str, format: Option<TableFormat>| {
            Target::of(Path::new(name), format.map(Format::Table), true)
        };
        assert_eq!(of("-", None).unwrap().file, TableFormat::Tsv.into());
        assert_eq!(of("a.parquet", Some(TableFormat::Csv)).unwrap().file, TableFormat::Csv.into());
        for (name, format) in [("a.txt", None), ("a", None), ("a.gz", Some(TableFormat::Parquet))] {
            assert!(
                matches!(of(name, format), Err(Failure::Usage { help: Some(_), .. })),
                "{name}"
            );
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
            assert_eq!(target.file, FileFormat { format, compression }, "{name}");
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
