//! What the elements of a document tell of its graph, whatever the form.

use std::borrow::Cow;

use tegula_machine::Diagnostic;

use super::super::xml_form::XmlForm;
use super::counts::Counts;
use super::document::Element;
use super::{gexf, graphml};

/// What an element tells in a form.
///
/// # Errors
/// What is wrong with it.
pub(super) fn told<'a>(form: XmlForm, element: &'a Element<'_>) -> Result<Told<'a>, Diagnostic> {
    match form {
        XmlForm::GraphMl => graphml::told(element),
        XmlForm::Gexf => gexf::told(element),
    }
}

/// What one element tells.
pub(super) enum Told<'a> {
    /// A graph begins, whose edges lead so unless they tell.
    Graph { direction: Direction, counts: Counts },
    /// A list of nodes or of edges begins.
    List(Counts),
    /// Whether the columns that follow are of edges.
    Columns { are_of_edges: bool },
    /// There is a column: how values refer to it, and its name. A value that is not there may be within.
    Column { id: Cow<'a, str>, name: Cow<'a, str> },
    /// A vertex.
    Node { id: Cow<'a, str> },
    /// An edge, with a weight of its own where the form has it.
    Edge {
        source: Cow<'a, str>,
        target: Cow<'a, str>,
        direction: Option<Direction>,
        weight: Option<Cow<'a, str>>,
    },
    /// What stands in a column: here, or in the text within.
    Value { column: Cow<'a, str>, value: Option<Cow<'a, str>> },
    /// Nothing that is read.
    Nothing,
}

/// Where edges lead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the source to the target.
    Directed,
    /// Both ways, as one.
    Undirected,
    /// Both ways, as two of a graph whose edges lead one way.
    Mutual,
}

impl Direction {
    /// Whether an edge is one both ways.
    pub fn is_undirected(self) -> bool {
        self == Direction::Undirected
    }

    /// That there is no direction of this name.
    pub fn unknown(attribute: &str, text: &str) -> Diagnostic {
        format!("`{attribute}` is `{}`, no direction that is known", text.escape_debug()).into()
    }
}

/// That an element lacks an attribute.
pub(super) fn missing(element: &str, attribute: &str) -> Diagnostic {
    format!("the element `{element}` has no `{attribute}`").into()
}

/// Refuses an id that is no name of a vertex.
pub(super) fn check_name(id: &str) -> Result<(), Diagnostic> {
    match id {
        "" => Err("an id is empty".into()),
        id if id.contains('\0') => Err("an id has a NUL byte; this is not text".into()),
        _ => Ok(()),
    }
}
