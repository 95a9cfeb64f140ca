//! Jobs that follow rows themselves: traversals, and passes over all rows.

use std::ops::Range;
use std::sync::Mutex;

use tegula_machine::threads::{Cancel, lock};
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::rows::{Direction, RowReader};
use tegula_store::{Error, Result};

use super::context::JobContext;
use super::shared_rows::WantedRows;
use super::{Advanced, Job, PartStatistics, PartWork};
use crate::iteration_times::IterationTimes;
use crate::memory::{Held, long_rows_of};
use crate::options::RunOptions;
use crate::parts::Part;
use crate::process_kind::ProcessKind;
use crate::scheduler::{MemoryDemand, Taken};
use crate::statistics::RunStatistics;
use crate::traverse::{RowsWanted, RunAhead, Traversal};

/// Vertices in a range that one worker visits at a time.
pub const RANGE_SIZE: u32 = 1 << 14;

/// Runs `work` as a job that can read the rows of a graph. `work` itself holds `held` bytes. The
/// caches of rows get the rest of the budget.
///
/// # Errors
/// [`Error::MissingLayout`] if the graph has no rows;
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget) if they cannot be read within the
/// budget; read errors; cancellation; a panic of `work`.
pub fn run<T: Send, E: From<Error> + Send>(
    graph: &Graph,
    wanted: RowsWanted,
    held: impl Into<Held>,
    options: &RunOptions<'_>,
    work: impl FnOnce(&RowsJob<'_>) -> Result<T, E> + Send,
) -> Result<T, E> {
    run_in(Form::Packed, graph, wanted, held.into(), options, work)
}

/// Does what [`run`] does for `work` that reads rows more than once, or not in the order in which
/// they are stored. If the budget has room, all threads first decode all rows into plain lists.
/// Decoding in stored order takes a fraction of the time of single look-ups. In `betweenness`,
/// decoding took three fifths of the time before.
pub fn run_rereading<T: Send, E: From<Error> + Send>(
    graph: &Graph,
    wanted: RowsWanted,
    held: impl Into<Held>,
    options: &RunOptions<'_>,
    work: impl FnOnce(&RowsJob<'_>) -> Result<T, E> + Send,
) -> Result<T, E> {
    run_in(Form::Unpacked, graph, wanted, held.into(), options, work)
}

/// The form in which a job wants rows that are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As they are stored.
    Packed,
    /// As plain lists, if there is room.
    Unpacked,
}

fn run_in<T: Send, E: From<Error> + Send>(
    form: Form,
    graph: &Graph,
    wanted: RowsWanted,
    held: Held,
    options: &RunOptions<'_>,
    work: impl FnOnce(&RowsJob<'_>) -> Result<T, E> + Send,
) -> Result<T, E> {
    options.refuse_ranks("an algorithm that follows rows").map_err(E::from)?;
    let mut answer = None;
    options.with_scheduler(graph, |scheduler| {
        let RowsWanted { directions, has_weights } = wanted;
        let layouts = directions.layouts(graph);
        let size_min = |&direction| RowReader::size_min(graph, direction, has_weights);
        let least = held.bytes() + layouts.iter().map(size_min).sum::<u64>();
        // Checked before rows are opened, unless some are missing: that has an error of its own.
        if directions.missing(graph).next().is_none() {
            let demand = MemoryDemand::rows("the run along rows", least);
            scheduler.ledger().could_hold(&demand)?;
        }
        let cancel = &options.cancel;
        let find = |&direction| {
            WantedRows::of(scheduler, graph, direction, has_weights, cancel)?
                .ok_or_else(|| missing_rows(graph, direction))
        };
        let rows: Vec<WantedRows> = layouts.iter().map(find).collect::<Result<_>>()?;
        let batches = rows.iter().map(|rows| rows.sizes.batch).sum();
        let own = held.own + long_rows_of(batches, scheduler.threads());
        let demand = MemoryDemand::rows("the run along rows", own)
            .sharing(rows.iter().map(WantedRows::share), |free, held| {
                divide(&rows, form, free, held)
            })
            .with_share(held.share());
        let admitted = scheduler.ledger().admit(&[demand], options.reserve, cancel)?;
        let targets = &scheduler.speed().targets;
        let readers = rows.into_iter().map(|rows| rows.load(graph, &admitted, targets, cancel));
        let mut readers: Vec<RowReader> = readers.collect::<Result<_>>()?;
        // The job takes bytes of its own only for unpacked rows (`divide`).
        if admitted.taken > 0 {
            readers = readers.into_iter().map(RowReader::with_room_to_unpack).collect();
        }
        held.load_id_positions(graph, &admitted, cancel)?;
        let mut job = Following {
            rows: &readers,
            layouts,
            is_directed: !graph.manifest().undirected,
            work: Mutex::new(Some(work)),
            answer: Mutex::new(&mut answer),
        };
        scheduler.work_off(&mut job, &admitted, cancel)
    })?;
    answer.unwrap_or_else(|| Err(Error::cancelled().into()))
}

/// Divides free bytes among the caches of rows that no other job holds, by their sizes. If all rows
/// are in memory then, their plain lists may take what is left.
fn divide(rows: &[WantedRows], form: Form, free: u64, held: &[Option<u64>]) -> Taken {
    let wanted = rows.iter().zip(held).map(|(rows, held)| match held {
        Some(_) => 0,
        None => rows.all - RowReader::CACHE_SIZE_MIN,
    });
    let wanted: Vec<u64> = wanted.collect();
    let all = wanted.iter().sum::<u64>();
    let taken = free.min(all);
    // Products of bytes may exceed 64 bits.
    let share = |wanted| (u128::from(taken) * u128::from(wanted) / u128::from(all.max(1))) as u64;
    let fit = rows.iter().zip(held).all(|(rows, held)| held.is_none_or(|extra| rows.fit(extra)));
    let unpacked = rows.iter().map(|rows| rows.sizes.unpacked).sum::<u64>();
    let has_room = taken == all && fit && unpacked <= free - taken;
    let own = if form == Form::Unpacked && has_room { unpacked } else { 0 };
    Taken { own, shares: wanted.into_iter().map(share).collect() }
}

/// Returns the error for a graph without rows of a direction.
pub fn missing_rows(graph: &Graph, direction: Direction) -> Error {
    Error::MissingLayout { path: graph.directory().to_owned(), layout: direction.layout() }
}

/// What a job that follows rows may use.
pub struct RowsJob<'j> {
    rows: &'j [RowReader],
    /// The direction of each reader.
    layouts: &'static [Direction],
    is_directed: bool,
    context: &'j JobContext<'j>,
}

impl<'j> RowsJob<'j> {
    /// Returns the rows: those by source, unless only the ones by target are wanted.
    pub fn rows(&self) -> &'j RowReader {
        &self.rows[0]
    }

    /// Whether an edge may lead one way only, so that a row lacks the edges to its vertex.
    pub fn is_directed(&self) -> bool {
        self.is_directed
    }

    /// Returns the statistics of passes over rows, or of one traversal: the time of each, and the
    /// edges that they saw.
    pub fn statistics(&self, times: IterationTimes, edges: u64) -> RunStatistics {
        let iterations = times.count();
        let times = times.into_first();
        RunStatistics {
            iterations,
            processes: vec![ProcessKind::Seek; times.len()],
            predicted_seconds: vec![None; times.len()],
            iteration_times: times,
            edges_processed: edges,
            bytes_read: self.rows.iter().map(RowReader::bytes_read).sum(),
            ..RunStatistics::default()
        }
    }

    /// Returns what cancels the job.
    pub fn cancel(&self) -> &'j Cancel {
        self.context.cancel()
    }

    /// Traverses the [rows](RowsJob::rows) in an order. Other jobs that wait have their turn in
    /// between.
    pub fn traversal<O: RunAhead>(&self, order: O) -> Traversal<'j, O> {
        self.traversal_in(self.rows(), order)
    }

    /// Traverses the rows by target in an order. `None` unless both directions are wanted and
    /// differ.
    pub fn reverse_traversal<O: RunAhead>(&self, order: O) -> Option<Traversal<'j, O>> {
        Some(self.traversal_in(self.rows.get(1)?, order))
    }

    /// Traverses the rows of a direction in an order.
    ///
    /// # Panics
    /// When the job has no rows of this direction.
    pub fn traversal_of<O: RunAhead>(&self, direction: Direction, order: O) -> Traversal<'j, O> {
        let is_held = |&layout: &Direction| layout == direction || !self.is_directed;
        let place = self.layouts.iter().position(is_held);
        self.traversal_in(&self.rows[place.expect("rows of this direction are wanted")], order)
    }

    fn traversal_in<O: RunAhead>(&self, rows: &'j RowReader, order: O) -> Traversal<'j, O> {
        Traversal::new(rows, order, self.cancel()).giving_way(self.context)
    }

    /// Calls `work` with each of `0..count`. Every worker may take part and takes the next free
    /// number.
    ///
    /// # Errors
    /// The first failure; cancellation; a panic.
    pub fn for_each(&self, count: usize, work: impl Fn(usize) -> Result<()> + Sync) -> Result<()> {
        self.context.for_each(count, &work)
    }

    /// Visits all vertices by several workers: calls `visit` with the number and the ids of each
    /// [range](RANGE_SIZE). Each range can [traverse](RowsJob::traversal) its own rows.
    ///
    /// # Errors
    /// The first failure; cancellation; a panic.
    pub fn for_each_range(
        &self,
        visit: impl Fn(usize, Range<u32>) -> Result<()> + Sync,
    ) -> Result<()> {
        let vertices = self.rows().rows().vertex_count();
        self.context.for_each(vertices.div_ceil(RANGE_SIZE) as usize, &|index| {
            let first = index as u32 * RANGE_SIZE;
            // The last range may end beyond 32 bits.
            visit(index, first..first.saturating_add(RANGE_SIZE).min(vertices))
        })
    }

    /// Does the same for an array with a value per vertex. Calls `visit` with the values of each
    /// range, which no other worker has, and its ids.
    pub fn for_each_range_of<V: Send>(
        &self,
        values: &mut [V],
        visit: impl Fn(&mut [V], Range<u32>) -> Result<()> + Sync,
    ) -> Result<()> {
        let ranges: Vec<_> = values.chunks_mut(RANGE_SIZE as usize).map(Mutex::new).collect();
        self.for_each_range(|index, ids| visit(&mut lock(&ranges[index]), ids))
    }
}

