//! Finds the files of an input and what each contains.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use tegula_store::{Diagnostic, Error, Hint, Result};
use tegula_tables::Compression;
use tegula_tables::read::{
    Ending, FileName, Format, InputStream, Opened, Properties, Stored, XmlForm, bad_file,
};

use super::balance::Balance;
use super::columns::ColumnsTaken;
use super::options::{IdKind, InputOptions, PairWidth};
use super::preamble::Preamble;
use super::reader::{Emit, Reader};
use super::tables::parquet::{self, Table, TableReader};
use super::tables::{EdgeTables, Given, GivenReader, TableColumns};
use super::text::{self, Dialect, Sniffed};
use super::vertex_set::{VertexSet, Vertices};
use super::{bvgraph, folder, gapbs, graphalytics, pairs, xml};
use crate::settings::{IDS_STRING, SOURCE_COLUMN, TARGET_COLUMN, WEIGHT_COLUMN};

/// One file of an input.
#[derive(Debug)]
pub(super) struct InputFile {
    path: PathBuf,
    kind: Kind,
    source: Source,
    preamble: Preamble,
}

/// The content of a file.
#[derive(Debug)]
pub(super) enum Kind {
    Text(Dialect),
    Pairs(PairWidth),
    Parquet(Table),
    Given(Given),
    Gapbs(gapbs::Layout),
    BvGraph(bvgraph::Layout),
    Xml(xml::Layout),
}

/// Where a file's bytes come from.
#[derive(Debug)]
enum Source {
    /// A regular file, which can be opened again.
    File { bytes: u64, compression: Compression, window_log_max: u32 },
    /// Standard input or a pipe; `None` once it was read.
    Once(Mutex<Option<InputStream>>),
    /// Tables that are in no file.
    Given,
}

impl InputFile {
    /// Makes a stream of the text from `reader`.
    pub fn once(
        path: PathBuf,
        reader: Box<dyn Read + Send>,
        options: &InputOptions,
    ) -> Result<InputFile> {
        let opened = Opened::once(&path, reader, options.format, options.window_log_max())?;
        InputFile::of(path, opened, options)
    }

    /// Makes an input of tables that are in no file.
    pub fn given(tables: EdgeTables, options: &InputOptions) -> Result<InputFile> {
        let path = tables.path().to_owned();
        let kind = Kind::Given(Given::of(tables, options.ids)?);
        Ok(InputFile { path, kind, source: Source::Given, preamble: Preamble::default() })
    }

    fn resolve(path: PathBuf, options: &InputOptions) -> Result<InputFile> {
        let opened = Opened::at(&path, options.format, options.window_log_max(), &options.cancel)?;
        InputFile::of(path, opened, options)
    }

    fn of(path: PathBuf, opened: Opened, options: &InputOptions) -> Result<InputFile> {
        let (bytes, compression) = match opened.stored {
            Stored::File { bytes, compression } => (bytes, compression),
            Stored::Once(mut stream) => {
                let sniffed = text::sniff(&path, &mut stream, opened.format, options)?;
                let Sniffed { mut dialect, preamble, head, dropped_bytes } = sniffed;
                // A stream cannot be opened again. Its first rows go back into it, and what came
                // before them is gone.
                dialect.forget_first(dropped_bytes);
                stream.unread(head);
                let source = Source::Once(Mutex::new(Some(stream)));
                return Ok(InputFile { path, kind: Kind::Text(dialect), source, preamble });
            }
        };
        let mut preamble = Preamble::default();
        let document = |form| {
            let source = xml::Source::new(&path, form, compression, options);
            Ok::<_, Error>(Kind::Xml(xml::Layout::of(source, options)?))
        };
        let kind = match opened.format {
            Format::Pairs32 => Kind::Pairs(PairWidth::Bits32),
            Format::Pairs64 => Kind::Pairs(PairWidth::Bits64),
            Format::Parquet => Kind::Parquet(Table::open(&path, options)?),
            Format::Gapbs => {
                let layout = gapbs::Layout::of(&path, bytes, options)?;
                preamble = layout.preamble();
                Kind::Gapbs(layout)
            }
            Format::BvGraph => {
                let layout = bvgraph::Layout::of(&path, bytes, options)?;
                preamble = layout.preamble();
                Kind::BvGraph(layout)
            }
            Format::GraphMl => document(XmlForm::GraphMl)?,
            Format::Gexf => document(XmlForm::Gexf)?,
            Format::Vertices | Format::Graphalytics => {
                return Err(bad_file(&path, "this is not a file of edges"));
            }
            _ => {
                // The first bytes are read here and dropped: the reader opens the file again.
                let mut stream = InputStream::open(&path, compression, options.window_log_max())?;
                let sniffed = text::sniff(&path, &mut stream, opened.format, options)?;
                preamble = sniffed.preamble;
                Kind::Text(sniffed.dialect)
            }
        };
        if let Kind::Xml(layout) = &kind {
            preamble = layout.preamble();
        }
        check_has_columns(&path, &kind, options)?;
        if let Kind::Pairs(width) = kind {
            // Now, so that a file that is not of pairs is refused before others are read.
            pairs::check_length(&path, bytes, width, options.weighted)?;
        }
        let window_log_max = options.window_log_max();
        let source = Source::File { bytes, compression, window_log_max };
        Ok(InputFile { path, kind, source, preamble })
    }

