//! Readers of edge lists, one file for each format.
//!
//! An [`Input`] is a list of files that together are one graph. Its readers push: each of several
//! workers takes the next part of a file, such as a block of lines or a row group, parses it, and
//! passes the edges to a sink in chunks, in no particular order. With any number of workers, the
//! reported fault of an input is the first one in the order of the files.
//!
//! `CONTRIBUTING.md` lists the files that a new format changes.
//!
//! Files are opened, recognised and cut into lines and fields by [`tegula_tables::read`], which
//! reads tables of vertices in the same way.

mod bad_rows;
mod balance;
mod bvgraph;
mod chunk;
mod columns;
mod file;
mod folder;
mod gapbs;
mod graphalytics;
mod noted;
mod options;
mod pairs;
mod preamble;
mod reader;
mod tables;
#[cfg(test)]
mod tests;
mod text;
mod vertex_set;
mod work;
mod xml;

use std::io::Read;
use std::path::{Path, PathBuf};

use tegula_machine::count;
use tegula_machine::threads::{Cancel, Progress};
use tegula_store::{Diagnostic, Error, Hint, Result};
use tegula_tables::read::bad_file;

pub use bad_rows::BadRows;
pub use chunk::{EdgeChunk, Ends, Span, StringColumn};
pub use columns::{ColumnChoice, Columns, ColumnsTaken};
use file::InputFile;
pub use noted::Noted;
pub use options::{IdKind, InputOptions};
use reader::{Emit, Sizes};
pub use tables::EdgeTables;
pub use tegula_tables::read::Format;
pub use tegula_tables::read::text::Delimiter;
pub(crate) use vertex_set::VertexSet;
pub use vertex_set::Vertices;
pub use work::LineNotes;

use crate::settings::{ALLOW_EMPTY, UNDIRECTED};

/// The files of one graph, whose formats are known.
#[derive(Debug)]
pub struct Input {
    files: Vec<InputFile>,
    ids: IdKind,
    vertices: VertexSet,
    undirected: bool,
    options: InputOptions,
}

impl Input {
    /// Finds the files that `paths` name, and how to read each.
    ///
    /// A folder stands for the files in it and in its subfolders, ordered by name. Names that begin
    /// with a dot or an underscore are skipped. `-` is standard input.
    pub fn resolve(paths: &[PathBuf], options: &InputOptions) -> Result<Input> {
        let mut vertices = VertexSet::default();
        let files = file::resolve(paths, options, &mut vertices)?;
        Input::of(files, vertices, options)
    }

    /// Makes an input of the text from `reader`, which is read once and may be compressed.
    pub fn from_reader(reader: Box<dyn Read + Send>, options: &InputOptions) -> Result<Input> {
        let file = InputFile::once(PathBuf::from("-"), reader, options)?;
        Input::of(vec![file], VertexSet::default(), options)
    }

    /// Makes an input of tables that are in no file. They say whether edges have weights.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput) for a column that has the wrong type.
    pub fn from_tables(tables: EdgeTables, options: &InputOptions) -> Result<Input> {
        let options = InputOptions { weighted: tables.weighted(), ..options.clone() };
        let file = InputFile::given(tables, &options)?;
        Input::of(vec![file], VertexSet::default(), &options)
    }

    fn of(files: Vec<InputFile>, mut vertices: VertexSet, options: &InputOptions) -> Result<Input> {
        let ids = file::common_ids(&files, options.ids)?;
        for file in &files {
            file.preamble().vertices.iter().for_each(|range| vertices.add_range(range.clone()));
            file.document()
                .into_iter()
                .for_each(|document| vertices.add_document(document.clone()));
        }
        Ok(Input { files, ids, vertices, undirected: false, options: options.clone() })
    }

    /// The vertices that the files declare, or that [`Input::settle`] has added.
    pub(crate) fn vertices(&self) -> &VertexSet {
        &self.vertices
    }

    /// Adds the options to what the files say. Each edge leads both ways if `wanted`, or if all
    /// files say so.
    ///
    /// # Errors
    /// [`BadInput`](tegula_store::Error::BadInput), unless `wanted`, if only some files say so.
    pub(crate) fn settle(&mut self, vertices: Option<&Vertices>, wanted: bool) -> Result<()> {
        vertices.into_iter().for_each(|vertices| self.vertices.add(vertices));
        let is_told = |file: &&InputFile| file.preamble().undirected == Some(true);
        // If the user wants all edges undirected, the files need not agree.
        let told = self.files.iter().find(is_told).filter(|_| !wanted);
        if let Some(told) = told
            && let Some(other) = self.files.iter().find(|file| !is_told(file))
        {
            let message = format!(
                "its edges are undirected, but those in {} are directed",
                other.path().display()
            );
            let both = Hint::set([UNDIRECTED]).detail("to read all as undirected");
            return Err(bad_file(told.path(), Diagnostic::from(message).hint(both)));
        }
        self.undirected = wanted || told.is_some();
        Ok(())
    }

    /// Whether each edge leads both ways.
    pub(crate) fn is_undirected(&self) -> bool {
        self.undirected
    }

