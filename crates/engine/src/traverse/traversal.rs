//! Rows in the order of a traversal.

use tegula_machine::Result;
use tegula_machine::threads::Cancel;
use tegula_store::ShortId;
use tegula_store::rows::{IndexWalk, Row, RowBatch, RowReader};

use super::order::{ROWS_AHEAD, RunAhead};
use crate::job::context::JobContext;

/// Rows that are brought into memory together: few enough that reads stay in flight meanwhile.
const ROWS_AT_ONCE: usize = 16;
/// Rows between two looks at what is upcoming, where single ones are taken.
const ROWS_PER_LOOK: usize = 8;
/// One page in `REACH_SHARE` of the cache may wait for an upcoming row: what is read too early takes the
/// room of what is needed before.
const REACH_SHARE: usize = 4;
/// As many rows as reads in flight, however small the cache.
const REACH_MIN: usize = 64;

/// Hands out the rows of the vertices of an order, one after the other, with those of upcoming ones on
/// their way.
///
/// Any number of traversals, each on a thread of its own, may share a [`RowReader`]. Holds 100 bytes for
/// each row of a batch beside what the reader holds. Costs about 40 ns a row that is in memory, 90 where
/// the order gives single ones.
pub struct Traversal<'r, O> {
    rows: &'r RowReader,
    order: O,
    cancel: &'r Cancel,
    /// The job to which it belongs, where that has others beside it.
    context: Option<&'r JobContext<'r>>,
    runs_ahead: bool,
    /// How many upcoming rows may have pages that wait for them.
    reach: usize,
    batch: RowBatch,
    /// All rows are in memory for good: then most need no batch.
    is_in_memory: bool,
    walk: IndexWalk,
    /// Vertices whose turn it is; the rows of the first `held` are in memory.
    taken: Vec<ShortId>,
    held: usize,
    /// Rows of the batch that were handed out.
    given: usize,
    /// Rows handed out since the last look at what is upcoming.
    since_look: usize,
    statistics: TraversalStatistics,
}

/// What a traversal did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TraversalStatistics {
    /// Rows brought into memory for their use.
    pub rows: u64,
    /// Rows that were announced before.
    pub announced: u64,
}

impl<'r, O: RunAhead> Traversal<'r, O> {
    /// Begins with the first vertex of an order. `cancel` ends it within the time of some rows.
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
            since_look: ROWS_PER_LOOK,
            statistics: TraversalStatistics::default(),
        }
    }

    /// Lets other jobs have their turns between rows.
    #[must_use]
    pub(crate) fn giving_way(mut self, context: &'r JobContext<'r>) -> Traversal<'r, O> {
        self.context = Some(context);
        self
    }

    /// Reads each row only when it is needed, one read at a time: the yardstick for run-ahead.
    #[must_use]
    pub fn without_run_ahead(mut self) -> Traversal<'r, O> {
        self.runs_ahead = false;
        self
    }

    /// The row of the next vertex, and the order, for what is found in the row; `None` when the order has
    /// no vertex. There may be one again after something was added.
    ///
    /// # Errors
    /// Those of reading the rows that come next, also where they were read ahead: they are reported to
    /// the traversal that needs them, and the next call tries again. [`tegula_machine::Error::Cancelled`].
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
            // It lies in two pieces.
            self.rows.get(&self.taken[self.given..=self.given], &mut self.batch)?;
            self.rows.row(&self.batch, 0)
        };
        self.given += 1;
        Ok(Some((row, &mut self.order)))
    }

    /// Where rows come from.
    pub(super) fn rows(&self) -> &'r RowReader {
        self.rows
    }

    /// The order.
    pub fn order_mut(&mut self) -> &mut O {
        &mut self.order
    }

    /// What it did so far. The hit rate is that of the [reader](RowReader::statistics).
    pub fn statistics(&self) -> TraversalStatistics {
        self.statistics
    }

    /// Brings the next rows into memory. False where there are none.
    fn fill(&mut self) -> Result<bool> {
        self.cancel.check()?;
        if let Some(context) = self.context {
            context.give_way();
        }
        self.taken.drain(..self.held);
        (self.held, self.given) = (0, 0);
        if self.taken.is_empty() {
            let count = if self.runs_ahead { ROWS_AT_ONCE } else { 1 };
            self.order.take(count, &mut self.taken);
        }
        if self.taken.is_empty() {
            return Ok(false);
        }
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

    /// Has the rows of upcoming vertices read, as far as enough reads are not on their way yet.
    fn look_ahead(&mut self) {
        self.rows.fill_when_due(self.cancel);
        let count = self.rows.prefetch(self.order.upcoming(self.reach).take(ROWS_AHEAD));
        self.order.announce(count);
        self.statistics.announced += count as u64;
        self.since_look = 0;
    }
}
