//! A concurrent union-find.

use std::sync::atomic::{AtomicU32, Ordering};

use tegula_engine::{ShortId, huge};

/// Trees of vertices. The parent of a vertex is in its component and has a smaller id; a root is
/// its own parent.
pub(crate) struct DisjointSets {
    parents: Vec<AtomicU32>,
}

impl DisjointSets {
    /// Puts every vertex into a set of its own.
    pub(crate) fn new(vertex_count: u32) -> DisjointSets {
        let mut parents = huge::with_capacity(vertex_count as usize);
        parents.extend((0..vertex_count).map(AtomicU32::new));
        DisjointSets { parents }
    }

    /// Number of vertices.
    pub(crate) fn vertex_count(&self) -> u32 {
        self.parents.len() as u32
    }

    #[inline(always)]
    fn parent(&self, vertex: u32) -> u32 {
        // Relaxed is enough: a stale parent is still an ancestor, and links are made by
        // compare-and-swap. Threads are joined before the roots are read.
        self.parents[vertex as usize].load(Ordering::Relaxed)
    }

    /// The root of a vertex, by the links made so far.
    pub(crate) fn root(&self, mut vertex: u32) -> u32 {
        loop {
            let parent = self.parent(vertex);
            if parent == vertex {
                return vertex;
            }
            self.halve(vertex, parent);
            vertex = parent;
        }
    }

    /// Points a vertex at its grandparent, unless its parent is a root or has changed.
    #[inline(always)]
    fn halve(&self, vertex: u32, parent: u32) {
        let grandparent = self.parent(parent);
        if grandparent < parent {
            let link = &self.parents[vertex as usize];
            // If this fails, another thread has already pointed it at another ancestor.
            let _ =
                link.compare_exchange(parent, grandparent, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Notes that two vertices are in one component. Returns whether this is new; the edges for
    /// which it is new form a spanning forest.
    #[inline(always)]
    pub(crate) fn join(&self, a: u32, b: u32) -> bool {
        // After the first few tiles most ends already point at the same root.
        self.parent(a) != self.parent(b) && self.link(a, b)
    }

    /// Links the trees of two vertices. Each step moves up the end with the greater parent.
    fn link(&self, mut a: u32, mut b: u32) -> bool {
        loop {
            let (parent_a, parent_b) = (self.parent(a), self.parent(b));
            if parent_a == parent_b {
                return false;
            }
            // `high` is the end with the greater parent; only that parent may be linked to the
            // smaller.
            let (high, parent_high, parent_low) =
                if parent_a > parent_b { (a, parent_a, parent_b) } else { (b, parent_b, parent_a) };
            if high == parent_high {
                let root = &self.parents[high as usize];
                let link =
                    root.compare_exchange(high, parent_low, Ordering::Relaxed, Ordering::Relaxed);
                if link.is_ok() {
                    return true;
                }
                continue;
            }
            self.halve(high, parent_high);
            (a, b) = (parent_high, parent_low);
        }
    }

    /// The root of each vertex: the smallest id of its component.
    pub(crate) fn into_roots(mut self) -> Vec<ShortId> {
        for vertex in 0..self.parents.len() {
            // A parent is smaller, so it already points at its root.
            let parent = *self.parents[vertex].get_mut() as usize;
            let root = *self.parents[parent].get_mut();
            *self.parents[vertex].get_mut() = root;
        }
        self.parents.into_iter().map(|root| ShortId(root.into_inner())).collect()
    }
}
