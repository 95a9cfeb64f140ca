//! Declared vertices, with or without an edge: all ids below a number, or listed ids.

use tegula_machine::counted;
use tegula_store::tiles::{BATCH_LOG2_MAX, Grid};
use tegula_store::{At, Diagnostic, Error, Hint, Place, Result, SHORT_COUNT_MAX, VERTEX_COUNT_MAX};

use crate::input::{IdKind, VertexSet};
use crate::settings;

/// Which ids are vertices.
pub(crate) enum Declared<'a> {
    /// Only ids with an edge.
    WithEdges,
    /// All ids below a number.
    Below(u64),
    /// Listed ids.
    Listed(&'a VertexSet),
}

impl<'a> Declared<'a> {
    /// Returns what the set declares.
    pub fn of(set: &'a VertexSet) -> Declared<'a> {
        match set.count_from_zero() {
            Some(count) => Declared::Below(count),
            None if set.is_unknown() => Declared::WithEdges,
            None => Declared::Listed(set),
        }
    }

    /// Returns the number of vertices, if it is known before they are read.
    pub fn count(&self) -> Option<u64> {
        match self {
            Declared::Below(count) => Some(*count),
            Declared::WithEdges | Declared::Listed(_) => None,
        }
    }

    /// Returns the listed vertices, if vertices are listed.
    pub fn listed(&self) -> Option<&'a VertexSet> {
        match self {
            Declared::Listed(set) => Some(set),
            Declared::WithEdges | Declared::Below(_) => None,
        }
    }
}

/// Bytes of memory for each batch. While arrays are written, three of them keep 8 bytes for each
/// window of the batch. Later the batch has a record in the table of tiles. If edges lead to it, it
/// also has places in the plan and in the tables of units.
const BATCH_BYTES: u64 = 224;

/// Returns the bytes to set aside for the batches of `vertices` vertices. The batches of the first
/// 2^32 vertices are among what every process needs. All other memory depends on the vertices with
/// an edge.
pub(crate) fn batch_bytes(vertices: u64, grid: Grid) -> u64 {
    let more = vertices.saturating_sub(SHORT_COUNT_MAX);
    BATCH_BYTES * (more >> BATCH_LOG2_MAX.min(grid.column_log2))
}

/// Refuses more vertices than a graph may have, with or without rows, filed by `grid`.
pub(crate) fn check_count(vertices: Option<u64>, with_rows: bool, grid: Grid) -> Result<()> {
    let (what, limit) = match with_rows {
        false => ("the number of vertices", VERTEX_COUNT_MAX),
        true => ("the number of vertices of a graph with rows", SHORT_COUNT_MAX),
    };
    if let Some(found) = vertices.filter(|&vertices| vertices > limit) {
        return Err(Error::limit(what, found, limit));
    }
    if let Some(found) = vertices.filter(|&vertices| !grid.can_cut(vertices)) {
        let limit = u64::from(u32::MAX) << grid.segment_log2.min(grid.column_log2);
        return Err(Error::limit("the number of vertices for this grid", found, limit));
    }
    Ok(())
}

/// Refuses ids that are no declared vertices: strings, or an id that is too large.
pub(crate) fn check_ids(vertices: u64, kind: IdKind, largest: Option<u64>) -> Result<()> {
    let problem = match (kind, largest) {
        (IdKind::String, _) => {
            let declared = counted(
                vertices,
                "declared vertex has an integer id",
                "declared vertices have integer ids",
            );
            let message = format!("the ids are read as strings, but the {declared}");
            Diagnostic::from(message).hint(Hint::leave_out(settings::VERTICES.option))
        }
        (_, Some(id)) if id >= vertices => {
            let message = format!(
                "the id {id} is too large: the ids of {} must be below {vertices}",
                counted(vertices, "vertex", "vertices")
            );
            let option = settings::VERTICES.option;
            let may_be_raised = id < VERTEX_COUNT_MAX;
            let hint = if may_be_raised { Hint::raise(option) } else { Hint::leave_out(option) };
            Diagnostic::from(message).hint(hint)
        }
        _ => return Ok(()),
    };
    Err(Error::bad_input(Place { file: "the input".into(), at: At::File }, problem))
}
