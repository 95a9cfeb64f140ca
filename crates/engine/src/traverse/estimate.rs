//! What runs on rows need of memory.

use tegula_machine::Result;
use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowReader, Rows};

use crate::options::Estimate;
use crate::overhead::overhead;

/// What a batch copies of rows of any length.
const BATCH_SIZE: u64 = 2 << 20;
/// Bytes of long rows, of all workers together, that the overhead of a run covers: an estimate does
/// not know the longest row.
const LONG_ROWS_COVERED: u64 = 12 << 20;

/// What a run on rows needs that itself holds `held` bytes.
pub fn estimate_rows(graph: &Graph, has_weights: bool, held: u64) -> Estimate {
    let cache_size_max = RowReader::cache_size_max(graph, Direction::Forward, has_weights);
    Estimate {
        vertex_bytes: held + RowReader::index_size(graph, Direction::Forward, has_weights),
        stream_bytes_min: RowReader::CACHE_SIZE_MIN,
        layout_bytes: cache_size_max.saturating_sub(RowReader::CACHE_SIZE_MIN),
        overhead_bytes: overhead(graph),
        on_disk: None,
    }
}

/// Bytes that workers take beside the estimate of a run for copies of the longest rows. Reads the index of
/// the rows, or where there are none yet the degrees.
///
/// # Errors
/// Those of reading.
pub fn long_rows_size(graph: &Graph, has_weights: bool, threads: usize) -> Result<u64> {
    let batch_size = match Rows::open(graph, Direction::Forward)? {
        Some(rows) => rows.batch_size(has_weights),
        None => Rows::batch_size_expected(graph, has_weights)?,
    };
    Ok(long_rows_of(batch_size, threads))
}

/// What batches of this size take beyond what the overhead of a run covers.
pub(crate) fn long_rows_of(batch_size: u64, threads: usize) -> u64 {
    (threads as u64 * batch_size.saturating_sub(BATCH_SIZE)).saturating_sub(LONG_ROWS_COVERED)
}
