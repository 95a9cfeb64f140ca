//! The options of an import, as Python gives them.

use std::path::PathBuf;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::{Map, Value};
use tegula_import::input::{ColumnChoice, Delimiter, Format, IdKind, InputOptions, Vertices};
use tegula_import::{Combine, ImportConfig};
use tegula_store::graph::VertexOrder;
use tegula_store::rows::RowEncoding;

use crate::failure::{Failure, Result};

/// The options of an import; those that are left out have the defaults of the command.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    format: Option<String>,
    ids: Ids,
    undirected: bool,
    weighted: bool,
    drop_duplicates: bool,
    combine: Option<CombineChoice>,
    drop_loops: bool,
    allow_empty: bool,
    source_column: Option<Column>,
    target_column: Option<Column>,
    weight_column: Option<Column>,
    no_header: bool,
    delimiter: Option<String>,
    skip_bad_rows: u64,
    vertices: Option<VerticesChoice>,
    order: Order,
    layouts: Vec<Layout>,
    row_encoding: Option<RowEncoding>,
    spill_directory: Option<PathBuf>,
    force: bool,
}

/// The kind of vertex ids.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Ids {
    #[default]
    Auto,
    Integer,
    String,
}

/// The weight of the edge that replaces several.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum CombineChoice {
    Sum,
    Min,
    Max,
}

/// A column by its name, or by its position from 1.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a column is a name, or a position from 1")]
enum Column {
    Position(usize),
    Name(String),
}

/// How vertices are numbered.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Order {
    #[default]
    Auto,
    Given,
    Degree,
    Dfs,
}

/// How edges are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Layout {
    Tiles,
    Rows,
    Reverse,
}

/// Which vertices there are.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "vertices is a number of at least 0, or the path of a file")]
enum VerticesChoice {
    Count(u64),
    Listed(PathBuf),
}

impl Settings {
    /// Reads them from a JSON object.
    ///
    /// # Errors
    /// [`Failure`] for an unknown option and for a value of the wrong type.
    pub fn parse(text: &str) -> Result<Settings> {
        let options: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| Failure::usage(error.to_string()))?;
        let parse = |options: Map<String, Value>| Settings::deserialize(Value::Object(options));
        parse(options.clone()).map_err(|error| {
            let problem = error.to_string();
            // The option without which there is no such error.
            let is_culprit = |name: &&String| {
                let mut others = options.clone();
                others.remove(*name);
                parse(others).map_or_else(|other| other.to_string() != problem, |_| true)
            };
            let culprit = options.keys().find(is_culprit).map_or("options", String::as_str);
            Failure::usage(format!("{culprit}: {problem}"))
        })
    }

    /// Returns the encoding of `layout`, a layout of rows, if it is to be built. An encoding
    /// without a layout asks for rows.
    fn rows(&self, layout: Layout) -> Option<RowEncoding> {
        let asks_for = |layout| self.layouts.contains(&layout);
        let is_alone = self.row_encoding.is_some() && !asks_for(Layout::Reverse);
        let is_wanted = asks_for(layout) || layout == Layout::Rows && is_alone;
        is_wanted.then(|| self.row_encoding.unwrap_or_default())
    }

    /// Refuses options that contradict each other.
    fn check(&self) -> Result<()> {
        let columns = [&self.source_column, &self.target_column, &self.weight_column];
        let has = |is_so: fn(&Column) -> bool| columns.into_iter().flatten().any(is_so);
        let message = if has(|column| matches!(column, Column::Position(0))) {
            "columns are counted from 1"
        } else if self.no_header && has(|column| matches!(column, Column::Name(_))) {
            "no_header=True says that the columns have no names; choose them by their positions, from 1"
        } else if self.combine.is_some() && !self.weighted {
            "combine= needs weighted=True"
        } else if self.combine.is_some() && self.drop_duplicates {
            "combine= and drop_duplicates=True exclude each other"
        } else if self.weight_column.is_some() && !self.weighted {
            "weight_column= needs weighted=True"
        } else {
            return Ok(());
        };
        Err(Failure::usage(message))
    }

    /// Returns the configuration of the import.
    ///
    /// # Errors
    /// [`Failure`] for values that are unknown, and for options that contradict each other.
    pub fn config(self, memory: u64, threads: usize) -> Result<ImportConfig> {
        self.check()?;
        let (rows, reverse) = (self.rows(Layout::Rows), self.rows(Layout::Reverse));
        let combine = self.combine.map(|combine| match combine {
            CombineChoice::Sum => Combine::Sum,
            CombineChoice::Min => Combine::Min,
            CombineChoice::Max => Combine::Max,
        });
        Ok(ImportConfig {
            input: InputOptions {
                format: parsed(self.format, "format")?.unwrap_or(Format::Auto),
                weighted: self.weighted,
                ids: match self.ids {
                    Ids::Auto => IdKind::Auto,
                    Ids::Integer => IdKind::Integer,
                    Ids::String => IdKind::String,
                },
                source_column: self.source_column.map(choice),
                target_column: self.target_column.map(choice),
                weight_column: self.weight_column.map(choice),
                delimiter: parsed::<Delimiter>(self.delimiter, "delimiter")?,
                skip_bad_rows: self.skip_bad_rows,
                no_header: self.no_header,
                ..InputOptions::default()
            },
            undirected: self.undirected,
            drop_duplicates: combine.or(self.drop_duplicates.then_some(Combine::Min)),
            drop_loops: self.drop_loops,
            allow_empty: self.allow_empty,
            rows,
            reverse,
            vertices: self.vertices.map(|vertices| match vertices {
                VerticesChoice::Count(count) => Vertices::Count(count),
                VerticesChoice::Listed(path) => Vertices::Listed(path),
            }),
            order: match self.order {
                Order::Auto => None,
                Order::Given => Some(VertexOrder::Given),
                Order::Degree => Some(VertexOrder::Degree),
                Order::Dfs => Some(VertexOrder::Dfs),
            },
            memory,
            threads,
            force: self.force,
            spill_directory: self.spill_directory,
            ..ImportConfig::default()
        })
    }
}

fn choice(column: Column) -> ColumnChoice {
    match column {
        Column::Position(position) => ColumnChoice::Position(position),
        Column::Name(name) => ColumnChoice::Name(name),
    }
}

/// Parses the value of an option, where it is given.
fn parsed<T: FromStr<Err = String>>(text: Option<String>, option: &str) -> Result<Option<T>> {
    let parsed = text.map(|text| text.parse()).transpose();
    parsed.map_err(|problem| Failure::usage(format!("{option}: {problem}")))
}