    /// Returns the error for an input without an edge.
    pub(crate) fn no_edge(&self, LineNotes { bad_rows, .. }: &LineNotes) -> Error {
        const NAMED_MAX: usize = 4;
        let names: Vec<String> =
            self.files.iter().map(|file| file.path().display().to_string()).collect();
        let mut message = match &names[..] {
            [] | [_] => "it has no edges".to_owned(),
            [_, others @ ..] => {
                let shown = &others[..others.len().min(NAMED_MAX - 1)];
                let more = match others.len() - shown.len() {
                    0 => String::new(),
                    1 => " and 1 other".to_owned(),
                    more => format!(" and {more} others"),
                };
                format!("it has no edges, nor have {}{more}", shown.join(", "))
            }
        };
        if bad_rows.count > 0 {
            message += &format!("; bad rows skipped: {}", count(bad_rows.count));
        }
        let allow = Hint::set([ALLOW_EMPTY]).detail("to make a graph without edges");
        let first = self.files.first().map(InputFile::path).or(self.vertices.first_list());
        let first = first.unwrap_or(Path::new("the input"));
        bad_file(first, Diagnostic::from(message).hint(allow))
    }

    /// What the ids are: integers or strings, never [`IdKind::Auto`].
    pub fn ids(&self) -> IdKind {
        self.ids
    }

    /// What the user says that the ids are.
    pub(crate) fn wanted_ids(&self) -> IdKind {
        self.options.ids
    }

    /// Whether the chunks carry weights.
    pub fn weighted(&self) -> bool {
        self.options.weighted
    }

    /// The columns that are read, for each file that has columns, in the order of the files.
    pub fn columns_taken(&self) -> impl Iterator<Item = &ColumnsTaken> {
        self.files.iter().filter_map(InputFile::columns_taken)
    }

    /// Returns what a user should know about how the files are read. A remark that several files
    /// share comes once.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        let mut found: Vec<(&Diagnostic, &Path, u64)> = Vec::new();
        for file in &self.files {
            for remark in file.remarks() {
                match found.iter_mut().find(|(known, ..)| *known == remark) {
                    Some((_, _, others)) => *others += 1,
                    None => found.push((remark, file.path(), 0)),
                }
            }
        }
        let with_files = |&(remark, first, others): &(&Diagnostic, &Path, u64)| {
            let others = match others {
                0 => String::new(),
                1 => " and 1 other file".to_owned(),
                more => format!(" and {more} other files"),
            };
            let message = format!("{}{others}: {remark}", first.display());
            Diagnostic { message, hints: remark.hints.clone() }
        };
        let of_all = [self.mixed_ids(), self.two_arcs_for_an_edge()];
        found.iter().map(with_files).chain(of_all.into_iter().flatten()).collect()
    }

    /// Warns that both mentions of an edge in adjacency lists are read, as two arcs.
    fn two_arcs_for_an_edge(&self) -> Option<Diagnostic> {
        let has_both_ways = |file: &&InputFile| file.preamble().has_both_ways;
        let file = self.files.iter().find(has_both_ways).filter(|_| !self.undirected)?;
        let message = format!(
            "{}: in this format an edge is in the lists of both of its ends; the lists were read as directed edges",
            file.path().display()
        );
        let both = Hint::set([UNDIRECTED]).detail("to make an undirected graph");
        Some(Diagnostic::from(message).hint(both))
    }

    /// Warns that the ids are strings because of some of the files alone.
    fn mixed_ids(&self) -> Option<Diagnostic> {
        let first = |ids| self.files.iter().find(|file| file.ids() == Some(ids));
        let strings = first(IdKind::String).filter(|_| self.options.ids == IdKind::Auto)?;
        let integers = first(IdKind::Integer)?;
        let message = format!(
            "the ids are strings because of {}; those in {} are integers",
            strings.path().display(),
            integers.path().display()
        );
        Some(message.into())
    }

    /// The stored size of all files; `None` if one is a stream.
    pub fn total_bytes(&self) -> Option<u64> {
        self.files.iter().map(InputFile::bytes).sum()
    }

    /// Whether reading the input again costs no more than reading kept edges: it has raw pairs, or
    /// integers in tables that are in memory.
    pub fn is_quick_to_reread(&self) -> bool {
        self.ids == IdKind::Integer && self.files.iter().all(InputFile::is_quick_to_reread)
    }

    /// Whether the input can be read more than once: no part of it is a stream.
    pub fn is_repeatable(&self) -> bool {
        self.total_bytes().is_some()
    }

    /// Reads all edges, and returns the lines that a user should know about. Several threads call
    /// `sink` at once, in no particular order; its first error ends the reading.
    ///
    /// Reports the progress of the stage "reading edges" in stored bytes.
    pub fn read(
        &self,
        progress: &dyn Progress,
        cancel: &Cancel,
        sink: &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
    ) -> Result<LineNotes> {
        let worker_bytes_min =
            self.files.iter().map(InputFile::worker_bytes_min).max().unwrap_or(0);
        let sizes = Sizes::for_options(&self.options, worker_bytes_min);
        self.read_sized(sizes, progress, cancel, sink)
    }

    fn read_sized(
        &self,
        sizes: Sizes,
        progress: &dyn Progress,
        cancel: &Cancel,
        sink: &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
    ) -> Result<LineNotes> {
        let weighted = self.weighted();
        let bad_rows_max = self.options.skip_bad_rows;
        let (ids, undirected) = (self.ids, self.undirected);
        let emit = Emit { sizes, weighted, ids, undirected, bad_rows_max, progress, cancel, sink };
        progress.begin(
            "reading edges",
            self.total_bytes(),
            tegula_machine::threads::ProgressUnit::Bytes,
        );
        let result = work::read_all(&self.files, &emit);
        progress.end();
        result
    }
}
