//! Skips tiles whose vertices are known to be in one component.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use tegula_engine::{EdgeVisitor, Origin, ShortId, TileSummary};

use super::disjoint_sets::DisjointSets;

/// log2 of the vertices of a chunk: the finest range that the summary of a tile distinguishes.
const CHUNK_LOG2: u32 = TileSummary::CHUNK_LOG2_MIN;

/// Minimum edges per source chunk in a tile that is checked. It is several times the cost of
/// checking a chunk, as the check may be in vain.
const EDGES_PER_CHUNK: u64 = 4;

/// Joins the ends of edges. Skips the tiles whose vertices are known to be in one component.
pub(crate) struct UnsettledEdges<N> {
    sets: DisjointSets,
    /// Is called with each edge that joins two components.
    note: N,
    /// For each chunk, the first vertex not yet known to be in one component with the chunk's first
    /// vertex. It only grows, so all checks of a chunk together take one step a vertex.
    settled_to: Vec<AtomicU32>,
}

impl<N: Fn(ShortId, ShortId) + Sync> UnsettledEdges<N> {
    pub(crate) fn new(sets: DisjointSets, note: N) -> UnsettledEdges<N> {
        let firsts = (0..sets.vertex_count()).step_by(1 << CHUNK_LOG2);
        let settled_to = firsts.map(AtomicU32::new).collect();
        UnsettledEdges { sets, note, settled_to }
    }

    /// Bytes that it holds with its sets: a parent per vertex and a mark per chunk.
    pub(crate) fn size(vertex_count: u64) -> u64 {
        4 * (vertex_count + vertex_count.div_ceil(1 << CHUNK_LOG2))
    }

    pub(crate) fn into_sets(self) -> DisjointSets {
        self.sets
    }

    /// The root of all vertices of a chunk, if they are known to have the same one.
    fn common_root(&self, chunk: usize) -> Option<u32> {
        let first = (chunk as u32) << CHUNK_LOG2;
        let end = self.sets.vertex_count().min(first.saturating_add(1 << CHUNK_LOG2));
        let settled_to = &self.settled_to[chunk];
        let root = self.sets.root(first);
        // Relaxed: what another thread found holds for good; a thread that does not see it finds it
        // again.
        let from = settled_to.load(Ordering::Relaxed);
        let unsettled = (from..end).find(|&vertex| self.sets.root(vertex) != root);
        settled_to.fetch_max(unsettled.unwrap_or(end), Ordering::Relaxed);
        unsettled.is_none().then_some(root)
    }

    /// Whether all vertices of the chunks of a range are known to be in one component with `root`.
    /// Where `root` is `None`, it is set to the root of the first chunk.
    fn are_settled(&self, vertices: Range<u64>, root: &mut Option<u32>) -> bool {
        let last = vertices.end.min(u64::from(self.sets.vertex_count())).saturating_sub(1);
        let chunks = (vertices.start >> CHUNK_LOG2) as usize..=(last >> CHUNK_LOG2) as usize;
        chunks.into_iter().all(|chunk| {
            self.common_root(chunk).is_some_and(|found| *root.get_or_insert(found) == found)
        })
    }
}

impl<N: Fn(ShortId, ShortId) + Sync> EdgeVisitor for UnsettledEdges<N> {
    type Weight = ();

    #[inline(always)]
    fn visit(&self, source: ShortId, target: ShortId, (): ()) {
        if self.sets.join(source.0, target.0) {
            (self.note)(source, target);
        }
    }

    /// Looks at each chunk of the tile once, unless that takes longer than visiting the edges.
    fn needs(&self, tile: &TileSummary, origin: Origin) -> bool {
        let sources = u64::from(tile.source_mask.count_ones()) << (tile.chunk_log2() - CHUNK_LOG2);
        if sources > u64::from(tile.edge_count) / EDGES_PER_CHUNK {
            return true;
        }
        let mut root = None;
        let from =
            |first: u64, ids: Range<u32>| first + u64::from(ids.start)..first + u64::from(ids.end);
        let targets = from(origin.target, tile.target_first..tile.target_last + 1);
        let mut sources = (0..64).filter(|bit| tile.source_mask >> bit & 1 != 0);
        !(self.are_settled(targets, &mut root)
            && sources.all(|bit| self.are_settled(from(origin.source, tile.chunk(bit)), &mut root)))
    }
}
