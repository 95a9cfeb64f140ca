//! Encodes the edges of a target window into tiles.
//!
//! The edges are cut into *fragments* by slices of 2^14 sources. In a fragment an edge is a key of
//! 30 bits, so three passes of a radix sort suffice. A thick fragment is a *region* of its own;
//! thin fragments are gathered to regions along the sources. Each region is
//! [divided](super::divide) into strips, its edges are moved to their strips, and the strips are
//! [coded](super::builder). About 30 to 45 ns an edge on one core.

use super::builder::{EncodedTile, write_tiles};
use super::divide::Divider;
use super::edge::{DenseEdge, EdgeWeight, VertexNumber};
use super::grid::{Origin, SLICE_LOG2, WINDOW_LOG2};
use super::region::{Fragment, LocalEdge, Region};
use super::source_list::WindowSources;
use super::strip_edges::StripEdges;
use crate::Result;

/// A fragment with fewer edges is gathered with others of its target window.
const THIN_FRAGMENT_EDGES: usize = 1 << 13;
/// Edges at which a gathered region is closed. Dividing such a region stays in the cache, and so do
/// the messages of its sources for the next window.
const GATHERED_REGION_EDGES: usize = 1 << 14;

/// The most edges that are encoded at once: the cost of a strip must fit 32 bits.
const EDGES_MAX: usize = 1 << 24;

/// Encodes edges into tiles. Keeps scratch memory, so each worker should reuse one encoder.
#[derive(Debug, Default)]
pub struct Encoder<W> {
    unsorted: Vec<LocalEdge<W>>,
    sorted: Vec<LocalEdge<W>>,
    starts: Vec<u32>,
    /// The fragments of the last call.
    fragments: Vec<Fragment>,
    divider: Divider,
    edges: StripEdges<W>,
    duplicates: u64,
}

impl<W: EdgeWeight> Encoder<W> {
    /// An encoder without scratch memory. Its memory grows to about 4 MiB, and 14 bytes and 3
    /// weights for each edge of the largest call.
    pub fn new() -> Encoder<W> {
        Encoder::default()
    }

    /// Returns how many edges, encoded since the last call, repeat the source and target of another
    /// edge.
    pub fn take_duplicates(&mut self) -> u64 {
        std::mem::take(&mut self.duplicates)
    }

    /// Encodes up to 2^24 edges of one cell whose targets lie in one window; `emit` receives the
    /// tiles by ascending first source. Their ids count from `origin`, that of the cell. Tiles
    /// depend only on the multiset of edges, not on their order or on how they are split into
    /// slices.
    pub fn encode_window<N: VertexNumber>(
        &mut self,
        edges: &[&[DenseEdge<N, W>]],
        origin: Origin,
        emit: &mut dyn FnMut(EncodedTile) -> Result<()>,
    ) -> Result<()> {
        self.fragments.clear();
        let Some(first) = edges.iter().find_map(|some| some.first()) else { return Ok(()) };
        let window_of = |edge: &DenseEdge<N, W>| {
            let target: u64 = { edge.target }.into();
            target >> WINDOW_LOG2
        };
        let window = window_of(first);
        debug_assert!(edges.iter().copied().flatten().all(|edge| window_of(edge) == window));
        let window = ((window << WINDOW_LOG2) - origin.target) as u32;
        self.sort(edges, origin.source);
        for region in gather(&self.fragments) {
            let region = Region::new(&region, &self.sorted);
            let strips = self.divider.divide(&region);
            self.edges.fill(&region, strips);
            write_tiles(&self.edges, strips, window, emit)?;
        }
        Ok(())
    }

    /// Returns the sources of the edges of the last call, each once. They count from the origin of
    /// the call.
    pub fn sources(&self) -> WindowSources {
        WindowSources::of(&self.fragments, &self.sorted)
    }

