//! Rows as plain lists of neighbours.
//!
//! All workers decode the rows in order, so the index is walked without look-ups: 1.07 million rows
//! of 2.5 edges take 44 ms on two cores.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::memory::{huge, prefetch};
use tegula_machine::threads::{Cancel, Workers, lock};

use super::extent::RowPiece;
use super::index::RowChunk;
use super::opened::Rows;
use super::reader::{RowBatch, RowReader};
use crate::Result;
use crate::ids::ShortId;

/// The neighbours of all vertices.
#[derive(Debug)]
pub struct UnpackedRows {
    /// Where the row of each vertex begins; the last element is the number of edges.
    starts: Vec<u64>,
    targets: Vec<ShortId>,
    /// The weight of each edge; empty if weights are not read.
    weights: Vec<[u8; 4]>,
    edges_by_weight: u64,
}

/// A row of this many edges or more ascends by [coarse weight](coarse_weight), if weights are read.
pub const BY_WEIGHT_MIN: usize = 32;

/// A weight without the lower half of its bits. Two bytes are sorted quickly, and most weights of a
/// row differ in them.
#[inline(always)]
pub fn coarse_weight(weight: [u8; 4]) -> f32 {
    f32::from_bits(u32::from_le_bytes(weight) & 0xffff_0000)
}

/// From this many edges on, a counting sort is faster than a comparison sort.
const COUNTED_MIN: usize = 128;

/// Sorts numbers by their upper two bytes, or entirely.
fn sort_by_upper(numbers: &mut Vec<u64>, scratch: &mut Vec<u64>) {
    if numbers.len() < COUNTED_MIN {
        numbers.sort_unstable();
        return;
    }
    // Growing by doubling could take more than `size` has counted.
    scratch.reserve_exact(numbers.len().saturating_sub(scratch.len()));
    scratch.resize(numbers.len(), 0);
    for shift in [48, 56] {
        let digit = |number: u64| usize::from((number >> shift) as u8);
        let mut places = [0; 256];
        for &number in &*numbers {
            places[digit(number)] += 1;
        }
        let mut end = 0;
        for place in &mut places {
            end += std::mem::replace(place, end);
        }
        for &number in &*numbers {
            let place = &mut places[digit(number)];
            scratch[*place] = number;
            *place += 1;
        }
        std::mem::swap(numbers, scratch);
    }
}

/// Maps the bits of a float to a number in the order of [`f32::total_cmp`].
fn ordered(bits: u32) -> u32 {
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The inverse of [`ordered`].
fn unordered(number: u32) -> u32 {
    if number >> 31 == 1 { number & !(1 << 31) } else { !number }
}

/// Buffers to sort rows by weight.
#[derive(Default)]
struct ByWeight {
    edges: Vec<u64>,
    scratch: Vec<u64>,
}

impl ByWeight {
    /// Sorts the edges of a long row by weight. Returns the number of edges sorted.
    fn sort(&mut self, targets: &mut [ShortId], weights: &mut [[u8; 4]]) -> u64 {
        if targets.len() < BY_WEIGHT_MIN {
            return 0;
        }
        let ByWeight { edges, scratch } = self;
        edges.clear();
        // As above, `size` counts the edges of the longest row and no more.
        edges.reserve_exact(targets.len());
        edges.extend(targets.iter().zip(&*weights).map(|(target, &weight)| {
            u64::from(ordered(u32::from_le_bytes(weight))) << 32 | u64::from(target.0)
        }));
        sort_by_upper(edges, scratch);
        for ((target, weight), &edge) in targets.iter_mut().zip(weights).zip(&*edges) {
            *target = ShortId(edge as u32);
            *weight = unordered((edge >> 32) as u32).to_le_bytes();
        }
        edges.len() as u64
    }
}

/// Rows looked up together: few enough to stay in the nearest cache.
const ROWS_AT_ONCE: u32 = 64;

/// A chunk of rows while it is unpacked.
struct Chunk<'u> {
    /// The vertices whose rows begin in it.
    sources: Range<u32>,
    edge_first: u64,
    /// The piece of a row, if the chunk is one.
    piece: Option<RowPiece>,
    starts: &'u mut [u64],
    targets: &'u mut [ShortId],
    weights: &'u mut [[u8; 4]],
}

