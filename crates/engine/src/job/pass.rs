//! A pass over all needed edges, for algorithms that are no vertex program, such as a union-find.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tegula_machine::threads::{lock, unlocked};
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::{EdgeWeight, Origin, Tile, TileSummary};
use tegula_store::{Result, ShortId};

use super::context::JobContext;
use super::tile_edges::{EdgeSink, TileEdges};
use super::{Advanced, Job, PartStatistics, PartWork, ScanDirection, TileDemand};
use crate::instructions::Instructions;
use crate::options::RunOptions;
use crate::parts::Part;
use crate::process_kind::ProcessKind;
use crate::scheduler::MemoryDemand;
use crate::statistics::RunStatistics;

/// Visits every edge of the tiles that it needs, by several threads at once, in no particular
/// order.
pub trait EdgeVisitor: Sync {
    /// `()` or `f32`. In an unweighted graph every `f32` weight is 1.
    type Weight: EdgeWeight;

    /// Whether an edge may be visited again, after a read that several jobs share has failed. A
    /// visitor that adds up what it sees must see each edge once.
    const MAY_VISIT_AGAIN: bool = true;

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
    let (_, statistics) = visit_edges_with(graph, || visitor, visitor_size, options)?;
    Ok(statistics)
}

/// Shows the edges as [`visit_edges`] does to a visitor that is made once there is memory for it,
/// and returns the visitor.
pub fn visit_edges_with<V: EdgeVisitor>(
    graph: &Graph,
    visitor: impl FnOnce() -> V,
    visitor_size: u64,
    options: &RunOptions<'_>,
) -> Result<(V, RunStatistics)> {
    options.refuse_ranks("a pass over the edges that shares a table of all vertices")?;
    graph.short_vertex_count()?;
    options.with_scheduler(graph, |scheduler| {
        let has_weights = V::Weight::IS_WEIGHTED && graph.is_weighted();
        let demand = MemoryDemand::scan("the run", visitor_size, has_weights);
        let admitted = scheduler.ledger().admit(&[demand], options.reserve, &options.cancel)?;
        let visitor = visitor();
        let mut job = Pass {
            graph,
            visitor: &visitor,
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
        Ok((visitor, statistics))
    })
}

impl<V: EdgeVisitor> EdgeVisitor for &V {
    type Weight = V::Weight;

    const MAY_VISIT_AGAIN: bool = V::MAY_VISIT_AGAIN;

    #[inline(always)]
    fn visit(&self, source: ShortId, target: ShortId, weight: V::Weight) {
        V::visit(self, source, target, weight);
    }

    #[inline(always)]
    fn needs(&self, tile: &TileSummary, origin: Origin) -> bool {
        V::needs(self, tile, origin)
    }
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
        let sink = Visits(self.visitor);
        self.instructions.run(TileEdges::of(self.graph, tile, entry, weights, sink))
    }

    fn is_restartable(&self) -> bool {
        V::MAY_VISIT_AGAIN
    }

    fn end(self: Box<Self>) {}
}

/// Hands edges to a visitor.
struct Visits<'v, V>(&'v V);

impl<V: EdgeVisitor> EdgeSink for Visits<'_, V> {
    type Weight = V::Weight;

    #[inline(always)]
    fn take(&mut self, source: ShortId, target: ShortId, weight: V::Weight) {
        self.0.visit(source, target, weight);
    }
}
