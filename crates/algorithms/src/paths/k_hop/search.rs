//! The search and its result.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use arrow_schema::SchemaRef;
use serde::Serialize;
use tegula_engine::traverse::{self, RowsWanted, VertexSet};
use tegula_engine::{
    Cancel, Graph, IterationTimes, ProgressUnit, RunOptions, RunStatistics, ShortId, VertexId,
};

use crate::algorithm::EdgeDirection;
use crate::answer::{self, Answer, Facts, List, Listing, RowSink, Table};
use crate::error::Result;
use crate::shared::original_ids::IdPositions;

/// The vertices within some hops of the sources.
#[derive(Debug, Clone)]
pub struct Neighbourhood {
    /// The vertices with their distances, by ascending distance and then by dense id.
    pub vertices: Vec<(ShortId, u32)>,
    /// Statistics of the run; an iteration is a hop.
    pub statistics: RunStatistics,
}

/// Finds the vertices within `hops` hops of any of the sources, along edges of this direction.
pub fn run(
    graph: &Graph,
    sources: &[VertexId],
    direction: EdgeDirection,
    hops: u32,
    options: &RunOptions<'_>,
) -> Result<Neighbourhood> {
    let held = size(graph, hops)? + size_of_val(sources) as u64;
    let wanted = RowsWanted { directions: direction.into(), has_weights: false };
    let layouts = wanted.directions.layouts(graph);
    traverse::run(graph, wanted, held, options, |job| {
        let reached = VertexSet::new(graph.short_vertex_count()?);
        let sources = sources.iter().map(|source| source.short());
        let mut level: Vec<ShortId> = sources.filter(|&source| reached.insert(source)).collect();
        level.sort_unstable();
        let (mut vertices, mut times) = (Vec::new(), IterationTimes::default());
        let edges = AtomicU64::new(0);
        options.progress.begin("searching", Some(hops.into()), ProgressUnit::Iterations);
        for hop in 0.. {
            vertices.extend(level.iter().map(|&vertex| (vertex, hop)));
            if hop == hops || level.is_empty() {
                break;
            }
            let started = Instant::now();
            level = job.follow(&level, layouts, |row, found| {
                let mut followed = 0;
                row.for_each(|target| {
                    followed += 1;
                    if reached.insert(target) {
                        found.push(target);
                    }
                })?;
                edges.fetch_add(followed, Ordering::Relaxed);
                Ok(())
            })?;
            times.push(started.elapsed());
            options.progress.advance(1);
        }
        options.progress.end();
        Ok(Neighbourhood { vertices, statistics: job.statistics(times, edges.into_inner()) })
    })
}

/// Bytes that a run of `hops` hops holds beside the rows: the set of reached vertices, two levels,
/// the result, which grows by doubling, and the size of each level.
pub(super) fn size(graph: &Graph, hops: u32) -> Result<u64> {
    let vertices = graph.vertex_count();
    let levels = vertices.min(u64::from(hops) + 1);
    Ok(VertexSet::size(vertices) + (8 + 16) * vertices + 8 * levels + IdPositions::size(graph)?)
}

impl Neighbourhood {
    /// Replaces dense ids by id positions.
    pub(super) fn named(self, graph: &Graph, options: &RunOptions<'_>) -> Result<KHopAnswer> {
        let mut levels: Vec<u64> = Vec::new();
        for &(_, hop) in &self.vertices {
            levels.resize(levels.len().max(hop as usize + 1), 0);
            levels[hop as usize] += 1;
        }
        let id_positions = IdPositions::read(graph, &options.cancel)?;
        // Reuses the allocation.
        let vertices = self.vertices.into_iter();
        let mut rows: Vec<_> =
            vertices.map(|(vertex, hop)| (id_positions.of(vertex), hop)).collect();
        rows.sort_unstable();
        Ok(KHopAnswer { listing: Listing { column: "hops", rows, memory: options.memory }, levels })
    }
}

/// A row for every vertex found, in the order of the original ids.
pub(super) struct KHopAnswer {
    listing: Listing<u32>,
    /// Number of vertices at each number of hops.
    levels: Vec<u64>,
}

/// The summary of the vertices found.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// Number of vertices, the sources included.
    vertices: u64,
    /// Number of vertices at each number of hops.
    levels: Vec<u64>,
}

impl Table for KHopAnswer {
    fn schema(&self, graph: &Graph) -> SchemaRef {
        self.listing.schema(graph)
    }

    fn row_count(&self, graph: &Graph) -> u64 {
        self.listing.row_count(graph)
    }

    fn write_rows(&self, graph: &Graph, out: &mut dyn RowSink, cancel: &Cancel) -> Result<()> {
        self.listing.write_rows(graph, out, cancel)
    }
}

impl Answer for KHopAnswer {
    fn summary(
        &self,
        _graph: &Graph,
        top: usize,
        _cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let levels = self.levels.iter().copied().take(top).collect();
        Ok(Box::new(Summary { vertices: self.listing.rows.len() as u64, levels }))
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        facts.add("within", answer::counted(self.vertices, "vertex", "vertices"));
        facts
    }

    fn list(&self) -> List {
        let mut list = List::new(["hops", "vertices"]);
        for (hops, vertices) in self.levels.iter().enumerate() {
            list.add([&hops, vertices]);
        }
        list
    }
}
