//! Families of algorithms, by the kind of question that they answer.

/// A family of algorithms, for lists that people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// How important each vertex is.
    Centrality,
    /// Which vertices are reached, and how far away they are.
    Paths,
    /// Which vertices are connected.
    Components,
    /// Groups of vertices with many edges inside, and how good such groups are.
    Communities,
    /// How dense the graph is around each vertex.
    Clustering,
    /// Parts of a graph that have a property, and orders of its vertices.
    Structure,
    /// What a vertex looks like, for comparison and for learning.
    Similarity,
    /// Values of vertices that spread along edges.
    Propagation,
}

impl Family {
    /// All families, in the order in which they are shown.
    pub const ALL: [Family; 8] = [
        Family::Centrality,
        Family::Paths,
        Family::Components,
        Family::Communities,
        Family::Clustering,
        Family::Structure,
        Family::Similarity,
        Family::Propagation,
    ];

    /// Returns the heading above its algorithms.
    pub fn title(self) -> &'static str {
        match self {
            Family::Centrality => "Centrality",
            Family::Paths => "Paths and distances",
            Family::Components => "Components",
            Family::Communities => "Communities",
            Family::Clustering => "Clustering",
            Family::Structure => "Structure",
            Family::Similarity => "Similarity and walks",
            Family::Propagation => "Propagation of values",
        }
    }
}
