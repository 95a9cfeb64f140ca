//! A set of vertices to which any number of threads may add.

use std::iter;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_store::ShortId;

/// A set of vertices: a bit each. Threads see the additions of others eventually.
#[derive(Debug)]
pub struct VertexSet {
    words: Vec<AtomicU64>,
}

impl VertexSet {
    /// Makes the empty set over `vertex_count` vertices.
    pub fn new(vertex_count: u32) -> VertexSet {
        let words = (vertex_count as usize).div_ceil(64);
        VertexSet { words: iter::repeat_with(AtomicU64::default).take(words).collect() }
    }

    /// Makes the set of all `vertex_count` vertices.
    pub fn full(vertex_count: u32) -> VertexSet {
        let mut set = VertexSet::new(vertex_count);
        for (index, word) in (0..).zip(&mut set.words) {
            let count = (vertex_count - index * 64).min(64);
            *word.get_mut() = u64::MAX >> (64 - count);
        }
        set
    }

    /// Returns the bytes of a set over `vertex_count` vertices.
    pub fn size(vertex_count: u64) -> u64 {
        8 * vertex_count.div_ceil(64)
    }

    /// Adds a vertex; returns whether it is new. If several threads add it, one of them gets true.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn insert(&self, vertex: ShortId) -> bool {
        let bit = 1 << (vertex.0 % 64);
        // Most vertices that a traversal inserts are already in the set.
        !self.contains(vertex)
            && self.words[vertex.index() / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Removes a vertex.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn remove(&self, vertex: ShortId) {
        self.words[vertex.index() / 64].fetch_and(!(1 << (vertex.0 % 64)), Ordering::Relaxed);
    }

    /// Yields the vertices of the set by ascending id. Skips 64 absent ones at a time.
    pub fn iter(&self) -> impl Iterator<Item = ShortId> {
        (0..).zip(&self.words).flat_map(|(index, word)| {
            let mut left = word.load(Ordering::Relaxed);
            iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(ShortId(index * 64 + bit))
            })
        })
    }

    /// Returns whether a vertex is in the set.
    ///
    /// # Panics
    /// When there is no such vertex.
    #[inline]
    pub fn contains(&self, vertex: ShortId) -> bool {
        self.words[vertex.index() / 64].load(Ordering::Relaxed) >> (vertex.0 % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_come_by_ascending_id() {
        let set = VertexSet::new(200);
        for vertex in [199, 0, 64, 63, 128] {
            assert!(set.insert(ShortId(vertex)));
        }
        set.remove(ShortId(64));
        assert_eq!(set.iter().map(|vertex| vertex.0).collect::<Vec<_>>(), [0, 63, 128, 199]);
    }

    #[test]
    fn a_full_set_has_each_vertex_and_no_other() {
        for count in [0, 1, 63, 64, 65, 128] {
            let all: Vec<u32> = VertexSet::full(count).iter().map(|vertex| vertex.0).collect();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }
}
