//! Memory of runs along rows.

use tegula_store::Result;
use tegula_store::graph::Graph;
use tegula_store::rows::{RowReader, Rows};

use super::{Estimate, Held, overhead};
use crate::traverse::RowsWanted;

/// Bytes that a batch copies of rows of any length.
const BATCH_SIZE: u64 = 2 << 20;
/// Bytes of the longest rows, of all workers together, that the overhead of a run covers: an
/// estimate does not know the longest row.
const LONG_ROWS_COVERED: u64 = 12 << 20;

/// Estimates a run along rows that itself holds `held`.
pub fn estimate_rows(graph: &Graph, wanted: RowsWanted, held: impl Into<Held>) -> Estimate {
    let layouts = wanted.directions.layouts(graph);
    let caches_min = RowReader::CACHE_SIZE_MIN * layouts.len() as u64;
    let all = |&direction| RowReader::cache_size_max(graph, direction, wanted.has_weights);
    let index = |&direction| RowReader::index_size(graph, direction, wanted.has_weights);
    Estimate {
        vertex_bytes: held.into().bytes() + layouts.iter().map(index).sum::<u64>(),
        stream_bytes_min: caches_min,
        layout_bytes: layouts.iter().map(all).sum::<u64>().saturating_sub(caches_min),
        overhead_bytes: overhead(graph),
        message_bytes: 0,
        on_disk: None,
    }
}

/// Returns the bytes that workers need beyond the estimate of a run for copies of the longest rows.
/// Reads the index of the rows, or the degrees if there are no rows yet.
pub fn long_rows_size(graph: &Graph, wanted: RowsWanted, threads: usize) -> Result<u64> {
    let batch_size = |&direction| match Rows::open(graph, direction)? {
        Some(rows) => Ok(rows.batch_size(wanted.has_weights)),
        None => Rows::batch_size_expected(graph, direction, wanted.has_weights),
    };
    let layouts = wanted.directions.layouts(graph).iter();
    Ok(long_rows_of(layouts.map(batch_size).sum::<Result<u64>>()?, threads))
}

/// Returns the same for a vertex program, which reads long rows piece by piece.
pub fn row_pieces_size(graph: &Graph, wanted: RowsWanted, threads: usize) -> Result<u64> {
    let batch_size = |&direction| match Rows::open(graph, direction)? {
        Some(rows) => Ok(rows.piece_batch_size(wanted.has_weights)),
        None => Rows::piece_batch_size_expected(graph, direction, wanted.has_weights),
    };
    let layouts = wanted.directions.layouts(graph).iter();
    Ok(long_rows_of(layouts.map(batch_size).sum::<Result<u64>>()?, threads))
}

/// Returns the bytes of batches of this size beyond what the overhead of a run covers.
pub fn long_rows_of(batch_size: u64, threads: usize) -> u64 {
    (threads as u64 * batch_size.saturating_sub(BATCH_SIZE)).saturating_sub(LONG_ROWS_COVERED)
}
