//! The state of a program between its iterations, and the phases that all processes share.
//!
//! ```text
//!  generate     messages[v] = signal(v) for active v, the identity for all others
//!  exchange     between ranks; on one machine the array of messages is where it is needed
//!  process      along and reduce into accumulators that the worker owns
//!  apply        by the worker that owns the targets
//! ```
//!
//! A process reaches the edges in one of three ways, see [`crate::process`]. All three apply
//! through [`targets`].
//!
//! Memory per vertex: the state, a message, the degree if the program needs it, and three or four
//! bits.

pub mod accumulators;
pub mod active_set;
pub mod batch_array;
pub mod buckets;
pub mod exchange;
pub mod execution;
pub mod frontier;
pub mod init;
pub mod ordered_merge;
pub mod targets;

use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use tegula_machine::memory::huge;
use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::{BATCH_LOG2_MAX, WINDOW_LOG2};
use tegula_store::{Result, ShortId, VertexId};
use zerocopy::IntoBytes;

use crate::instructions::Instructions;
use crate::job::context::JobContext;
use crate::program::{Accumulator, Message, Program, Reduction};
use crate::ranks::Ranks;
use crate::start::Start;
use crate::states::cut::Cut;
use crate::statistics::RunStatistics;
use accumulators::Accumulators;
use active_set::ActiveSet;
use batch_array::{BatchArray, BatchRanges};
use buckets::Buckets;
use exchange::Exchange;
use execution::Execution;
use frontier::Frontier;
use ordered_merge::OrderedMerge;

/// Most windows of a batch.
const BATCH_WINDOWS: usize = 1 << (BATCH_LOG2_MAX - WINDOW_LOG2);

/// A program between iterations: states, messages, active vertices.
pub struct Superstep<'g, P: Program> {
    pub graph: &'g Graph,
    pub execution: Execution<P>,
    pub instructions: Instructions,
    /// Empty if the program does not need degrees.
    pub degrees: Arc<Vec<u32>>,
    pub arrays: VertexArrays<P>,
    pub frontier: Frontier,
    /// Active vertices whose turn has not come while rows are sought.
    pub buckets: Buckets,
    pub exchange: Exchange<'g, Message<P>>,
}

/// The arrays over all vertices, cut by batch. During a scan, each batch belongs to the worker that
/// holds its lock.
pub struct VertexArrays<P: Program> {
    pub states: BatchArray<P::State>,
    /// A bit for each vertex that is active in the next iteration. All zero between iterations.
    pub next_active: BatchArray<u64>,
    /// A bit for each settled vertex. Empty if the program settles none.
    pub settled: BatchArray<u64>,
    pub batches: Vec<Mutex<BatchWork<P>>>,
    /// Accumulators that no worker uses at the moment; all hold identities.
    pub idle_accumulators: Mutex<Vec<Accumulators<P>>>,
}

/// What senders read of the vertices while messages go along rows.
pub struct Vertices<'s, P: Program> {
    pub program: &'s P,
    pub states: &'s [P::State],
    /// A bit for each settled vertex. Empty if the program settles none.
    pub settled: &'s [u64],
    /// Empty if the program does not need degrees.
    pub degrees: &'s [u32],
}

impl<P: Program> Clone for Vertices<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Program> Copy for Vertices<'_, P> {}

impl<P: Program> Vertices<'_, P> {
    /// Returns the message of a vertex, if it has one.
    #[inline(always)]
    pub fn signal(&self, vertex: ShortId) -> Option<Message<P>> {
        let degree = if P::NEEDS_DEGREE { self.degrees[vertex.index()] } else { 0 };
        self.program.signal(vertex.into(), &self.states[vertex.index()], degree)
    }
}

/// The work on a batch during a scan, apart from its range of the arrays.
pub struct BatchWork<P: Program> {
    pub ranges: BatchRanges,
    /// The reductions of its parts, until all are done.
    pub merge: OrderedMerge<P, Vec<Accumulator<P>>>,
    /// The sums over the targets of the batch, once apply has run for all of them.
    pub aggregate: Option<P::Aggregate>,
    /// Targets of each window that settled in this iteration.
    pub newly_settled: [u32; BATCH_WINDOWS],
}

