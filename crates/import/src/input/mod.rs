//! Readers of edge lists: one format a file.
//!
//! An [`Input`] is a list of files that together are one graph. Its readers push: several workers
//! each claim the next part of a file (a block of lines, a range of records, a row group), parse it
//! and hand its edges to a sink in chunks, in no particular order. What is wrong with an input is
//! the same for every number of workers: the first fault in the order of the files.
//!
//! A further format is one more file here that implements `reader::Reader`, one more [`Format`] and
//! one more `file::Kind`.
//!
//! A [`VertexTable`] is a file with a row for each vertex that an option of a run is about, read by the same
//! code. An [`AttributeTable`] is one of which every column is wanted, whatever its name.

mod attribute_columns;
mod attribute_parquet;
mod attribute_table;
mod bad_rows;
mod balance;
mod bvgraph;
mod chunk;
mod columns;
mod file;
mod file_name;
mod folder;
mod gapbs;
mod graphalytics;
mod noted;
mod options;
mod pairs;
mod parquet;
mod parquet_columns;
mod preamble;
mod properties;
mod reader;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod vertex_columns;
mod vertex_parquet;
mod vertex_set;
mod vertex_table;
mod whole_text;
mod work;
mod xml;
mod xml_form;

use std::io::Read;
use std::path::{Path, PathBuf};

use tegula_machine::threads::{Cancel, Progress};
use tegula_machine::{Diagnostic, Error, Hint, Result, count};

pub use attribute_columns::AttributeRow;
pub use attribute_table::AttributeTable;
pub use bad_rows::BadRows;
pub use chunk::{EdgeChunk, Ends, Span, StringColumn};
pub use columns::{ColumnChoice, ColumnsTaken};
use file::InputFile;
pub use noted::Noted;
pub use options::{Delimiter, Format, IdKind, InputOptions, PairWidth};
use reader::{Emit, Sizes, bad_file};
pub use vertex_columns::{Presence, VALUES_MAX, ValueColumn, VertexColumns, VertexRow};
pub(crate) use vertex_set::VertexSet;
pub use vertex_set::Vertices;
pub use vertex_table::VertexTable;
pub use whole_text::read_text;
pub use work::PassedOver;

use crate::settings::{ALLOW_EMPTY, UNDIRECTED};

/// The files of one graph, each with its format found out.
#[derive(Debug)]
pub struct Input {
    files: Vec<InputFile>,
    ids: IdKind,
    vertices: VertexSet,
    undirected: bool,
    options: InputOptions,
}

impl Input {
    /// Finds the files that `paths` name, and how each is to be read.
    ///
    /// A folder stands for its files and those of its subfolders, by name and without those whose name
    /// begins with a dot or an underscore; `-` is standard input.
    pub fn resolve(paths: &[PathBuf], options: &InputOptions) -> Result<Input> {
        let mut vertices = VertexSet::default();
        let files = file::resolve(paths, options, &mut vertices)?;
        Input::of(files, vertices, options)
    }

