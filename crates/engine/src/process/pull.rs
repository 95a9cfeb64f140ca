//! The process and apply phases from the side of the targets: each vertex that is not settled looks
//! through its row for an active neighbour. In an undirected graph this is its row, in a directed
//! one its row by target. If edges are followed in reverse, it is the row by source; in both
//! directions, both rows.
//!
//! If the message from the smallest source wins, the first active neighbour settles the vertex, and
//! the rest of the row is not looked at. This is the bottom-up step of Beamer, Asanovic and
//! Patterson (*Direction-Optimizing Breadth-First Search*, SC 2012). In degree order, the
//! neighbours with the smallest ids are hubs, which are active early, so one or two neighbours are
//! enough.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::time::Duration;

use tegula_machine::threads::{lock, unlocked};
use tegula_store::rows::{Row, RowBatch, RowReader};
use tegula_store::tiles::{WINDOW_LOG2, WINDOW_SIZE};
use tegula_store::{Result, ShortId};

use super::cost::{
    Correction, CostModel, PULL_EDGE, PULL_EDGE_UNPACKED, PULL_ROW, PULL_ROW_UNPACKED, RowWork,
    SCAN_VERTEX, finding,
};
use super::{Prediction, Process, ProcessKind, Progressed, ROWS_PER_BATCH};
use crate::job::context::JobContext;
use crate::program::{Activity, EdgeWeight, Message, Program, Reduction, Settling};
use crate::superstep::frontier::Frontier;
use crate::superstep::targets::Targets;
use crate::superstep::{Superstep, bit};
use crate::traverse::ROWS_AHEAD;

/// If more than one vertex in `DENSE_SHARE` is not settled, all rows are read, not only theirs.
const DENSE_SHARE: usize = 4;

/// The process through the rows of the vertices that are not settled.
pub struct Pull<'s> {
    incoming: Vec<&'s RowReader>,
    outgoing: Vec<&'s RowReader>,
    costs: CostModel,
    correction: Correction,
}

impl<'s> Pull<'s> {
    /// Returns whether a program can pull: one active neighbour must settle a vertex.
    pub fn is_for<P: Program>() -> bool {
        P::SETTLING == Settling::ByFirstSource
    }

    /// Makes the process. `incoming` holds the edges to each vertex; `outgoing` holds the edges
    /// from each, which tell the share of active edges.
    pub fn new(
        incoming: Vec<&'s RowReader>,
        outgoing: Vec<&'s RowReader>,
        costs: CostModel,
    ) -> Pull<'s> {
        Pull { incoming, outgoing, costs, correction: Correction::none() }
    }

    /// Returns the share of edges that leave active vertices.
    fn active_share<P: Program>(&self, step: &Superstep<'_, P>) -> f64 {
        if self.outgoing.is_empty() {
            return step.frontier.count() as f64 / (step.graph.vertex_count() as f64).max(1.0);
        }
        let (mut active, mut all) = (0.0, 0);
        for rows in &self.outgoing {
            active += RowWork::of(&step.frontier, rows).edges;
            all += rows.rows().edge_count();
        }
        active / all.max(1) as f64
    }
}

