//! Sends along the rows of active vertices, into boxes or directly into accumulators.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tegula_machine::memory::prefetch;
use tegula_machine::threads::Cancel;
use tegula_store::rows::{BY_WEIGHT_MIN, Row, RowBatch, RowReader, UnpackedRows, coarse_weight};
use tegula_store::{Result, ShortId};

use crate::process::ROWS_PER_BATCH;
use crate::program::{EdgeWeight, Message, Program, Reduction};
use crate::superstep::{Vertices, bit};
use crate::traverse::ROWS_AHEAD;

/// Messages of one worker between deliveries.
pub(super) const MESSAGES_MAX: usize = 1 << 17;
/// Messages for which a box keeps memory between deliveries: twice its share.
pub(super) const BOX_KEPT: usize = MESSAGES_MAX >> 5;

/// A row is prefetched this many active vertices ahead; its place twice as far ahead.
const LISTS_AHEAD: usize = 8;

/// The active vertices, for workers to take.
pub(super) struct Queue<'s> {
    list: &'s [ShortId],
    /// The first vertex that no worker has taken.
    next: AtomicUsize,
    /// The first vertex whose row is not requested yet.
    ahead: Mutex<usize>,
}

impl<'s> Queue<'s> {
    /// Makes a queue in which all vertices are still to be taken.
    pub fn new(list: &'s [ShortId]) -> Queue<'s> {
        Queue { list, next: AtomicUsize::new(0), ahead: Mutex::new(0) }
    }

    /// Returns whether all vertices are taken.
    pub fn is_empty(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.list.len()
    }

    /// Returns the share of the vertices that are taken.
    pub fn taken_share(&self) -> f64 {
        let taken = self.next.load(Ordering::Relaxed).min(self.list.len());
        taken as f64 / self.list.len().max(1) as f64
    }

    /// Takes the next vertices, as a range of the list.
    fn take(&self) -> Range<usize> {
        // Workers go on counting behind the end.
        let first = self.next.fetch_add(ROWS_PER_BATCH, Ordering::Relaxed).min(self.list.len());
        first..(first + ROWS_PER_BATCH).min(self.list.len())
    }

    /// Makes the queue empty.
    fn close(&self) {
        self.next.store(self.list.len(), Ordering::Relaxed);
    }
}

/// What the workers share while they send.
pub(super) struct Sending<'s, P: Program> {
    pub cancel: &'s Cancel,
    pub vertices: Vertices<'s, P>,
    pub queue: &'s Queue<'s>,
    pub rows: &'s RowReader,
    /// The buckets to which messages are due along lists sorted by weight.
    pub reach: Reach,
}

/// A range of buckets. Along lists sorted by weight, only messages to these are due.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reach {
    /// Messages to buckets up to this one were sent before.
    pub after: Option<u64>,
    /// Messages to buckets after this one are held back.
    pub until: Option<u64>,
}

impl Reach {
    /// Returns which edges of a list are due. Long lists are sorted by weight: the due edges carry
    /// messages to these buckets. A short list is sent whole, the first time.
    #[inline(always)]
    pub fn due<P: Program>(
        self,
        program: &P,
        signal: Message<P>,
        count: usize,
        weights: &[[u8; 4]],
    ) -> Range<usize> {
        let Reach { after, until } = self;
        if !P::IS_FARTHER_BY_WEIGHT || (after.is_none() && until.is_none()) {
            return 0..count;
        }
        if count < BY_WEIGHT_MIN {
            return if after.is_none() { 0..count } else { 0..0 };
        }
        let is_within = |bucket, weight: &_| !is_beyond(program, signal, weight, bucket);
        let place = |bucket| weights.partition_point(|weight| is_within(bucket, weight));
        let (start, end) = (after.map_or(0, place), until.map_or(count, place));
        start.min(end)..end
    }
}

