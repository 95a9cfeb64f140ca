//! The rows that a job wants to read. Jobs of a scheduler share their index and caches.

use tegula_machine::disk::Targets;
use tegula_machine::threads::Cancel;
use tegula_store::Result;
use tegula_store::graph::Graph;
use tegula_store::rows::{Direction, RowReader, Rows};

use super::traversal::missing_rows;
use crate::scheduler::{Admitted, RowSizes, Scheduler, Share, SharedKey};

/// Rows of one direction, before the memory for them is granted.
pub struct WantedRows {
    pub direction: Direction,
    has_weights: bool,
    pub sizes: RowSizes,
    /// Least bytes of a reader.
    pub least: u64,
    /// Bytes of a cache that holds all rows.
    pub all: u64,
    /// The rows, if they had to be opened to know their sizes.
    opened: Option<Rows>,
}

impl WantedRows {
    /// Finds out what the rows of a direction take; `None` if the graph has none. The first job
    /// that asks opens them.
    pub fn of(
        scheduler: &Scheduler<'_>,
        graph: &Graph,
        direction: Direction,
        has_weights: bool,
        cancel: &Cancel,
    ) -> Result<Option<WantedRows>> {
        if graph.manifest().rows_of(direction).is_none() {
            return Ok(None);
        }
        let has_weights = has_weights && graph.is_weighted();
        let mut opened = None;
        let sizes = scheduler.row_sizes().of(direction, has_weights).get(cancel, || {
            let rows = open(graph, direction)?;
            let sizes = RowSizes {
                batch: rows.batch_size(has_weights),
                piece_batch: rows.piece_batch_size(has_weights),
                unpacked: RowReader::unpacked_size(&rows, has_weights, scheduler.threads()),
            };
            opened = Some(rows);
            Ok(sizes)
        })?;
        let least = RowReader::size_min(graph, direction, has_weights);
        let all = RowReader::cache_size_max(graph, direction, has_weights);
        Ok(Some(WantedRows { direction, has_weights, sizes, least, all, opened }))
    }

    /// Returns the demand of a reader with the smallest cache.
    pub fn share(&self) -> Share {
        let WantedRows { direction, has_weights, least, .. } = *self;
        Share { key: SharedKey::Rows { direction, has_weights }, least }
    }

    /// Returns whether a reader with `extra` bytes beyond the least ones holds all rows.
    pub fn fit(&self, extra: u64) -> bool {
        self.all <= RowReader::CACHE_SIZE_MIN + extra
    }

    /// Returns a reader that shares index and caches with those of other jobs.
    ///
    /// # Panics
    /// When the job was admitted without these rows.
    pub fn load(
        self,
        graph: &Graph,
        admitted: &Admitted<'_, '_>,
        targets: &Targets,
        cancel: &Cancel,
    ) -> Result<RowReader> {
        let (key, WantedRows { direction, has_weights, opened, .. }) = (self.share().key, self);
        let reader = admitted.load(key, cancel, |extra| {
            let rows = opened.map_or_else(|| open(graph, direction), Ok)?;
            RowReader::new(rows, has_weights, RowReader::CACHE_SIZE_MIN + extra, targets)
        })?;
        Ok(reader.share())
    }
}

fn open(graph: &Graph, direction: Direction) -> Result<Rows> {
    Rows::open(graph, direction)?.ok_or_else(|| missing_rows(graph, direction))
}
