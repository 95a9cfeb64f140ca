//! What every answer can do, and what is said of it.

use std::fmt::Display;

use erased_serde::serialize_trait_object;
use tegula_engine::{Cancel, Graph};
use tegula_machine::Diagnostic;

use super::table::Table;
use crate::error::Result;

/// Vertices between two checks for cancellation.
pub(crate) const CHUNK: usize = 1 << 20;

/// What an algorithm found: a table, and what can be said of all of it together.
pub trait Answer: Table + Send {
    /// Sums up; its list has at most `top` entries.
    ///
    /// # Errors
    /// Those of reading ids; cancellation.
    fn summary(&self, graph: &Graph, top: usize, cancel: &Cancel) -> Result<Box<dyn Summary>>;

    /// A row for each vertex, where the rows are the edges of a graph.
    fn vertices(&self) -> Option<&dyn Table> {
        None
    }

    /// What is less than was asked for, although the run was done.
    fn warning(&self) -> Option<Diagnostic> {
        None
    }
}

/// What is said of a whole answer: for programs what is serialized, for people facts and a list.
pub trait Summary: erased_serde::Serialize {
    /// The figures for people.
    fn facts(&self) -> Facts;

    /// The entries for people.
    fn list(&self) -> List;
}

serialize_trait_object!(Summary);

/// Names and values. Both may hold what a graph calls its vertices and sets, which a face that shows them has to
/// escape.
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

/// A short table for people, all cells text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct List {
    /// The names of the columns.
    pub header: Vec<&'static str>,
    /// The cells of each row, as many as there are columns.
    pub rows: Vec<Vec<String>>,
}

impl List {
    /// A table with these columns, and no rows.
    pub fn new<const N: usize>(header: [&'static str; N]) -> List {
        List { header: header.into(), rows: Vec::new() }
    }

    /// Adds a row.
    pub fn add<const N: usize>(&mut self, row: [&dyn Display; N]) {
        assert_eq!(N, self.header.len(), "a cell for each column");
        self.rows.push(row.iter().map(|cell| cell.to_string()).collect());
    }
}