    /// What the file says about its graph before the first edge.
    pub fn preamble(&self) -> &Preamble {
        &self.preamble
    }

    /// The document, if the file is XML; it lists the vertices.
    pub fn document(&self) -> Option<&xml::Source> {
        match &self.kind {
            Kind::Xml(layout) => Some(layout.source()),
            Kind::Text(_) | Kind::Pairs(_) | Kind::Parquet(_) => None,
            Kind::Gapbs(_) | Kind::BvGraph(_) | Kind::Given(_) => None,
        }
    }

    /// Refuses adjacency lists in which an edge is in the list of only one of its ends, or has
    /// different weights in the two lists.
    pub fn check_balance(&self, balance: &Balance, is_weighted: bool) -> Result<()> {
        match balance.is_even() {
            true => Ok(()),
            false => {
                Err(bad_file(&self.path, self.preamble.one_sided(balance.unmatched(is_weighted))))
            }
        }
    }

    /// Refuses a file with another number of edges than it declares. `found` edges were read, of an
    /// `undirected` graph or of a directed one.
    pub fn check_edges(&self, found: u64, undirected: bool) -> Result<()> {
        let Some(mut problem) = self.preamble.mismatch(found, undirected) else { return Ok(()) };
        match &self.preamble.told_by {
            Some(told_by) => {
                problem.message += &format!("; the edges are in {}", self.path.display());
                Err(bad_file(told_by, problem))
            }
            None => Err(bad_file(&self.path, problem)),
        }
    }

    /// The stored size; `None` for a stream.
    pub fn bytes(&self) -> Option<u64> {
        match (&self.source, &self.kind) {
            (Source::File { bytes, .. }, _) => Some(*bytes),
            (Source::Given, Kind::Given(given)) => given.bytes(),
            (Source::Once(_) | Source::Given, _) => None,
        }
    }

    /// Whether reading the file again costs no more than reading kept edges, if ids are integers.
    pub fn is_quick_to_reread(&self) -> bool {
        match &self.kind {
            Kind::Pairs(_) => true,
            Kind::Given(given) => given.bytes().is_some(),
            Kind::Text(_) | Kind::Parquet(_) | Kind::Gapbs(_) => false,
            Kind::BvGraph(_) | Kind::Xml(_) => false,
        }
    }

    /// The columns, if the file is a table.
    fn table_columns(&self) -> Option<&TableColumns> {
        match &self.kind {
            Kind::Parquet(table) => Some(table.columns()),
            Kind::Given(given) => Some(given.columns()),
            Kind::Text(_) | Kind::Pairs(_) | Kind::Gapbs(_) => None,
            Kind::BvGraph(_) | Kind::Xml(_) => None,
        }
    }

    /// The fewest bytes that a worker needs to read the file.
    pub fn worker_bytes_min(&self) -> u64 {
        match &self.kind {
            Kind::Parquet(_) => parquet::WORKER_BYTES_MIN,
            Kind::Given(given) => given.worker_bytes_min(),
            _ => 0,
        }
    }

