//! Which rows an algorithm follows.

use tegula_store::graph::Graph;
use tegula_store::rows::Direction;

/// The directions in which edges are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Directions {
    /// From their sources.
    Forward,
    /// From their targets.
    Reverse,
    /// From either end. An undirected graph stores each edge from both, so that its rows are enough.
    Both,
}

impl Directions {
    /// The layouts that hold them. In an undirected graph the rows hold all of them.
    pub fn layouts(self, graph: &Graph) -> &'static [Direction] {
        match self {
            _ if graph.manifest().undirected => &[Direction::Forward],
            Directions::Forward => &[Direction::Forward],
            Directions::Reverse => &[Direction::Reverse],
            Directions::Both => &Direction::ALL,
        }
    }

    /// The opposite directions.
    pub fn turned(self) -> Directions {
        match self {
            Directions::Forward => Directions::Reverse,
            Directions::Reverse => Directions::Forward,
            Directions::Both => Directions::Both,
        }
    }

    /// Whether a scan of the tiles follows edges this way. A worker owns the targets of its tiles, so a scan follows
    /// edges from their sources alone.
    pub fn can_scan(self, graph: &Graph) -> bool {
        self.layouts(graph) == Directions::Forward.layouts(graph)
    }

    /// Those of the layouts that the graph does not have yet.
    pub fn missing(self, graph: &Graph) -> impl Iterator<Item = Direction> {
        let is_missing = |direction: &Direction| graph.manifest().rows_of(*direction).is_none();
        self.layouts(graph).iter().copied().filter(is_missing)
    }
}

/// The rows that an algorithm follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsWanted {
    /// Which way.
    pub directions: Directions,
    /// Whether with weights.
    pub has_weights: bool,
}

impl RowsWanted {
    /// Those from sources.
    pub fn forward(has_weights: bool) -> RowsWanted {
        RowsWanted { directions: Directions::Forward, has_weights }
    }

    /// All neighbours, whatever the direction of the edges.
    pub const NEIGHBOURS: RowsWanted =
        RowsWanted { directions: Directions::Both, has_weights: false };
}