/// A job that is a function.
struct Following<'j, F, A> {
    /// Rows by source come first.
    rows: &'j [RowReader],
    /// The direction of each reader.
    layouts: &'static [Direction],
    is_directed: bool,
    // The lock only makes this `Sync`: the worker that advances the job has it alone.
    work: Mutex<Option<F>>,
    answer: Mutex<&'j mut Option<A>>,
}

impl<A: Send, F> Job for Following<'_, F, A>
where
    F: FnOnce(&RowsJob<'_>) -> A + Send,
{
    fn advance(&mut self, context: &JobContext<'_>) -> Result<Advanced> {
        let work = lock(&self.work).take();
        if let Some(work) = work {
            let &mut Following { rows, layouts, is_directed, .. } = self;
            // Here, because only a job that runs has workers.
            for rows in rows.iter().filter(|rows| rows.may_unpack()) {
                rows.unpack(context.workers(), context.cancel())?;
            }
            let answer = work(&RowsJob { rows, layouts, is_directed, context });
            **lock(&self.answer) = Some(answer);
        }
        Ok(Advanced::Done)
    }

    fn is_resumable(&self) -> bool {
        false
    }

    fn needs(&self, _tile: &TileEntry) -> bool {
        false
    }

    fn begin_part(&self, _part: &Part) -> Box<dyn PartWork + '_> {
        unreachable!("it needs no tiles")
    }

    fn note_part(&self, _done: &PartStatistics) {}
}
