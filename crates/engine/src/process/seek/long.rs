//! Sends along long rows, which all workers share.
//!
//! A row with very many edges is stored in pieces, each to its own range of vertices. So a worker
//! that sends along a piece owns the accumulators of all its targets and reduces at once, without
//! boxes. An unpacked row that ascends is cut at the same targets. If a row is sorted by weight,
//! each worker looks through all of it for its own targets.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tegula_machine::threads::lock;
use tegula_store::rows::{RowBatch, RowPiece, RowReader};
use tegula_store::{Result, ShortId};

use super::Seek;
use super::send::{Queue, Reach, Sending, Sink};
use crate::job::context::JobContext;
use crate::program::{Message, Program, Reduction};
use crate::superstep::Superstep;

/// Reached targets that one worker keeps before it passes them to the owner of their partition.
const REACHED_KEPT: usize = 1 << 14;
/// Pieces requested ahead for each worker.
const PIECES_AHEAD: usize = 2;

/// What was sent along long rows.
pub(super) struct SentLong {
    pub edges: u64,
    /// The vertices of the rows.
    pub sources: Vec<ShortId>,
}

impl<P: Program> Seek<'_, P> {
    /// Sends along the long rows of vertices in `list`, and takes these out of it.
    pub(super) fn send_along_long(
        &mut self,
        step: &mut Superstep<'_, P>,
        rows: &RowReader,
        list: &mut Vec<ShortId>,
        reach: Reach,
        context: &JobContext<'_>,
    ) -> Result<SentLong> {
        let long = rows.rows().long();
        let sources = match long {
            [] => Vec::new(),
            _ => take_common(list, long, !self.is_unpacked()),
        };
        let mut edges = 0;
        for &source in &sources {
            edges += self.send_along_pieces(step, rows, source, reach, context)?;
        }
        Ok(SentLong { edges, sources })
    }

    fn send_along_pieces(
        &mut self,
        step: &mut Superstep<'_, P>,
        rows: &RowReader,
        source: ShortId,
        reach: Reach,
        context: &JobContext<'_>,
    ) -> Result<u64> {
        let pieces: Vec<RowPiece> = rows.rows().pieces(source).collect();
        let by_weight = rows.unpacked().is_some() && !rows.is_ascending();
        // A row sorted by weight is looked through anew for each stretch, so there is one for each
        // worker.
        let joined = if by_weight { pieces.len().div_ceil(context.threads()) } else { 1 };
        let (vertices, exchange) = step.vertices_and_exchange();
        let mut rest = exchange.inbox();
        let stretches = pieces.chunks(joined).map(|pieces| {
            let (first, last) = (&pieces[0], &pieces[pieces.len() - 1]);
            let targets = first.targets().start..last.targets().end;
            let count = (targets.end.0 - targets.start.0) as usize;
            let messages = rest.split_off_mut(..count).unwrap_or_default();
            (first, targets, Mutex::new(messages))
        });
        let stretches: Vec<_> = stretches.collect();
        let reached: Vec<_> = self.reached.iter_mut().map(Mutex::new).collect();
        // Workers take pieces of one row, so there are no vertices to take.
        let queue = Queue::new(&[]);
        let sending = Sending { cancel: context.cancel(), vertices, queue: &queue, rows, reach };
        let ahead = Ahead { pieces: &pieces, next: Mutex::new(0) };
        let edges = AtomicU64::new(0);
        context.for_each(stretches.len(), &|index| {
            ahead.read(rows, index, PIECES_AHEAD * context.threads());
            let (piece, targets, messages) = &stretches[index];
            let mut sink = Stretch::<P> {
                first: targets.start.index(),
                messages: &mut lock(messages),
                partition_log2: self.partition_log2,
                partition: 0,
                new: Vec::new(),
                reached: &reached,
                strays: false,
            };
            let sent = sending.send_stretch(piece, targets, &mut sink)?;
            sink.tell();
            edges.fetch_add(sent as u64, Ordering::Relaxed);
            if sink.strays { Err(rows.rows().damaged_piece(piece)) } else { Ok(()) }
        })?;
        Ok(edges.into_inner())
    }
}

/// Takes the vertices of the ascending `wanted` out of a list and returns them.
fn take_common(list: &mut Vec<ShortId>, wanted: &[ShortId], is_ascending: bool) -> Vec<ShortId> {
    if !is_ascending || list.len() <= wanted.len() {
        return list.extract_if(.., |vertex| wanted.binary_search(vertex).is_ok()).collect();
    }
    // The few vertices with long rows are looked up in the list, which may have very many.
    let places = wanted.iter().filter_map(|vertex| list.binary_search(vertex).ok());
    let places: Vec<usize> = places.collect();
    let common = places.iter().map(|&place| list[place]).collect();
    let Some(&first) = places.first() else { return common };
    let mut kept = first;
    let ends = places[1..].iter().copied().chain([list.len()]);
    for (&place, end) in places.iter().zip(ends) {
        list.copy_within(place + 1..end, kept);
        kept += end - (place + 1);
    }
    list.truncate(kept);
    common
}

