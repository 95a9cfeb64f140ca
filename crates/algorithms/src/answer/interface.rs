//! What every answer can do, and its summary.

use std::fmt::Display;

use erased_serde::serialize_trait_object;
use tegula_engine::{Cancel, Graph};
use tegula_store::Diagnostic;

use super::table::Table;
use crate::error::Result;

/// Vertices between two checks for cancellation.
pub(crate) const CHUNK: usize = 1 << 20;

/// What an algorithm found: a table, and a summary of all of it.
pub trait Answer: Table + Send + Sync {
    /// Sums up the answer. The list has at most `top` entries.
    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Box<dyn Summary>>;

    /// Returns a table with a row for each vertex, if the rows are the edges of a graph.
    fn vertices(&self) -> Option<&dyn Table> {
        None
    }

    /// Warns if the run found less than was asked for.
    fn warning(&self) -> Option<Diagnostic> {
        None
    }
}

/// The summary of an answer: in serialized form for programs, as facts and a list for people.
pub trait Summary: erased_serde::Serialize {
    /// Returns the figures for people.
    fn facts(&self) -> Facts;

    /// Returns the entries for people.
    fn list(&self) -> List;
}

serialize_trait_object!(Summary);

/// Names and values. Both may hold names of vertices and sets from the graph, so a face that shows
/// them must escape them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts(Vec<(&'static str, String)>);

impl Facts {
    /// Adds a fact.
    pub fn add(&mut self, name: &'static str, value: impl Into<String>) {
        self.0.push((name, value.into()));
    }

    /// Adds further facts.
    pub fn extend(&mut self, facts: Facts) {
        self.0.extend(facts);
    }
}

impl IntoIterator for Facts {
    type Item = (&'static str, String);
    type IntoIter = std::vec::IntoIter<(&'static str, String)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// A short table for people; all cells are text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The names of the columns.
    pub header: Vec<&'static str>,
    /// The cells of each row, one for each column.
    pub rows: Vec<Vec<String>>,
}

impl List {
    /// Makes a table with these columns and no rows.
    pub fn new<const N: usize>(header: [&'static str; N]) -> List {
        List { header: header.into(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn add<const N: usize>(&mut self, row: [&dyn Display; N]) {
        assert_eq!(N, self.header.len(), "a cell for each column");
        self.rows.push(row.iter().map(|cell| cell.to_string()).collect());
    }
}