impl<'g, P: Program> Superstep<'g, P> {
    /// Makes the arrays and initialises the states. `degrees` may be empty if the program does not
    /// need them. With `ranks`, only the vertices of this rank have states. If `resumes`, the
    /// caller [restores](Superstep::restore) other states at once.
    ///
    /// # Errors
    /// Read errors of known states; cancellation; a panic of the program; the failure of another
    /// rank.
    pub fn new(
        graph: &'g Graph,
        start: Start<P>,
        ranks: Option<Ranks<'g>>,
        degrees: Arc<Vec<u32>>,
        (instructions, resumes): (Instructions, bool),
        context: &JobContext<'_>,
    ) -> Result<Superstep<'g, P>> {
        let Start { program, known, is_own_enough } = start;
        let count = graph.vertex_count() as usize;
        let words = count.div_ceil(64);
        let settles = P::SETTLING.is_possible();
        let batches = BatchRanges::of(graph).map(|ranges| Mutex::new(BatchWork::new(ranges)));
        let mut step = Superstep {
            graph,
            execution: Execution::new(program, count, is_own_enough),
            instructions,
            degrees,
            arrays: VertexArrays {
                states: BatchArray::new(match known {
                    Some(known) => known.into_vec()?,
                    None => huge::zeroes(count),
                }),
                next_active: BatchArray::new(vec![0; words]),
                settled: BatchArray::new(vec![0; if settles { words } else { 0 }]),
                batches: batches.collect(),
                idle_accumulators: Mutex::default(),
            },
            frontier: Frontier::Bits(ActiveSet::new(count)),
            buckets: Buckets::default(),
            exchange: Exchange::new(count, P::Reduction::IDENTITY, ranks),
        };
        step.init(resumes, context)?;
        Ok(step)
    }

    /// Ends a run on ranks: gathers the states and the statistics of other ranks. On one machine,
    /// both are complete.
    ///
    /// # Errors
    /// Cancellation; the failure of another rank.
    pub fn complete(&mut self, statistics: &mut RunStatistics) -> Result<()> {
        let Some(ranks) = self.exchange.ranks() else { return Ok(()) };
        if !self.execution.is_own_enough {
            // Both closures borrow the states, but they run one after the other.
            let states = RefCell::new(self.arrays.states.all());
            let mut read =
                |vertices: Range<usize>| Ok(states.borrow()[vertices].as_bytes().to_vec());
            let mut write = |vertices: Range<usize>, bytes: &[u8]| {
                states.borrow_mut()[vertices].as_mut_bytes().copy_from_slice(bytes);
                Ok(())
            };
            ranks.complete(&Cut::of(self.graph), size_of::<P::State>(), &mut read, &mut write)?;
        }
        // A later run on these ranks would take an acknowledgement of this one for its own.
        ranks.end_transfers()?;
        ranks.complete_statistics(statistics)
    }

    /// Returns the states by dense id, and the program.
    pub fn into_result(self) -> (Vec<P::State>, P) {
        (self.arrays.states.into_inner(), self.execution.program)
    }

    /// Begins an iteration and returns its number, from 0; `None` if the program is over.
    pub fn begin_iteration(&mut self) -> Option<u64> {
        if self.frontier.count() == 0
            && let Some(list) = self.take_next_bucket(u64::MAX)
        {
            self.frontier = Frontier::List(list);
        }
        self.execution.begin_iteration(self.frontier.count())
    }

    /// Ends an iteration, after the vertices for the next one are known: takes the total of the
    /// sums, which come by ascending batch, over all ranks.
    ///
    /// # Errors
    /// The failure of another rank.
    pub fn agree(&mut self, sums: impl Iterator<Item = P::Aggregate>) -> Result<()> {
        match &mut self.frontier {
            Frontier::Bits(active) => self.execution.agree(&self.exchange, sums, active),
            // Along rows there are no ranks, so nobody needs to know who is active.
            Frontier::List(_) => {
                self.execution.agree(&self.exchange, sums, &mut ActiveSet::default())
            }
        }
    }

    /// Returns the number of active vertices on all ranks.
    pub fn active_count(&self) -> u64 {
        self.frontier.count() + self.execution.others.active
    }

    /// Returns whether a tile may hold an active source and a target that is not settled.
    pub fn needs(&self, tile: &TileEntry) -> bool {
        let Frontier::Bits(active) = &self.frontier else { return true };
        self.execution.needs(tile, self.graph.origin_of(tile), active)
    }

    /// Generates the messages of the active vertices, which it turns into bits first.
    ///
    /// # Errors
    /// Cancellation; a panic of the program; the failure of another rank.
    pub fn generate(&mut self, context: &JobContext<'_>) -> Result<()> {
        self.know_by_bits();
        self.execution.aggregate = P::Aggregate::default();
        let Frontier::Bits(active) = &mut self.frontier else { return Ok(()) };
        let (program, degrees) = (&self.execution.program, &self.degrees[..]);
        let states = &*self.arrays.states.all();
        self.exchange.publish(active, context, &|first, active, messages| {
            let states = &states[first..first + messages.len()];
            for (bit, (message, state)) in messages.iter_mut().zip(states).enumerate() {
                if active >> bit & 1 == 1 {
                    let vertex = first + bit;
                    let degree = if P::NEEDS_DEGREE { degrees[vertex] } else { 0 };
                    let signal = program.signal(VertexId(vertex as u64), state, degree);
                    *message = signal.unwrap_or(P::Reduction::IDENTITY);
                }
            }
        })
    }

    /// Returns what senders read of the vertices while messages go along rows, and the receiver of
    /// these messages.
    pub fn vertices_and_exchange(&mut self) -> (Vertices<'_, P>, &mut Exchange<'g, Message<P>>) {
        let vertices = Vertices {
            program: &self.execution.program,
            states: self.arrays.states.all(),
            settled: self.arrays.settled.all(),
            degrees: &self.degrees,
        };
        (vertices, &mut self.exchange)
    }

    /// Returns the degrees of some vertices; empty if the program does not need them.
    pub fn degrees_of(&self, vertices: Range<usize>) -> &[u32] {
        if P::NEEDS_DEGREE { &self.degrees[vertices] } else { &[] }
    }

    fn know_by_bits(&mut self) {
        if let Frontier::List(list) = &self.frontier {
            let mut active = ActiveSet::of(list, self.graph.vertex_count() as usize);
            // Taken, because scanning sends all messages that were held back.
            let horizon = self.buckets.horizon.take();
            self.add_held_back(&mut active, horizon);
            self.frontier = Frontier::Bits(active);
        }
    }

    /// Adds the vertices that had their turn and whose messages were held back.
    fn add_held_back(&mut self, active: &mut ActiveSet, horizon: Option<u64>) {
        let Some(horizon) = horizon else { return };
        let states = (0..).zip(&*self.arrays.states.all());
        let inside = states.filter(|(_, state)| self.execution.program.bucket(state) <= horizon);
        active.extend(inside.map(|(vertex, _)| ShortId(vertex)));
    }

    /// Returns all vertices that have something to send, including those whose turn has not come.
    pub fn all_active(&mut self) -> ActiveSet {
        let mut active = match &self.frontier {
            Frontier::Bits(set) => set.clone(),
            Frontier::List(list) => ActiveSet::of(list, self.graph.vertex_count() as usize),
        };
        active.extend(self.buckets.all_waiting());
        self.add_held_back(&mut active, self.buckets.horizon);
        active
    }

    /// Restores the program as it was before an iteration. `fill` writes the states and the bits of
    /// the active vertices, on ranks for the vertices of this rank.
    ///
    /// # Errors
    /// The failure of another rank.
    pub fn restore(
        &mut self,
        iterations_begun: u64,
        aggregate: P::Aggregate,
        fill: impl FnOnce(&mut [P::State], &mut [u64]) -> Result<()>,
    ) -> Result<()> {
        self.execution.resume(iterations_begun, aggregate);
        let own = self.exchange.own_vertices();
        let all = self.arrays.states.all();
        fill(all, self.arrays.next_active.all())?;
        let settled = self.arrays.settled.all();
        // `init` has settled vertices by their first states.
        settled.fill(0);
        for (vertex, state) in own.clone().zip(&all[own]) {
            let is_settled = self.execution.restore(vertex, state);
            if P::SETTLING.is_possible() {
                settled[vertex / 64] |= u64::from(is_settled) << (vertex % 64);
            }
        }
        self.take_next_active();
        let Frontier::Bits(active) = &mut self.frontier else { return Ok(()) };
        self.execution.rejoin(&self.exchange, active)
    }

    /// Turns the bits of active vertices into a list. Vertices of later buckets are put off.
    pub fn know_by_list(&mut self) {
        if let Frontier::Bits(active) = &self.frontier {
            let mut list = huge::with_capacity(active.count() as usize);
            for_each_bit(active.words(), |vertex| list.push(ShortId(vertex)));
            // Along rows the places are an inbox, which must hold identities.
            self.exchange.withdraw();
            let states = self.arrays.states.all();
            self.frontier =
                Frontier::List(self.buckets.begin(list, &self.execution.program, states));
        }
    }

    /// Takes the vertices of the next bucket, if there is one up to `last`.
    pub fn take_next_bucket(&mut self, last: u64) -> Option<Vec<ShortId>> {
        self.buckets.take_next(last, &self.execution.program, self.arrays.states.all())
    }

    /// Returns the next bucket that has vertices.
    pub fn next_bucket(&mut self) -> Option<u64> {
        self.buckets.next(&self.execution.program, self.arrays.states.all())
    }

    /// Makes the vertices gathered for the next iteration the frontier.
    pub fn take_next_active(&mut self) {
        let count = self.graph.vertex_count() as usize;
        let mut frontier = match std::mem::replace(&mut self.frontier, Frontier::List(Vec::new())) {
            Frontier::Bits(set) => set,
            Frontier::List(_) => ActiveSet::new(count),
        };
        let gathered = std::mem::replace(&mut self.arrays.next_active, BatchArray::new(Vec::new()));
        let mut cleared = frontier.replace(gathered.into_inner());
        cleared.fill(0);
        self.arrays.next_active = BatchArray::new(cleared);
        self.frontier = Frontier::Bits(frontier);
    }
}

