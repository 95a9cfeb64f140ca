//! A set of vertices that any number of threads may add to.

use std::sync::atomic::{AtomicU64, Ordering};

use tegula_store::ShortId;

/// A set of vertices: a bit each. Threads see what others have added sooner or later.
#[derive(Debug)]
pub struct VertexSet {
    words: Vec<AtomicU64>,
}

impl VertexSet {
    /// The empty set among `vertex_count` vertices.
    pub fn new(vertex_count: u32) -> VertexSet {
        let words = (vertex_count as usize).div_ceil(64);
        VertexSet { words: std::iter::repeat_with(AtomicU64::default).take(words).collect() }
    }

    /// Bytes of a set among `vertex_count` vertices.
    pub fn size(vertex_count: u64) -> u64 {
        8 * vertex_count.div_ceil(64)
    }

    /// Adds a vertex; tells whether it is new. Of several threads that add it one is told so.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn insert(&self, vertex: ShortId) -> bool {
        let bit = 1 << (vertex.0 % 64);
        // Most insertions of a traversal are of what is there already.
        !self.contains(vertex)
            && self.words[vertex.index() / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Takes a vertex out.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn remove(&self, vertex: ShortId) {
        self.words[vertex.index() / 64].fetch_and(!(1 << (vertex.0 % 64)), Ordering::Relaxed);
    }

    /// Whether a vertex is in the set.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn contains(&self, vertex: ShortId) -> bool {
        self.words[vertex.index() / 64].load(Ordering::Relaxed) >> (vertex.0 % 64) & 1 == 1
    }
}
