//! Where searches start, and where the paths that they report end.

use std::sync::Arc;

use tegula_engine::{Estimate, Graph, VertexId};

use crate::algorithm::SideFiles;
use crate::error::{Error, Result};
use crate::shared::find_vertex::find_vertex;
use crate::shared::vertex_list::VertexList;
use crate::side_table::{self, TableSource, Tables};

/// The vertices that a search starts from: each once, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sources {
    vertices: Arc<[VertexId]>,
    /// Bytes that the caller holds while it searches.
    held: u64,
}

impl Sources {
    /// Takes the vertices of a list, in which some may be repeated.
    pub fn new(mut vertices: Vec<VertexId>) -> Sources {
        vertices.sort_unstable();
        vertices.dedup();
        Sources { vertices: vertices.into(), held: 0 }
    }

    /// Returns the vertex of the option `source`, or the vertices in the file of `sources`.
    ///
    /// # Errors
    /// [`Error::NoSuchVertex`] if the graph does not have the vertex of `source`.
    pub fn find(source: Option<&str>, listed: VertexList, graph: &Graph) -> Result<Sources> {
        match source {
            Some(id) => Ok(find_vertex(graph, id)?.into()),
            None => Ok(Sources::new(listed.vertices)),
        }
    }

    /// The same sources, while the caller holds `bytes` that the run has to count.
    #[must_use]
    pub fn holding(self, bytes: u64) -> Sources {
        Sources { held: bytes, ..self }
    }

    /// Returns whether a vertex is a source.
    #[inline]
    pub fn contains(&self, vertex: VertexId) -> bool {
        match *self.vertices {
            [only] => only == vertex,
            ref all => all.binary_search(&vertex).is_ok(),
        }
    }

    /// Returns all sources.
    pub fn as_slice(&self) -> &[VertexId] {
        &self.vertices
    }

    /// Returns the bytes that they take here and with the caller. A single source is not counted.
    pub fn size(&self) -> u64 {
        let own = match *self.vertices {
            [_] => 0,
            ref all => size_of_val(all) as u64,
        };
        self.held + own
    }
}

impl From<VertexId> for Sources {
    fn from(vertex: VertexId) -> Sources {
        Sources { vertices: Arc::new([vertex]), held: 0 }
    }
}

/// Refuses options with neither `source` nor `sources`, or with both.
pub fn check_source(
    algorithm: &'static str,
    source: &Option<String>,
    sources: &Option<TableSource>,
) -> Result<()> {
    if source.is_some() == sources.is_some() {
        let detail = "give either `source` or `sources`".to_owned();
        return Err(Error::BadOptions { algorithm, detail });
    }
    Ok(())
}

/// Refuses a source that the graph does not have.
pub fn find_source(graph: &Graph, source: Option<&str>) -> Result<()> {
    source.map_or(Ok(()), |id| find_vertex(graph, id).map(drop))
}

/// The tables of a search: its sources, and the targets of its paths.
#[derive(Debug, Default)]
pub struct SearchFiles {
    pub sources: VertexList,
    pub targets: VertexList,
}

impl SearchFiles {
    /// Reads the tables that options name.
    pub fn read(
        sources: Option<&TableSource>,
        targets: Option<&TableSource>,
        tables: &mut Tables<'_>,
    ) -> Result<SearchFiles> {
        Ok(SearchFiles {
            sources: VertexList::read_any("sources", sources, tables)?,
            targets: VertexList::read_any("targets", targets, tables)?,
        })
    }

    /// Returns the estimate of a search with these tables and with `held` further bytes.
    pub fn add_to(&self, estimate: Estimate, held: u64) -> Estimate {
        // Each list is held twice: as it was read, and as the search keeps it.
        let held = held + 2 * self.size();
        let vertex_bytes = estimate.vertex_bytes + held;
        let on_disk = estimate.on_disk.map(|arrays| arrays.with_bytes(held));
        let reading = self.sources.reading_size.max(self.targets.reading_size) + self.size();
        side_table::with_reading(Estimate { vertex_bytes, on_disk, ..estimate }, reading)
    }
}

impl SideFiles for SearchFiles {
    fn size(&self) -> u64 {
        self.sources.size() + self.targets.size()
    }
}
