//! Weighted rows by a counting sort: edges are generated once to count them and once to place them.

use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use rayon::prelude::*;
use tegula_generators::{Generator, for_each_block, weight};

/// Rows, both directions of each edge; an edge is its target and above it the bits of its weight.
pub(super) struct WeightedRows {
    pub(super) offsets: Vec<usize>,
    pub(super) edges: Vec<u64>,
}

/// The edges of a generator, read without directions, with the weights that belong to a seed. A loop is
/// in its row once.
pub(super) fn rows(generator: &dyn Generator, seed: u64) -> WeightedRows {
    let degrees: Vec<AtomicU32> =
        (0..generator.vertex_count()).map(|_| AtomicU32::new(0)).collect();
    for_each_block(generator, |_, edges| {
        for &(source, target) in edges {
            degrees[source as usize].fetch_add(1, Relaxed);
            if source != target {
                degrees[target as usize].fetch_add(1, Relaxed);
            }
        }
    });
    let mut end = 0;
    let ends = degrees.iter().map(|degree| {
        end += degree.load(Relaxed) as usize;
        end
    });
    let offsets: Vec<usize> = std::iter::once(0).chain(ends).collect();
    drop(degrees);
    let mut edges = placed(generator, seed, &offsets);
    sort_rows(&mut edges, &offsets);
    WeightedRows { offsets, edges }
}

fn placed(generator: &dyn Generator, seed: u64, offsets: &[usize]) -> Vec<u64> {
    let edge_count = offsets.last().copied().unwrap_or(0);
    let placed: Vec<AtomicU64> = (0..edge_count).map(|_| AtomicU64::new(0)).collect();
    let next: Vec<AtomicUsize> = offsets.iter().map(|&offset| AtomicUsize::new(offset)).collect();
    let place = |source: u64, target: u64, weight: f32| {
        let position = next[source as usize].fetch_add(1, Relaxed);
        placed[position].store(u64::from(weight.to_bits()) << 32 | target, Relaxed);
    };
    for_each_block(generator, |first, edges| {
        for (number, &(source, target)) in (first..).zip(edges) {
            let weight = weight(seed, number);
            place(source, target, weight);
            if source != target {
                place(target, source, weight);
            }
        }
    });
    // In place: the standard library reuses the allocation.
    placed.into_iter().map(AtomicU64::into_inner).collect()
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