impl<P: Program> BatchWork<P> {
    fn new(ranges: BatchRanges) -> BatchWork<P> {
        BatchWork {
            ranges,
            merge: OrderedMerge::new(),
            aggregate: None,
            newly_settled: [0; BATCH_WINDOWS],
        }
    }
}

/// Yields `count` chunks of an array, all empty if the array is.
pub fn chunks_or_none(
    words: &mut [u64],
    size: usize,
    count: usize,
) -> impl Iterator<Item = &mut [u64]> {
    let (mut rest, mut left) = (words, count);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let all = std::mem::take(&mut rest);
        let (chunk, others) = all.split_at_mut(size.min(all.len()));
        rest = others;
        Some(chunk)
    })
}

/// Takes the first `count` values off a slice, or all if there are fewer.
pub fn split_off<'s, T>(rest: &mut &'s mut [T], count: usize) -> &'s mut [T] {
    let all = std::mem::take(rest);
    let (first, others) = all.split_at_mut(count.min(all.len()));
    *rest = others;
    first
}

/// Returns one bit of some words.
#[inline(always)]
pub fn bit(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 == 1
}

/// Calls `visit` for each set bit, ascending.
pub fn for_each_bit(words: &[u64], mut visit: impl FnMut(u32)) {
    for (index, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            visit(index as u32 * 64 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
}
