//! The edges of a window before they become strips: fragments, and regions of fragments.

use std::ops::Range;

use super::edge::{DenseEdge, EdgeWeight, VertexNumber};
use super::grid::{SLICE_LOG2, WINDOW_LOG2};

/// An edge of a fragment.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(super) struct LocalEdge<W> {
    /// The source within its slice in the high bits, the target within its window in the low bits.
    key: u32,
    pub(super) weight: W,
}

impl<W: EdgeWeight> LocalEdge<W> {
    /// Converts an edge; its source counts from `origin`.
    #[inline]
    pub(super) fn new<N: VertexNumber>(edge: &DenseEdge<N, W>, origin: u64) -> LocalEdge<W> {
        let (source, target): (u64, u64) = ({ edge.source }.into(), { edge.target }.into());
        let source = (source - origin) & ((1 << SLICE_LOG2) - 1);
        let target = target & ((1 << WINDOW_LOG2) - 1);
        LocalEdge { key: (source << WINDOW_LOG2 | target) as u32, weight: edge.weight }
    }

    /// The sort key of edges in a fragment.
    #[inline]
    pub(super) fn key(&self) -> u32 {
        self.key
    }

    /// The source within its slice.
    #[inline]
    pub(super) fn source(&self) -> u32 {
        self.key >> WINDOW_LOG2
    }

    /// The target within its window.
    #[inline]
    pub(super) fn target(&self) -> u16 {
        self.key as u16
    }
}

/// The edges of a window from one slice of sources, sorted.
#[derive(Debug, Clone)]
pub(super) struct Fragment {
    pub(super) source_base: u32,
    pub(super) range: Range<usize>,
}

/// Pieces that are encoded together.
pub(super) struct Region<'a, W> {
    fragments: &'a [Fragment],
    edges: &'a [LocalEdge<W>],
}

impl<'a, W: EdgeWeight> Region<'a, W> {
    /// A region of some fragments. `edges` has the edges of all fragments of the window.
    pub(super) fn new(fragments: &'a [Fragment], edges: &'a [LocalEdge<W>]) -> Region<'a, W> {
        Region { fragments, edges }
    }

    /// Number of edges.
    pub(super) fn len(&self) -> usize {
        self.fragments.iter().map(|fragment| fragment.range.len()).sum()
    }

    /// The least and the greatest source. The region must have an edge.
    pub(super) fn source_bounds(&self) -> (u32, u32) {
        let source =
            |fragment: &Fragment, at: usize| fragment.source_base + self.edges[at].source();
        let first =
            self.fragments.first().map_or(0, |fragment| source(fragment, fragment.range.start));
        let last =
            self.fragments.last().map_or(0, |fragment| source(fragment, fragment.range.end - 1));
        (first, last)
    }

    /// The edges in order, fragment by fragment: the first source of each slice, and its edges.
    pub(super) fn fragments(&self) -> impl Iterator<Item = (u32, &[LocalEdge<W>])> {
        self.fragments
            .iter()
            .map(|fragment| (fragment.source_base, &self.edges[fragment.range.clone()]))
    }
}
