//! Process and apply from the side of the targets: each vertex that is not settled looks through its row
//! for an active neighbour, in a graph that stores both directions of every edge.
//!
//! Where the message from the smallest source wins, the first active neighbour settles the vertex, and
//! the rest of the row is not looked at: the bottom-up step of Beamer, Asanovic and Patterson
//! (*Direction-Optimizing Breadth-First Search*, SC 2012). In degree order the neighbours with the
//! smallest ids are hubs, which are active early, so that one or two neighbours are enough.

use std::ops::ControlFlow;
use std::sync::Mutex;

use tegula_machine::Result;
use tegula_machine::threads::lock;
use tegula_store::VertexId;
use tegula_store::rows::{Row, RowBatch, RowReader};
use tegula_store::tiles::{WINDOW_LOG2, WINDOW_SIZE};

use super::{ROWS_PER_BATCH, Supersteps, bit};
use crate::program::{Activity, Aggregate, EdgeWeight, Message, Program, Reduction};
use crate::traverse::ROWS_AHEAD;
use crate::workers::Workers;

/// Where one of so many vertices is not settled, all rows are read, not only theirs.
const DENSE_SHARE: usize = 4;

impl<P: Program> Supersteps<'_, P> {
    /// One iteration from the side of the targets; returns how many edges were looked at. Messages were
    /// generated.
    pub(super) fn pull(&mut self, rows: &RowReader, workers: &Workers<'_>) -> Result<u64> {
        let count = self.states.len();
        let owned: Vec<_> = self
            .states
            .chunks_mut(WINDOW_SIZE)
            .zip(self.next_active.chunks_mut(WINDOW_SIZE / 64))
            .zip(self.settled.chunks_mut(WINDOW_SIZE / 64))
            .zip(&self.open_targets)
            .enumerate()
            .filter(|(_, (_, open))| **open > 0)
            .map(|(window, (((states, next_active), settled), &open))| {
                let aggregate = P::Aggregate::default();
                let first = window << WINDOW_LOG2;
                let window =
                    Window { first, states, next_active, settled, open, aggregate, edges: 0 };
                Mutex::new(Some(window))
            })
            .collect();
        let pulling = Pulling {
            program: &self.program,
            degrees: &self.degrees,
            messages: &self.messages[..count],
            active: self.active.words(),
            rows,
        };
        workers.for_each(owned.len(), &|index| {
            // A worker has its window to itself: counters side by side would share a cache line.
            let Some(mut window) = lock(&owned[index]).take() else { return Ok(()) };
            pulling.pull_window(&mut window)?;
            *lock(&owned[index]) = Some(window);
            Ok(())
        })?;
        let mut edges_seen = 0;
        for window in owned {
            let window = window.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
            let Some(Window { first, open, aggregate, edges, .. }) = window else { continue };
            self.aggregate.merge(aggregate);
            self.open_targets[first >> WINDOW_LOG2] = open;
            edges_seen += edges;
        }
        Ok(edges_seen)
    }
}

/// A window of targets, which one worker owns.
struct Window<'s, P: Program> {
    first: usize,
    states: &'s mut [P::State],
    next_active: &'s mut [u64],
    settled: &'s mut [u64],
    /// How many of them are not settled.
    open: u32,
    aggregate: P::Aggregate,
    /// Edges that were looked at.
    edges: u64,
}

/// What the workers share.
struct Pulling<'s, P: Program> {
    program: &'s P,
    degrees: &'s [u32],
    messages: &'s [Message<P>],
    active: &'s [u64],
    rows: &'s RowReader,
}

impl<P: Program> Pulling<'_, P> {
    fn pull_window(&self, window: &mut Window<'_, P>) -> Result<()> {
        let mut open = Vec::with_capacity(window.open as usize);
        for (index, &settled) in window.settled.iter().enumerate() {
            let first = window.first + 64 * index;
            let count = (window.states.len() - 64 * index).min(64);
            let mut rest = !settled & (u64::MAX >> (64 - count));
            while rest != 0 {
                open.push(VertexId(first as u32 + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        let mut batch = RowBatch::default();
        let is_dense = open.len() * DENSE_SHARE > window.states.len();
        let end = VertexId((window.first + window.states.len()) as u32);
        let (mut position, mut ahead) = (0, 0);
        let mut next = VertexId(window.first as u32);
        while position < open.len() {
            if is_dense {
                next = self.rows.prefetch_range(next.max(open[position])..end);
            } else {
                ahead = ahead.max(position);
                ahead += self.rows.prefetch(open[ahead..].iter().copied().take(ROWS_AHEAD));
            }
            let end = (position + ROWS_PER_BATCH).min(open.len());
            let sources = &open[position..end];
            position += self.rows.for_each_row(sources, &mut batch, |row| {
                self.pull_row(row, window)?;
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(())
    }

    /// Looks for the active neighbour that settles a vertex.
    fn pull_row(&self, row: &Row<'_>, window: &mut Window<'_, P>) -> Result<()> {
        let identity = P::Reduction::IDENTITY;
        let is_ascending = self.rows.rows().is_ascending();
        // The smallest active neighbour, what it sends, and the weight of its edge.
        let mut first: Option<(VertexId, Message<P>, f32)> = None;
        let edges = row.try_fold(0, |edge, neighbour| {
            let next = ControlFlow::Continue(edge + 1);
            if !bit(self.active, neighbour.index()) {
                return next;
            }
            let message = self.messages[neighbour.index()];
            if message == identity || first.is_some_and(|(found, ..)| found <= neighbour) {
                return next;
            }
            let weight = if P::Weight::IS_WEIGHTED { row.weight(edge) } else { 1.0 };
            first = Some((neighbour, message, weight));
            if is_ascending { ControlFlow::Break(edge + 1) } else { next }
        })?;
        window.edges += edges as u64;
        if let Some((_, message, weight)) = first {
            let message = self.program.along(message, P::Weight::from_f32(weight));
            self.apply(row.source(), message, window);
        }
        Ok(())
    }

    fn apply(&self, vertex: VertexId, message: Message<P>, window: &mut Window<'_, P>) {
        let local = vertex.index() - window.first;
        let degree = if P::NEEDS_DEGREE { self.degrees[vertex.index()] } else { 0 };
        let state = &mut window.states[local];
        let activity =
            self.program.apply(vertex, degree, state, message.into(), &mut window.aggregate);
        let is_settled = self.program.is_settled(state);
        window.open -= u32::from(is_settled);
        window.settled[local / 64] |= u64::from(is_settled) << (local % 64);
        let is_active = activity == Activity::Active;
        window.next_active[local / 64] |= u64::from(is_active) << (local % 64);
    }
}