impl<P: Program> Process<P> for Pull<'_> {
    fn kind(&self) -> ProcessKind {
        ProcessKind::Pull
    }

    fn predict(&self, step: &Superstep<'_, P>) -> Prediction {
        let open: f64 = step.execution.open_targets.iter().map(|&open| f64::from(open)).sum();
        let vertices = (step.graph.vertex_count() as f64).max(1.0);
        // Neighbours up to the first active one, if they were drawn at random.
        let looks = self.active_share(step).recip();
        let (mut working, mut reading) = (vertices * SCAN_VERTEX, 0.0);
        for &rows in &self.incoming {
            let degree = rows.rows().edge_count() as f64 / vertices;
            let (row, edge) = match rows.unpacked() {
                Some(_) => (PULL_ROW_UNPACKED, PULL_EDGE_UNPACKED),
                None => (PULL_ROW + finding(rows), PULL_EDGE),
            };
            working += open * (row + looks.min(degree) * edge);
            let all_open = RowWork { rows: open, edges: open * degree };
            reading += self.costs.predict_reading(rows, &all_open, 1.0);
        }
        let by_costs = self.costs.together(working / self.costs.threads, reading);
        Prediction { seconds: self.correction.apply(by_costs), by_costs, ..Prediction::default() }
    }

    fn run(
        &mut self,
        step: &mut Superstep<'_, P>,
        _prediction: &Prediction,
        context: &JobContext<'_>,
    ) -> Result<Progressed> {
        step.generate(context)?;
        let (edges, sums) = pull(step, &self.incoming, context)?;
        step.take_next_active();
        step.agree(sums.into_iter())?;
        Ok(Progressed::Done { edges })
    }

    fn learn(&mut self, prediction: &Prediction, took: Duration) {
        self.correction.learn(prediction.seconds, took);
    }
}

/// Runs the iteration; returns the number of edges looked at, and the sums of the windows.
fn pull<P: Program>(
    step: &mut Superstep<'_, P>,
    incoming: &[&RowReader],
    context: &JobContext<'_>,
) -> Result<(u64, Vec<P::Aggregate>)> {
    let Frontier::Bits(active) = &step.frontier else { return Ok((0, Vec::new())) };
    let (program, degrees) = (&step.execution.program, &step.degrees[..]);
    let arrays = &mut step.arrays;
    let owned = arrays
        .states
        .all()
        .chunks_mut(WINDOW_SIZE)
        .zip(arrays.next_active.all().chunks_mut(WINDOW_SIZE / 64))
        .zip(arrays.settled.all().chunks_mut(WINDOW_SIZE / 64))
        .zip(&step.execution.open_targets)
        .enumerate()
        .filter(|(_, (_, open))| **open > 0);
    let owned: Vec<_> = owned
        .map(|(window, (((states, next_active), settled), &open))| {
            Mutex::new(Some(Window {
                number: window,
                states,
                next_active,
                settled,
                open,
                newly_settled: 0,
                aggregate: P::Aggregate::default(),
                edges: 0,
            }))
        })
        .collect();
    let messages = step.exchange.messages();
    let pulling = Pulling { program, degrees, messages, active: active.words(), incoming };
    context.for_each(owned.len(), &|index| {
        // The worker takes the window out, because counters side by side would share a cache line.
        let Some(mut window) = lock(&owned[index]).take() else { return Ok(()) };
        pulling.pull_window(&mut window)?;
        *lock(&owned[index]) = Some(window);
        Ok(())
    })?;
    let mut sums = Vec::with_capacity(owned.len());
    let mut edges_seen = 0;
    for mut window in owned.into_iter().filter_map(unlocked) {
        let newly_settled = std::slice::from_mut(&mut window.newly_settled);
        step.execution.settle(window.number, newly_settled);
        sums.push(window.aggregate);
        edges_seen += window.edges;
    }
    Ok((edges_seen, sums))
}

/// A window of targets, which one worker owns.
struct Window<'s, P: Program> {
    number: usize,
    states: &'s mut [P::State],
    next_active: &'s mut [u64],
    settled: &'s mut [u64],
    /// Vertices of the window that were not settled before the iteration.
    open: u32,
    newly_settled: u32,
    aggregate: P::Aggregate,
    /// Edges looked at.
    edges: u64,
}

/// What the workers share.
struct Pulling<'s, P: Program> {
    program: &'s P,
    degrees: &'s [u32],
    messages: &'s [Message<P>],
    active: &'s [u64],
    /// The rows that hold the edges to each vertex.
    incoming: &'s [&'s RowReader],
}

/// What one vertex found in its row.
struct Look<P: Program> {
    vertex: ShortId,
    /// The active neighbour that settles the vertex.
    first: Option<First<P>>,
    /// Edges looked at.
    edges: u64,
}

