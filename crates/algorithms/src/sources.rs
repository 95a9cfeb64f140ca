//! Where searches start, and where the paths that they tell end.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tegula_engine::{Estimate, Graph, VertexId};

use crate::algorithm::SideFiles;
use crate::error::{Error, Result};
use crate::original_ids::find_vertex;
use crate::side_table::{self, Tables};
use crate::vertex_list::VertexList;

/// The vertices that a search starts from: each once, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources(Arc<[VertexId]>);

impl Sources {
    /// Those of a list, in which some may be more than once.
    pub fn new(mut vertices: Vec<VertexId>) -> Sources {
        vertices.sort_unstable();
        vertices.dedup();
        Sources(vertices.into())
    }

    /// The vertex of the option `source`, or those of the file of `sources`.
    ///
    /// # Errors
    /// [`Error::NoSuchVertex`]; those of reading.
    pub fn find(source: Option<&str>, listed: VertexList, graph: &Graph) -> Result<Sources> {
        match source {
            Some(id) => Ok(find_vertex(graph, id)?.into()),
            None => Ok(Sources::new(listed.vertices)),
        }
    }

    /// Whether a vertex is one of them.
    #[inline]
    pub fn contains(&self, vertex: VertexId) -> bool {
        match *self.0 {
            [only] => only == vertex,
            ref all => all.binary_search(&vertex).is_ok(),
        }
    }

    /// All of them.
    pub fn as_slice(&self) -> &[VertexId] {
        &self.0
    }

    /// Bytes that they take; a single one is not worth to be counted.
    pub fn size(&self) -> u64 {
        match *self.0 {
            [_] => 0,
            ref all => size_of_val(all) as u64,
        }
    }
}

impl From<VertexId> for Sources {
    fn from(vertex: VertexId) -> Sources {
        Sources(Arc::new([vertex]))
    }
}

/// Refuses options with no start, or two.
///
/// # Errors
/// [`Error::BadOptions`].
pub fn check_source(
    algorithm: &'static str,
    source: &Option<String>,
    sources: &Option<PathBuf>,
) -> Result<()> {
    if source.is_some() == sources.is_some() {
        let detail = "give either `source` or `sources`".to_owned();
        return Err(Error::BadOptions { algorithm, detail });
    }
    Ok(())
}

/// Refuses a source that the graph does not have.
///
/// # Errors
/// [`Error::NoSuchVertex`]; those of reading.
pub fn find_source(graph: &Graph, source: Option<&str>) -> Result<()> {
    source.map_or(Ok(()), |id| find_vertex(graph, id).map(drop))
}

/// The tables of a search: where it starts, and where its paths are to end.
#[derive(Debug, Default)]
pub struct SearchFiles {
    pub sources: VertexList,
    pub targets: VertexList,
}

impl SearchFiles {
    /// Reads those that options name.
    ///
    /// # Errors
    /// Those of [`VertexList::read`].
    pub fn read(
        sources: Option<&Path>,
        targets: Option<&Path>,
        tables: &mut Tables<'_>,
    ) -> Result<SearchFiles> {
        Ok(SearchFiles {
            sources: VertexList::read_any("sources", sources, tables)?,
            targets: VertexList::read_any("targets", targets, tables)?,
        })
    }

    /// The estimate of a search with this, and with so many bytes more that it holds.
    pub fn beside(&self, estimate: Estimate, held: u64) -> Estimate {
        // The list of the file, and what the search makes of it.
        let held = held + 2 * self.size();
        let vertex_bytes = estimate.vertex_bytes + held;
        let on_disk = estimate.on_disk.map(|arrays| arrays.beside(held));
        let reading = self.sources.reading_size.max(self.targets.reading_size) + self.size();
        side_table::with_reading(Estimate { vertex_bytes, on_disk, ..estimate }, reading)
    }
}

impl SideFiles for SearchFiles {
    fn size(&self) -> u64 {
        self.sources.size() + self.targets.size()
    }
}
