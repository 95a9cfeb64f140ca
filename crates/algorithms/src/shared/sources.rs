//! The vertices that searches start from.

use std::sync::Arc;

use tegula_engine::VertexId;

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
