//! Plain compressed sparse rows for the yardsticks, by a counting sort: edges are generated once to count them and
//! once to place them.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;
use tegula_generators::{Generator, for_each_block};

/// For each vertex its edges: 8 bytes an edge, in the lower half the target, in the upper one what belongs to the
/// edge.
pub(crate) struct PlainRows {
    pub(crate) offsets: Vec<usize>,
    pub(crate) edges: Vec<u64>,
}

/// Which ends of an edge have it in their rows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// The source.
    Sources,
    /// The target: the edges are turned round.
    Targets,
    /// Both, as of an edge without a direction; a loop is in its row once.
    Both,
}

impl PlainRows {
    /// The rows of a graph with fewer than 2^32 vertices; `value` tells by the number of an edge what belongs to it.
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

    /// The number of vertices, those without an edge included.
    pub(crate) fn vertex_count(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// Ascending targets in every row: the same for any threads, and kinder to the caches.
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
