//! Process and apply along the rows of the active vertices: for iterations with few of them.
//!
//! ```text
//!  send      workers take active vertices as they come; what goes along an edge is put into a box for
//!            the partition of its target, unless it is no news there
//!  deliver   each partition has one owner, who reduces what is in its boxes
//!  apply     by the owners, to the targets that were reached
//! ```
//!
//! Boxes hold a bounded number of messages: when they are full they are delivered, and sending goes on.
//! One worker alone needs no boxes: it owns all targets and reduces what it sends at once. The order in
//! which messages arrive depends on the threads, so this is only for programs whose reduction is exact.
//! Nothing here takes time for vertices that are neither active nor reached.
//!
//! Cost: see [`crate::process`], which predicts it.

mod send;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tegula_machine::Result;
use tegula_machine::threads::lock;
use tegula_store::VertexId;
use tegula_store::rows::{RowBatch, RowReader};
use tegula_store::tiles::WINDOW_LOG2;

use super::{ROWS_PER_BATCH, Supersteps, chunks_or_none};
use crate::program::{Activity, Aggregate, Message, Program, Reduction};
use crate::workers::Workers;
use send::{Accumulators, BOX_KEPT, MESSAGES_MAX, Outbox, Sending};

/// log2 of the most partitions: a bit of a word each.
const PARTITIONS_LOG2_MAX: u32 = 6;

/// What `seek` keeps between iterations.
pub(super) struct Seeker<P: Program> {
    /// The active vertices, ascending, while they are known by a list.
    list: Option<Vec<VertexId>>,
    /// Active vertices whose turn has not come, by bucket; also in later buckets than where they are now.
    put_off: BTreeMap<u64, Vec<VertexId>>,
    /// How many entries that has.
    put_off_count: usize,
    /// The bucket whose turn it is.
    bucket: u64,
    /// log2 of the vertices of a partition.
    partition_log2: u32,
    outboxes: Vec<Mutex<Outbox<Message<P>>>>,
    /// Targets that were reached, by partition.
    reached: Vec<Vec<VertexId>>,
    batch: RowBatch,
}

impl<P: Program> Seeker<P> {
    /// Bytes for a graph of so many vertices: lists of active, of reached and of put off ones, and the
    /// boxes.
    pub fn size(vertices: u64, threads: usize) -> u64 {
        let message = size_of::<(VertexId, Message<P>)>() as u64;
        let boxes = (MESSAGES_MAX + (BOX_KEPT << PARTITIONS_LOG2_MAX)) as u64 * message;
        (4 + 4 + 5) * vertices + threads as u64 * boxes
    }

    pub fn new(vertex_count: usize) -> Seeker<P> {
        let log2 = vertex_count.next_power_of_two().ilog2();
        let partition_log2 = log2.saturating_sub(PARTITIONS_LOG2_MAX).max(WINDOW_LOG2);
        let partitions = vertex_count.div_ceil(1 << partition_log2);
        Seeker {
            list: None,
            put_off: BTreeMap::new(),
            put_off_count: 0,
            bucket: 0,
            partition_log2,
            outboxes: Vec::new(),
            reached: vec![Vec::new(); partitions],
            batch: RowBatch::default(),
        }
    }

    /// The active vertices, if they are known by a list.
    pub fn list(&self) -> Option<&[VertexId]> {
        self.list.as_deref()
    }

    pub fn take_list(&mut self) -> Option<Vec<VertexId>> {
        self.list.take()
    }

    /// Whether vertices wait for their turn.
    pub fn has_put_off(&self) -> bool {
        !self.put_off.is_empty()
    }

    /// From here on the active vertices are these, ascending.
    pub fn put_list(&mut self, list: Vec<VertexId>, program: &P, states: &[P::State]) {
        let bucket_of = |vertex: &VertexId| program.bucket(&states[vertex.index()]);
        self.bucket = list.iter().map(bucket_of).min().unwrap_or(self.bucket);
        self.list = Some(self.put_off_late(list, program, states));
    }

    /// Where the list is empty, it becomes the turn of the vertices of the next bucket. Returns whether
    /// there are any active ones.
    pub fn take_next_bucket(&mut self, program: &P, states: &[P::State]) -> bool {
        while self.list.as_ref().is_some_and(Vec::is_empty)
            && let Some((bucket, mut list)) = self.put_off.pop_first()
        {
            self.put_off_count -= list.len();
            // Those that have come nearer since had their turn in an earlier bucket.
            list.retain(|vertex| program.bucket(&states[vertex.index()]) == bucket);
            list.sort_unstable();
            list.dedup();
            self.bucket = bucket;
            self.list = Some(list);
        }
        self.list.as_ref().is_some_and(|list| !list.is_empty())
    }