impl UnpackedRows {
    /// Bytes of unpacked rows and of the buffers with which `threads` threads sort them.
    pub(super) fn size(rows: &Rows, has_weights: bool, threads: usize) -> u64 {
        let edges = size_of::<ShortId>() as u64 * rows.edge_count();
        let starts = size_of::<u64>() as u64 * (u64::from(rows.vertex_count()) + 1);
        let by_weight = if has_weights && rows.weights().is_some() {
            let scratch = 2 * size_of::<u64>() as u64 * rows.longest();
            size_of::<[u8; 4]>() as u64 * rows.edge_count() + threads as u64 * scratch
        } else {
            0
        };
        starts + edges + by_weight
    }

    /// Unpacks all rows.
    ///
    /// # Errors
    /// [`Error::Corrupt`](tegula_machine::Error::Corrupt) where the bytes are no rows, or a chunk
    /// has another number of edges than the index says.
    pub(super) fn of(rows: &RowReader, workers: &Workers, cancel: &Cancel) -> Result<UnpackedRows> {
        let edge_count = rows.rows().edge_count();
        let vertex_count = rows.rows().vertex_count() as usize;
        let mut starts: Vec<u64> = huge::zeroes(vertex_count + 1);
        let mut targets: Vec<ShortId> = huge::zeroes(edge_count as usize);
        let weight_count = if rows.has_weights() { edge_count as usize } else { 0 };
        let mut weights: Vec<[u8; 4]> = huge::zeroes(weight_count);
        let (mut starts_left, mut targets_left) = (&mut starts[..], &mut targets[..]);
        let mut weights_left = &mut weights[..];
        let mut chunks = Vec::new();
        for RowChunk { sources, edges, piece } in rows.rows().chunks() {
            let starts = starts_left.split_off_mut(..sources.len()).unwrap_or_default();
            let count = (edges.end - edges.start) as usize;
            let targets = targets_left.split_off_mut(..count).unwrap_or_default();
            let weights = weights_left.split_off_mut(..count.min(weight_count)).unwrap_or_default();
            let edge_first = edges.start;
            chunks.push(Mutex::new(Chunk { sources, edge_first, piece, starts, targets, weights }));
        }
        let edges_by_weight = AtomicU64::new(0);
        workers.for_each(chunks.len(), cancel, &|index| {
            let mut chunk = lock(&chunks[index]);
            if let Some(piece) = chunk.piece.take() {
                return chunk.unpack_piece(rows, &piece);
            }
            chunk.unpack(rows)?;
            edges_by_weight.fetch_add(chunk.sort_by_weight(), Ordering::Relaxed);
            Ok(())
        })?;
        // They borrow the arrays that change below.
        drop(chunks);
        starts[vertex_count] = edge_count;
        let mut edges_by_weight = edges_by_weight.into_inner();
        let mut by_weight = ByWeight::default();
        // A row in pieces is sorted only now, when all its pieces are there.
        for source in rows.rows().long().iter().filter(|_| weight_count > 0) {
            cancel.check()?;
            let row = starts[source.index()] as usize..starts[source.index() + 1] as usize;
            edges_by_weight += by_weight.sort(&mut targets[row.clone()], &mut weights[row]);
        }
        Ok(UnpackedRows { starts, targets, weights, edges_by_weight })
    }

    /// The neighbours of a vertex, and the weights of their edges if those are read.
    #[inline(always)]
    pub fn row(&self, source: ShortId) -> (&[ShortId], &[[u8; 4]]) {
        let edges = self.starts[source.index()] as usize..self.starts[source.index() + 1] as usize;
        let weights = if self.weights.is_empty() { &[][..] } else { &self.weights[edges.clone()] };
        (&self.targets[edges], weights)
    }

    /// The share of edges in rows sorted by weight.
    pub fn share_by_weight(&self) -> f64 {
        self.edges_by_weight as f64 / self.targets.len().max(1) as f64
    }

    /// Number of edges.
    pub fn edge_count(&self) -> u64 {
        self.targets.len() as u64
    }

    /// Number of edges of a vertex.
    #[inline(always)]
    pub fn degree(&self, source: ShortId) -> u64 {
        self.starts[source.index() + 1] - self.starts[source.index()]
    }

    /// Prefetches the position of a row.
    #[inline(always)]
    pub fn prefetch_place(&self, source: ShortId) {
        prefetch(&self.starts, source.index());
    }

