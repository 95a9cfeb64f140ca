//! Readers of edge lists: one format a file.
//!
//! An [`Input`] is a list of files that together are one graph. Its readers push: several workers
//! each claim the next part of a file (a block of lines, a range of records, a row group), parse it
//! and hand its edges to a sink in chunks, in no particular order. What is wrong with an input is
//! the same for every number of workers: the first fault in the order of the files.
//!
//! A further format is one more file here that implements `work::Reader`, one more [`Format`] and
//! one more `file::Kind`.
//!
//! A [`VertexTable`] is a file with a row for each vertex that an option of a run is about, read by the same
//! code.

mod bad_rows;
mod chunk;
mod columns;
mod comments;
mod file;
mod folder;
mod pairs;
mod parquet;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod vertex_parquet;
mod vertex_table;
mod work;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use tegula_machine::Result;
use tegula_machine::threads::{Cancel, Progress};

pub use bad_rows::BadRows;
pub use chunk::{EdgeChunk, Ends, Span, StringColumn};
pub use columns::{ColumnChoice, ColumnsTaken};
pub use comments::Comments;
use file::InputFile;
use stream::Stream;
pub use vertex_table::{Presence, VALUES_MAX, ValueColumn, VertexColumns, VertexRow, VertexTable};

/// The layout of an input file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// By the file's ending, then by its content.
    #[default]
    Auto,
    /// Lines of `source target [weight]`, separated by blanks, tabs, commas or semicolons; a first
    /// line with the usual names of columns is a header.
    Text,
    /// Text separated by commas (or semicolons), whose first line may name the columns.
    Csv,
    /// Text separated by tabs, whose first line may name the columns.
    Tsv,
    /// Little-endian 32-bit `source, target` pairs, each followed by an `f32` when weighted.
    Pairs32,
    /// Little-endian 64-bit `source, target` pairs, each followed by an `f32` when weighted.
    Pairs64,
    /// An Apache Parquet table.
    Parquet,
}

impl Format {
    /// Every format under the name that a user gives it.
    pub const NAMES: [(&'static str, Format); 7] = [
        ("auto", Format::Auto),
        ("text", Format::Text),
        ("csv", Format::Csv),
        ("tsv", Format::Tsv),
        ("bin32", Format::Pairs32),
        ("bin64", Format::Pairs64),
        ("parquet", Format::Parquet),
    ];

    /// What the ending of a file's name says, without a dot and in lower case.
    fn of_ending(ending: &str) -> Option<Format> {
        match ending {
            "txt" | "el" | "wel" => Some(Format::Text),
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "bin32" => Some(Format::Pairs32),
            "bin64" => Some(Format::Pairs64),
            "parquet" | "pq" => Some(Format::Parquet),
            _ => None,
        }
    }
}

impl FromStr for Format {
    type Err = String;

    /// One of the names; or an ending, for those who think of it as the name.
    fn from_str(name: &str) -> Result<Format, String> {
        let known = Format::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, format)| format).or_else(|| Format::of_ending(name)).ok_or_else(|| {
            let names = Format::NAMES.map(|(name, _)| name).join(", ");
            format!("unknown format `{name}`; there are {names}")
        })
    }
}

/// What the vertex ids of an input are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdKind {
    /// Integers if the first edge's ids are unsigned 64-bit integers, else strings.
    #[default]
    Auto,
    /// Unsigned 64-bit integers.
    Integer,
    /// UTF-8 strings.
    String,
}

/// The width of the ids in a file of raw pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairWidth {
    /// 32-bit ids.
    Bits32,
    /// 64-bit ids.
    Bits64,
}

/// What separates the columns of a text: one byte, or any run of blanks and tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(u8);

impl Delimiter {
    /// The byte that separates; a blank stands for any run of blanks and tabs.
    pub fn byte(self) -> u8 {
        self.0
    }
}

impl FromStr for Delimiter {
    type Err = String;

    /// A character of ASCII that is no part of a number or a word, or `tab`, or `blank`.
    fn from_str(text: &str) -> Result<Delimiter, String> {
        let byte = match text {
            "tab" | "\\t" => b'\t',
            "blank" | "space" => b' ',
            _ => match text.as_bytes() {
                &[byte] => byte,
                _ => return Err(format!("`{text}` is not one character; also: tab, blank")),
            },
        };
        let is_taken = b"\0\r\n\"'#%+-._".contains(&byte);
        if is_taken || byte.is_ascii_alphanumeric() || !byte.is_ascii() {
            return Err(format!("`{}` cannot separate columns", text.escape_debug()));
        }
        Ok(Delimiter(byte))
    }
}

