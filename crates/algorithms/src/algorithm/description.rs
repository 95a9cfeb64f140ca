//! What documentation and other programs are told of an algorithm.

use serde::Serialize;

use super::family::Family;

/// An algorithm in words, for pages, help and schemas.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Description {
    /// What kind of question it answers.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name. Where it [repeats](Column::repeats) a number follows, from 0.
    pub name: &'static str,
    /// The type of its cells.
    #[serde(rename = "type")]
    pub kind: ColumnType,
    /// What a cell says.
    pub about: &'static str,
    /// When there is such a column, if not always.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<&'static str>,
    /// Whether there may be several, with a number behind the name.
    pub repeats: bool,
}

/// The type of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnType {
    /// The id of a vertex as the edge list has it: an integer or a text, as the graph has.
    Id,
    /// The name of a set: an integer or a text, as the table of sets has.
    Name,
    /// An integer of at least 0.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
}

impl ColumnType {
    /// The word for it on pages.
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

    /// Whether this describes a column with that name.
    pub fn is_called(&self, name: &str) -> bool {
        match name.strip_prefix(self.name) {
            Some("") => !self.repeats,
            Some(number) => self.repeats && number.bytes().all(|byte| byte.is_ascii_digit()),
            None => false,
        }
    }
}
