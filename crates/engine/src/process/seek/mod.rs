//! The process and apply phases along the rows of the active vertices: for iterations with few of
//! them.
//!
//! ```text
//!  send      workers take active vertices as they come; a message goes into a box for the
//!            partition of its target, unless it is no news there
//!  deliver   each partition has one owner, which reduces the messages in its boxes
//!  apply     by the owners, to the targets that were reached
//! ```
//!
//! Boxes hold a bounded number of messages: when they are full they are delivered, and sending
//! continues. A single worker needs no boxes: it owns all targets and reduces each message at once.
//! So do the workers that share a [long] row. The order in which messages arrive depends on the
//! threads, so the reduction must be exact. Nothing here takes time for vertices that are neither
//! active nor reached, except when a [horizon] moves.

mod apply;
mod horizon;
mod long;
mod patience;
mod send;
#[cfg(test)]
mod tests;

use std::sync::Mutex;
use std::time::{Duration, Instant};

use tegula_machine::threads::{get_mut, lock};
use tegula_store::rows::{RowBatch, RowReader};
use tegula_store::tiles::WINDOW_LOG2;
use tegula_store::{Result, ShortId};

use super::cost::{Correction, CostModel, RowWork};
use super::{Prediction, Process, ProcessKind, Progressed};
use crate::job::context::JobContext;
use crate::program::{Message, Program, Reduction};
use crate::superstep::Superstep;
use crate::superstep::buckets::Buckets;
use crate::superstep::frontier::Frontier;
use patience::Patience;
use send::{BOX_KEPT, Inbox, MESSAGES_MAX, Outbox, Queue, Reach, Sending};

/// log2 of the most partitions: one bit of a word each.
const PARTITIONS_LOG2_MAX: u32 = 6;
/// Least number of edges of the vertices that send together: with fewer, the next bucket joins
/// them.
const BUCKET_EDGES: u64 = 256;
/// Rows are unpacked once seeking has taken this share of the time to unpack them. It is small,
/// because a run that has sought much mostly continues to seek.
const UNPACK_AFTER: f64 = 0.25;
/// An iteration counts as at most this multiple of its predicted time: in longer ones, pages are
/// read or threads wake up.
const SURPRISE_MAX: f64 = 4.0;
/// Seconds of seeking below which one worker seeks alone: sharing the work takes about as long.
const SHARED_MIN: f64 = 400e-6;

/// What was sent along rows.
struct Sent {
    edges: u64,
    /// How long all edges would have taken, if it gave up before the last one.
    given_up: Option<Duration>,
}

/// The process along the rows of the active vertices.
pub struct Seek<'s, P: Program> {
    /// One reader for each layout that holds edges to follow.
    rows: Vec<&'s RowReader>,
    costs: CostModel,
    correction: Correction,
    /// Predicted seconds spent so far on random reads of rows.
    read: f64,
    /// Time of seeking so far.
    sought: Duration,
    /// Time of unpredicted work in this iteration.
    aside: Duration,
    /// Share of the touched pages that recently had to be read.
    page_share: f64,
    /// Pages of rows read before this iteration.
    pages_read: u64,
    /// log2 of the vertices of a partition.
    partition_log2: u32,
    outboxes: Vec<Mutex<Outbox<Message<P>>>>,
    /// Reached targets by partition; empty between iterations.
    reached: Vec<Vec<ShortId>>,
    /// Targets of each window that settled in this iteration. All zero between iterations.
    newly_settled: Vec<u32>,
    batch: RowBatch,
    /// Whether there is or was a [horizon].
    had_horizon: bool,
    /// When to give up this iteration, if that is possible.
    patience: Option<Patience>,
}

impl<'s, P: Program> Seek<'s, P> {
    /// Returns the bytes for a graph of `vertices` vertices whose edges are followed along rows of
    /// `layouts` layouts: lists of active, of reached and of waiting vertices, and the boxes of
    /// `threads` workers.
    pub fn size(vertices: u64, layouts: usize, threads: usize) -> u64 {
        let message = size_of::<(ShortId, Message<P>)>() as u64;
        let boxes = (MESSAGES_MAX + (BOX_KEPT << PARTITIONS_LOG2_MAX)) as u64 * message;
        let id = size_of::<ShortId>() as u64;
        // Rows of all layouts but the last are sought with a copy of the list.
        let (active, reached) = (if layouts > 1 { 2 * id } else { id }, id);
        (active + reached + Buckets::SIZE_PER_VERTEX) * vertices + threads as u64 * boxes
    }

