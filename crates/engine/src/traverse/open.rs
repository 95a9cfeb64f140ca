//! Rows within a budget.

use std::ops::Deref;
use std::time::Duration;

use tegula_machine::disk::Lease;
use tegula_machine::{Error, Result};
use tegula_store::graph::Graph;
use tegula_store::rows::{RowReader, Rows};

use crate::options::{Estimate, RunOptions, RunStatistics};
use crate::overhead::{BLOCK_FRAMES, overhead};
use crate::process::ProcessKind;

/// What a batch copies of rows of any length.
const BATCH_SIZE: u64 = 2 << 20;
/// Bytes of long rows, of all workers together, that the overhead of a run covers: an estimate does
/// not know the longest row.
const LONG_ROWS_COVERED: u64 = 12 << 20;

/// Vertices that one worker passes over at a time.
pub const RANGE_SIZE: u32 = 1 << 14;

/// What a run on rows needs that itself holds `held` bytes.
pub fn estimate_rows(graph: &Graph, has_weights: bool, held: u64) -> Estimate {
    let cache_size_max = RowReader::cache_size_max(graph, has_weights);
    Estimate {
        vertex_bytes: held + RowReader::index_size(graph, has_weights),
        stream_bytes_min: RowReader::CACHE_SIZE_MIN,
        layout_bytes: cache_size_max.saturating_sub(RowReader::CACHE_SIZE_MIN),
        overhead_bytes: overhead(graph),
    }
}

/// Rows that are read within the budget of a run. While this lives, the pool of the graph leaves to frames
/// what neither the cache of rows nor the run itself takes.
#[derive(Debug)]
pub struct HeldRows {
    reader: RowReader,
    _lease: Lease,
}

impl Deref for HeldRows {
    type Target = RowReader;

    fn deref(&self) -> &RowReader {
        &self.reader
    }
}

/// Opens the rows of a graph, with a cache of what the budget leaves to a run that itself holds `held`
/// bytes.
///
/// # Errors
/// [`Error::MissingLayout`] where the graph has no rows, [`Error::OverBudget`] where they cannot be
/// read within the budget; those of reading.
pub fn open_rows(
    graph: &Graph,
    has_weights: bool,
    held: u64,
    options: &RunOptions<'_>,
) -> Result<HeldRows> {
    let needed = estimate_rows(graph, has_weights, held).needed();
    let check = |needed: u64| {
        let (what, budget) = ("the run by rows".to_owned(), options.memory);
        if needed <= budget { Ok(()) } else { Err(Error::OverBudget { what, needed, budget }) }
    };
    if graph.manifest().rows.is_some() {
        check(needed)?;
    }
    let rows = Rows::open(graph)?.ok_or_else(|| missing_rows(graph))?;
    let long_rows = long_rows_of(rows.batch_size(has_weights), options.threads);
    check(needed + long_rows)?;
    let free = options.memory - needed - long_rows + RowReader::CACHE_SIZE_MIN;
    let cache_size = free.min(RowReader::cache_size_max(graph, has_weights));
    let taken = needed - RowReader::CACHE_SIZE_MIN + long_rows + cache_size;
    let lease = graph.reader().pool().lease("the run by rows", taken - BLOCK_FRAMES)?;
    let reader = RowReader::new(rows, has_weights, cache_size, &options.speed.targets)?;
    Ok(HeldRows { reader, _lease: lease })
}

/// The error for a graph without rows.
pub(crate) fn missing_rows(graph: &Graph) -> Error {
    Error::MissingLayout { path: graph.directory().to_owned(), layout: "rows" }
}

/// Bytes that workers take beside the estimate of a run for copies of the longest rows. Reads the index of
/// the rows, or where there are none yet the degrees.
///
/// # Errors
/// Those of reading.
pub fn long_rows_size(graph: &Graph, has_weights: bool, threads: usize) -> Result<u64> {
    let batch_size = match Rows::open(graph)? {
        Some(rows) => rows.batch_size(has_weights),
        None => Rows::batch_size_expected(graph, has_weights)?,
    };
    Ok(long_rows_of(batch_size, threads))
}

/// What batches of this size take beyond what the overhead of a run covers.
pub(crate) fn long_rows_of(batch_size: u64, threads: usize) -> u64 {
    (threads as u64 * batch_size.saturating_sub(BATCH_SIZE)).saturating_sub(LONG_ROWS_COVERED)
}

/// What passes over rows, or one traversal of them, did: the time of each, and the edges that they saw.
pub fn rows_statistics(rows: &RowReader, times: Vec<Duration>, edges: u64) -> RunStatistics {
    RunStatistics {
        iterations: times.len() as u64,
        processes: vec![ProcessKind::Seek; times.len()],
        iteration_times: times,
        edges_processed: edges,
        tiles_skipped: 0,
        bytes_read: rows.bytes_read(),
    }
}
