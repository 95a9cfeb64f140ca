use std::ops::Range;

use crate::graph::file_names;
use crate::tiles::{Origin, TileSummary};

/// The end of an edge whose row has it. An undirected graph stores its rows once: every edge is in
/// the rows of both ends, so both directions are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Its source: the layout `rows`.
    Forward,
    /// Its target: the layout `reverse`, which is the layout `rows` of the graph with all edges
    /// reversed.
    Reverse,
}

/// The files of a row layout.
#[derive(Debug, Clone, Copy)]
pub struct RowFiles {
    /// All rows.
    pub data: &'static str,
    /// Where each row lies.
    pub index: &'static str,
    /// Their weights, in a weighted graph.
    pub weights: &'static str,
}

impl Direction {
    /// Both.
    pub const ALL: [Direction; 2] = [Direction::Forward, Direction::Reverse];

    /// The other one.
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Forward => Direction::Reverse,
            Direction::Reverse => Direction::Forward,
        }
    }

    /// The name of the layout.
    pub fn layout(self) -> &'static str {
        match self {
            Direction::Forward => "rows",
            Direction::Reverse => "reverse",
        }
    }

    /// The files of the layout.
    pub fn files(self) -> RowFiles {
        match self {
            Direction::Forward => RowFiles {
                data: file_names::ROWS,
                index: file_names::ROW_INDEX,
                weights: file_names::ROW_WEIGHTS,
            },
            Direction::Reverse => RowFiles {
                data: file_names::REVERSE,
                index: file_names::REVERSE_INDEX,
                weights: file_names::REVERSE_WEIGHTS,
            },
        }
    }

    /// Returns the end whose row has the edge, then the other end. Its own inverse.
    #[inline(always)]
    pub(crate) fn ends<T>(self, source: T, target: T) -> (T, T) {
        match self {
            Direction::Forward => (source, target),
            Direction::Reverse => (target, source),
        }
    }

    /// Whether a tile may hold edges of the rows of these vertices. The tile's ids count from
    /// `origin`.
    pub(super) fn may_hold_any(
        self,
        tile: &TileSummary,
        origin: Origin,
        vertices: &Range<u32>,
    ) -> bool {
        let from = |first: u64| {
            let local = |id: u32| u64::from(id).saturating_sub(first) as u32;
            local(vertices.start)..local(vertices.end)
        };
        match self {
            Direction::Forward => {
                let sources = from(origin.source);
                !sources.is_empty() && tile.may_hold_any(&sources)
            }
            Direction::Reverse => {
                let targets = from(origin.target);
                tile.target_first < targets.end && targets.start <= tile.target_last
            }
        }
    }
}
