//! A concurrent union-find.

use std::sync::atomic::{AtomicU32, Ordering};

use tegula_engine::{ShortId, huge};

/// Trees of vertices, each pointing at one of its component with a smaller id; a root points at
/// itself.
pub(crate) struct DisjointSets {
    parents: Vec<AtomicU32>,
}

impl DisjointSets {
    /// Every vertex alone.
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
        // Relaxed is enough: a stale parent is an ancestor all the same, and links are made by
        // compare-and-swap. Threads are joined before the roots are read.
        self.parents[vertex as usize].load(Ordering::Relaxed)
    }

    /// The root of a vertex, as far as it is linked.
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
            // Whoever was faster has pointed it at another ancestor.
            let _ =
                link.compare_exchange(parent, grandparent, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Notes that two vertices are in one component. Tells whether that is new: the edges of which it is are a spanning
    /// forest.
    #[inline(always)]
    pub(crate) fn join(&self, a: u32, b: u32) -> bool {
        // After the first few tiles most ends point at the same root already.
        self.parent(a) != self.parent(b) && self.link(a, b)
    }

    /// Links the trees of two vertices. Each step moves the end with the greater parent up.
    fn link(&self, mut a: u32, mut b: u32) -> bool {
        loop {
            let (parent_a, parent_b) = (self.parent(a), self.parent(b));
            if parent_a == parent_b {
                return false;
            }
            // `high` is the end whose parent is greater: only it may be linked, to the smaller one.
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
            // A parent is smaller, so it points at its root already.
            let parent = *self.parents[vertex].get_mut() as usize;
            let root = *self.parents[parent].get_mut();
            *self.parents[vertex].get_mut() = root;
        }
        self.parents.into_iter().map(|root| ShortId(root.into_inner())).collect()
    }
}
