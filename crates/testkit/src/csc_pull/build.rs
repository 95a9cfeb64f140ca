//! Builds columns by a counting sort: edges are generated once to count them and once to place
//! them.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;
use tegula_generators::{Generator, for_each_block};

/// Marks a vertex without an edge in the map to dense ids.
const DROPPED: u32 = u32::MAX;

/// The in-degree and out-degree of every vertex.
pub(crate) struct Degrees {
    pub(crate) incoming: Vec<u32>,
    pub(crate) outgoing: Vec<u32>,
}

impl Degrees {
    pub(crate) fn count(generator: &dyn Generator) -> Self {
        let zeros = || -> Vec<AtomicU32> {
            (0..generator.vertex_count()).map(|_| AtomicU32::new(0)).collect()
        };
        let (incoming, outgoing) = (zeros(), zeros());
        for_each_block(generator, |_, edges| {
            for &(source, target) in edges {
                outgoing[source as usize].fetch_add(1, Relaxed);
                incoming[target as usize].fetch_add(1, Relaxed);
            }
        });
        Self { incoming: plain(incoming), outgoing: plain(outgoing) }
    }

    /// Removes the vertices without an edge. Returns the new id of every old one, or [`DROPPED`].
    pub(crate) fn drop_isolated(&mut self) -> Vec<u32> {
        let mut kept = 0;
        let mut dense = vec![DROPPED; self.incoming.len()];
        for (vertex, dense) in dense.iter_mut().enumerate() {
            if self.incoming[vertex] != 0 || self.outgoing[vertex] != 0 {
                (self.incoming[kept], self.outgoing[kept]) =
                    (self.incoming[vertex], self.outgoing[vertex]);
                *dense = kept as u32;
                kept += 1;
            }
        }
        self.incoming.truncate(kept);
        self.outgoing.truncate(kept);
        dense
    }
}

/// In place: the standard library reuses the allocation.
fn plain(atomics: Vec<AtomicU32>) -> Vec<u32> {
    atomics.into_iter().map(AtomicU32::into_inner).collect()
}

/// Returns where each vertex's column begins, and the end of the last one.
pub(super) fn offsets(degrees: &[u32]) -> Vec<usize> {
    let mut end = 0;
    let ends = degrees.iter().map(|&degree| {
        end += degree as usize;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// Cuts the targets into about `count` parts of equal cost. A target costs as much as one more
/// edge.
pub(super) fn parts(offsets: &[usize], count: usize) -> Vec<usize> {
    let vertex_count = offsets.len() - 1;
    let cost_per_part = (offsets[vertex_count] + vertex_count).div_ceil(count).max(1);
    let part = |vertex: usize| (offsets[vertex] + vertex) / cost_per_part;
    let borders = (1..vertex_count).filter(|&vertex| part(vertex) != part(vertex - 1));
    std::iter::once(0).chain(borders).chain([vertex_count]).collect()
}

/// Does the second half of the counting sort: puts every source into its target's column, in any
/// order.
pub(super) fn scatter(
    generator: &dyn Generator,
    dense: Option<&[u32]>,
    offsets: &[usize],
) -> Vec<u32> {
    let dense = |vertex: u64| dense.map_or(vertex as u32, |dense| dense[vertex as usize]);
    let edge_count = generator.edge_count() as usize;
    let sources: Vec<AtomicU32> = (0..edge_count).map(|_| AtomicU32::new(0)).collect();
    let next: Vec<AtomicUsize> = offsets.iter().map(|&offset| AtomicUsize::new(offset)).collect();
    for_each_block(generator, |_, edges| {
        for &(source, target) in edges {
            let position = next[dense(target) as usize].fetch_add(1, Relaxed);
            sources[position].store(dense(source), Relaxed);
        }
    });
    plain(sources)
}

/// Sorts each column by source: independent of the threads, and better for the caches.
pub(super) fn sort_columns(sources: &mut [u32], offsets: &[usize], parts: &[usize]) {
    let ends = parts.iter().map(|&vertex| offsets[vertex]);
    split(sources, ends).into_par_iter().zip(parts.par_windows(2)).for_each(
        |(mut sources, part)| {
            for column in offsets[part[0]..=part[1]].windows(2) {
                let (head, tail) = sources.split_at_mut(column[1] - column[0]);
                head.sort_unstable();
                sources = tail;
            }
        },
    );
}

/// Returns the pieces of a slice between ascending borders, which begin with 0.
pub(super) fn split<T>(mut slice: &mut [T], borders: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for border in borders.skip(1) {
        let (piece, rest) = slice.split_at_mut(border - start);
        pieces.push(piece);
        (slice, start) = (rest, border);
    }
    pieces
}
