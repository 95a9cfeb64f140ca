//! The vertex orders that there are.

/// A vertex order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VertexOrder {
    /// By ascending original id.
    Given,
    /// By descending degree, in and out together; by ascending original id where that is the same.
    Degree,
    /// Depth first: the subtrees of a spanning forest whole, the heaviest first, a root behind half of
    /// its tree. Takes the edges without their directions.
    Dfs,
}

impl VertexOrder {
    const ALL: [VertexOrder; 3] = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs];

    /// The order that has a name.
    pub(crate) fn named(name: &str) -> Option<VertexOrder> {
        VertexOrder::ALL.into_iter().find(|order| order.name() == name)
    }

    /// The name under which it is asked for and recorded.
    pub fn name(self) -> &'static str {
        match self {
            VertexOrder::Given => "given",
            VertexOrder::Degree => "degree",
            VertexOrder::Dfs => "dfs",
        }
    }
}