    /// Puts off the vertices of later buckets; returns the others.
    fn put_off_late(
        &mut self,
        mut list: Vec<VertexId>,
        program: &P,
        states: &[P::State],
    ) -> Vec<VertexId> {
        list.retain(|&vertex| {
            let bucket = program.bucket(&states[vertex.index()]);
            if bucket > self.bucket {
                self.put_off.entry(bucket).or_default().push(vertex);
                self.put_off_count += 1;
            }
            bucket <= self.bucket
        });
        // At the most one entry of a vertex is up to date, so that a fifth of them goes at the least.
        if self.put_off_count > states.len() + states.len() / 4 {
            self.drop_outdated(program, states);
        }
        list
    }

    /// Keeps one entry of each vertex that is put off, in its bucket.
    fn drop_outdated(&mut self, program: &P, states: &[P::State]) {
        self.put_off.retain(|&bucket, list| {
            list.retain(|vertex| program.bucket(&states[vertex.index()]) == bucket);
            list.sort_unstable();
            list.dedup();
            list.shrink_to_fit();
            !list.is_empty()
        });
        self.put_off_count = self.put_off.values().map(Vec::len).sum();
    }

    /// Boxes for so many workers.
    fn prepare(&mut self, workers: usize) {
        let partitions = self.reached.len();
        while self.outboxes.len() < workers {
            self.outboxes.push(Mutex::new(Outbox {
                partition_log2: self.partition_log2,
                boxes: std::iter::repeat_with(Vec::new).take(partitions).collect(),
                filled: 0,
                count: 0,
                edges: 0,
                claimed: 0..0,
                sent: 0,
                batch: RowBatch::default(),
            }));
        }
    }
}

