//! The scan of an engine that has loops and arrays of its own.

use std::sync::Mutex;

use tegula_machine::threads::lock;
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::Tile;
use tegula_store::{Result, ShortId};

use super::context::JobContext;
use super::tile_edges::{EdgeSink, TileEdges};
use super::{Advanced, Job, PartStatistics, PartWork, ScanDirection, TileDemand};
use crate::instructions::Instructions;
use crate::parts::Part;
use crate::superstep::active_set::ActiveSet;
use crate::superstep::bit;

/// The most edges of a block.
const BLOCK_EDGES: usize = 1 << 12;

/// Some edges: edge `i` goes from `sources[i]` to `targets[i]`. An edge of an undirected graph
/// comes once in each direction.
#[derive(Debug, Clone, Copy)]
pub struct EdgeBlock<'b> {
    /// The source of each edge, by dense id.
    pub sources: &'b [u32],
    /// The target of each edge, by dense id.
    pub targets: &'b [u32],
    /// The weight of each edge; empty unless weights were asked for. In an unweighted graph every
    /// weight is 1.
    pub weights: &'b [f32],
}

/// One scan of the edges from active vertices.
pub struct ForeignScan<'f> {
    pub graph: &'f Graph,
    pub visit: &'f (dyn Fn(EdgeBlock<'_>) + Sync),
    /// All vertices if there is no set.
    pub active: Option<ActiveSet>,
    pub has_weights: bool,
    pub instructions: Instructions,
    pub has_begun: bool,
    pub scanned: Mutex<PartStatistics>,
}

impl Job for ForeignScan<'_> {
    fn advance(&mut self, _context: &JobContext<'_>) -> Result<Advanced> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(Advanced::Done);
        }
        Ok(Advanced::NeedsTiles(TileDemand {
            has_weights: self.has_weights && self.graph.is_weighted(),
            has_every_batch: false,
            direction: ScanDirection::FirstToLast,
        }))
    }

    fn needs(&self, tile: &TileEntry) -> bool {
        let origin = self.graph.origin_of(tile);
        self.active.as_ref().is_none_or(|active| active.may_meet(&tile.summary, origin))
    }

    fn begin_part(&self, _part: &Part) -> Box<dyn PartWork + '_> {
        Box::new(ForeignPart { scan: self, edges: Edges::default() })
    }

    fn note_part(&self, done: &PartStatistics) {
        lock(&self.scanned).add(done);
    }
}

/// The work of one worker on one part.
struct ForeignPart<'f> {
    scan: &'f ForeignScan<'f>,
    edges: Edges,
}

/// Edges of a block that is not complete.
#[derive(Default)]
struct Edges {
    sources: Vec<u32>,
    targets: Vec<u32>,
    weights: Vec<f32>,
}

impl PartWork for ForeignPart<'_> {
    fn process(
        &mut self,
        tile: Tile<'_>,
        entry: &TileEntry,
        weights: &[f32],
    ) -> Result<(), String> {
        let scan = self.scan;
        let mut sink = BlockSink { scan, edges: &mut self.edges };
        scan.instructions.run(TileEdges::of(scan.graph, tile, entry, weights, &mut sink))
    }

    /// An engine may have added up what it has seen, so it must not see a part twice.
    fn is_restartable(&self) -> bool {
        false
    }

    fn end(mut self: Box<Self>) {
        BlockSink { scan: self.scan, edges: &mut self.edges }.show();
    }
}

/// Gathers edges into blocks.
struct BlockSink<'s> {
    scan: &'s ForeignScan<'s>,
    edges: &'s mut Edges,
}

impl BlockSink<'_> {
    /// Shows the gathered edges.
    fn show(&mut self) {
        let Edges { sources, targets, weights } = &mut *self.edges;
        if !sources.is_empty() {
            (self.scan.visit)(EdgeBlock { sources, targets, weights });
            sources.clear();
            targets.clear();
            weights.clear();
        }
    }
}

impl EdgeSink for &mut BlockSink<'_> {
    type Weight = f32;

    #[inline(always)]
    fn take(&mut self, source: ShortId, target: ShortId, weight: f32) {
        // Tiles are chosen by ranges of sources, so they bring inactive sources, too.
        let active = self.scan.active.as_ref();
        if active.is_some_and(|active| !bit(active.words(), source.index())) {
            return;
        }
        self.edges.sources.push(source.0);
        self.edges.targets.push(target.0);
        if self.scan.has_weights {
            self.edges.weights.push(weight);
        }
        if self.edges.sources.len() == BLOCK_EDGES {
            self.show();
        }
    }
}
