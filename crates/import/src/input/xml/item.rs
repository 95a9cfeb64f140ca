//! What an element says about the graph, in terms that all forms of XML share.

use std::borrow::Cow;

use tegula_store::Diagnostic;
use tegula_tables::read::XmlForm;

use super::counts::Counts;
use super::document::Element;
use super::{gexf, graphml};

/// Interprets an element of a form. The error says what is wrong with the element.
pub(super) fn interpret<'a>(
    form: XmlForm,
    element: &'a Element<'_>,
) -> Result<Item<'a>, Diagnostic> {
    match form {
        XmlForm::GraphMl => graphml::interpret(element),
        XmlForm::Gexf => gexf::interpret(element),
    }
}

/// What one element says.
pub(super) enum Item<'a> {
    /// A graph begins. `direction` applies to edges without their own.
    Graph { direction: Direction, counts: Counts },
    /// A list of nodes or of edges begins.
    List(Counts),
    /// Columns follow, of edges or of nodes.
    Columns { are_of_edges: bool },
    /// A column: the id by which values refer to it, and its name. Its default may be within.
    Column { id: Cow<'a, str>, name: Cow<'a, str> },
    /// A vertex.
    Node { id: Cow<'a, str> },
    /// An edge, with its own weight if the form has one.
    Edge {
        source: Cow<'a, str>,
        target: Cow<'a, str>,
        direction: Option<Direction>,
        weight: Option<Cow<'a, str>>,
    },
    /// The value in a column; `None` if it is the text within.
    Value { column: Cow<'a, str>, value: Option<Cow<'a, str>> },
    /// An element that is not read.
    Nothing,
}

/// The direction of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// From the source to the target.
    Directed,
    /// Both ways, as one edge.
    Undirected,
    /// Both ways, as two edges of a directed graph.
    Mutual,
}

impl Direction {
    /// Whether it is both ways, as one edge.
    pub fn is_undirected(self) -> bool {
        self == Direction::Undirected
    }

    /// The error for an unknown direction.
    pub fn unknown(attribute: &str, text: &str) -> Diagnostic {
        format!("`{attribute}` is `{}`, not a known direction", text.escape_debug()).into()
    }
}

/// The error for an element that lacks an attribute.
pub(super) fn missing(element: &str, attribute: &str) -> Diagnostic {
    format!("the element `{element}` has no `{attribute}`").into()
}

/// Refuses an id that cannot be the name of a vertex.
pub(super) fn check_name(id: &str) -> Result<(), Diagnostic> {
    match id {
        "" => Err("an id is empty".into()),
        id if id.contains('\0') => Err("an id has a NUL byte; this is not text".into()),
        _ => Ok(()),
    }
}
