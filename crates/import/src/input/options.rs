//! How to read an input.

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
    /// Lines of `source target [weight]`, separated by blanks, tabs, commas or semicolons. A first
    /// line with usual names of columns is a header.
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
    /// Matrix Market: text with the coordinates of a matrix's entries.
    MatrixMarket,
    /// DIMACS: text whose lines begin with a letter.
    Dimacs,
    /// METIS: text with an adjacency list for each vertex.
    Metis,
    /// The serialized graphs of the GAP Benchmark Suite.
    Gapbs,
    /// LDBC Graphalytics: a properties file that names a list of vertices and a text with edges.
    Graphalytics,
    /// BVGraphs of WebGraph: coded adjacency lists with a properties file beside them.
    BvGraph,
    /// GraphML, a form of XML.
    GraphMl,
    /// GEXF, a form of XML.
    Gexf,
    /// Text or Parquet with a row for each vertex, and no edges.
    Vertices,
}

impl Format {
    /// Each format with the name by which users choose it.
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

    /// Whether its files are lines of text, which may be a stream and may be compressed.
    pub(super) fn is_text(self) -> bool {
        match self {
            Format::Text | Format::Csv | Format::Tsv | Format::Auto => true,
            Format::MatrixMarket | Format::Dimacs | Format::Metis => true,
            Format::Pairs32 | Format::Pairs64 | Format::Parquet => false,
            Format::Gapbs | Format::Graphalytics | Format::BvGraph | Format::Vertices => false,
            Format::GraphMl | Format::Gexf => false,
        }
    }

    /// Whether its files may be compressed.
    pub(super) fn may_be_compressed(self) -> bool {
        self.is_text() || matches!(self, Format::Vertices | Format::GraphMl | Format::Gexf)
    }

    /// Returns the format of files with this ending, given in lower case and without the dot.
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

    /// Takes one of the names, or a file ending such as `mtx`.
    fn from_str(name: &str) -> Result<Format, String> {
        let known = Format::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|&(_, format)| format).or_else(|| Format::of_ending(name)).ok_or_else(|| {
            let names = Format::NAMES.map(|(name, _)| name).join(", ");
            format!("unknown format `{name}`; the formats are {names}")
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

/// The width of ids in raw pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairWidth {
    /// 32-bit ids.
    Bits32,
    /// 64-bit ids.
    Bits64,
}

/// The separator of a text's columns: one byte, or any run of blanks and tabs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delimiter(u8);

impl Delimiter {
    /// The separating byte; a blank stands for any run of blanks and tabs.
    pub fn byte(self) -> u8 {
        self.0
    }
}

impl Delimiter {
    /// The delimiter that a first line such as `sep=;` tells spreadsheets; `None` for another line.
    pub(super) fn told_by(line: &[u8]) -> Option<Delimiter> {
        let (key, delimiter) = line.split_at_checked(4)?;
        let delimiter = match delimiter {
            b"\t" => "tab",
            b" " => "blank",
            _ => str::from_utf8(delimiter).ok().filter(|text| text.len() == 1)?,
        };
        key.eq_ignore_ascii_case(b"sep=").then(|| delimiter.parse().ok()).flatten()
    }
}

impl FromStr for Delimiter {
    type Err = String;

    /// Takes `tab`, `blank`, or an ASCII character that is not part of numbers or words.
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

/// How to read an input.
#[derive(Debug, Clone)]
pub struct InputOptions {
    /// The format of all files.
    pub format: Format,
    /// Whether weights are read, which every edge must then have.
    pub weighted: bool,
    /// What the ids are.
    pub ids: IdKind,
    /// The column of sources; by default the one with a usual name, or the first.
    pub source_column: Option<ColumnChoice>,
    /// The column of targets; by default the one with a usual name, or the second.
    pub target_column: Option<ColumnChoice>,
    /// The column of weights, if they are read; by default the one with a usual name, or the third.
    pub weight_column: Option<ColumnChoice>,
    /// The separator of a text's columns; by default found from its first lines.
    pub delimiter: Option<Delimiter>,
    /// The most lines of text that may be skipped because they cannot be understood.
    pub skip_bad_rows: u64,
    /// Whether the first line of a text is an edge even if it looks like a header.
    pub no_header: bool,
    /// The most workers that read at once.
    pub threads: usize,
    /// Bytes that the readers may hold at once, all workers together.
    pub memory: u64,
    /// Ends the wait for a pipe or a terminal that sends nothing.
    pub cancel: Cancel,
}

impl InputOptions {
    /// The default of [`InputOptions::memory`], in bytes.
    pub const MEMORY_DEFAULT: u64 = 64 << 20;

    /// The base-2 logarithm of the largest zstd window that is read: half of a worker's memory, but
    /// at least the usual window.
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