    /// Prefetches a row, whose position should be in the cache.
    #[inline(always)]
    pub fn prefetch_row(&self, source: ShortId) {
        let start = self.starts[source.index()] as usize;
        prefetch(&self.targets, start);
        if !self.weights.is_empty() {
            prefetch(&self.weights, start);
        }
    }
}

impl Chunk<'_> {
    fn unpack(&mut self, rows: &RowReader) -> Result<()> {
        let mut sources = Vec::with_capacity(ROWS_AT_ONCE as usize);
        let mut batch = RowBatch::default();
        let (mut next, mut place) = (self.sources.start, 0);
        while next < self.sources.end {
            let end = self.sources.end.min(next + ROWS_AT_ONCE);
            sources.clear();
            sources.extend((next..end).map(ShortId));
            let done = rows.for_each_row(&sources, &mut batch, |row| {
                self.starts[row.source().index() - self.sources.start as usize] =
                    self.edge_first + place as u64;
                let end =
                    row.try_fold(place, |place, target| match self.targets.get_mut(place) {
                        Some(free) => {
                            *free = target;
                            ControlFlow::Continue(place + 1)
                        }
                        // No place has this number, so it tells of neighbours that the index does
                        // not have.
                        None => ControlFlow::Break(usize::MAX),
                    })?;
                if end == usize::MAX {
                    return Err(self.damaged(rows));
                }
                if !self.weights.is_empty() {
                    let weights = row.weights().get(..end - place);
                    let weights = weights.ok_or_else(|| self.damaged(rows))?;
                    self.weights[place..end].copy_from_slice(weights);
                }
                place = end;
                Ok(ControlFlow::Continue(()))
            })?;
            next += done as u32;
        }
        if place == self.targets.len() { Ok(()) } else { Err(self.damaged(rows)) }
    }

    fn unpack_piece(&mut self, rows: &RowReader, piece: &RowPiece) -> Result<()> {
        // Only the first piece of a row has a start to set.
        self.starts.fill(self.edge_first);
        let mut batch = RowBatch::default();
        let row = rows.piece(piece, &mut batch)?;
        let count = row.try_fold(0, |place, target| match self.targets.get_mut(place) {
            Some(free) => {
                *free = target;
                ControlFlow::Continue(place + 1)
            }
            None => ControlFlow::Break(usize::MAX),
        })?;
        let weights = row.weights().get(..self.weights.len());
        match weights.filter(|_| count == self.targets.len()) {
            Some(weights) => self.weights.copy_from_slice(weights),
            None => return Err(self.damaged(rows)),
        }
        Ok(())
    }

    /// Sorts the edges of long rows by weight. Returns the number of edges sorted.
    fn sort_by_weight(&mut self) -> u64 {
        if self.weights.is_empty() {
            return 0;
        }
        let mut by_weight = ByWeight::default();
        let starts = self.starts.iter().map(|&start| (start - self.edge_first) as usize);
        let ends = starts.clone().skip(1).chain([self.targets.len()]);
        let rows = starts.zip(ends);
        rows.map(|(start, end)| {
            by_weight.sort(&mut self.targets[start..end], &mut self.weights[start..end])
        })
        .sum()
    }

    fn damaged(&self, rows: &RowReader) -> crate::Error {
        let Range { start, end } = self.sources;
        let count = self.targets.len();
        rows.rows().damaged_file(format!(
            "the rows of vertices {start} to {} do not have {count} edges, as their index says",
            end.saturating_sub(1)
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_ascend_by_their_upper_bytes(
            seeds in prop::collection::vec(any::<u64>(), 0..1000),
            mask in any::<u64>(),
        ) {
            let mut sorted: Vec<u64> = seeds.iter().map(|seed| seed & mask).collect();
            let mut expected = sorted.clone();
            sort_by_upper(&mut sorted, &mut Vec::new());
            prop_assert!(sorted.is_sorted_by_key(|number| number >> 48));
            sorted.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected, "none is lost");
        }

        #[test]
        fn ordered_numbers_compare_as_their_floats(one in any::<f32>(), other in any::<f32>()) {
            let [first, second] = [one, other].map(|float| ordered(float.to_bits()));
            prop_assert_eq!(first.cmp(&second), one.total_cmp(&other));
            prop_assert_eq!(unordered(first), one.to_bits());
            let coarse = |float: f32| coarse_weight(float.to_le_bytes());
            prop_assert!(one > other || coarse(one) <= coarse(other), "coarse ones too");
        }
    }
}
