//! Finds the vertex that an option names.

use tegula_engine::{Graph, VertexId};
use tegula_store::OriginalId;

use crate::error::{Error, Result};

/// Returns the vertex with an original id. A string finds an integer id too. The leading zeros of a
/// string id count.
///
/// # Errors
/// [`Error::NoSuchVertex`] if no vertex has this id.
pub fn find_vertex(graph: &Graph, id: &str) -> Result<VertexId> {
    let found = graph.original_ids()?.find(&OriginalId::String(id.to_owned()))?;
    let missing = || Error::NoSuchVertex { graph: graph.directory().to_owned(), id: id.to_owned() };
    found.ok_or_else(missing)
}