/// The pieces to read next.
struct Ahead<'p> {
    pieces: &'p [RowPiece],
    /// The first piece that is not requested yet.
    next: Mutex<usize>,
}

impl Ahead<'_> {
    /// Requests the pieces from `index` up to `count` further on, unless another worker is doing
    /// so.
    fn read(&self, rows: &RowReader, index: usize, count: usize) {
        if rows.unpacked().is_none()
            && let Ok(mut next) = self.next.try_lock()
        {
            *next = (*next).max(index);
            let end = (index + count).min(self.pieces.len());
            let upcoming = self.pieces.get(*next..end).unwrap_or_default();
            *next += rows.prefetch_pieces(upcoming.iter().cloned());
        }
    }
}

impl<P: Program> Sending<'_, P> {
    /// Sends along the edges of a long row to `targets`. If the row is packed, they are the targets
    /// of `piece`. Returns the number of edges.
    fn send_stretch(
        &self,
        piece: &RowPiece,
        targets: &Range<ShortId>,
        sink: &mut Stretch<'_, '_, P>,
    ) -> Result<usize> {
        self.cancel.check()?;
        let Some(unpacked) = self.rows.unpacked() else {
            let mut batch = RowBatch::default();
            return self.send_row(&self.rows.piece(piece, &mut batch)?, 0, sink);
        };
        let source = piece.source();
        let Some(signal) = self.vertices.signal(source) else { return Ok(0) };
        let (list, weights) = unpacked.row(source);
        let due = self.reach.due(self.vertices.program, signal, list.len(), weights);
        let due = if self.rows.is_ascending() {
            let place = |target| list.partition_point(|&other| other < target);
            place(targets.start)..place(targets.end)
        } else {
            due
        };
        let mut sent = 0;
        for (edge, &target) in (due.start..).zip(&list[due]) {
            if targets.contains(&target) {
                let weight = weights.get(edge).map_or(1.0, |&weight| f32::from_le_bytes(weight));
                self.send_edge(signal, target, weight, sink);
                sent += 1;
            }
        }
        Ok(sent)
    }
}

/// A range of targets that one worker owns.
struct Stretch<'s, 'r, P: Program> {
    /// The first target.
    first: usize,
    messages: &'s mut [Message<P>],
    /// log2 of the vertices of a partition.
    partition_log2: u32,
    /// The partition of the targets in `new`.
    partition: usize,
    new: Vec<ShortId>,
    /// Targets passed to the owners of their partitions.
    reached: &'s [Mutex<&'r mut Vec<ShortId>>],
    /// Whether an edge led to a target outside the range.
    strays: bool,
}

impl<P: Program> Stretch<'_, '_, P> {
    fn tell(&mut self) {
        if !self.new.is_empty() {
            lock(&self.reached[self.partition]).append(&mut self.new);
        }
    }
}

impl<P: Program> Sink<Message<P>> for Stretch<'_, '_, P> {
    #[inline(always)]
    fn put(&mut self, target: ShortId, message: Message<P>) {
        // A target before the range wraps around, and lies outside of the messages, too.
        let place = target.index().wrapping_sub(self.first);
        let Some(&reduced) = self.messages.get(place) else {
            self.strays = true;
            return;
        };
        if reduced == P::Reduction::IDENTITY {
            let partition = target.index() >> self.partition_log2;
            if partition != self.partition || self.new.len() == REACHED_KEPT {
                self.tell();
                self.partition = partition;
            }
            self.new.push(target);
        }
        self.messages[place] = P::Reduction::reduce(reduced, message);
    }

    #[inline(always)]
    fn room(&self) -> usize {
        usize::MAX
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tegula_testkit::XorShift;

    use super::*;

    #[test]
    fn wanted_vertices_are_taken_out_and_the_others_stay() {
        let mut random = XorShift::new(4);
        let ids = |set: &BTreeSet<u32>| set.iter().copied().map(ShortId).collect::<Vec<_>>();
        for round in 0..2000 {
            let mut some =
                |most| (0..random.below(most)).map(|_| random.below(40) as u32).collect();
            let (list, wanted): (BTreeSet<u32>, BTreeSet<u32>) = (some(30), some(12));
            let mut left = ids(&list);
            let taken = take_common(&mut left, &ids(&wanted), round % 2 == 0);
            let common: BTreeSet<u32> = list.intersection(&wanted).copied().collect();
            assert_eq!(taken, ids(&common), "{wanted:?} of {list:?}");
            assert_eq!(left, ids(&(&list - &wanted)), "{list:?} without {wanted:?}");
        }
    }
}
