//! A pass over all needed edges, for algorithms that are no vertex program, such as a union-find.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tegula_machine::threads::{lock, unlocked};
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::{
    Block, BlockVisitor, EdgeWeight, Entries, InstructionSet, Origin, Strip, Tile, TileSummary,
    WINDOW_LOG2,
};
use tegula_store::{Result, ShortId};

use super::context::JobContext;
use super::{Advanced, Job, PartStatistics, PartWork, ScanDirection, TileDemand};
use crate::instructions::{Instructions, WithInstructions};
use crate::options::RunOptions;
use crate::parts::Part;
use crate::process::ProcessKind;
use crate::scheduler::MemoryDemand;
use crate::statistics::RunStatistics;

/// Visits every edge of the tiles that it needs, by several threads at once, in no particular
/// order.
pub trait EdgeVisitor: Sync {
    /// `()` or `f32`. In an unweighted graph every `f32` weight is 1.
    type Weight: EdgeWeight;

    /// Visits an edge.
    fn visit(&self, source: ShortId, target: ShortId, weight: Self::Weight);

    /// Returns whether the visitor needs the edges of a tile, whose ids count from `_origin`. It is
    /// called again until the tile is visited. Once it returns false, the tile may be left out.
    fn needs(&self, _tile: &TileSummary, _origin: Origin) -> bool {
        true
    }
}

/// Shows the edges of the graph to a visitor that itself holds `visitor_size` bytes. It makes one
/// scan, from the last part to the first. In degree order, vertices with few edges thus come first.
/// They may tell the visitor all that it needs to know about those with many.
///
/// # Errors
/// [`tegula_machine::Error::OverBudget`] before anything is read; read errors; cancellation.
pub fn visit_edges<V: EdgeVisitor>(
    graph: &Graph,
    visitor: &V,
    visitor_size: u64,
    options: &RunOptions<'_>,
) -> Result<RunStatistics> {
    graph.short_vertex_count()?;
    options.with_scheduler(graph, |scheduler| {
        let has_weights = V::Weight::IS_WEIGHTED && graph.is_weighted();
        let demand = MemoryDemand::scan("the run", visitor_size, has_weights);
        let admitted = scheduler.ledger().admit(&[demand], options.reserve, &options.cancel)?;
        let mut job = Pass {
            graph,
            visitor,
            has_weights,
            instructions: options.tuning.instructions,
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
    has_weights: bool,
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
            let has_weights = self.has_weights;
            let demand = TileDemand { has_weights, has_every_batch: false, direction };
            return Ok(Advanced::NeedsTiles(demand));
        };
        self.took = since.elapsed();
        Ok(Advanced::Done)
    }

    fn needs(&self, tile: &TileEntry) -> bool {
        self.visitor.needs(&tile.summary, self.graph.origin_of(tile))
    }

    fn begin_part(&self, _part: &Part) -> Box<dyn PartWork + '_> {
        Box::new(PassWork {
            visitor: self.visitor,
            graph: self.graph,
            instructions: self.instructions,
        })
    }

    fn note_part(&self, done: &PartStatistics) {
        lock(&self.scanned).add(done);
    }
}

/// The work of one worker on one part.
struct PassWork<'v, V> {
    visitor: &'v V,
    graph: &'v Graph,
    instructions: Instructions,
}

impl<V: EdgeVisitor> PartWork for PassWork<'_, V> {
    fn process(
        &mut self,
        tile: Tile<'_>,
        entry: &TileEntry,
        weights: &[f32],
    ) -> Result<(), String> {
        let graph = self.graph;
        let Origin { source, .. } = graph.origin_of(entry);
        self.instructions.run(TileEdges {
            visitor: self.visitor,
            tile,
            weights,
            first_source: source as u32,
            source_count: graph
                .grid()
                .source_count(graph.cell_of(entry).segment, graph.vertex_count()),
            window: (entry.window(graph.origin_of(entry)) << WINDOW_LOG2) as u32,
            last: graph.vertex_count().saturating_sub(1) as u32,
        })
    }

    fn end(self: Box<Self>) {}
}

/// The edges of one tile, for a visitor.
struct TileEdges<'t, V> {
    visitor: &'t V,
    tile: Tile<'t>,
    /// A weight for each entry; empty if the graph or the visitor has none.
    weights: &'t [f32],
    /// The id from which its sources count.
    first_source: u32,
    source_count: u32,
    /// The first target of its window.
    window: u32,
    /// The last vertex. A damaged tile may hold a greater target, which must not reach the visitor.
    last: u32,
}

impl<V: EdgeVisitor> WithInstructions for TileEdges<'_, V> {
    type Output = Result<(), String>;

    #[inline(always)]
    fn run<I: InstructionSet>(self, instructions: I) -> Result<(), String> {
        for strip in self.tile.strips(self.source_count) {
            let strip = strip?;
            if V::Weight::IS_WEIGHTED && !self.weights.is_empty() {
                let first = strip.entry_offset();
                let weights = self.weights.get(first..first + strip.count());
                let weights =
                    weights.ok_or_else(|| "it has more entries than weights".to_owned())?;
                self.visit_strip(&strip, instructions, |entry| V::Weight::from_f32(weights[entry]));
            } else {
                self.visit_strip(&strip, instructions, |_| V::Weight::from_f32(1.0));
            }
        }
        Ok(())
    }
}

impl<V: EdgeVisitor> TileEdges<'_, V> {
    #[inline(always)]
    fn visit_strip<I: InstructionSet>(
        &self,
        strip: &Strip<'_>,
        instructions: I,
        weigh: impl Fn(usize) -> V::Weight,
    ) {
        let &TileEdges { visitor, first_source, window, last, source_count, .. } = self;
        match strip.entries() {
            // Tiles with weights have no masks.
            Entries::Masks => strip.visit_masks(|_: usize, source: u32, mut mask: u32| {
                let first = window + strip.target_start() as u32;
                while mask != 0 {
                    let target = (first + mask.trailing_zeros()).min(last);
                    let weight = V::Weight::from_f32(1.0);
                    visitor.visit(ShortId(first_source + source), ShortId(target), weight);
                    mask &= mask - 1;
                }
            }),
            Entries::Row | Entries::Singles => {
                let skip = source_count;
                let mut edges = BlockEdges { visitor, weigh, first_source, window, skip, last };
                strip.visit_blocks(instructions, skip, &mut edges);
            }
        }
    }
}

/// Shows the edges of a block to a visitor.
struct BlockEdges<'t, V, F> {
    visitor: &'t V,
    weigh: F,
    first_source: u32,
    window: u32,
    skip: u32,
    last: u32,
}

impl<V: EdgeVisitor, F: Fn(usize) -> V::Weight> BlockVisitor for BlockEdges<'_, V, F> {
    #[inline(always)]
    fn block(&mut self, block: &Block) {
        for (lane, (&source, &target)) in block.sources.iter().zip(&block.targets).enumerate() {
            if source != self.skip {
                let source = ShortId(self.first_source + source);
                let target = ShortId((self.window + u32::from(target)).min(self.last));
                let weight = (self.weigh)(block.first_entry + lane);
                self.visitor.visit(source, target, weight);
            }
        }
    }
}
