//! The formats of results, and the endings that select them.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use tegula_tables::TableFormat;

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

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Format::Table(format) => format.name(),
            Format::Graph(GraphFormat::GraphMl) => "graphml",
            Format::Graph(GraphFormat::Gexf) => "gexf",
            Format::Graph(GraphFormat::Dot) => "dot",
        }
    }

    /// Returns the ending of the files, without its dot.
    pub fn ending(self) -> &'static str {
        match self {
            // The ending `.arrow` belongs to another format.
            Format::Table(TableFormat::Arrow) => "arrows",
            other => other.name(),
        }
    }

    /// Whether it is text.
    pub fn is_text(self) -> bool {
        match self {
            Format::Table(format) => format.is_text(),
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
            Format::Table(format) => Some(PossibleValue::new(format.name()).help(format.summary())),
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
