//! An algorithm in words: for its page, for help, and for programs.

use serde_json::{Value, json};

use super::family::Family;

/// Describes an algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Description {
    /// The kind of question that it answers.
    pub family: Family,
    /// What it finds, in a sentence without its full stop.
    pub summary: &'static str,
    /// The columns of its table, in their order.
    pub columns: &'static [Column],
    /// The memory that a run takes beside the graph and the overhead of a process.
    pub memory: &'static str,
    /// The publication that defines what it computes or how, if there is one.
    pub source: Option<&'static str>,
    /// The options of a small run, as a JSON object.
    pub example: &'static str,
}

/// A column of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name; a number follows if it [repeats](Column::repeats).
    pub name: &'static str,
    /// The type of its cells.
    pub kind: ColumnType,
    /// What a cell says.
    pub about: &'static str,
    /// When an answer has this column; `None` if always.
    pub when: Option<&'static str>,
    /// Whether there is one for each number from 0, with the number behind the name.
    pub repeats: bool,
}

/// The type of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// The id of a vertex as in the edge list: an integer or a text, depending on the graph.
    Id,
    /// The name of a set: an integer or a text, depending on the table of sets.
    Name,
    /// An integer of at least 0.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
}

impl ColumnType {
    /// Returns the word for it, on pages and in schemas.
    pub fn word(self) -> &'static str {
        match self {
            ColumnType::Id => "id",
            ColumnType::Name => "name",
            ColumnType::Integer => "integer",
            ColumnType::Number => "number",
            ColumnType::Boolean => "boolean",
        }
    }
}

impl Column {
    /// The first column of answers that have a row for each vertex.
    pub const VERTEX: Column = Column::id("vertex", "the vertex");

    /// A column of ids.
    pub const fn id(name: &'static str, about: &'static str) -> Column {
        Column { name, kind: ColumnType::Id, about, when: None, repeats: false }
    }

    /// A column of integers.
    pub const fn integer(name: &'static str, about: &'static str) -> Column {
        Column { kind: ColumnType::Integer, ..Column::id(name, about) }
    }

    /// A column of numbers.
    pub const fn number(name: &'static str, about: &'static str) -> Column {
        Column { kind: ColumnType::Number, ..Column::id(name, about) }
    }

    /// The same column with cells of another type.
    #[must_use]
    pub const fn of_type(self, kind: ColumnType) -> Column {
        Column { kind, ..self }
    }

    /// The same column where an answer has it under a condition only.
    #[must_use]
    pub const fn when(self, when: &'static str) -> Column {
        Column { when: Some(when), ..self }
    }

    /// The same column where there are several, told apart by a number.
    #[must_use]
    pub const fn repeated(self) -> Column {
        Column { repeats: true, ..self }
    }

    /// Describes the column to a program.
    pub(super) fn to_json(self) -> Value {
        let Column { name, kind, about, when, repeats } = self;
        json!({ "name": name, "type": kind.word(), "about": about, "when": when, "repeats": repeats })
    }
}
