//! Adds up the weights of the edges from each vertex, before the first iteration.
//!
//! Tiles hold edges by target, so the weights of a source come from anywhere, and from any thread.
//! Their sums are [exact](crate::shared::exact_sum), so the order does not matter. A sum takes 40
//! bytes. Each scan adds up for the sources whose sums fit in half of the free memory, and skips
//! tiles without any of these sources. On ranks, each adds up for its own edges, and those that
//! keep the sources add up the sums of all.

use tegula_engine::{
    Arrays, EdgeVisitor, Estimate, Graph, Origin, Program, ProgressUnit, RunOptions, RunStatistics,
    ShortId, Start, StatesWriter, TileSummary, checkpoint_size, huge, visit_edges,
};

use super::program::PageRank;
use super::weighted::{OutWeight, WeightedPageRank, WeightedRank};
use crate::error::{RefusedEdge, Result, is_weight};
use crate::shared::exact_sum::SharedSum;
use crate::shared::ranks::{add_those_of_others, least_of_all};
use crate::shared::states_in_order::StatesInOrder;

/// The fewest sources that are worth a scan.
const SOURCES_MIN: u64 = 1 << 10;

/// The start of a weighted walk, the statistics of finding it, and where the arrays may lie.
pub(super) struct OutWeights {
    pub(super) start: Start<WeightedPageRank>,
    pub(super) statistics: RunStatistics,
    pub(super) arrays: Arrays,
}

/// Returns the bytes of memory that a run takes beside arrays on disk.
pub(super) fn reading_size(graph: &Graph) -> u64 {
    StatesWriter::<WeightedRank>::size(graph)
}

/// Returns the bytes of the states of all vertices.
pub(super) fn states_size(graph: &Graph) -> u64 {
    size_of::<WeightedRank>() as u64 * graph.vertex_count()
}

/// Returns the bytes of the fewest sums that are found at a time.
pub(super) fn sums_size_min(graph: &Graph) -> u64 {
    SOURCES_MIN.min(graph.vertex_count()) * size_of::<SharedSum>() as u64
}

impl OutWeights {
    /// Finds the sums for a walk whose run needs `estimate`. A run that resumes from a checkpoint
    /// has them there.
    ///
    /// # Errors
    /// [`NegativeWeight`](crate::Error::NegativeWeight) if a weight is not a finite number of at
    /// least 0.
    pub(super) fn find(
        graph: &Graph,
        walk: PageRank,
        estimate: &Estimate,
        options: &RunOptions<'_>,
    ) -> Result<OutWeights> {
        let mut statistics = RunStatistics::default();
        if options.checkpoints.is_some_and(|checkpoints| checkpoints.resume.is_some()) {
            let start = WeightedPageRank::new(walk, 0).into();
            return Ok(OutWeights { start, statistics, arrays: options.arrays });
        }
        let in_memory = stay_in_memory(graph, estimate, options);
        let reading = if in_memory { 0 } else { reading_size(graph) };
        let program = WeightedPageRank::new(walk, reading);
        let vertex_count = graph.vertex_count();
        let mut into = StatesInOrder::new(in_memory, graph, options)?;
        let held = size_held(graph, &program, in_memory);
        let beside = estimate.stream_bytes_min + estimate.overhead_bytes + held;
        let room = options.budget().saturating_sub(beside) / 2;
        let mut at_once =
            (room / size_of::<SharedSum>() as u64).max(SOURCES_MIN).min(vertex_count.max(1));
        if let Some(comm) = options.ranks {
            // Ranks add up the sums of all for the same sources, so they must cut in the same
            // places.
            at_once = least_of_all(at_once, comm, &options.cancel)?;
        }
        // Each rank passes over its own edges by itself.
        let alone = &RunOptions { ranks: None, ..options.clone() };
        options.progress.begin("adding up weights", Some(vertex_count), ProgressUnit::Vertices);
        for first in (0..vertex_count).step_by(at_once as usize) {
            let mut sources = Sources::new(first, at_once.min(vertex_count - first));
            let size = held + size_of_val(&*sources.sums) as u64;
            let done = visit_edges(graph, &sources, size, alone)?;
            sources.refused.check(graph, "weighted ranks")?;
            if let Some(comm) = options.ranks {
                let cancel = &options.cancel;
                add_those_of_others(&mut sources.sums, first, graph, comm, cancel)?;
            }
            statistics.edges_processed += done.edges_processed;
            statistics.tiles_skipped += done.tiles_skipped;
            statistics.bytes_read += done.bytes_read;
            into.write(sources.into_states())?;
            options.progress.advance(at_once.min(vertex_count - first));
        }
        options.progress.end();
        let known = Some(into.finish()?);
        let start = Start { program, known, is_own_enough: false };
        let arrays = if in_memory { Arrays::InMemory } else { options.arrays };
        Ok(OutWeights { start, statistics, arrays })
    }
}

/// Returns whether the arrays of the run will lie in memory.
fn stay_in_memory(graph: &Graph, estimate: &Estimate, options: &RunOptions<'_>) -> bool {
    let budget = options.budget();
    let copies = match options.checkpoints {
        // Checkpoints of arrays in memory need room for copies.
        Some(_) => checkpoint_size(graph, size_of::<WeightedRank>(), budget, options.threads),
        None => 0,
    };
    match options.arrays {
        Arrays::InMemory => true,
        Arrays::OnDisk => false,
        Arrays::Auto => estimate.needed_in_memory().saturating_add(copies) <= budget,
    }
}

/// Returns the bytes that are held beside the sums.
fn size_held(graph: &Graph, program: &WeightedPageRank, in_memory: bool) -> u64 {
    program.size() + if in_memory { states_size(graph) } else { 0 }
}

/// The sums of some of the sources.
struct Sources {
    first: u64,
    sums: Vec<SharedSum>,
    refused: RefusedEdge,
}

impl Sources {
    fn new(first: u64, count: u64) -> Sources {
        Sources { first, sums: huge::zeroes(count as usize), refused: RefusedEdge::default() }
    }

    /// Returns a state for each source, still without its rank.
    fn into_states(self) -> impl Iterator<Item = WeightedRank> {
        self.sums.into_iter().map(|sum| {
            let out_weight = OutWeight::of(sum.into_inner().to_f64());
            WeightedRank { rank: 0.0, out_weight }
        })
    }
}

impl EdgeVisitor for Sources {
    type Weight = f32;

    const MAY_VISIT_AGAIN: bool = false;

    #[inline(always)]
    fn visit(&self, source: ShortId, target: ShortId, weight: f32) {
        // A source before the range wraps around, and is not found either.
        let place = u64::from(source.0).wrapping_sub(self.first);
        let Some(sum) = self.sums.get(place as usize) else { return };
        if !is_weight(weight) {
            self.refused.refuse((source, target));
            return;
        }
        sum.add(weight);
    }

    fn needs(&self, tile: &TileSummary, origin: Origin) -> bool {
        let end = self.first + self.sums.len() as u64;
        origin.source + u64::from(tile.source_first) < end
            && origin.source + u64::from(tile.source_last) >= self.first
    }
}
