//! Plain compressed sparse rows for the yardsticks, built by a counting sort: edges are generated
//! once to count them and once to place them.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;
use tegula_generators::{Generator, for_each_block};

/// The edges of each vertex, with 8 bytes per edge: the target in the lower half, the value of the
/// edge in the upper half.
pub(crate) struct PlainRows {
    pub(crate) offsets: Vec<usize>,
    pub(crate) edges: Vec<u64>,
}

/// The ends of an edge whose rows contain it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// The source.
    Sources,
    /// The target: edges are reversed.
    Targets,
    /// Both, as in an undirected graph. A loop is in its row once.
    Both,
}

impl PlainRows {
    /// Builds the rows of a graph with fewer than 2^32 vertices. `value` returns the value of an
    /// edge for its number.
    ///
    /// # Panics
    /// If there are more vertices.
    pub(crate) fn new(
        generator: &dyn Generator,
        ends: Ends,
        value: impl Fn(u64) -> u32 + Sync,
    ) -> PlainRows {
        assert!(generator.vertex_count() < 1 << 32, "{} vertices", generator.vertex_count());
        let directions = move |source: u64, target: u64| {
            let forwards = (ends != Ends::Targets).then_some((source, target));
            let is_back = ends == Ends::Targets || ends == Ends::Both && source != target;
            forwards.into_iter().chain(is_back.then_some((target, source)))
        };
        let degrees: Vec<AtomicU32> =
            (0..generator.vertex_count()).map(|_| AtomicU32::new(0)).collect();
        for_each_block(generator, |_, edges| {
            for (source, _) in edges.iter().flat_map(|edge| directions(edge.0, edge.1)) {
                degrees[source as usize].fetch_add(1, Relaxed);
            }
        });
        let mut end = 0;
        let ends = degrees.iter().map(|degree| {
            end += degree.load(Relaxed) as usize;
            end
        });
        let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
        drop(degrees);
        let placed: Vec<AtomicU64> = (0..end).map(|_| AtomicU64::new(0)).collect();
        let next: Vec<AtomicUsize> =
            offsets.iter().map(|&offset| AtomicUsize::new(offset)).collect();
        for_each_block(generator, |first, edges| {
            for (number, edge) in (first..).zip(edges) {
                let value = u64::from(value(number)) << 32;
                for (source, target) in directions(edge.0, edge.1) {
                    let position = next[source as usize].fetch_add(1, Relaxed);
                    placed[position].store(value | target, Relaxed);
                }
            }
        });
        // In place: the standard library reuses the allocation.
        let mut edges: Vec<u64> = placed.into_iter().map(AtomicU64::into_inner).collect();
        sort_rows(&mut edges, &offsets);
        PlainRows { offsets, edges }
    }

    /// Returns the number of vertices, including those without an edge.
    pub(crate) fn vertex_count(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Sorts each row by target: independent of the threads, and better for the caches.
fn sort_rows(edges: &mut [u64], offsets: &[usize]) {
    let mut rows = Vec::with_capacity(offsets.len());
    let mut rest = edges;
    for bounds in offsets.windows(2) {
        let (row, others) = rest.split_at_mut(bounds[1] - bounds[0]);
        rows.push(row);
        rest = others;
    }
    let key = |&edge: &u64| (edge as u32, edge >> 32);
    rows.into_par_iter().for_each(|row| row.sort_unstable_by_key(key));
}
