//! What a format of graph files has to spell, and what it is told of the graph.

use super::kind::Kind;

/// How a format spells a graph: all vertices, then all edges. Every method appends text to `out`.
pub trait Syntax {
    /// Appends what stands before the vertices.
    ///
    /// # Errors
    /// [`Unfit`] for the name of an attribute.
    fn begin(&self, shape: &Shape<'_>, out: &mut Vec<u8>) -> Spelled;

    /// Appends a vertex.
    ///
    /// # Errors
    /// [`Unfit`] for its id or a value.
    fn vertex(&self, shape: &Shape<'_>, vertex: &Vertex<'_>, out: &mut Vec<u8>) -> Spelled;

    /// Appends what stands between the vertices and the edges.
    fn turn_to_edges(&self, _shape: &Shape<'_>, _out: &mut Vec<u8>) {}

    /// Appends an edge.
    ///
    /// # Errors
    /// [`Unfit`] for an id.
    fn edge(&self, shape: &Shape<'_>, edge: &Edge<'_>, out: &mut Vec<u8>) -> Spelled;

    /// Appends what stands after the edges.
    fn end(&self, out: &mut Vec<u8>);
}

/// Whether a text could be spelled.
pub type Spelled = Result<(), Unfit>;

/// A text with a character that a format cannot hold.
#[derive(Debug, PartialEq, Eq)]
pub struct Unfit {
    /// The text.
    pub text: String,
    /// The character.
    pub character: char,
}

/// Facts about the whole graph.
pub struct Shape<'a> {
    /// Whether edges have no direction.
    pub is_undirected: bool,
    /// The number of vertices that follow.
    pub vertex_count: u64,
    /// The number of edges that follow; an undirected edge counts once.
    pub edge_count: u64,
    /// Whether edges have weights.
    pub is_weighted: bool,
    /// The attributes of vertices.
    pub attributes: Vec<Attribute<'a>>,
}

/// An attribute of vertices.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// Its name, which is unique.
    pub name: &'a str,
    /// The kind of its values.
    pub kind: Kind,
}

/// A vertex.
pub struct Vertex<'a> {
    /// Its original id.
    pub id: &'a str,
    /// A value for each attribute of the shape; `None` where the vertex has none.
    pub values: &'a [Option<&'a str>],
}

impl Vertex<'_> {
    /// Returns the values that the vertex has, with the positions of their attributes.
    pub fn present_values(&self) -> impl Iterator<Item = (usize, &str)> {
        self.values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?)))
    }
}

/// An edge.
pub struct Edge<'a> {
    /// The number of edges before it.
    pub number: u64,
    /// The original id of its source.
    pub source: &'a str,
    /// The original id of its target.
    pub target: &'a str,
    /// Its weight, in a graph with weights.
    pub weight: Option<f32>,
}

/// Appends text that needs no escape.
pub fn append(text: impl AsRef<str>, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_ref().as_bytes());
}