    /// What the file's ids are; `None` if it is empty.
    pub fn ids(&self) -> Option<IdKind> {
        match &self.kind {
            Kind::Text(dialect) => dialect.ids(),
            Kind::Pairs(_) | Kind::Gapbs(_) | Kind::BvGraph(_) => Some(IdKind::Integer),
            Kind::Xml(layout) => layout.ids(),
            Kind::Parquet(_) | Kind::Given(_) => self.table_columns().map(TableColumns::ids),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What a user should know about how the file is read.
    pub fn remarks(&self) -> &[Diagnostic] {
        match &self.kind {
            Kind::Text(dialect) => dialect.remarks(),
            Kind::Pairs(_) | Kind::BvGraph(_) => &[],
            Kind::Xml(layout) => layout.remarks(),
            Kind::Gapbs(layout) => layout.remarks(),
            Kind::Parquet(_) | Kind::Given(_) => {
                self.table_columns().map_or(&[], TableColumns::remarks)
            }
        }
    }

    /// The columns that are read; `None` if the file has no columns or no lines.
    pub fn columns_taken(&self) -> Option<&ColumnsTaken> {
        match &self.kind {
            Kind::Text(dialect) => dialect.columns_taken(),
            Kind::Pairs(_) | Kind::Gapbs(_) | Kind::BvGraph(_) | Kind::Xml(_) => None,
            Kind::Parquet(_) | Kind::Given(_) => self.table_columns().map(TableColumns::taken),
        }
    }

    /// Starts to read the file.
    pub fn open<'a>(&'a self, emit: &Emit<'_>) -> Result<Box<dyn Reader<'a> + 'a>> {
        match &self.kind {
            Kind::Text(dialect) => {
                let stream = self.stream()?;
                Ok(Box::new(text::LineReader::open(&self.path, stream, dialect, emit)?))
            }
            Kind::Pairs(width) => {
                Ok(Box::new(pairs::PairReader::open(&self.path, *width, emit.weighted)?))
            }
            Kind::Parquet(table) => Ok(Box::new(TableReader::new(&self.path, table))),
            Kind::Given(given) => Ok(Box::new(GivenReader::open(given)?)),
            Kind::Gapbs(layout) => Ok(Box::new(gapbs::ListReader::open(&self.path, layout)?)),
            Kind::BvGraph(layout) => Ok(Box::new(bvgraph::ListReader::open(&self.path, layout)?)),
            Kind::Xml(layout) => Ok(Box::new(xml::EdgeReader::open(layout)?)),
        }
    }

    fn stream(&self) -> Result<InputStream> {
        match &self.source {
            // A file may have several frames of zstd, and each tells its own window.
            Source::File { compression, window_log_max, .. } => {
                InputStream::open(&self.path, *compression, *window_log_max)
            }
            Source::Once(stream) => {
                let taken = stream.lock().ok().and_then(|mut stream| stream.take());
                taken.ok_or_else(|| bad_file(&self.path, "a stream can be read only once"))
            }
            Source::Given => Err(bad_file(&self.path, "tables are no text")),
        }
    }
}

/// Refuses a choice of columns where the format has none, which would change nothing.
fn check_has_columns(path: &Path, kind: &Kind, options: &InputOptions) -> Result<()> {
    let (has_ends, has_weights) = match kind {
        // A text without a line has no columns yet; one in a known form has none to choose from.
        Kind::Text(dialect) => {
            let has_columns = dialect.columns_taken().is_some() || dialect.ids().is_none();
            (has_columns, has_columns)
        }
        Kind::Parquet(_) | Kind::Given(_) => (true, true),
        // The weights of XML are attributes with names.
        Kind::Xml(_) => (false, true),
        Kind::Pairs(_) | Kind::Gapbs(_) | Kind::BvGraph(_) => (false, false),
    };
    let idle = [
        (options.source_column.is_some() && !has_ends, SOURCE_COLUMN),
        (options.target_column.is_some() && !has_ends, TARGET_COLUMN),
        (options.weight_column.is_some() && !has_weights, WEIGHT_COLUMN),
    ];
    match idle.into_iter().find(|&(is_idle, _)| is_idle) {
        Some((_, setting)) => {
            let problem = Diagnostic::from("this format has no columns to choose from");
            Err(bad_file(path, problem.hint(Hint::leave_out(setting.option))))
        }
        None => Ok(()),
    }
}

/// Returns the files of edges that `paths` name, and adds the lists of vertices to `vertices`.
pub(super) fn resolve(
    paths: &[PathBuf],
    options: &InputOptions,
    vertices: &mut VertexSet,
) -> Result<Vec<InputFile>> {
    let (mut files, mut named) = (Vec::new(), HashSet::new());
    for path in paths {
        let here = match path.is_dir() {
            true => folder::files_in(path, options.format)?,
            false => vec![path.clone()],
        };
        for path in here {
            // A file named twice would double its edges without a word.
            if identity_of(&path).is_some_and(|identity| !named.insert(identity)) {
                return Err(named_twice(&path));
            }
            match (options.format, FileName::of(&path).ending()) {
                (Format::Vertices, _) | (Format::Auto, Ending::Format(Format::Vertices)) => {
                    vertices.add(&Vertices::Listed(path));
                }
                (Format::Graphalytics, _)
                | (Format::Auto | Format::BvGraph, Ending::Format(Format::Graphalytics)) => {
                    let file = file_of_properties(&path, options, vertices)?;
                    // The edges may be named by themselves too. For the lists of a BVGraph that is
                    // no fault, and they are told apart below.
                    let is_list = matches!(file.kind, Kind::BvGraph(_));
                    let identity = if is_list { None } else { identity_of(&file.path) };
                    if identity.is_some_and(|identity| !named.insert(identity)) {
                        return Err(named_twice(&file.path));
                    }
                    files.push(file);
                }
                // The offsets of the lists. Reading all lists in order does not need them.
                (Format::BvGraph, _) if path.extension().is_some_and(|end| end == "offsets") => {}
                _ => files.push(InputFile::resolve(path, options)?),
            }
        }
    }
    // A BVGraph may be named twice: by its lists and by its properties.
    let mut lists = HashSet::new();
    files.retain(|file| !matches!(file.kind, Kind::BvGraph(_)) || lists.insert(file.path.clone()));
    Ok(files)
}

fn named_twice(path: &Path) -> Error {
    bad_file(path, "this input is named twice; name it once")
}

/// Returns the device and the inode of a regular file, which are the same under every path and for
/// standard input; two zeros where standard input is no such file. `None` for other streams, and for
/// a file that fails when it is opened.
fn identity_of(path: &Path) -> Option<(u64, u64)> {
    let of_file = |metadata: Metadata| (metadata.dev(), metadata.ino());
    if path.as_os_str() == "-" {
        let input = io::stdin().as_fd().try_clone_to_owned();
        let metadata = input.and_then(|input| File::from(input).metadata()).ok();
        return Some(metadata.filter(Metadata::is_file).map_or((0, 0), of_file));
    }
    path.metadata().ok().filter(Metadata::is_file).map(of_file)
}

/// Returns the file of edges that the properties at `path` describe, and adds the vertices that
/// they name to `vertices`.
fn file_of_properties(
    path: &Path,
    options: &InputOptions,
    vertices: &mut VertexSet,
) -> Result<InputFile> {
    let told = Properties::read(path)?;
    let is_of_webgraph = match options.format {
        Format::BvGraph => true,
        Format::Graphalytics => false,
        _ => told.are_of_webgraph(),
    };
    if is_of_webgraph {
        let options = InputOptions { format: Format::BvGraph, ..options.clone() };
        return InputFile::resolve(bvgraph::Layout::lists_of(path), &options);
    }
    let named = graphalytics::Properties::of(path, &told)?;
    // Such files never have a header, even if the first ids look like names of columns.
    let options = InputOptions { format: Format::Text, no_header: true, ..options.clone() };
    let mut file = InputFile::resolve(named.edges, &options)?;
    file.preamble = Preamble {
        edges: named.edge_count.into_iter().collect(),
        undirected: Some(!named.directed),
        told_by: Some(path.to_owned()),
        ..Preamble::default()
    };
    vertices.add_counted(named.vertices, named.vertex_count.map(|count| (count, path.to_owned())));
    Ok(file)
}

/// Chooses integers if all files have them, else strings, unless the user says which.
pub(super) fn common_ids(files: &[InputFile], wanted: IdKind) -> Result<IdKind> {
    let strings = files.iter().any(|file| file.ids() == Some(IdKind::String));
    let ids = match wanted {
        IdKind::Auto if strings => IdKind::String,
        IdKind::Auto => IdKind::Integer,
        given => given,
    };
    for file in files {
        match (&file.kind, ids) {
            (Kind::Pairs(_), IdKind::String) => {
                return Err(bad_file(&file.path, "raw pairs hold integer ids, not strings"));
            }
            (Kind::Gapbs(_), IdKind::String) => {
                return Err(bad_file(&file.path, "GAPBS graphs have integer ids, not strings"));
            }
            (Kind::BvGraph(_), IdKind::String) => {
                return Err(bad_file(&file.path, "BVGraphs have integer ids, not strings"));
            }
            (Kind::Text(dialect), IdKind::String) if dialect.has_lists() => {
                return Err(bad_file(
                    &file.path,
                    "lists of neighbours have integer ids, not strings",
                ));
            }
            (Kind::Parquet(_) | Kind::Given(_), IdKind::Integer)
                if file.ids() == Some(IdKind::String) =>
            {
                let problem = Diagnostic::from("the ids are strings, not integers");
                return Err(bad_file(&file.path, problem.hint(Hint::set([IDS_STRING]))));
            }
            _ => {}
        }
    }
    Ok(ids)
}
