//! A spanning forest, rooted and numbered.

use std::sync::atomic::{AtomicU32, Ordering};

use tegula_engine::{Graph, Result, RunOptions, RunStatistics, ShortId, visit_edges};

use crate::shared::union_find::{DisjointSets, UnsettledEdges};

/// A spanning forest. Its vertices are numbered in preorder, so the subtree of a vertex is a range
/// of numbers, which starts at its own and is as long as its size.
pub(super) struct Forest {
    /// The number of each dense id.
    pub(super) numbers: Vec<u32>,
    /// The dense id of each number.
    pub(super) vertices: Vec<ShortId>,
    /// By number, the number of the parent; a root is its own parent.
    pub(super) parents: Vec<u32>,
    /// By number, the number of vertices in its subtree, itself included.
    pub(super) sizes: Vec<u32>,
}

impl Forest {
    /// Finds a forest, for a run that holds `held` bytes.
    pub(super) fn find(
        graph: &Graph,
        held: u64,
        options: &RunOptions<'_>,
    ) -> Result<(Forest, RunStatistics)> {
        let count = graph.short_vertex_count()?;
        let zeros = || (0..count).map(|_| AtomicU32::new(0)).collect();
        let ends = Ends { counts: zeros(), combined: zeros() };
        let visitor = UnsettledEdges::new(DisjointSets::new(count), |a, b| ends.add(a, b));
        let statistics = visit_edges(graph, &visitor, held, options)?;
        drop(visitor);
        options.cancel.check()?;
        let (parents, order) = ends.rooted();
        options.cancel.check()?;
        Ok((Forest::numbered(&parents, &order), statistics))
    }

    /// Numbers the vertices of a forest. A root is its own parent, and `order` has children before
    /// their parents.
    fn numbered(parents: &[u32], order: &[u32]) -> Forest {
        let count = parents.len();
        let mut sizes = vec![1; count];
        for &vertex in order {
            let parent = parents[vertex as usize];
            if parent != vertex {
                sizes[parent as usize] += sizes[vertex as usize];
            }
        }
        let mut numbers = vec![0; count];
        // The first free number in the subtree of a vertex.
        let mut next = vec![0; count];
        let mut next_root = 0;
        let mut forest = Forest {
            numbers: Vec::new(),
            vertices: vec![ShortId(0); count],
            parents: vec![0; count],
            sizes: vec![0; count],
        };
        // In reverse, a parent has its number before its children take theirs.
        for &vertex in order.iter().rev() {
            let (parent, size) = (parents[vertex as usize], sizes[vertex as usize]);
            let free = if parent == vertex { &mut next_root } else { &mut next[parent as usize] };
            let number: u32 = *free;
            *free += size;
            numbers[vertex as usize] = number;
            next[vertex as usize] = number + 1;
            forest.vertices[number as usize] = ShortId(vertex);
            forest.parents[number as usize] = numbers[parent as usize];
            forest.sizes[number as usize] = size;
        }
        Forest { numbers, ..forest }
    }

    /// Whether a vertex is an ancestor of another, or the same; by number.
    #[inline]
    pub(super) fn is_above(&self, above: u32, number: u32) -> bool {
        // A number before `above` wraps around, beyond any size.
        number.wrapping_sub(above) < self.sizes[above as usize]
    }

    /// Whether a vertex is a root; by number.
    #[inline]
    pub(super) fn is_root(&self, number: u32) -> bool {
        self.parents[number as usize] == number
    }
}

/// The edges of a forest, in two words a vertex: its degree, and the exclusive or of its
/// neighbours, which for a leaf is its only neighbour.
struct Ends {
    /// The degree of each vertex.
    counts: Vec<AtomicU32>,
    /// The exclusive or of its neighbours.
    combined: Vec<AtomicU32>,
}

impl Ends {
    /// Adds an edge.
    fn add(&self, a: ShortId, b: ShortId) {
        for (one, other) in [(a, b), (b, a)] {
            self.counts[one.index()].fetch_add(1, Ordering::Relaxed);
            self.combined[one.index()].fetch_xor(other.0, Ordering::Relaxed);
        }
    }

    /// The parent of each vertex (a root is its own), and an order in which children come before
    /// their parents. Removes leaf after leaf; the last vertex of a tree is its root.
    fn rooted(self) -> (Vec<u32>, Vec<u32>) {
        let plain = |atomics: Vec<AtomicU32>| -> Vec<u32> {
            atomics.into_iter().map(AtomicU32::into_inner).collect()
        };
        let (mut counts, mut parents) = (plain(self.counts), plain(self.combined));
        let mut order = Vec::with_capacity(counts.len());
        for vertex in (0..counts.len() as u32).filter(|&vertex| counts[vertex as usize] == 0) {
            order.push(vertex);
            parents[vertex as usize] = vertex;
        }
        for first in 0..counts.len() as u32 {
            let mut vertex = first;
            // The outer loop comes to later leaves by itself.
            while vertex <= first && counts[vertex as usize] == 1 {
                let parent = parents[vertex as usize];
                order.push(vertex);
                counts[vertex as usize] = 0;
                counts[parent as usize] -= 1;
                parents[parent as usize] ^= vertex;
                if counts[parent as usize] == 0 {
                    // The tree has no other vertex left.
                    order.push(parent);
                    parents[parent as usize] = parent;
                    break;
                }
                vertex = parent;
            }
        }
        (parents, order)
    }
}
