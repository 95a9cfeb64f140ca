//! The formats of results, and the endings that select them.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::text::{BLANK, COMMA, TAB};

/// The endings of files that hold edges.
pub const EDGE_ENDINGS: &str = ".el, .wel, .txt, .csv, .tsv, .parquet, .bin64, .arrows, .graphml, .gexf, .dot, or \
                                .el.gz, .csv.zst, ..";

/// A format that `--format` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A format of tables.
    Table(TableFormat),
    /// A format of graphs.
    Graph(GraphFormat),
}

impl Format {
    /// Returns the format for an ending (without its dot) of a file of edges.
    pub fn of_ending_of_edges(ending: &str) -> Option<Format> {
        let table = TableFormat::of_ending_of_edges(ending).map(Format::Table);
        table.or_else(|| GraphFormat::of_ending(ending).map(Format::Graph))
    }

    /// Whether it is text.
    pub fn is_text(self) -> bool {
        match self {
            Format::Table(format) => format.separator().is_some(),
            Format::Graph(_) => true,
        }
    }
}

impl ValueEnum for Format {
    fn value_variants<'a>() -> &'a [Format] {
        &[
            Format::Table(TableFormat::Csv),
            Format::Table(TableFormat::Tsv),
            Format::Table(TableFormat::Parquet),
            Format::Table(TableFormat::Arrow),
            Format::Table(TableFormat::Npy),
            Format::Graph(GraphFormat::GraphMl),
            Format::Graph(GraphFormat::Gexf),
            Format::Graph(GraphFormat::Dot),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            Format::Table(format) => format.to_possible_value(),
            Format::Graph(format) => format.to_possible_value(),
        }
    }
}

/// The formats of graphs for programs that draw them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// GraphML: a graph, not a table.
    #[value(name = "graphml")]
    GraphMl,
    /// GEXF 1.3, the format of Gephi: a graph, not a table.
    Gexf,
    /// DOT, the format of Graphviz: a graph, not a table.
    Dot,
}

impl GraphFormat {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            GraphFormat::GraphMl => "GraphML",
            GraphFormat::Gexf => "GEXF",
            GraphFormat::Dot => "DOT",
        }
    }

    fn of_ending(ending: &str) -> Option<GraphFormat> {
        match ending {
            "graphml" => Some(GraphFormat::GraphMl),
            "gexf" => Some(GraphFormat::Gexf),
            "dot" | "gv" => Some(GraphFormat::Dot),
            _ => None,
        }
    }
}

/// The formats of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
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
    #[value(skip)]
    EdgeList,
    /// Edges as pairs of 64-bit integers, each followed by a 32-bit float if there are weights.
    #[value(skip)]
    Pairs64,
}

impl TableFormat {
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

    /// Returns the format for the ending of a table of edges, which `tegula import` can read.
    fn of_ending_of_edges(ending: &str) -> Option<TableFormat> {
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

    /// Whether it can hold strings.
    pub fn holds_strings(self) -> bool {
        match self {
            TableFormat::Csv | TableFormat::Tsv => true,
            TableFormat::Parquet | TableFormat::Arrow => true,
            TableFormat::Npy | TableFormat::EdgeList | TableFormat::Pairs64 => false,
        }
    }
}
