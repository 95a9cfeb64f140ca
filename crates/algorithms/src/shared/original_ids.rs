//! Original ids of vertices, and their places in ascending order.

use std::sync::Arc;

use serde::Serialize;
use tegula_engine::{Cancel, Graph, Result, ShortId, VertexId};
use tegula_store::OriginalId;
use tegula_store::graph::OriginalIds;

/// An original id: a number or a string in JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Name {
    /// An integer.
    Integer(u64),
    /// A string.
    String(String),
}

impl From<OriginalId> for Name {
    fn from(id: OriginalId) -> Name {
        match id {
            OriginalId::Integer(id) => Name::Integer(id),
            OriginalId::String(id) => Name::String(id),
        }
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Integer(id) => write!(f, "{id}"),
            Name::String(id) => f.write_str(id),
        }
    }
}

/// The id position of a vertex: its place in the ascending order of the original ids. Unlike a
/// dense id, it does not depend on the vertex order of the graph directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdPosition(pub u64);

impl IdPosition {
    /// Stands for no vertex.
    pub const NONE: IdPosition = IdPosition(u64::MAX);

    /// Returns the original id.
    ///
    /// # Panics
    /// When there is no such vertex.
    pub fn name(self, ids: &OriginalIds) -> Result<Name> {
        Ok(ids.by_id_position(self.0 as usize)?.into())
    }
}

/// An [`IdPosition`] in 32 bits, for lists in a graph with [short](ShortId) ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortIdPosition(pub u32);

impl From<ShortIdPosition> for IdPosition {
    fn from(ShortIdPosition(id_position): ShortIdPosition) -> IdPosition {
        IdPosition(id_position.into())
    }
}

/// The id position of each dense id. Callers at the same time share one copy. Where id positions
/// and dense ids differ, ids must be short.
#[derive(Debug)]
pub struct IdPositions(
    /// `None` where id positions and dense ids are the same numbers.
    Option<Arc<Vec<u32>>>,
);

impl IdPositions {
    /// Reads all id positions, which take [`size`](IdPositions::size) bytes, unless somebody else
    /// uses them already.
    pub fn read(graph: &Graph, cancel: &Cancel) -> Result<IdPositions> {
        Ok(IdPositions(graph.original_ids()?.id_positions(cancel)?))
    }

    /// Returns the bytes that the id positions take.
    pub fn size(graph: &Graph) -> Result<u64> {
        Ok(graph.original_ids()?.id_positions_size())
    }

    /// Returns the id position of a vertex.
    #[inline]
    pub fn of(&self, vertex: ShortId) -> ShortIdPosition {
        ShortIdPosition(
            self.0.as_ref().map_or(vertex.0, |id_positions| id_positions[vertex.index()]),
        )
    }

    /// Returns the id position of a vertex in a graph whose ids may be long.
    pub fn of_any(&self, vertex: VertexId) -> IdPosition {
        IdPosition(
            self.0.as_ref().map_or(vertex.0, |id_positions| id_positions[vertex.index()].into()),
        )
    }
}

/// Returns the original id of a vertex. Reads the order of all vertices, so it is for errors and
/// not for frequent use.
pub(crate) fn name_of(graph: &Graph, vertex: VertexId) -> Result<Name> {
    let ids = graph.original_ids()?;
    let mut id_position = IdPosition::NONE;
    ids.for_each_id_position(|first, vertices| {
        if let Some(place) = vertices.iter().position(|&other| other == vertex) {
            id_position = IdPosition(first + place as u64);
        }
        Ok::<(), tegula_engine::Error>(())
    })?;
    id_position.name(&ids)
}
