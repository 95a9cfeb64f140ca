//! Rows in the order of a traversal.

use tegula_machine::threads::Cancel;
use tegula_store::rows::{IndexWalk, Row, RowBatch, RowReader};
use tegula_store::{Result, ShortId};

use super::order::{ROWS_AHEAD, RunAhead};
use crate::job::context::JobContext;

/// Rows read into memory together: few enough that reads stay in flight meanwhile.
const ROWS_AT_ONCE: usize = 16;
/// Rows between two looks ahead, if rows are taken one at a time.
const ROWS_PER_LOOK: usize = 8;
/// Upcoming rows may hold one page in `REACH_SHARE` of the cache: rows read too early displace rows
/// that are needed sooner.
const REACH_SHARE: usize = 4;
/// Least number of upcoming rows, however small the cache: as many as reads in flight.
const REACH_MIN: usize = 64;

/// Yields the rows of the vertices of an order one by one, while the rows of upcoming vertices are
/// read.
///
/// Any number of traversals, each on its own thread, may share a [`RowReader`]. A traversal holds
/// 100 bytes for each row of a batch beside the memory of the reader. It costs about 40 ns for a
/// row in memory, or 90 ns if the order gives one vertex at a time.
pub struct Traversal<'r, O> {
    rows: &'r RowReader,
    order: O,
    cancel: &'r Cancel,
    /// The job of the traversal, if other jobs may run beside it.
    context: Option<&'r JobContext<'r>>,
    runs_ahead: bool,
    /// How many upcoming rows may have pages in the cache.
    reach: usize,
    batch: RowBatch,
    /// Whether all rows stay in memory. If so, most need no batch.
    is_in_memory: bool,
    walk: IndexWalk,
    /// Vertices whose turn it is. The rows of the first `held` are in memory.
    taken: Vec<ShortId>,
    held: usize,
    /// Rows of the batch that were returned.
    given: usize,
    /// Rows returned since the last look ahead.
    since_look: usize,
    statistics: TraversalStatistics,
}

/// The statistics of a traversal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraversalStatistics {
    /// Rows read into memory for their use.
    pub rows: u64,
    /// Rows that were announced before their use.
    pub announced: u64,
}

impl<'r, O: RunAhead> Traversal<'r, O> {
    /// Begins with the first vertex of an order. `cancel` ends the traversal within the time of a
    /// few rows.
    pub fn new(rows: &'r RowReader, order: O, cancel: &'r Cancel) -> Traversal<'r, O> {
        Traversal {
            rows,
            order,
            cancel,
            context: None,
            runs_ahead: true,
            reach: (rows.page_capacity() / REACH_SHARE).max(REACH_MIN),
            batch: RowBatch::default(),
            is_in_memory: false,
            walk: IndexWalk::default(),
            taken: Vec::new(),
            held: 0,
            given: 0,
            // The first call looks ahead.
            since_look: ROWS_PER_LOOK,
            statistics: TraversalStatistics::default(),
        }
    }

    /// Lets other jobs have their turn between rows.
    #[must_use]
    pub(crate) fn giving_way(mut self, context: &'r JobContext<'r>) -> Traversal<'r, O> {
        self.context = Some(context);
        self
    }

    /// Reads each row only when it is needed, one read at a time: the baseline for run-ahead.
    #[must_use]
    pub fn without_run_ahead(mut self) -> Traversal<'r, O> {
        self.runs_ahead = false;
        self
    }

    /// Returns the row of the next vertex, and the order for what is found in the row. `None` if
    /// the order has no vertex; it may have one again after something was added.
    ///
    /// # Errors
    /// Read errors of the next rows, including reads ahead: the traversal that needs a row reports
    /// its error, and the next call tries again. [`tegula_machine::Error::Cancelled`].
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<(Row<'_>, &mut O)>> {
        if self.given == self.held && !self.fill()? {
            return Ok(None);
        }
        let row = if !self.is_in_memory {
            self.rows.row(&self.batch, self.given)
        } else if let Some(row) = self.rows.held_row(self.taken[self.given], &mut self.walk) {
            row
        } else {
            // The row lies in two pieces.
            self.rows.get(&self.taken[self.given..=self.given], &mut self.batch)?;
            self.rows.row(&self.batch, 0)
        };
        self.given += 1;
        Ok(Some((row, &mut self.order)))
    }

    /// Returns the next vertex without its row, for callers that hold all rows unpacked.
    #[inline]
    pub(super) fn next_vertex(&mut self) -> Result<Option<ShortId>> {
        if self.given == self.held && !self.fill()? {
            return Ok(None);
        }
        self.given += 1;
        Ok(Some(self.taken[self.given - 1]))
    }

    /// Returns the reader of the rows.
    pub(super) fn rows(&self) -> &'r RowReader {
        self.rows
    }

    /// Returns the order.
    pub fn order_mut(&mut self) -> &mut O {
        &mut self.order
    }

    /// Returns the statistics so far. For the hit rate, see the [reader](RowReader::statistics).
    pub fn statistics(&self) -> TraversalStatistics {
        self.statistics
    }

    /// Reads the next rows into memory. Returns false if there are none.
    fn fill(&mut self) -> Result<bool> {
        self.cancel.check()?;
        if let Some(context) = self.context {
            context.give_way();
        }
        // Memory may have had room for fewer rows than were taken. The others come next.
        self.taken.drain(..self.held);
        (self.held, self.given) = (0, 0);
        if self.taken.is_empty() {
            let count = if self.runs_ahead { ROWS_AT_ONCE } else { 1 };
            self.order.take(count, &mut self.taken);
        }
        if self.taken.is_empty() {
            return Ok(false);
        }
        // Asked each time, because other traversals may fill the cache meanwhile.
        self.is_in_memory = self.rows.is_complete();
        if self.is_in_memory {
            self.held = self.taken.len();
            self.statistics.rows += self.held as u64;
            return Ok(true);
        }
        if self.runs_ahead && self.since_look >= ROWS_PER_LOOK {
            self.look_ahead();
        }
        self.held = self.rows.get(&self.taken, &mut self.batch)?;
        self.since_look += self.held;
        self.statistics.rows += self.held as u64;
        Ok(true)
    }

    /// Requests the rows of upcoming vertices, until enough reads are in flight.
    fn look_ahead(&mut self) {
        self.rows.fill_when_due(self.cancel);
        let count = self.rows.prefetch(self.order.upcoming(self.reach).take(ROWS_AHEAD));
        self.order.announce(count);
        self.statistics.announced += count as u64;
        self.since_look = 0;
    }
}
