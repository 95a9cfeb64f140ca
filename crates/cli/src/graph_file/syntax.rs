//! What a format of graphs has to say, and what it may say.

use super::kind::Kind;

/// How a format spells a graph: first all vertices, then all edges. Every method appends text to `out`.
pub trait Syntax {
    /// What stands before the vertices.
    ///
    /// # Errors
    /// [`Unfit`], of the name of an attribute.
    fn begin(&self, shape: &Shape<'_>, out: &mut Vec<u8>) -> Spelled;

    /// A vertex.
    ///
    /// # Errors
    /// [`Unfit`], of its id or of a value.
    fn vertex(&self, shape: &Shape<'_>, vertex: &Vertex<'_>, out: &mut Vec<u8>) -> Spelled;

    /// What stands between the vertices and the edges.
    fn turn_to_edges(&self, _shape: &Shape<'_>, _out: &mut Vec<u8>) {}

    /// An edge.
    ///
    /// # Errors
    /// [`Unfit`], of an id.
    fn edge(&self, shape: &Shape<'_>, edge: &Edge<'_>, out: &mut Vec<u8>) -> Spelled;

    /// What stands behind the edges.
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

/// What is said of a whole graph.
pub struct Shape<'a> {
    /// Whether edges have no direction.
    pub is_undirected: bool,
    /// How many vertices follow.
    pub vertex_count: u64,
    /// How many edges follow: an undirected one is one.
    pub edge_count: u64,
    /// Whether edges have weights.
    pub is_weighted: bool,
    /// The attributes that vertices may have.
    pub attributes: Vec<Attribute<'a>>,
}

/// An attribute of vertices.
#[derive(Debug, Clone, Copy)]
pub struct Attribute<'a> {
    /// Its name, which no other has.
    pub name: &'a str,
    /// What its values are.
    pub kind: Kind,
}

/// A vertex.
pub struct Vertex<'a> {
    /// Its original id.
    pub id: &'a str,
    /// A value for each attribute of the shape, where it has one.
    pub values: &'a [Option<&'a str>],
}

impl Vertex<'_> {
    /// The values that it has, and the places of their attributes.
    pub fn told(&self) -> impl Iterator<Item = (usize, &str)> {
        self.values.iter().enumerate().filter_map(|(place, value)| Some((place, (*value)?)))
    }
}

/// An edge.
pub struct Edge<'a> {
    /// How many edges stand before it.
    pub number: u64,
    /// The original id of its source.
    pub source: &'a str,
    /// That of its target.
    pub target: &'a str,
    /// Its weight, in a graph with weights.
    pub weight: Option<f32>,
}

/// Appends what needs no escape.
pub fn append(text: impl AsRef<str>, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_ref().as_bytes());
}