impl<P: Program> Sending<'_, P> {
    /// Fills the boxes of a worker until they are full or all is sent. If it fails, the other
    /// workers take no more.
    pub fn fill(&self, outbox: &mut Outbox<Message<P>>) -> Result<()> {
        let filled = self.fill_to_the_end(outbox);
        if filled.is_err() {
            self.queue.close();
        }
        filled
    }

    fn fill_to_the_end(&self, outbox: &mut Outbox<Message<P>>) -> Result<()> {
        loop {
            self.cancel.check()?;
            if outbox.claimed.is_empty() {
                outbox.claimed = self.queue.take();
                if outbox.claimed.is_empty() {
                    return Ok(());
                }
            }
            self.read_ahead(outbox.claimed.start);
            // Taken out, because sending borrows the whole outbox.
            let mut batch = std::mem::take(&mut outbox.batch);
            let sent = self.send_batch(outbox, &mut batch);
            outbox.batch = batch;
            if sent?.is_break() {
                return Ok(());
            }
        }
    }

    /// Sends along all rows with one worker; returns the number of edges.
    pub fn send_all(&self, inbox: &mut Inbox<'_, P>, batch: &mut RowBatch) -> Result<u64> {
        if let Some(unpacked) = self.rows.unpacked() {
            return self.send_lists(unpacked, &mut (0..self.queue.list.len()), &mut 0, inbox);
        }
        let list = self.queue.list;
        let (mut position, mut edges) = (0, 0);
        while position < list.len() {
            self.cancel.check()?;
            self.read_ahead(position);
            let end = (position + ROWS_PER_BATCH).min(list.len());
            position += self.rows.for_each_row(&list[position..end], batch, |row| {
                edges += self.send_row(row, 0, inbox)?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(edges as u64)
    }

    /// Sends along the unpacked rows of the `claimed` part of the queue until the sink is full;
    /// returns the number of edges. It skips the first `sent` due edges of the first row. Rows are
    /// prefetched ahead of their use.
    fn send_lists(
        &self,
        rows: &UnpackedRows,
        claimed: &mut Range<usize>,
        sent: &mut usize,
        sink: &mut impl Sink<Message<P>>,
    ) -> Result<u64> {
        let states = self.vertices.states;
        let list = &self.queue.list[..claimed.end];
        let mut edges = 0;
        while let Some(&source) = list.get(claimed.start) {
            if claimed.start.is_multiple_of(ROWS_PER_BATCH) {
                self.cancel.check()?;
            }
            if let Some(&later) = list.get(claimed.start + 2 * LISTS_AHEAD) {
                rows.prefetch_place(later);
            }
            if let Some(&soon) = list.get(claimed.start + LISTS_AHEAD) {
                rows.prefetch_row(soon);
                prefetch(states, soon.index());
            }
            if let Some(signal) = self.vertices.signal(source) {
                let (targets, weights) = rows.row(source);
                let due = self.reach.due(self.vertices.program, signal, targets.len(), weights);
                let start = due.start + *sent;
                // A sink without a limit has room for `usize::MAX` messages.
                let end = due.end.min(start.saturating_add(sink.room()));
                for (edge, &target) in (start..).zip(&targets[start..end]) {
                    let weight =
                        weights.get(edge).map_or(1.0, |&weight| f32::from_le_bytes(weight));
                    self.send_edge(signal, target, weight, sink);
                }
                edges += (end - start) as u64;
                *sent += end - start;
                if end < due.end {
                    return Ok(edges);
                }
            }
            *sent = 0;
            claimed.start += 1;
        }
        Ok(edges)
    }

    /// Sends along one edge, unless the message is no news at its target.
    #[inline(always)]
    pub fn send_edge(
        &self,
        signal: Message<P>,
        target: ShortId,
        weight: f32,
        sink: &mut impl Sink<Message<P>>,
    ) {
        let Vertices { program, states, settled, .. } = self.vertices;
        let message = program.along(signal, P::Weight::from_f32(weight));
        let is_settled = P::SETTLING.is_possible() && bit(settled, target.index());
        if !is_settled && program.is_news(&states[target.index()], message) {
            sink.put(target, message);
        }
    }

    /// Requests the next rows, unless another worker is doing so.
    pub fn read_ahead(&self, position: usize) {
        let list = self.queue.list;
        if let Ok(mut ahead) = self.queue.ahead.try_lock() {
            *ahead = (*ahead).max(position);
            let upcoming = &list[(*ahead).min(list.len())..];
            *ahead += self.rows.prefetch(upcoming.iter().copied().take(ROWS_AHEAD));
        }
    }

    /// Sends along the rows of the claimed vertices, as many as fit in memory. Breaks when the
    /// boxes are full.
    fn send_batch(
        &self,
        outbox: &mut Outbox<Message<P>>,
        batch: &mut RowBatch,
    ) -> Result<ControlFlow<()>> {
        if let Some(unpacked) = self.rows.unpacked() {
            // Copies, because the outbox is the sink as well.
            let (mut claimed, mut sent) = (outbox.claimed.clone(), outbox.sent);
            let edges = self.send_lists(unpacked, &mut claimed, &mut sent, outbox)?;
            (outbox.claimed, outbox.sent) = (claimed, sent);
            outbox.edges += edges;
            let is_full = !outbox.claimed.is_empty();
            return Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) });
        }
        let sources = &self.queue.list[outbox.claimed.clone()];
        let done = self.rows.for_each_row(sources, batch, |row| {
            let skip = std::mem::take(&mut outbox.sent);
            let end = self.send_row(row, skip, outbox)?;
            outbox.edges += (end - skip) as u64;
            if outbox.is_full() {
                outbox.sent = end;
                return Ok(ControlFlow::Break(()));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        outbox.claimed.start += done;
        Ok(if outbox.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// Sends along the edges of a row after the first `skip`, until the sink is full; returns the
    /// index of the next edge.
    pub fn send_row(
        &self,
        row: &Row<'_>,
        skip: usize,
        sink: &mut impl Sink<Message<P>>,
    ) -> Result<usize> {
        let Some(signal) = self.vertices.signal(row.source()) else { return Ok(skip) };
        row.try_fold(0, |edge, target| {
            let next = edge + 1;
            // Decoding begins with the first edge, even if that was sent before.
            if edge < skip {
                return ControlFlow::Continue(next);
            }
            let weight = if P::Weight::IS_WEIGHTED { row.weight(edge) } else { 1.0 };
            self.send_edge(signal, target, weight, sink);
            if sink.is_full() { ControlFlow::Break(next) } else { ControlFlow::Continue(next) }
        })
    }
}

/// Returns whether any message along a list belongs to a bucket after `bucket`, and so is held
/// back.
pub(super) fn holds_back<P: Program>(
    program: &P,
    signal: Message<P>,
    weights: &[[u8; 4]],
    bucket: u64,
) -> bool {
    let greatest = weights.last().filter(|_| weights.len() >= BY_WEIGHT_MIN);
    greatest.is_some_and(|weight| is_beyond(program, signal, weight, bucket))
}

/// Returns whether the message along an edge belongs to a bucket after `bucket`, judged by a lower
/// bound of the weight.
#[inline(always)]
fn is_beyond<P: Program>(program: &P, signal: Message<P>, weight: &[u8; 4], bucket: u64) -> bool {
    let weight = P::Weight::from_f32(coarse_weight(*weight));
    program.is_beyond(program.along(signal, weight), bucket)
}

/// A destination of messages.
pub(super) trait Sink<M> {
    /// Takes a message.
    fn put(&mut self, target: ShortId, message: M);

    /// Returns how many more messages it takes.
    fn room(&self) -> usize;

    /// Returns whether it takes no more.
    #[inline(always)]
    fn is_full(&self) -> bool {
        self.room() == 0
    }
}

/// The reduction for each target so far, and the targets that were reached.
pub(super) struct Inbox<'s, P: Program> {
    pub messages: &'s mut [Message<P>],
    /// States of all vertices, prefetched for apply.
    pub states: &'s [P::State],
    pub reached: &'s mut [Vec<ShortId>],
    pub partition_log2: u32,
}

impl<P: Program> Sink<Message<P>> for Inbox<'_, P> {
    #[inline(always)]
    fn put(&mut self, target: ShortId, message: Message<P>) {
        let accumulator = &mut self.messages[target.index()];
        if *accumulator == P::Reduction::IDENTITY {
            self.reached[target.index() >> self.partition_log2].push(target);
            prefetch(self.states, target.index());
        }
        *accumulator = P::Reduction::reduce(*accumulator, message);
    }

    #[inline(always)]
    fn room(&self) -> usize {
        usize::MAX
    }
}

impl<M> Sink<M> for Outbox<M> {
    #[inline(always)]
    fn put(&mut self, target: ShortId, message: M) {
        let partition = target.index() >> self.partition_log2;
        self.boxes[partition].push((target, message));
        self.filled |= 1 << partition;
        self.count += 1;
    }

    #[inline(always)]
    fn room(&self) -> usize {
        MESSAGES_MAX.saturating_sub(self.count)
    }
}

impl<M> Outbox<M> {
    /// Makes empty boxes.
    pub fn new(partition_log2: u32, partitions: usize) -> Outbox<M> {
        Outbox {
            partition_log2,
            boxes: std::iter::repeat_with(Vec::new).take(partitions).collect(),
            filled: 0,
            count: 0,
            edges: 0,
            claimed: 0..0,
            sent: 0,
            batch: RowBatch::default(),
        }
    }

    /// Empties the boxes.
    pub fn clear(&mut self) {
        let mut filled = self.filled;
        while filled != 0 {
            let emptied = &mut self.boxes[filled.trailing_zeros() as usize];
            emptied.clear();
            emptied.shrink_to(BOX_KEPT);
            filled &= filled - 1;
        }
        (self.filled, self.count) = (0, 0);
    }
}

/// The messages of one worker.
pub(super) struct Outbox<M> {
    /// log2 of the vertices of a partition.
    pub partition_log2: u32,
    /// By partition.
    pub boxes: Vec<Vec<(ShortId, M)>>,
    /// A bit for each box that is not empty.
    pub filled: u64,
    pub count: usize,
    /// Edges sent along, with news or without.
    pub edges: u64,
    /// Active vertices that this worker has taken and not finished, as a range of the list.
    pub claimed: Range<usize>,
    /// Edges of the first claimed vertex that are already sent.
    pub sent: usize,
    pub batch: RowBatch,
}
