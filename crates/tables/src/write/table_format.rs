//! The formats of tables, and the endings of files that select them.

/// Separator of `.csv`.
pub const COMMA: u8 = b',';
/// Separator of `.tsv`.
pub const TAB: u8 = b'\t';
/// Separator of `.el`.
pub const BLANK: u8 = b' ';

/// The formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Lines, separated by commas.
    Csv,
    /// Lines, separated by tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// An Apache Arrow stream.
    Arrow,
    /// A NumPy array.
    Npy,
    /// Lines of edges: ends separated by blanks, no header.
    EdgeList,
    /// Edges as pairs of 64-bit integers, each followed by a 32-bit float if there are weights.
    Pairs64,
}

impl TableFormat {
    /// Returns the name by which every face offers it.
    pub fn name(self) -> &'static str {
        match self {
            TableFormat::Csv => "csv",
            TableFormat::Tsv => "tsv",
            TableFormat::Parquet => "parquet",
            TableFormat::Arrow => "arrow",
            TableFormat::Npy => "npy",
            TableFormat::EdgeList => "el",
            TableFormat::Pairs64 => "bin64",
        }
    }

    /// Says what it is, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            TableFormat::Csv => "Lines, separated by commas",
            TableFormat::Tsv => "Lines, separated by tabs",
            TableFormat::Parquet => "Apache Parquet",
            TableFormat::Arrow => "An Apache Arrow stream",
            TableFormat::Npy => "A NumPy array",
            TableFormat::EdgeList => "Lines of edges, separated by blanks",
            TableFormat::Pairs64 => "Edges as pairs of 64-bit integers",
        }
    }

    /// Returns the format for an ending, without its dot.
    pub fn of_ending(ending: &str) -> Option<TableFormat> {
        match ending {
            "csv" => Some(TableFormat::Csv),
            "tsv" => Some(TableFormat::Tsv),
            "parquet" => Some(TableFormat::Parquet),
            // `.arrow` is the ending of Arrow's file format, which is another one.
            "arrows" => Some(TableFormat::Arrow),
            "npy" => Some(TableFormat::Npy),
            _ => None,
        }
    }

    /// Returns the format for the ending of a table of edges, which an import can read.
    pub fn of_ending_of_edges(ending: &str) -> Option<TableFormat> {
        match ending {
            "el" | "wel" | "txt" => Some(TableFormat::EdgeList),
            "bin64" => Some(TableFormat::Pairs64),
            "npy" => None,
            _ => TableFormat::of_ending(ending),
        }
    }

    /// Returns what separates the cells, for formats of text.
    pub fn separator(self) -> Option<u8> {
        match self {
            TableFormat::Csv => Some(COMMA),
            TableFormat::Tsv => Some(TAB),
            TableFormat::EdgeList => Some(BLANK),
            TableFormat::Parquet | TableFormat::Arrow => None,
            TableFormat::Npy | TableFormat::Pairs64 => None,
        }
    }

    /// Whether it is text.
    pub fn is_text(self) -> bool {
        self.separator().is_some()
    }

    /// Whether it can hold strings.
    pub fn holds_strings(self) -> bool {
        match self {
            TableFormat::Csv | TableFormat::Tsv => true,
            TableFormat::Parquet | TableFormat::Arrow => true,
            TableFormat::Npy | TableFormat::EdgeList | TableFormat::Pairs64 => false,
        }
    }
}
