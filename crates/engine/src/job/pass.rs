//! Visiting every edge that has a use, once: for what is no vertex program, such as a union-find.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tegula_machine::Result;
use tegula_machine::threads::{lock, unlocked};
use tegula_store::VertexId;
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::{
    Block, BlockVisitor, Entries, InstructionSet, Tile, TileSummary, WINDOW_SIZE,
};

use super::context::JobContext;
use super::{Advanced, Job, PartStatistics, PartWork, ScanDirection, TileDemand};
use crate::instructions::{Instructions, WithInstructions};
use crate::options::{RunOptions, RunStatistics};
use crate::parts::Part;
use crate::process::ProcessKind;
use crate::scheduler::MemoryDemand;

/// Is shown every edge of the tiles that it needs, by several threads at once, in no particular order.
pub trait EdgeVisitor: Sync {
    /// An edge.
    fn visit(&self, source: VertexId, target: VertexId);

    /// Whether the visitor has a use for the edges of a tile; asked again until the tile is visited. A
    /// tile for which it has none, even once, may be left out.
    fn needs(&self, _tile: &TileSummary) -> bool {
        true
    }
}

/// Shows the edges of the graph to a visitor that itself holds `visitor_size` bytes. One scan, from the
/// last part to the first: where vertices are ordered by degree, those with few edges come first, which
/// may tell a visitor all that it needs to know of those with many.
///
/// # Errors
/// [`tegula_machine::Error::OverBudget`] before anything is read; those of reading; cancellation.
pub fn visit_edges<V: EdgeVisitor>(
    graph: &Graph,
    visitor: &V,
    visitor_size: u64,
    options: &RunOptions<'_>,
) -> Result<RunStatistics> {
    options.with_scheduler(graph, |scheduler| {
        let demand = MemoryDemand::scan("the run", visitor_size, false);
        let admitted = scheduler.ledger().admit(&[demand], &options.cancel)?;
        let mut job = Pass {
            graph,
            visitor,
            instructions: options.instructions,
            scanning_since: None,
            took: Duration::ZERO,
            scanned: Mutex::default(),
        };
        scheduler.work_off(&mut job, &admitted, &options.cancel)?;
        let mut statistics = RunStatistics {
            iterations: 1,
            iteration_times: vec![job.took],
            processes: vec![ProcessKind::Scan],
            predicted_seconds: vec![None],
            ..RunStatistics::default()
        };
        statistics.add_scan(&unlocked(job.scanned), graph);
        Ok(statistics)
    })
}

/// Shows every edge to a visitor once.
struct Pass<'v, V> {
    graph: &'v Graph,
    visitor: &'v V,
    instructions: Instructions,
    scanning_since: Option<Instant>,
    took: Duration,
    scanned: Mutex<PartStatistics>,
}

impl<V: EdgeVisitor> Job for Pass<'_, V> {
    fn advance(&mut self, _context: &JobContext<'_>) -> Result<Advanced> {
        let Some(since) = self.scanning_since else {
            self.scanning_since = Some(Instant::now());
            let direction = ScanDirection::LastToFirst;
            let demand = TileDemand { has_weights: false, has_every_batch: false, direction };
            return Ok(Advanced::NeedsTiles(demand));
        };
        self.took = since.elapsed();
        Ok(Advanced::Done)
    }

    fn needs(&self, tile: &TileSummary) -> bool {
        self.visitor.needs(tile)
    }

    fn begin_part(&self, _part: &Part) -> Box<dyn PartWork + '_> {
        Box::new(PassWork {
            visitor: self.visitor,
            vertex_count: self.graph.vertex_count(),
            instructions: self.instructions,
        })
    }

    fn note_part(&self, done: &PartStatistics) {
        lock(&self.scanned).add(done);
    }
}

/// A worker at one part.
struct PassWork<'v, V> {
    visitor: &'v V,
    vertex_count: u32,
    instructions: Instructions,
}

impl<V: EdgeVisitor> PartWork for PassWork<'_, V> {
    fn process(
        &mut self,
        tile: Tile<'_>,
        entry: &TileEntry,
        _weights: &[f32],
    ) -> Result<(), String> {
        let window = entry.summary.target_first & !(WINDOW_SIZE as u32 - 1);
        let (visitor, vertex_count) = (self.visitor, self.vertex_count);
        self.instructions.run(TileEdges { visitor, tile, window, vertex_count })
    }

    fn end(self: Box<Self>) {}
}

/// The edges of one tile, to be shown to a visitor.
struct TileEdges<'t, V> {
    visitor: &'t V,
    tile: Tile<'t>,
    window: u32,
    vertex_count: u32,
}

impl<V: EdgeVisitor> WithInstructions for TileEdges<'_, V> {
    type Output = Result<(), String>;

    #[inline(always)]
    fn run<I: InstructionSet>(self, instructions: I) -> Result<(), String> {
        let skip = self.vertex_count;
        // A damaged tile may hold a target behind the last vertex: it must not reach the visitor.
        let last = self.vertex_count.saturating_sub(1);
        for strip in self.tile.strips(self.vertex_count) {
            let strip = strip?;
            match strip.entries() {
                Entries::Masks => strip.visit_masks(|_: usize, source: u32, mut mask: u32| {
                    let first = self.window + strip.target_start() as u32;
                    while mask != 0 {
                        let target = (first + mask.trailing_zeros()).min(last);
                        self.visitor.visit(VertexId(source), VertexId(target));
                        mask &= mask - 1;
                    }
                }),
                Entries::Row | Entries::Singles => {
                    let visitor = self.visitor;
                    let mut edges = BlockEdges { visitor, window: self.window, skip, last };
                    strip.visit_blocks(instructions, skip, &mut edges);
                }
            }
        }
        Ok(())
    }
}

/// Shows the edges of a block to a visitor.
struct BlockEdges<'t, V> {
    visitor: &'t V,
    window: u32,
    skip: u32,
    last: u32,
}

impl<V: EdgeVisitor> BlockVisitor for BlockEdges<'_, V> {
    #[inline(always)]
    fn block(&mut self, block: &Block) {
        for (&source, &target) in block.sources.iter().zip(&block.targets) {
            if source != self.skip {
                let target = (self.window + u32::from(target)).min(self.last);
                self.visitor.visit(VertexId(source), VertexId(target));
            }
        }
    }
}