impl<P: Program> Supersteps<'_, P> {
    /// One iteration along the rows of the active vertices, which are known by a list; returns how many
    /// edges there were.
    pub(super) fn seek(&mut self, rows: &RowReader, workers: &Workers<'_>) -> Result<u64> {
        rows.fill_when_due(workers.cancel);
        let list = self.seeker.take_list().unwrap_or_default();
        self.aggregate = P::Aggregate::default();
        let edges = match workers.threads {
            1 => self.send_alone(&list, rows, workers)?,
            _ => self.send_together(&list, rows, workers)?,
        };
        self.apply_to_reached(workers)?;
        Ok(edges)
    }

    /// Sends along all rows and reduces at once; returns how many edges there were.
    fn send_alone(
        &mut self,
        list: &[VertexId],
        rows: &RowReader,
        workers: &Workers<'_>,
    ) -> Result<u64> {
        let sending = Sending {
            cancel: workers.cancel,
            program: &self.program,
            states: &self.states,
            settled: &self.settled,
            degrees: &self.degrees,
            list,
            next: &AtomicUsize::new(0),
            ahead: &Mutex::new(0),
            rows,
        };
        let mut accumulators = Accumulators::<P> {
            messages: &mut self.messages,
            reached: &mut self.seeker.reached,
            partition_log2: self.seeker.partition_log2,
        };
        let batch = &mut self.seeker.batch;
        let (mut position, mut edges) = (0, 0);
        while position < list.len() {
            workers.cancel.check()?;
            sending.read_ahead(position);
            let end = (position + ROWS_PER_BATCH).min(list.len());
            position += rows.for_each_row(&list[position..end], batch, |row| {
                edges += sending.send_row(row, 0, &mut accumulators)?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(edges as u64)
    }

    /// Sends along all rows by way of boxes; returns how many edges there were.
    fn send_together(
        &mut self,
        list: &[VertexId],
        rows: &RowReader,
        workers: &Workers<'_>,
    ) -> Result<u64> {
        let threads = workers.threads;
        self.seeker.prepare(threads);
        let next = AtomicUsize::new(0);
        let ahead = Mutex::new(0);
        loop {
            let sending = Sending {
                cancel: workers.cancel,
                program: &self.program,
                states: &self.states,
                settled: &self.settled,
                degrees: &self.degrees,
                list,
                next: &next,
                ahead: &ahead,
                rows,
            };
            let outboxes = &self.seeker.outboxes;
            workers.for_each(threads, &|worker| sending.fill(&mut lock(&outboxes[worker])))?;
            self.deliver(workers)?;
            let is_done = self.seeker.outboxes[..threads]
                .iter_mut()
                .all(|outbox| get_mut(outbox).claimed.is_empty());
            if is_done && next.load(Ordering::Relaxed) >= list.len() {
                break;
            }
        }
        let outboxes = self.seeker.outboxes[..threads].iter_mut();
        Ok(outboxes.map(|outbox| std::mem::take(&mut get_mut(outbox).edges)).sum())
    }

    /// Reduces what is in the boxes.
    fn deliver(&mut self, workers: &Workers<'_>) -> Result<()> {
        let size = 1 << self.seeker.partition_log2;
        let outboxes: Vec<&mut Outbox<Message<P>>> =
            self.seeker.outboxes.iter_mut().map(get_mut).collect();
        let filled = outboxes.iter().fold(0, |all, outbox| all | outbox.filled);
        let vertices = self.states.len();
        let messages = self.messages[..vertices].chunks_mut(size);
        let owned = messages.zip(&mut self.seeker.reached).enumerate();
        let owned: Vec<_> = owned
            .filter(|(partition, _)| filled >> partition & 1 == 1)
            .map(|(partition, owned)| (partition, Mutex::new(owned)))
            .collect();
        workers.for_each(owned.len(), &|index| {
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

    /// Applies what was reduced and gathers the list of the next active vertices.
    fn apply_to_reached(&mut self, workers: &Workers<'_>) -> Result<()> {
        let size = 1usize << self.seeker.partition_log2;
        let windows = size >> WINDOW_LOG2;
        let count = self.states.len();
        let partitions = self.seeker.reached.len();
        let owned = self.messages[..count]
            .chunks_mut(size)
            .zip(self.states.chunks_mut(size))
            .zip(self.open_targets.chunks_mut(windows))
            .zip(chunks_or_none(&mut self.settled, size / 64, partitions))
            .zip(&mut self.seeker.reached);
        let owned: Vec<_> = owned
            .enumerate()
            .filter(|(_, (_, reached))| !reached.is_empty())
            .map(|(partition, ((((messages, states), open_targets), settled), reached))| {
                Mutex::new(Reached {
                    first: partition * size,
                    messages,
                    states,
                    open_targets,
                    settled,
                    reached,
                    aggregate: P::Aggregate::default(),
                })
            })
            .collect();
        let (program, degrees) = (&self.program, &self.degrees);
        workers.for_each(owned.len(), &|index| {
            lock(&owned[index]).apply(program, degrees);
            Ok(())
        })?;
        let mut list = Vec::new();
        for owned in owned {
            let owned = owned.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.aggregate.merge(owned.aggregate);
            list.append(owned.reached);
        }
        let list = self.seeker.put_off_late(list, &self.program, &self.states);
        self.seeker.list = Some(list);
        Ok(())
    }
}

/// What the owner of a partition applies.
struct Reached<'s, P: Program> {
    first: usize,
    messages: &'s mut [Message<P>],
    states: &'s mut [P::State],
    open_targets: &'s mut [u32],
    settled: &'s mut [u64],
    /// Targets that were reached; afterwards those that are active.
    reached: &'s mut Vec<VertexId>,
    aggregate: P::Aggregate,
}

impl<P: Program> Reached<'_, P> {
    fn apply(&mut self, program: &P, degrees: &[u32]) {
        self.reached.sort_unstable();
        self.reached.dedup();
        let Reached { first, messages, states, open_targets, settled, reached, aggregate } = self;
        reached.retain(|&vertex| {
            let local = vertex.index() - *first;
            let degree = if P::NEEDS_DEGREE { degrees[vertex.index()] } else { 0 };
            let reduced = std::mem::replace(&mut messages[local], P::Reduction::IDENTITY);
            let state = &mut states[local];
            let was_open = !program.is_settled(state);
            let activity = program.apply(vertex, degree, state, reduced.into(), aggregate);
            let is_newly_settled = was_open && program.is_settled(state);
            open_targets[local >> WINDOW_LOG2] -= u32::from(is_newly_settled);
            if P::SETTLING.is_possible() {
                settled[local / 64] |= u64::from(is_newly_settled) << (local % 64);
            }
            activity == Activity::Active
        });
    }
}

fn get_mut<T>(mutex: &mut Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap_or_else(PoisonError::into_inner)
}
