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
//! code.

mod bad_rows;
mod chunk;
mod columns;
mod comments;
mod file;
mod file_name;
mod folder;
mod options;
mod pairs;
mod parquet;
mod reader;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod vertex_columns;
mod vertex_parquet;
mod vertex_table;
mod work;

use std::io::Read;
use std::path::{Path, PathBuf};

use tegula_machine::threads::{Cancel, Progress};
use tegula_machine::{Diagnostic, Result};

pub use bad_rows::BadRows;
pub use chunk::{EdgeChunk, Ends, Span, StringColumn};
pub use columns::{ColumnChoice, ColumnsTaken};
pub use comments::Comments;
use file::InputFile;
pub use options::{Delimiter, Format, IdKind, InputOptions, PairWidth};
use reader::{Emit, Sizes};
pub use vertex_columns::{Presence, VALUES_MAX, ValueColumn, VertexColumns, VertexRow};
pub use vertex_table::VertexTable;
pub use work::PassedOver;

/// The files of one graph, each with its format found out.
#[derive(Debug)]
pub struct Input {
    files: Vec<InputFile>,
    ids: IdKind,
    options: InputOptions,
}

impl Input {
    /// Finds the files that `paths` name, and how each is to be read.
    ///
    /// A folder stands for its files and those of its subfolders, by name and without those whose name
    /// begins with a dot or an underscore; `-` is standard input.
    pub fn resolve(paths: &[PathBuf], options: &InputOptions) -> Result<Input> {
        let files = file::resolve(paths, options)?;
        Input::of(files, options)
    }

    /// An input of text that is read, once, from `reader`; it may be compressed.
    pub fn from_reader(reader: Box<dyn Read + Send>, options: &InputOptions) -> Result<Input> {
        let file = InputFile::once(PathBuf::from("-"), reader, options)?;
        Input::of(vec![file], options)
    }

    fn of(files: Vec<InputFile>, options: &InputOptions) -> Result<Input> {
        let ids = file::common_ids(&files, options.ids)?;
        Ok(Input { files, ids, options: options.clone() })
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
        found.iter().map(with_files).chain(self.mixed_ids()).collect()
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
        let emit = Emit { sizes, weighted, ids: self.ids, bad_rows_max, progress, cancel, sink };
        progress.begin("reading edges", self.total_bytes(), tegula_machine::threads::Unit::Bytes);
        let result = work::read_all(&self.files, &emit);
        progress.end();
        result
    }
}