    /// Makes the process, with one reader for each layout of rows to follow.
    pub fn new(rows: Vec<&'s RowReader>, vertex_count: usize, costs: CostModel) -> Seek<'s, P> {
        const { assert!(P::HAS_BUCKETS || !P::IS_FARTHER_BY_WEIGHT) };
        let log2 = vertex_count.next_power_of_two().ilog2();
        let partition_log2 = log2.saturating_sub(PARTITIONS_LOG2_MAX).max(WINDOW_LOG2);
        let partitions = vertex_count.div_ceil(1 << partition_log2);
        let pages_read = rows.iter().map(|rows| rows.pages_read()).sum();
        Seek {
            rows,
            costs,
            correction: Correction::none(),
            read: 0.0,
            sought: Duration::ZERO,
            aside: Duration::ZERO,
            page_share: 1.0,
            pages_read,
            partition_log2,
            outboxes: Vec::new(),
            reached: vec![Vec::new(); partitions],
            newly_settled: vec![0; vertex_count.div_ceil(1 << WINDOW_LOG2)],
            batch: RowBatch::default(),
            had_horizon: false,
            patience: None,
        }
    }
}

impl<P: Program> Process<P> for Seek<'_, P> {
    fn kind(&self) -> ProcessKind {
        ProcessKind::Seek
    }

    fn predict(&self, step: &Superstep<'_, P>) -> Prediction {
        let (mut alone, mut shared, mut reading) = (0.0, 0.0, 0.0);
        let (mut pages, mut edges) = (0.0, 0.0);
        for &rows in &self.rows {
            let work = RowWork::of(&step.frontier, rows);
            alone += work.alone(rows);
            shared += work.shared(rows);
            reading += self.costs.predict_reading(rows, &work, self.page_share);
            pages += work.pages(rows).touched;
            edges += work.edges;
        }
        let is_small = alone < SHARED_MIN;
        let working = if is_small { alone } else { shared / self.costs.threads };
        let by_costs = self.costs.together(working, reading);
        let seconds = self.correction.apply(by_costs);
        Prediction { seconds, by_costs, pages, reading, is_small, edges, otherwise: None }
    }

    fn run(
        &mut self,
        step: &mut Superstep<'_, P>,
        prediction: &Prediction,
        context: &JobContext<'_>,
    ) -> Result<Progressed> {
        self.pages_read = self.count_pages_read();
        self.aside = Duration::ZERO;
        step.know_by_list();
        // Filled first, because only rows that are all in memory can be unpacked.
        self.fill_when_due(prediction, context);
        self.unpack_when_due(step, context)?;
        self.set_horizon(step);
        let mut list = match &mut step.frontier {
            Frontier::List(list) => std::mem::take(list),
            Frontier::Bits(_) => Vec::new(),
        };
        self.add_small_buckets(step, &mut list);
        let reach = Reach { after: None, until: step.buckets.horizon };
        self.patience = self.patience_for(prediction);
        let mut sent = 0;
        for layout in (0..self.rows.len()).rev() {
            let rows = self.rows[layout];
            // Sending along long rows takes their vertices out of the list.
            let mut list = if layout > 0 { list.clone() } else { std::mem::take(&mut list) };
            let long = self.send_along_long(step, rows, &mut list, reach, context)?;
            sent += long.edges;
            if let Some(patience) = &mut self.patience {
                patience.sent = long.edges;
            }
            let others = self.send(step, rows, &list, reach, prediction.is_small, context)?;
            sent += others.edges;
            if let Some(would_have_taken) = others.given_up {
                list.extend(long.sources);
                // Packed rows are sought in ascending order.
                if !self.is_unpacked() {
                    list.sort();
                }
                self.take_back(step, list);
                // `would_have_taken` has none of the unpredicted work, so none must be subtracted
                // from it.
                self.aside = Duration::ZERO;
                Process::<P>::learn(self, prediction, would_have_taken);
                return Ok(Progressed::GivenUp { edges: sent });
            }
        }
        self.apply_to_reached(step, prediction.is_small, context)?;
        let began = Instant::now();
        let passed = self.pass_horizon(step, context)?;
        self.aside += began.elapsed();
        Ok(Progressed::Done { edges: sent + passed })
    }

    fn learn(&mut self, prediction: &Prediction, took: Duration) {
        let took = took.saturating_sub(std::mem::take(&mut self.aside));
        self.sought += took.min(Duration::from_secs_f64(SURPRISE_MAX * prediction.seconds));
        let read = self.count_pages_read() - self.pages_read;
        // If the frontier moves to neighbours, most of their pages are already in memory.
        if self.costs.is_direct {
            let share = read as f64 / prediction.pages.max(1.0);
            self.page_share += (share.min(1.0) - self.page_share) / 4.0;
        } else if read > 0 {
            // Pages that were read once stay, and the next iteration is quicker.
            return;
        }
        self.correction.learn(prediction.seconds, took);
    }
}

