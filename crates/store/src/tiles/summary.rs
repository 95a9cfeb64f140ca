//! The summary of a tile, known without reading it.

use super::strip_edges::EdgeSlice;

/// Summary of a tile: enough to tell whether a run can skip it. Its ids count from the
/// [origin](super::Origin) of its cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileSummary {
    /// Number of edges.
    pub edge_count: u32,
    /// No source lies below it.
    pub source_first: u32,
    /// No source lies above it.
    pub source_last: u32,
    /// Smallest target.
    pub target_first: u32,
    /// Greatest target.
    pub target_last: u32,
    /// Bit `i` is set if a source lies in the `i`-th *chunk* of the sources: see [`Self::chunk`].
    pub source_mask: u64,
}

impl TileSummary {
    /// log2 of the vertices of the smallest chunk: a mask covers the sources of one window.
    pub const CHUNK_LOG2_MIN: u32 = 10;

    pub(crate) fn empty(source_first: u32, source_last: u32) -> TileSummary {
        TileSummary {
            edge_count: 0,
            source_first,
            source_last,
            target_first: u32::MAX,
            target_last: 0,
            source_mask: 0,
        }
    }

    /// Adds edges to targets in the window that begins at `window`.
    pub(super) fn add<W>(&mut self, window: u32, edges: EdgeSlice<'_, W>) {
        self.edge_count += edges.len() as u32;
        let lowest = edges.targets.iter().fold(u16::MAX, |lowest, &target| lowest.min(target));
        let highest = edges.targets.iter().fold(0, |highest, &target| highest.max(target));
        self.target_first = self.target_first.min(window | u32::from(lowest));
        self.target_last = self.target_last.max(window | u32::from(highest));
        let log2 = self.chunk_log2();
        let first = self.source_first >> log2;
        let chunks = edges.sources.iter().map(|&source| 1 << ((source >> log2) - first));
        self.source_mask |= chunks.fold(0, |mask: u64, chunk: u64| mask | chunk);
    }

    /// log2 of the vertices of a chunk: the smallest for which 64 aligned chunks cover all sources.
    #[inline]
    pub fn chunk_log2(&self) -> u32 {
        let mut log2 = Self::CHUNK_LOG2_MIN;
        while (self.source_last >> log2) - (self.source_first >> log2) >= 64 {
            log2 += 1;
        }
        log2
    }

    /// Whether the tile may have this source: it is in range and the bit of its chunk is set.
    #[inline]
    pub fn may_hold(&self, source: u32) -> bool {
        let log2 = self.chunk_log2();
        (self.source_first..=self.source_last).contains(&source)
            && self.source_mask >> ((source >> log2) - (self.source_first >> log2)) & 1 == 1
    }

    /// Whether the tile may have one of these sources.
    pub fn may_hold_any(&self, sources: &std::ops::Range<u32>) -> bool {
        let first = sources.start.max(self.source_first);
        let last = sources.end.saturating_sub(1).min(self.source_last);
        if first > last {
            return false;
        }
        let log2 = self.chunk_log2();
        let bit = |source: u32| (source >> log2) - (self.source_first >> log2);
        self.source_mask >> bit(first) << (63 - (bit(last) - bit(first))) != 0
    }

    /// The range of sources that bit `bit` of the mask stands for.
    pub fn chunk(&self, bit: u32) -> std::ops::Range<u32> {
        let log2 = self.chunk_log2();
        let start = ((self.source_first >> log2) + bit) << log2;
        start..start + (1 << log2)
    }
}
