//! The formats of files that are read: tables, and graphs in other forms.
//!
//! A file of edges in place of a table of vertices is refused by the name of its format. So the
//! names and the endings of all formats are known here; the readers of edges lie above.

use std::str::FromStr;

/// The layout of a file of edges or of vertices.
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
    pub fn is_text(self) -> bool {
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
