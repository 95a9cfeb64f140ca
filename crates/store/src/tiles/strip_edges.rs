//! The edges of a region, strip by strip.

use std::ops::Range;

use super::divide::StripChoice;
use super::edge::EdgeWeight;
use super::grid::WINDOW_SIZE;
use super::region::Region;

/// Sources, targets and weights of edges in separate arrays, so that many can be coded at a time.
/// Within a strip, edges are in the order of the region.
#[derive(Debug, Default)]
pub(super) struct StripEdges<W> {
    strip_of_target: Vec<u16>,
    ends: Vec<u32>,
    bounds: (u32, u32),
    sources: Vec<u32>,
    targets: Vec<u16>,
    weights: Vec<W>,
}

/// Some edges of one strip.
#[derive(Debug, Clone, Copy)]
pub(super) struct EdgeSlice<'a, W> {
    /// Dense ids, ascending.
    pub(super) sources: &'a [u32],
    /// Targets within their window.
    pub(super) targets: &'a [u16],
    pub(super) weights: &'a [W],
}

impl<W: EdgeWeight> StripEdges<W> {
    /// Moves the edges of a region to their strips.
    pub(super) fn fill(&mut self, region: &Region<'_, W>, strips: &[StripChoice]) {
        self.bounds = region.source_bounds();
        let len = region.len();
        self.sources.resize(len, 0);
        self.targets.resize(len, 0);
        self.weights.resize(len, W::default());
        self.strip_of_target.resize(WINDOW_SIZE, 0);
        self.ends.clear();
        let mut start = 0;
        for (number, strip) in strips.iter().enumerate() {
            let first = usize::from(strip.target_start);
            let targets = first..first + (1 << strip.encoding.width_log2());
            // Targets outside of the strips have no edges, so it does not matter what is left
            // there.
            self.strip_of_target[targets].fill(number as u16);
            self.ends.push(start);
            start += strip.edges;
        }
        for (base, edges) in region.fragments() {
            for edge in edges {
                let strip = self.strip_of_target[usize::from(edge.target())];
                let end = &mut self.ends[usize::from(strip)];
                let place = *end as usize;
                self.sources[place] = base + edge.source();
                self.targets[place] = edge.target();
                self.weights[place] = edge.weight;
                *end += 1;
            }
        }
        // Each start has become the end of its strip.
    }

    /// The least and the greatest source. There must be an edge.
    pub(super) fn source_bounds(&self) -> (u32, u32) {
        self.bounds
    }

    /// The edges of each strip.
    pub(super) fn strips(&self) -> impl Iterator<Item = EdgeSlice<'_, W>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| {
            let range = start as usize..end as usize;
            EdgeSlice {
                sources: &self.sources[range.clone()],
                targets: &self.targets[range.clone()],
                weights: &self.weights[range],
            }
        })
    }
}

impl<'a, W> EdgeSlice<'a, W> {
    pub(super) fn len(&self) -> usize {
        self.sources.len()
    }

    pub(super) fn get(&self, range: Range<usize>) -> EdgeSlice<'a, W> {
        EdgeSlice {
            sources: &self.sources[range.clone()],
            targets: &self.targets[range.clone()],
            weights: &self.weights[range],
        }
    }
}
