//! The vertex orders.

/// A vertex order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VertexOrder {
    /// By ascending original id.
    Given,
    /// By descending degree, in and out together; vertices of equal degree by ascending original
    /// id.
    Degree,
    /// Depth first: whole subtrees of a spanning forest, the heaviest first, a root behind half of
    /// its tree. Ignores the directions of edges.
    Dfs,
}

impl VertexOrder {
    const ALL: [VertexOrder; 3] = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs];

    /// The order with this name.
    pub(crate) fn named(name: &str) -> Option<VertexOrder> {
        VertexOrder::ALL.into_iter().find(|order| order.name() == name)
    }

    /// The name in options and manifests.
    pub fn name(self) -> &'static str {
        match self {
            VertexOrder::Given => "given",
            VertexOrder::Degree => "degree",
            VertexOrder::Dfs => "dfs",
        }
    }
}
