//! How an input is to be read.

use std::str::FromStr;

use tegula_machine::threads::Cancel;

use super::columns::ColumnChoice;
use super::stream::Stream;

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
    /// Matrix Market: a text with the coordinates of the entries of a matrix.
    MatrixMarket,
    /// DIMACS: a text whose lines begin with a letter.
    Dimacs,
    /// METIS: a text with a list of neighbours for each vertex.
    Metis,
    /// The serialized graphs of the GAP Benchmark Suite.
    Gapbs,
    /// LDBC Graphalytics: properties that name a list of vertices and a text with edges.
    Graphalytics,
    /// BVGraphs of WebGraph: lists of neighbours, and their properties beside them.
    BvGraph,
    /// GraphML, a form of XML.
    GraphMl,
    /// GEXF, a form of XML.
    Gexf,
    /// Text or Parquet with a row for each vertex, and no edges.
    Vertices,
}

impl Format {
    /// Every format under the name that a user gives it.
    pub const NAMES: [(&'static str, Format); 16] = [
        ("auto", Format::Auto),
        ("text", Format::Text),
        ("csv", Format::Csv),
        ("tsv", Format::Tsv),
        ("bin32", Format::Pairs32),
        ("bin64", Format::Pairs64),
        ("parquet", Format::Parquet),
        ("matrix-market", Format::MatrixMarket),
        ("dimacs", Format::Dimacs),
        ("metis", Format::Metis),
        ("gapbs", Format::Gapbs),
        ("graphalytics", Format::Graphalytics),
        ("bvgraph", Format::BvGraph),
        ("graphml", Format::GraphMl),
        ("gexf", Format::Gexf),
        ("vertices", Format::Vertices),
    ];

    /// Whether files of it are lines of text, which may be a stream and may be compressed.
    pub(super) fn is_text(self) -> bool {
        match self {
            Format::Text | Format::Csv | Format::Tsv | Format::Auto => true,
            Format::MatrixMarket | Format::Dimacs | Format::Metis => true,
            Format::Pairs32 | Format::Pairs64 | Format::Parquet => false,
            Format::Gapbs | Format::Graphalytics | Format::BvGraph | Format::Vertices => false,
            Format::GraphMl | Format::Gexf => false,
        }
    }

    /// Whether files of it may be compressed.
    pub(super) fn may_be_compressed(self) -> bool {
        self.is_text() || matches!(self, Format::Vertices | Format::GraphMl | Format::Gexf)
    }

    /// What the ending of a file's name says, without a dot and in lower case.
    pub(super) fn of_ending(ending: &str) -> Option<Format> {
        match ending {
            "txt" | "el" | "wel" | "e" => Some(Format::Text),
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            "bin32" => Some(Format::Pairs32),
            "bin64" => Some(Format::Pairs64),
            "parquet" | "pq" => Some(Format::Parquet),
            "mtx" => Some(Format::MatrixMarket),
            "gr" => Some(Format::Dimacs),
            "graph" | "metis" => Some(Format::Metis),
            "sg" | "wsg" => Some(Format::Gapbs),
            "properties" => Some(Format::Graphalytics),
            "graphml" => Some(Format::GraphMl),
            "gexf" => Some(Format::Gexf),
            "v" => Some(Format::Vertices),
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
    /// The column of weights, where they are wanted; by default that of a usual name, or the third one.
    pub weight_column: Option<ColumnChoice>,
    /// What separates the columns of a text; by default what its first lines tell.
    pub delimiter: Option<Delimiter>,
    /// How many lines of text that cannot be understood are passed over, at most.
    pub skip_bad_rows: u64,
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
            skip_bad_rows: 0,
            no_header: false,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            memory: InputOptions::MEMORY_DEFAULT,
            cancel: Cancel::default(),
        }
    }
}