impl<P: Program> Seek<'_, P> {
    fn count_pages_read(&self) -> u64 {
        self.rows.iter().map(|rows| rows.pages_read()).sum()
    }

    /// Reads all rows in order once the random reads cost more than a sequential read.
    fn fill_when_due(&mut self, prediction: &Prediction, context: &JobContext<'_>) {
        self.read += prediction.reading;
        let filling = self.rows.iter().map(|rows| self.costs.predict_filling(rows));
        if self.read > filling.sum::<f64>() {
            let began = Instant::now();
            self.rows.iter().for_each(|rows| rows.fill_once(context.cancel()));
            self.aside += began.elapsed();
        }
    }

    /// Unpacks all rows once seeking has taken the share [`UNPACK_AFTER`] of the time to unpack
    /// them. Nobody knows beforehand how much the run will seek.
    fn unpack_when_due(&mut self, step: &Superstep<'_, P>, context: &JobContext<'_>) -> Result<()> {
        for &rows in &self.rows {
            if rows.may_unpack()
                && rows.unpacked().is_none()
                && rows.is_complete()
                && self.is_unpacking_due(step, rows)
            {
                let began = Instant::now();
                rows.unpack(context.workers(), context.cancel())?;
                self.aside += began.elapsed();
                tracing::debug!("rows were unpacked in {:.3?}", began.elapsed());
                // What was learnt is about packed rows.
                self.correction = Correction::none();
            }
        }
        Ok(())
    }

    fn is_unpacking_due(&self, step: &Superstep<'_, P>, rows: &RowReader) -> bool {
        let unpacking = self.costs.predict_unpacking(rows);
        if self.sought.as_secs_f64() < UNPACK_AFTER * unpacking {
            return false;
        }
        if !P::SETTLING.is_possible() {
            return true;
        }
        // Besides the active vertices, only unsettled ones are still to be sought, each once.
        let open: f64 = step.execution.open_targets.iter().map(|&open| f64::from(open)).sum();
        let share = open / f64::from(rows.rows().vertex_count()).max(1.0);
        share * self.costs.predict_saving(rows) > unpacking
    }

    /// Adds the vertices of the next buckets while `list` has few edges.
    fn add_small_buckets(&self, step: &mut Superstep<'_, P>, list: &mut Vec<ShortId>) {
        if !self.is_unpacked() {
            return;
        }
        let last = step.buckets.horizon.unwrap_or(u64::MAX);
        let edges = |list: &[ShortId]| {
            let unpacked = self.rows.iter().filter_map(|rows| rows.unpacked());
            unpacked.flat_map(|rows| list.iter().map(|&vertex| rows.degree(vertex))).sum::<u64>()
        };
        // Only short lists need their edges counted.
        while (list.len() as u64) < BUCKET_EDGES
            && edges(list) < BUCKET_EDGES
            && let Some(mut more) = step.take_next_bucket(last)
        {
            // Unpacked rows are sought in any order, so the list need not ascend.
            list.append(&mut more);
        }
    }

    /// Returns whether all rows are unpacked.
    fn is_unpacked(&self) -> bool {
        self.rows.iter().all(|rows| rows.unpacked().is_some())
    }

    /// Sends along the rows of these vertices, unless it gives up.
    fn send(
        &mut self,
        step: &mut Superstep<'_, P>,
        rows: &RowReader,
        list: &[ShortId],
        reach: Reach,
        is_small: bool,
        context: &JobContext<'_>,
    ) -> Result<Sent> {
        if is_small || context.threads() == 1 {
            let edges = self.send_alone(step, rows, list, reach, context)?;
            return Ok(Sent { edges, given_up: None });
        }
        self.send_together(step, rows, list, reach, context)
    }

    /// Sends along all rows with one worker, which reduces at once; returns the number of edges.
    fn send_alone(
        &mut self,
        step: &mut Superstep<'_, P>,
        rows: &RowReader,
        list: &[ShortId],
        reach: Reach,
        context: &JobContext<'_>,
    ) -> Result<u64> {
        let queue = Queue::new(list);
        let (vertices, exchange) = step.vertices_and_exchange();
        let sending = Sending { cancel: context.cancel(), vertices, queue: &queue, rows, reach };
        let mut inbox = Inbox::<P> {
            messages: exchange.inbox(),
            states: vertices.states,
            reached: &mut self.reached,
            partition_log2: self.partition_log2,
        };
        sending.send_all(&mut inbox, &mut self.batch)
    }

    /// Sends along all rows through boxes, unless it gives up.
    fn send_together(
        &mut self,
        step: &mut Superstep<'_, P>,
        rows: &RowReader,
        list: &[ShortId],
        reach: Reach,
        context: &JobContext<'_>,
    ) -> Result<Sent> {
        let threads = context.threads();
        self.prepare(threads);
        let queue = Queue::new(list);
        let given_up = loop {
            let (vertices, _) = step.vertices_and_exchange();
            let sending =
                Sending { cancel: context.cancel(), vertices, queue: &queue, rows, reach };
            let outboxes = &self.outboxes;
            context.for_each(threads, &|worker| sending.fill(&mut lock(&outboxes[worker])))?;
            self.deliver(step, context)?;
            let is_done = self.outboxes.iter_mut().all(|outbox| get_mut(outbox).claimed.is_empty());
            if is_done && queue.is_empty() {
                break None;
            }
            let edges = self.outboxes.iter_mut().map(|outbox| get_mut(outbox).edges).sum();
            if let Some(patience) = self.patience
                && let Some(would_have_taken) = patience.is_over(edges, queue.taken_share())
            {
                break Some(would_have_taken);
            }
        };
        let outboxes = self.outboxes.iter_mut();
        let edges = outboxes.map(|outbox| std::mem::take(&mut get_mut(outbox).edges)).sum();
        Ok(Sent { edges, given_up })
    }

    /// Returns when to give up, or `None` if seeking must go on. Programs with buckets never give
    /// up, because vertices that were put off would have to be brought back. Nor do searches along
    /// two layouts, since the first one may have been sent already. One worker alone goes on too,
    /// and long rows are always sent to their end.
    fn patience_for(&self, prediction: &Prediction) -> Option<Patience> {
        let may_give_up = !P::HAS_BUCKETS && self.rows.len() == 1;
        let otherwise = prediction.otherwise.filter(|_| may_give_up)?;
        let began = Instant::now();
        Some(Patience { began, edges: prediction.edges, sent: 0, otherwise })
    }

    /// Forgets all messages of the iteration, and makes `list` the frontier again.
    fn take_back(&mut self, step: &mut Superstep<'_, P>, list: Vec<ShortId>) {
        for outbox in self.outboxes.iter_mut().map(get_mut) {
            outbox.clear();
            (outbox.claimed, outbox.sent) = (0..0, 0);
        }
        let messages = step.exchange.inbox();
        for target in self.reached.iter_mut().flat_map(|reached| reached.drain(..)) {
            messages[target.index()] = P::Reduction::IDENTITY;
        }
        step.frontier = Frontier::List(list);
    }

    /// Makes boxes for each worker.
    fn prepare(&mut self, workers: usize) {
        let partitions = self.reached.len();
        while self.outboxes.len() < workers {
            let outbox = Outbox::new(self.partition_log2, partitions);
            self.outboxes.push(Mutex::new(outbox));
        }
    }

    /// Reduces the messages in the boxes.
    fn deliver(&mut self, step: &mut Superstep<'_, P>, context: &JobContext<'_>) -> Result<()> {
        let size = 1 << self.partition_log2;
        let outboxes: Vec<&mut Outbox<Message<P>>> =
            self.outboxes.iter_mut().map(get_mut).collect();
        let filled = outboxes.iter().fold(0, |all, outbox| all | outbox.filled);
        let messages = step.exchange.inbox().chunks_mut(size);
        let owned = messages.zip(&mut self.reached).enumerate();
        let owned: Vec<_> = owned
            .filter(|(partition, _)| filled >> partition & 1 == 1)
            .map(|(partition, owned)| (partition, Mutex::new(owned)))
            .collect();
        context.for_each(owned.len(), &|index| {
            let (partition, owned) = &owned[index];
            let (messages, reached) = &mut *lock(owned);
            let first = partition * size;
            for outbox in &outboxes {
                for &(target, message) in &outbox.boxes[*partition] {
                    let accumulator = &mut messages[target.index() - first];
                    if *accumulator == P::Reduction::IDENTITY {
                        reached.push(target);
                    }
                    *accumulator = P::Reduction::reduce(*accumulator, message);
                }
            }
            Ok(())
        })?;
        for outbox in outboxes {
            outbox.clear();
        }
        Ok(())
    }
}