impl<P: Program> Look<P> {
    /// Merges the looks of a vertex at two rows: the smaller source wins.
    fn merged_with(self, further: Look<P>) -> Look<P> {
        let edges = self.edges + further.edges;
        let first = match (self.first, further.first) {
            (Some(one), Some(other)) if other.source < one.source => Some(other),
            (one, other) => one.or(other),
        };
        Look { vertex: self.vertex, first, edges }
    }
}

/// Rows with the edges to vertices, as one worker looks through them.
struct Incoming<'s> {
    rows: &'s RowReader,
    /// Whether neighbours come by ascending id.
    is_ascending: bool,
    /// The first vertex whose row is not requested yet, if all rows are read.
    next: ShortId,
    /// How many open vertices have their rows requested, if only theirs are read.
    ahead: usize,
    batch: RowBatch,
}

impl<'s> Incoming<'s> {
    /// Begins a window whose first vertex is `first`.
    fn new(rows: &'s RowReader, first: ShortId) -> Incoming<'s> {
        let is_ascending = rows.is_ascending();
        Incoming { rows, is_ascending, next: first, ahead: 0, batch: RowBatch::default() }
    }

    /// Requests the next rows: the rows of `open` from `position` on, or all rows up to `end`.
    fn read_ahead(&mut self, open: &[ShortId], position: usize, end: Option<ShortId>) {
        match end {
            // Rows before the next open vertex are of no use, even where all rows are read.
            Some(end) => self.next = self.rows.prefetch_range(self.next.max(open[position])..end),
            None => {
                self.ahead = self.ahead.max(position);
                let upcoming = open[self.ahead..].iter().copied().take(ROWS_AHEAD);
                self.ahead += self.rows.prefetch(upcoming);
            }
        }
    }
}

impl<P: Program> Pulling<'_, P> {
    fn pull_window(&self, window: &mut Window<'_, P>) -> Result<()> {
        let first = window.number << WINDOW_LOG2;
        let open = window.open_vertices(first);
        let is_dense = open.len() * DENSE_SHARE > window.states.len();
        let end = ShortId((first + window.states.len()) as u32);
        let mut readers: Vec<_> =
            self.incoming.iter().map(|&rows| Incoming::new(rows, ShortId(first as u32))).collect();
        let mut targets = Targets {
            program: self.program,
            degrees: self.degrees.get(first..).unwrap_or_default(),
            first,
            states: &mut *window.states,
            settled: &mut *window.settled,
            newly_settled: std::slice::from_mut(&mut window.newly_settled),
            aggregate: &mut window.aggregate,
        };
        let mut take = |look: Look<P>| {
            window.edges += look.edges;
            if let Some(first_found) = look.first {
                let local = look.vertex.index() - first;
                let message = self.along(first_found);
                let is_active = targets.apply(local, message.into()) == Activity::Active;
                window.next_active[local / 64] |= u64::from(is_active) << (local % 64);
            }
        };
        let mut looks = Vec::new();
        for start in (0..open.len()).step_by(ROWS_PER_BATCH) {
            let group = start..open.len().min(start + ROWS_PER_BATCH);
            let end = is_dense.then_some(end);
            match &mut readers[..] {
                [only] => self.look_through(only, &open, group, end, &mut take)?,
                [one, other] => {
                    // The rows of `other` are read while those of `one` are looked through.
                    other.read_ahead(&open, start, end);
                    let range = group.clone();
                    self.look_through(one, &open, range, end, |look| looks.push(look))?;
                    let mut before = looks.drain(..);
                    self.look_through(other, &open, group, end, |look| {
                        // Both rows are looked through in the order of `open`, so the looks of a
                        // vertex meet here.
                        take(match before.next() {
                            Some(before) => before.merged_with(look),
                            None => look,
                        });
                    })?;
                }
                [] | [_, _, _, ..] => unreachable!("one or two layouts have the edges to a vertex"),
            }
        }
        Ok(())
    }

