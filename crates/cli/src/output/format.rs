//! The formats of results, and the endings that tell them.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::text::{BLANK, COMMA, TAB};

/// The endings of files to which edges are written.
pub const EDGE_ENDINGS: &str = ".el, .wel, .txt, .csv, .tsv, .parquet, .bin64, .arrows, .graphml, .gexf, .dot, or \
                                .el.gz, .csv.zst, ..";

/// A format that `--format` names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Of a table.
    Table(TableFormat),
    /// Of a graph.
    Graph(GraphFormat),
}

impl Format {
    /// By the ending of a file to which edges are written, without its dot.
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

/// The formats of graphs that programs draw.
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
    /// Lines with commas.
    Csv,
    /// Lines with tabs.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// A stream of Apache Arrow.
    Arrow,
    /// An array of NumPy.
    Npy,
    /// Lines of edges: blanks between the ends, and no header.
    #[value(skip)]
    EdgeList,
    /// Edges as pairs of 64-bit integers, with a 32-bit float behind each where there are weights.
    #[value(skip)]
    Pairs64,
}

impl TableFormat {
    /// By the ending of a name, without its dot.
    pub fn of_ending(ending: &str) -> Option<TableFormat> {
        match ending {
            "csv" => Some(TableFormat::Csv),
            "tsv" => Some(TableFormat::Tsv),
            "parquet" => Some(TableFormat::Parquet),
            // `.arrow` is the ending of Arrow's other format, that of files.
            "arrows" => Some(TableFormat::Arrow),
            "npy" => Some(TableFormat::Npy),
            _ => None,
        }
    }

    /// By the ending of a table of edges, which `tegula import` reads.
    fn of_ending_of_edges(ending: &str) -> Option<TableFormat> {
        match ending {
            "el" | "wel" | "txt" => Some(TableFormat::EdgeList),
            "bin64" => Some(TableFormat::Pairs64),
            "npy" => None,
            _ => TableFormat::of_ending(ending),
        }
    }

    /// What separates the cells of text.
    pub fn separator(self) -> Option<u8> {
        match self {
            TableFormat::Csv => Some(COMMA),
            TableFormat::Tsv => Some(TAB),
            TableFormat::EdgeList => Some(BLANK),
            TableFormat::Parquet | TableFormat::Arrow => None,
            TableFormat::Npy | TableFormat::Pairs64 => None,
        }
    }

    /// Whether it has a place for strings.
    pub fn holds_strings(self) -> bool {
        match self {
            TableFormat::Csv | TableFormat::Tsv => true,
            TableFormat::Parquet | TableFormat::Arrow => true,
            TableFormat::Npy | TableFormat::EdgeList | TableFormat::Pairs64 => false,
        }
    }
}
