//! The rows that an algorithm follows.

use tegula_store::graph::Graph;
use tegula_store::rows::Direction;

/// The directions in which edges are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directions {
    /// From their sources.
    Forward,
    /// From their targets.
    Reverse,
    /// From either end. An undirected graph stores each edge at both ends, so its rows are enough.
    Both,
}

impl Directions {
    /// Returns the layouts with these edges. In an undirected graph, `rows` has all of them.
    pub fn layouts(self, graph: &Graph) -> &'static [Direction] {
        match self {
            _ if graph.manifest().undirected => &[Direction::Forward],
            Directions::Forward => &[Direction::Forward],
            Directions::Reverse => &[Direction::Reverse],
            Directions::Both => &Direction::ALL,
        }
    }

    /// Returns the opposite directions.
    pub fn turned(self) -> Directions {
        match self {
            Directions::Forward => Directions::Reverse,
            Directions::Reverse => Directions::Forward,
            Directions::Both => Directions::Both,
        }
    }

    /// Returns whether a scan of the tiles can follow edges in these directions. A worker owns the
    /// targets of its tiles, so a scan follows edges from their sources only.
    pub fn can_scan(self, graph: &Graph) -> bool {
        self.layouts(graph) == Directions::Forward.layouts(graph)
    }

    /// Yields the layouts that the graph lacks.
    pub fn missing(self, graph: &Graph) -> impl Iterator<Item = Direction> {
        let is_missing = |direction: &Direction| graph.manifest().rows_of(*direction).is_none();
        self.layouts(graph).iter().copied().filter(is_missing)
    }
}

/// The rows that an algorithm follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsWanted {
    /// The directions to follow.
    pub directions: Directions,
    /// Whether weights are needed.
    pub has_weights: bool,
}

impl RowsWanted {
    /// Wants the rows by source.
    pub fn forward(has_weights: bool) -> RowsWanted {
        RowsWanted { directions: Directions::Forward, has_weights }
    }

    /// All neighbours, in either direction.
    pub const NEIGHBOURS: RowsWanted =
        RowsWanted { directions: Directions::Both, has_weights: false };
}