    /// Calls `take` with what each of the `open` vertices in `range` finds in its row, in their
    /// order.
    fn look_through(
        &self,
        incoming: &mut Incoming<'_>,
        open: &[ShortId],
        range: Range<usize>,
        end: Option<ShortId>,
        mut take: impl FnMut(Look<P>),
    ) -> Result<()> {
        let rows = incoming.rows;
        let mut position = range.start;
        while position < range.end {
            incoming.read_ahead(open, position, end);
            let sources = before_long(rows, &open[position..range.end]);
            if sources.is_empty() {
                take(self.look_through_pieces(incoming, open[position])?);
                position += 1;
                continue;
            }
            position += rows.for_each_row(sources, &mut incoming.batch, |row| {
                take(self.look_through_row(row, incoming.is_ascending)?);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(())
    }

    /// Looks through a row piece by piece, as [`Self::look_through_row`] does. It stops after a
    /// piece with an active neighbour, because later pieces lead to greater neighbours.
    fn look_through_pieces(&self, incoming: &mut Incoming<'_>, vertex: ShortId) -> Result<Look<P>> {
        let mut edges = 0;
        for piece in incoming.rows.rows().pieces(vertex) {
            let piece = incoming.rows.piece(&piece, &mut incoming.batch)?;
            let look = self.look_through_row(&piece, incoming.is_ascending)?;
            edges += look.edges;
            if look.first.is_some() {
                return Ok(Look { edges, ..look });
            }
        }
        Ok(Look { vertex, first: None, edges })
    }

    /// Finds the active neighbour that settles the vertex of a row.
    fn look_through_row(&self, row: &Row<'_>, is_ascending: bool) -> Result<Look<P>> {
        let mut first: Option<First<P>> = None;
        let edges = row.try_fold(0, |edge, neighbour| {
            let next = ControlFlow::Continue(edge + 1);
            if !bit(self.active, neighbour.index()) {
                return next;
            }
            let message = self.messages[neighbour.index()];
            // An active neighbour may have nothing to say.
            let is_none = message == P::Reduction::IDENTITY;
            if is_none || first.as_ref().is_some_and(|first| first.source <= neighbour) {
                return next;
            }
            let weight = if P::Weight::IS_WEIGHTED { row.weight(edge) } else { 1.0 };
            first = Some(First { source: neighbour, message, weight });
            if is_ascending { ControlFlow::Break(edge + 1) } else { next }
        })?;
        Ok(Look { vertex: row.source(), first, edges: edges as u64 })
    }

    /// Returns the message of a neighbour after the edge.
    fn along(&self, first: First<P>) -> Message<P> {
        self.program.along(first.message, P::Weight::from_f32(first.weight))
    }
}

/// Returns the vertices before the first one whose row is read piece by piece.
fn before_long<'v>(rows: &RowReader, sources: &'v [ShortId]) -> &'v [ShortId] {
    let long = rows.rows().long();
    // Unpacked rows are in memory, however long they are.
    if long.is_empty() || rows.unpacked().is_some() {
        return sources;
    }
    let is_long = |source: &ShortId| long.binary_search(source).is_ok();
    &sources[..sources.iter().position(is_long).unwrap_or(sources.len())]
}

/// The smallest active neighbour, its message, and the weight of its edge.
struct First<P: Program> {
    source: ShortId,
    message: Message<P>,
    weight: f32,
}

impl<P: Program> Window<'_, P> {
    /// Returns the vertices that are not settled, ascending.
    fn open_vertices(&self, first: usize) -> Vec<ShortId> {
        let mut open = Vec::with_capacity(self.open as usize);
        for (index, &settled) in self.settled.iter().enumerate() {
            let count = (self.states.len() - 64 * index).min(64);
            // The bits behind the last vertex are 0, and must not count as open vertices.
            let mut rest = !settled & (u64::MAX >> (64 - count));
            while rest != 0 {
                open.push(ShortId((first + 64 * index) as u32 + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        open
    }
}
