//! What the batches of a graph need of memory: as they are, or at most.

use tegula_store::graph::Graph;
use tegula_store::tiles::{
    BATCH_EDGES_MAX, BATCH_LOG2_MAX, BATCH_LOG2_MIN, WINDOW_LOG2, WINDOW_SIZE,
};

use crate::external::group::GroupBatch;
use crate::parts::{Parts, full_parts_max};
use crate::program::{Accumulator, Program};
use crate::superstep::accumulators::Accumulators;

/// How often a batch can be halved.
const HALVINGS_MAX: u64 = (BATCH_LOG2_MAX - BATCH_LOG2_MIN) as u64;

/// What a program needs for the batches of a graph.
#[derive(Debug)]
pub struct BatchSizes {
    /// The first column with targets of this rank.
    pub first_column: u32,
    /// Bytes of the accumulators of each column from there on, up to the last one with such
    /// targets.
    pub columns: Vec<u64>,
    /// The most targets of a batch.
    pub widest: u64,
    /// See [`Parts::waiting_targets_max`].
    pub waiting_targets: u64,
    /// The number of batches.
    pub count: u64,
}

impl BatchSizes {
    /// Returns the sizes for the batches of a graph.
    pub fn of<P: Program>(graph: &Graph, parts: &Parts) -> BatchSizes {
        let own = graph.own_vertices();
        let column_of = |vertex: u64| (vertex >> graph.grid().column_log2) as usize;
        let first_column = column_of(own.start);
        let last_columns = own.end.checked_sub(1).filter(|_| !own.is_empty()).map(column_of);
        let mut columns = vec![0; last_columns.map_or(0, |last| last + 1 - first_column)];
        for part in parts.parts.iter().filter(|part| part.number == 0) {
            let batch = graph.batches()[part.batch];
            if !own.contains(&batch.target_first) {
                continue;
            }
            let targets = batch.targets(graph.vertex_count());
            let bytes = batch_bytes::<P>(targets.end - targets.start, part.count > 1);
            columns[column_of(batch.target_first) - first_column] += bytes;
        }
        BatchSizes {
            first_column: first_column as u32,
            columns,
            widest: graph.batches().iter().map(|batch| 1u64 << batch.log2).max().unwrap_or(0),
            waiting_targets: parts.waiting_targets_max(graph),
            count: graph.batches().len() as u64,
        }
    }

    /// Returns the most that the batches of any graph with `arcs` stored edges need, if each lies
    /// in a batch of this graph.
    pub fn at_most<P: Program>(graph: &Graph, arcs: u64) -> BatchSizes {
        let (vertex_count, column_log2) = (graph.vertex_count(), graph.grid().column_log2);
        let widest = graph.batches().iter().map(|batch| 1u64 << batch.log2).max().unwrap_or(0);
        // A batch is halved if it has more edges than a batch should have.
        let halved = HALVINGS_MAX * (arcs / BATCH_EDGES_MAX);
        let columns = (0..vertex_count).step_by(1 << column_log2).map(|first| {
            let targets = (vertex_count - first).min(1 << column_log2);
            halved.min(targets >> BATCH_LOG2_MIN) * batch_bytes::<P>(0, false)
        });
        let mut columns: Vec<u64> = columns.collect();
        for batch in graph.batches() {
            let targets = batch.targets(vertex_count);
            columns[(targets.start >> column_log2) as usize] +=
                batch_bytes::<P>(targets.end.saturating_sub(targets.start), true);
        }
        // Each part but the last of its batch is full. Only the smallest batches have more edges
        // than a batch should have.
        let (full_parts, of_usual_batch) = full_parts_max(arcs);
        BatchSizes {
            first_column: 0,
            columns,
            widest,
            waiting_targets: (widest * of_usual_batch).max(full_parts << BATCH_LOG2_MIN),
            count: graph.batches().len() as u64 + halved.min(vertex_count >> BATCH_LOG2_MIN),
        }
    }

    /// Returns the most windows into which the targets of the batches fall. A batch that is smaller
    /// than a window counts as one.
    pub fn windows(&self, graph: &Graph) -> u64 {
        self.count + (graph.vertex_count() >> WINDOW_LOG2)
    }
}

/// Returns the bytes for the reductions of a batch of `targets` targets. With several parts, those
/// of earlier parts wait beside the part at work.
fn batch_bytes<P: Program>(targets: u64, has_several_parts: bool) -> u64 {
    let before = if has_several_parts { targets * size_of::<Accumulator<P>>() as u64 } else { 0 };
    let parked = match targets < WINDOW_SIZE as u64 {
        true => Accumulators::<P>::parked_size(targets),
        false => Accumulators::<P>::size(targets),
    };
    parked + before + size_of::<GroupBatch<P>>() as u64
}