    /// Sorts the edges by source, target and weight into fragments, whose sources count from
    /// `origin`.
    fn sort<N: VertexNumber>(&mut self, edges: &[&[DenseEdge<N, W>]], origin: u64) {
        let len = edges.iter().map(|some| some.len()).sum();
        assert!(len <= EDGES_MAX, "{len} edges");
        let slice = |edge: &DenseEdge<N, W>| {
            let source: u64 = { edge.source }.into();
            ((source - origin) >> SLICE_LOG2) as u32
        };
        let (mut first, mut last) = (u32::MAX, 0);
        for edge in edges.iter().copied().flatten() {
            (first, last) = (first.min(slice(edge)), last.max(slice(edge)));
        }
        // Not cleared before, because every place is written.
        self.unsorted.resize(len, LocalEdge::default());
        self.sorted.resize(len, LocalEdge::default());
        self.starts.clear();
        self.starts.resize((last - first) as usize + 2, 0);
        for edge in edges.iter().copied().flatten() {
            self.starts[(slice(edge) - first) as usize + 1] += 1;
        }
        for index in 1..self.starts.len() {
            self.starts[index] += self.starts[index - 1];
        }
        for edge in edges.iter().copied().flatten() {
            let place = &mut self.starts[(slice(edge) - first) as usize];
            self.unsorted[*place as usize] = LocalEdge::new(edge, origin);
            *place += 1;
        }
        // Each start has become the end of its slice.
        let mut begin = 0;
        for (slice, &end) in (first..=last).zip(&self.starts) {
            let range = begin..end as usize;
            begin = end as usize;
            if range.is_empty() {
                continue;
            }
            let sorted = &mut self.sorted[range.clone()];
            sort_fragment(&mut self.unsorted[range.clone()], sorted);
            self.duplicates +=
                sorted.windows(2).filter(|pair| pair[0].key() == pair[1].key()).count() as u64;
            self.fragments.push(Fragment { source_base: slice << SLICE_LOG2, range });
        }
    }
}

/// Gathers thin fragments to regions.
fn gather(fragments: &[Fragment]) -> Vec<Vec<Fragment>> {
    let mut regions: Vec<Vec<Fragment>> = Vec::new();
    let mut gathered: Option<(usize, usize)> = None; // (index of the region, its edges)
    for fragment in fragments.iter().cloned() {
        let len = fragment.range.len();
        match &mut gathered {
            _ if len >= THIN_FRAGMENT_EDGES => regions.push(vec![fragment]),
            Some((region, edges)) if *edges + len <= GATHERED_REGION_EDGES => {
                *edges += len;
                regions[*region].push(fragment);
            }
            _ => {
                gathered = Some((regions.len(), len));
                regions.push(vec![fragment]);
            }
        }
    }
    regions
}

/// A fragment with fewer edges is sorted by comparisons.
const RADIX_SORT_MIN: usize = 512;
/// Bits of a key per pass of the radix sort, and number of passes.
const DIGIT_BITS: u32 = 10;
const DIGITS: usize = ((SLICE_LOG2 + WINDOW_LOG2) / DIGIT_BITS) as usize;
const _: () = assert!(DIGITS as u32 * DIGIT_BITS == SLICE_LOG2 + WINDOW_LOG2 && DIGITS % 2 == 1);

/// Sorts edges by source, target and weight into `sorted`. Overwrites `edges`.
fn sort_fragment<W: EdgeWeight>(edges: &mut [LocalEdge<W>], sorted: &mut [LocalEdge<W>]) {
    if edges.len() < RADIX_SORT_MIN {
        sorted.copy_from_slice(edges);
        sorted.sort_unstable_by_key(|edge| edge.key());
    } else {
        radix_sort(edges, sorted);
    }
    if W::IS_WEIGHTED {
        for same in sorted.chunk_by_mut(|a, b| a.key() == b.key()) {
            same.sort_unstable_by(|a, b| a.weight.to_f32().total_cmp(&b.weight.to_f32()));
        }
    }
}

fn radix_sort<W: EdgeWeight>(edges: &mut [LocalEdge<W>], sorted: &mut [LocalEdge<W>]) {
    const RADIX: usize = 1 << DIGIT_BITS;
    let digit = |edge: &LocalEdge<W>, pass: usize| {
        (edge.key() >> (pass as u32 * DIGIT_BITS)) as usize & (RADIX - 1)
    };
    let mut starts = [[0u32; RADIX]; DIGITS];
    for edge in edges.iter() {
        for (pass, starts) in starts.iter_mut().enumerate() {
            starts[digit(edge, pass)] += 1;
        }
    }
    // The number of passes is odd, so the last one ends in `sorted`.
    let (mut from, mut to) = (edges, sorted);
    for (pass, starts) in starts.iter_mut().enumerate() {
        let mut sum = 0;
        for start in starts.iter_mut() {
            sum += std::mem::replace(start, sum);
        }
        for edge in from.iter() {
            let place = &mut starts[digit(edge, pass)];
            to[*place as usize] = *edge;
            *place += 1;
        }
        std::mem::swap(&mut from, &mut to);
    }
}