/// How an input is to be read.
#[derive(Debug, Clone)]
pub struct InputOptions {
    /// The format of all files.
    pub format: Format,
    /// Whether every edge has a weight that is wanted.
    pub weighted: bool,
    /// What the ids are.
    pub ids: IdKind,
    /// The column of sources; by default that of a usual name, or the first one.
    pub source_column: Option<ColumnChoice>,
    /// The column of targets; by default that of a usual name, or the second one.
    pub target_column: Option<ColumnChoice>,
    /// The column of weights; by default that of a usual name, or the third one.
    pub weight_column: Option<ColumnChoice>,
    /// What separates the columns of a text; by default what its first lines tell.
    pub delimiter: Option<Delimiter>,
    /// How many lines of text that cannot be understood are passed over, at most.
    pub bad_rows_max: u64,
    /// Whether the first line of a text is an edge whatever it looks like.
    pub no_header: bool,
    /// How many workers read at once, at most.
    pub threads: usize,
    /// Bytes that the readers may hold at once, all workers together.
    pub memory: u64,
    /// Ends the waiting for a pipe or a terminal on which nothing comes.
    pub cancel: Cancel,
}

impl InputOptions {
    /// Bytes that the readers may hold unless told otherwise.
    pub const MEMORY_DEFAULT: u64 = 64 << 20;

    /// The base-2 logarithm of the largest window of zstd that is read: half of what a worker has.
    pub(super) fn window_log_max(&self) -> u32 {
        let window = self.memory / (2 * self.threads.max(1) as u64);
        window.max(1).ilog2().clamp(Stream::WINDOW_LOG_USUAL, Stream::WINDOW_LOG_MAX)
    }
}

impl Default for InputOptions {
    fn default() -> InputOptions {
        InputOptions {
            format: Format::Auto,
            weighted: false,
            ids: IdKind::Auto,
            source_column: None,
            target_column: None,
            weight_column: None,
            delimiter: None,
            bad_rows_max: 0,
            no_header: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: InputOptions::MEMORY_DEFAULT,
            cancel: Cancel::default(),
        }
    }
}

/// What was read and is no edge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Rows that could not be understood.
    pub bad_rows: BadRows,
    /// Comments that may have been meant as edges.
    pub comments: Comments,
}

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
    pub fn warnings(&self) -> Vec<String> {
        let mut found: Vec<(&str, &Path, u64)> = Vec::new();
        for (file, remark) in
            self.files.iter().flat_map(|file| file.remarks().iter().map(move |text| (file, text)))
        {
            match found.iter_mut().find(|(known, ..)| known == remark) {
                Some((_, _, others)) => *others += 1,
                None => found.push((remark, file.path(), 0)),
            }
        }
        let in_words = |&(remark, first, others): &(&str, &Path, u64)| {
            let others = match others {
                0 => String::new(),
                1 => " and 1 other file".to_owned(),
                more => format!(" and {more} other files"),
            };
            format!("{}{others}: {remark}", first.display())
        };
        found.iter().map(in_words).chain(self.mixed_ids()).collect()
    }

    /// That the ids are strings, where they would not be without some of the files.
    fn mixed_ids(&self) -> Option<String> {
        let first = |ids| self.files.iter().find(|file| file.ids() == Some(ids));
        let strings = first(IdKind::String).filter(|_| self.options.ids == IdKind::Auto)?;
        let integers = first(IdKind::Integer)?;
        Some(format!(
            "the ids are strings because of {}; those in {} are integers",
            strings.path().display(),
            integers.path().display()
        ))
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
        let sizes = work::Sizes::within(&self.options, &self.files);
        self.read_sized(sizes, progress, cancel, sink)
    }

    fn read_sized(
        &self,
        sizes: work::Sizes,
        progress: &dyn Progress,
        cancel: &Cancel,
        sink: &(dyn Fn(EdgeChunk<'_>) -> Result<()> + Sync),
    ) -> Result<PassedOver> {
        let weighted = self.weighted();
        let bad_rows_max = self.options.bad_rows_max;
        let emit =
            work::Emit { sizes, weighted, ids: self.ids, bad_rows_max, progress, cancel, sink };
        progress.begin("reading edges", self.total_bytes(), tegula_machine::threads::Unit::Bytes);
        let result = work::read_all(&self.files, &emit);
        progress.end();
        result
    }
}