    /// An input of text that is read, once, from `reader`; it may be compressed.
    pub fn from_reader(reader: Box<dyn Read + Send>, options: &InputOptions) -> Result<Input> {
        let file = InputFile::once(PathBuf::from("-"), reader, options)?;
        Input::of(vec![file], VertexSet::default(), options)
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

    /// Which vertices there are, as far as the files tell.
    pub(crate) fn vertices(&self) -> &VertexSet {
        &self.vertices
    }

    /// Adds to what the files tell what is wanted: vertices, and that each edge leads both ways. Without that, edges do
    /// where the files tell it.
    ///
    /// # Errors
    /// [`BadInput`](tegula_machine::Error::BadInput) where some of the files tell it and others do not.
    pub(crate) fn settle(&mut self, vertices: Option<&Vertices>, wanted: bool) -> Result<()> {
        vertices.into_iter().for_each(|vertices| self.vertices.add(vertices));
        let is_told = |file: &&InputFile| file.preamble().undirected == Some(true);
        let told = self.files.iter().find(is_told).filter(|_| !wanted);
        if let Some(told) = told
            && let Some(other) = self.files.iter().find(|file| !is_told(file))
        {
            let message = format!(
                "its edges lead both ways, and those in {} one way alone",
                other.path().display()
            );
            let both = Hint::set([UNDIRECTED]).detail("to have all lead both ways");
            return Err(bad_file(told.path(), Diagnostic::from(message).hint(both)));
        }
        self.undirected = wanted || told.is_some();
        Ok(())
    }

    /// Whether each edge leads both ways.
    pub(crate) fn is_undirected(&self) -> bool {
        self.undirected
    }

    /// Says that none of the files has an edge.
    pub(crate) fn no_edge(&self, PassedOver { bad_rows, .. }: &PassedOver) -> Error {
        const NAMED_MAX: usize = 4;
        let names: Vec<String> =
            self.files.iter().map(|file| file.path().display().to_string()).collect();
        let mut message = match &names[..] {
            [] | [_] => "there is no edge".to_owned(),
            [_, others @ ..] => {
                let shown = &others[..others.len().min(NAMED_MAX - 1)];
                let more = match others.len() - shown.len() {
                    0 => String::new(),
                    1 => " and 1 other".to_owned(),
                    more => format!(" and {more} others"),
                };
                format!("there is no edge, and none in {}{more}", shown.join(", "))
            }
        };
        if bad_rows.count > 0 {
            message += &format!("; bad rows passed over: {}", count(bad_rows.count));
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

    /// Whether the chunks will carry weights.
    pub fn weighted(&self) -> bool {
        self.options.weighted
    }

    /// Which columns are read of each file that has any, in the order of the files.
    pub fn columns_taken(&self) -> impl Iterator<Item = &ColumnsTaken> {
        self.files.iter().filter_map(InputFile::columns_taken)
    }

    /// What a user should know of how the files are read; where it is the same for several files, once.
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

    /// That an edge that leads both ways is two arcs, where it could be one edge.
    fn two_arcs_for_an_edge(&self) -> Option<Diagnostic> {
        let has_both_ways = |file: &&InputFile| file.preamble().has_both_ways;
        let file = self.files.iter().find(has_both_ways).filter(|_| !self.undirected)?;
        let message = format!(
            "{}: in this format an edge is in the lists of both of its ends; each list was read as edges that lead one \
             way",
            file.path().display()
        );
        let both = Hint::set([UNDIRECTED]).detail("to make an undirected graph of it");
        Some(Diagnostic::from(message).hint(both))
    }

    /// That the ids are strings, where they would not be without some of the files.
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

    /// The size of all files as they are stored; `None` where one is a stream.
    pub fn total_bytes(&self) -> Option<u64> {
        self.files.iter().map(InputFile::bytes).sum()
    }

    /// The width of the pairs if every file holds raw pairs of one width, so that reading the input
    /// again costs no more than reading the bytes.
    pub fn is_raw_pairs(&self) -> Option<PairWidth> {
        let width = self.files.first()?.pair_width()?;
        self.files.iter().all(|file| file.pair_width() == Some(width)).then_some(width)
    }

    /// Whether the input can be read more than once: no part of it is a stream.
    pub fn is_repeatable(&self) -> bool {
        self.total_bytes().is_some()
    }

    /// Reads everything, and returns what was passed over. `sink` is called from several threads at
    /// once, in no particular order; its first error ends the reading.
    ///
    /// Reports the stage "reading edges" in bytes of the files as they are stored.
    pub fn read(
        &self,
        progress: &dyn Progress,
        cancel: &Cancel,
        sink: &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
    ) -> Result<PassedOver> {
        let worker_bytes_min =
            self.files.iter().map(InputFile::worker_bytes_min).max().unwrap_or(0);
        let sizes = Sizes::within(&self.options, worker_bytes_min);
        self.read_sized(sizes, progress, cancel, sink)
    }

    fn read_sized(
        &self,
        sizes: Sizes,
        progress: &dyn Progress,
        cancel: &Cancel,
        sink: &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
    ) -> Result<PassedOver> {
        let weighted = self.weighted();
        let bad_rows_max = self.options.skip_bad_rows;
        let (ids, undirected) = (self.ids, self.undirected);
        let emit = Emit { sizes, weighted, ids, undirected, bad_rows_max, progress, cancel, sink };
        progress.begin("reading edges", self.total_bytes(), tegula_machine::threads::Unit::Bytes);
        let result = work::read_all(&self.files, &emit);
        progress.end();
        result
    }
}
