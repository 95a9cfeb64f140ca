//! Vertices as the user named them, and their places among each other.

use serde::Serialize;
use tegula_engine::{Cancel, Estimate, Graph, ShortId, VertexId};
use tegula_store::OriginalId;
use tegula_store::graph::{OriginalIds, file_names};

use crate::error::{Error, Result};

/// A vertex as the user named it: a number or a string in JSON.
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

/// The position of a vertex among the original ids, which ascend. It does not depend on the vertex order of the
/// graph directory, as a dense id does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u64);

impl Rank {
    /// No vertex.
    pub const NONE: Rank = Rank(u64::MAX);

    /// The vertex as the user named it.
    ///
    /// # Errors
    /// Those of reading.
    ///
    /// # Panics
    /// When there is no such vertex.
    pub fn name(self, ids: &OriginalIds) -> tegula_engine::Result<Name> {
        Ok(ids.by_rank(self.0 as usize)?.into())
    }
}

/// A [`Rank`] in 32 bits, as lists of them hold it: in a graph with [short](ShortId) ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShortRank(pub u32);

impl From<ShortRank> for Rank {
    fn from(ShortRank(rank): ShortRank) -> Rank {
        Rank(rank.into())
    }
}

/// The rank of each dense id. Where it is another number, ids must be short.
#[derive(Debug)]
pub struct Ranks(
    /// None where they are the same numbers.
    Option<Vec<u32>>,
);

impl Ranks {
    /// Reads them: [`size`](Ranks::size) bytes.
    ///
    /// # Errors
    /// Those of reading; cancellation.
    pub fn read(graph: &Graph, cancel: &Cancel) -> tegula_engine::Result<Ranks> {
        Ok(Ranks(graph.original_ids()?.ranks(cancel)?))
    }

    /// Bytes that they take.
    ///
    /// # Errors
    /// Those of reading.
    pub fn size(graph: &Graph) -> tegula_engine::Result<u64> {
        Ok(graph.original_ids()?.ranks_size())
    }

    /// All of them, of a graph of so many vertices.
    pub fn into_vec(self, vertex_count: u32) -> Vec<u32> {
        self.0.unwrap_or_else(|| (0..vertex_count).collect())
    }

    /// The rank of a vertex.
    #[inline]
    pub fn of(&self, vertex: ShortId) -> ShortRank {
        ShortRank(self.0.as_ref().map_or(vertex.0, |ranks| ranks[vertex.index()]))
    }

    /// The same in a graph whose ids may be long.
    pub fn of_any(&self, vertex: VertexId) -> Rank {
        Rank(self.0.as_ref().map_or(vertex.0, |ranks| ranks[vertex.index()].into()))
    }
}

/// A vertex as the user named it, found by a pass over the order of all: for an error, and nothing that is asked often.
///
/// # Errors
/// Those of reading.
pub(crate) fn name_of(graph: &Graph, vertex: VertexId) -> Result<Name> {
    let ids = graph.original_ids()?;
    let mut rank = Rank::NONE;
    ids.for_each_rank(|first, vertices| {
        if let Some(place) = vertices.iter().position(|&other| other == vertex) {
            rank = Rank(first + place as u64);
        }
        Ok::<(), Error>(())
    })?;
    Ok(rank.name(&ids)?)
}

/// Whether ranks are other numbers than dense ids.
pub(crate) fn has_order(graph: &Graph) -> bool {
    graph.manifest().file(file_names::ORDER).is_some()
}

/// The estimate of a run that streams the order of the vertices when the tiles are gone.
pub(crate) fn with_order_streamed(estimate: Estimate, graph: &Graph) -> Result<Estimate> {
    let order = graph.original_ids()?.for_each_rank_size();
    let stream_bytes_min = estimate.stream_bytes_min.max(order);
    Ok(Estimate { stream_bytes_min, ..estimate })
}

/// The vertex with an original id. A string finds an integer id too, and keeps the zeros in front of a
/// string id.
///
/// # Errors
/// [`Error::NoSuchVertex`]; those of reading.
pub fn find_vertex(graph: &Graph, id: &str) -> Result<VertexId> {
    let found = graph.original_ids()?.find(&OriginalId::String(id.to_owned()))?;
    let missing = || Error::NoSuchVertex { graph: graph.directory().to_owned(), id: id.to_owned() };
    found.ok_or_else(missing)
}
