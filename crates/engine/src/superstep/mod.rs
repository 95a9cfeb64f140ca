//! The four phases of an iteration, for one program.
//!
//! ```text
//!  generate     messages[v] = signal(v) for active v, the identity for all others
//!  exchange     nothing on one machine: the array of messages is where it is needed
//!  process      along and reduce into accumulators that the worker owns
//!  apply        by the worker that owns the targets
//! ```
//!
//! Process and apply come in three kinds, and every iteration has one of them: [`scan`] goes through
//! tiles, [`seek`] pushes along the rows of the active vertices, [`pull`] looks through the rows of
//! vertices that are not settled. The first and the last know the active vertices by a bit each; `seek`
//! knows them by a list, so that an iteration with one active vertex does not touch all of them.
//!
//! Memory per vertex: the state, a message, the degree where it is wanted, and two or three bits.

mod pull;
mod scan;
mod seek;

use std::sync::{Mutex, PoisonError};

use tegula_machine::Result;
use tegula_machine::memory::huge;
use tegula_machine::threads::lock;
use tegula_store::VertexId;
use tegula_store::graph::Graph;
use tegula_store::rows::RowReader;
use tegula_store::tiles::{WINDOW_LOG2, WINDOW_SIZE};

use crate::accumulators::Accumulators;
use crate::active::ActiveSet;
use crate::instructions::Instructions;
use crate::job::{Job, RunningScan};
use crate::process::{Frontier, Process};
use crate::program::{
    Accumulator, Activity, Aggregate, Message, Next, Program, Reduction, Settling, may_seek,
};
use crate::tile_cache::waiting_targets_max;
use crate::workers::Workers;
use scan::{ProgramScan, ScanOutcome};
use seek::Seeker;

/// Rows that are brought into memory together.
const ROWS_PER_BATCH: usize = 64;

/// Vertices whose messages one worker writes at a time.
const RANGE_SIZE: usize = 1 << 16;

/// A program on its way over a graph: states, messages, active vertices.
pub struct Supersteps<'g, P: Program> {
    graph: &'g Graph,
    program: P,
    instructions: Instructions,
    threads: usize,
    degrees: Vec<u32>,
    states: Vec<P::State>,
    /// Of active vertices, while these are known by their bits; else all are the identity.
    messages: Vec<Message<P>>,
    active: ActiveSet,
    /// Bits of the vertices that are active in the next iteration; before that, of those whose messages
    /// have to be taken back.
    next_active: Vec<u64>,
    seeker: Seeker<P>,
    /// How many vertices of each window are not settled.
    open_targets: Vec<u32>,
    /// A bit for each vertex that is settled, in a program that settles any; else nothing.
    settled: Vec<u64>,
    aggregate: P::Aggregate,
    /// What the last scan left.
    outcome: Mutex<ScanOutcome<P>>,
    iteration: u64,
    is_over: bool,
}

impl<'g, P: Program> Supersteps<'g, P> {
    /// Bytes of the arrays over all vertices and of the scratch memory of the workers.
    pub fn size(graph: &Graph, threads: usize) -> u64 {
        let vertices = u64::from(graph.vertex_count());
        let degree = if P::NEEDS_DEGREE { 4 } else { 0 };
        let per_vertex = (size_of::<P::State>() + size_of::<Message<P>>() + degree) as u64;
        let widest = graph.batches().iter().map(|batch| 1u64 << batch.log2).max().unwrap_or(0);
        let scratch = Accumulators::<P>::size(widest);
        // Parts of one batch wait for each other with their accumulators.
        let waiting = waiting_targets_max(graph) * size_of::<Accumulator<P>>() as u64;
        let sets = if P::SETTLING.is_possible() { 3 } else { 2 };
        vertices * per_vertex
            + sets * ActiveSet::size(vertices)
            + (scratch + waiting) * threads as u64
    }

    /// Bytes that it takes beside those to run along rows.
    pub fn rows_size(graph: &Graph, threads: usize) -> u64 {
        Seeker::<P>::size(u64::from(graph.vertex_count()), threads)
    }

    /// Initialises the states.
    ///
    /// # Errors
    /// Those of reading the degrees; cancellation; a worker that panicked.
    pub fn new(
        graph: &'g Graph,
        program: P,
        instructions: Instructions,
        workers: &Workers<'_>,
    ) -> Result<Supersteps<'g, P>> {
        let count = graph.vertex_count() as usize;
        let degrees = if P::NEEDS_DEGREE { graph.out_degrees()? } else { Vec::new() };
        let mut messages = huge::with_capacity(count + 1);
        messages.resize(count + 1, P::Reduction::IDENTITY);
        let mut supersteps = Supersteps {
            graph,
            instructions,
            threads: workers.threads,
            degrees,
            states: huge::zeroes(count),
            messages,
            next_active: vec![0; count.div_ceil(64)],
            active: ActiveSet::new(count),
            seeker: Seeker::new(count),
            open_targets: vec![0; count.div_ceil(WINDOW_SIZE)],
            settled: vec![0; if P::SETTLING.is_possible() { count.div_ceil(64) } else { 0 }],
            aggregate: P::Aggregate::default(),
            outcome: Mutex::default(),
            iteration: 0,
            is_over: false,
            program,
        };
        supersteps.init(workers)?;
        Ok(supersteps)
    }

    /// Initialises the states, window by window.
    fn init(&mut self, workers: &Workers<'_>) -> Result<()> {
        let owned = self
            .states
            .chunks_mut(WINDOW_SIZE)
            .zip(self.active.words_mut().chunks_mut(WINDOW_SIZE / 64))
            .zip(chunks_or_none(&mut self.settled, WINDOW_SIZE / 64, self.open_targets.len()))
            .zip(&mut self.open_targets);
        let owned: Vec<_> =
            owned.map(|owned| Mutex::new((owned, P::Aggregate::default()))).collect();
        let (program, degrees) = (&self.program, &self.degrees);
        workers.for_each(owned.len(), &|window| {
            let ((((states, active), settled), open), aggregate) = &mut *lock(&owned[window]);
            for (index, place) in states.iter_mut().enumerate() {
                let vertex = (window << WINDOW_LOG2) + index;
                let degree = degrees.get(vertex).copied().unwrap_or(0);
                let (state, activity) = program.init(VertexId(vertex as u32), degree, aggregate);
                let is_settled = program.is_settled(&state);
                **open += u32::from(!is_settled);
                if P::SETTLING.is_possible() {
                    settled[index / 64] |= u64::from(is_settled) << (index % 64);
                }
                let is_active = activity == Activity::Active;
                active[index / 64] |= u64::from(is_active) << (index % 64);
                *place = state;
            }
            Ok(())
        })?;
        // In the order of the windows: what is summed up does not depend on the threads.
        for owned in owned {
            let (_, aggregate) = owned.into_inner().unwrap_or_else(PoisonError::into_inner);
            self.aggregate.merge(aggregate);
        }
        self.active.summarise();
        Ok(())
    }

    /// The states by dense id, and the program.
    pub fn into_result(self) -> (Vec<P::State>, P) {
        (self.states, self.program)
    }

    /// Fills the array of messages.
    fn generate(&mut self) {
        self.know_by_bits();
        self.aggregate = P::Aggregate::default();
        let count = self.states.len();
        let messages = self.messages[..count].chunks_mut(RANGE_SIZE).enumerate();
        let queue = Mutex::new(messages);
        let (program, states, degrees) = (&self.program, &self.states, &self.degrees);
        let (active, before) = (self.active.words(), &self.next_active);
        let work = || {
            loop {
                let claimed = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((range, messages)) = claimed else { return };
                generate_range(
                    program,
                    range * RANGE_SIZE,
                    messages,
                    states,
                    degrees,
                    active,
                    before,
                );
            }
        };
        run_workers(self.threads.min(count.div_ceil(RANGE_SIZE)), &work);
        // From here on the bits of the next iteration are gathered.
        self.next_active.fill(0);
    }

    /// From the list of active vertices to their bits.
    fn know_by_bits(&mut self) {
        let Some(list) = self.seeker.take_list() else { return };
        for &vertex in &list {
            self.active.words_mut()[vertex.index() / 64] |= 1 << (vertex.0 % 64);
        }
        self.active.summarise();
    }

    /// From the bits of active vertices to their list, by ascending id; takes back all messages.
    fn know_by_list(&mut self) {
        if self.seeker.list().is_some() {
            return;
        }
        let identity = P::Reduction::IDENTITY;
        for_each_bit(&self.next_active, |vertex| self.messages[vertex as usize] = identity);
        self.next_active.fill(0);
        let mut list = Vec::with_capacity(self.active.count() as usize);
        for_each_bit(self.active.words(), |vertex| list.push(VertexId(vertex)));
        self.active.words_mut().fill(0);
        self.active.summarise();
        self.seeker.put_list(list, &self.program, &self.states);
    }

    /// Takes over the bits that were gathered for the next iteration.
    fn take_next_active(&mut self) {
        // The bits of this iteration are kept: their messages are to be taken back.
        self.active.words_mut().swap_with_slice(&mut self.next_active);
        self.active.summarise();
    }
}

/// The chunks of an array that has one entry for each of the others', or none at all.
fn chunks_or_none(
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

/// A bit of some words.
#[inline(always)]
fn bit(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 == 1
}

/// Calls `visit` for each set bit, ascending.
fn for_each_bit(words: &[u64], mut visit: impl FnMut(u32)) {
    for (index, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            visit(index as u32 * 64 + rest.trailing_zeros());
            rest &= rest - 1;
        }
    }
}

impl<P: Program> Job for Supersteps<'_, P> {
    fn iteration(&self) -> u64 {
        self.iteration
    }

    fn begin_iteration(&mut self) -> bool {
        if self.is_over {
            return false;
        }
        if self.active.count() == 0 && self.seeker.has_put_off() {
            self.know_by_list();
        }
        let is_idle = match self.seeker.list() {
            Some(_) => !self.seeker.take_next_bucket(&self.program, &self.states),
            None => self.active.count() == 0,
        };
        let next = self.program.begin_iteration(self.iteration, &self.aggregate);
        self.is_over = is_idle || next == Next::Stop;
        self.iteration += u64::from(!self.is_over);
        !self.is_over
    }

    fn frontier(&self) -> Frontier<'_> {
        Frontier {
            may_seek: may_seek::<P>(),
            may_pull: P::SETTLING == Settling::ByFirstSource && self.graph.manifest().undirected,
            list: self.seeker.list(),
            active: &self.active,
            open_targets: &self.open_targets,
        }
    }

    fn start_scan(&mut self) -> Box<dyn RunningScan + '_> {
        self.generate();
        Box::new(ProgramScan::new(self))
    }

    fn finish_scan(&mut self) {
        let outcome = self.outcome.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (window, settled) in outcome.settled.drain(..) {
            self.open_targets[window] -= settled;
        }
        for aggregate in outcome.aggregates.drain(..) {
            self.aggregate.merge(aggregate);
        }
        self.take_next_active();
    }

    fn run_on_rows(
        &mut self,
        process: Process,
        rows: &RowReader,
        workers: &Workers<'_>,
    ) -> Result<u64> {
        match process {
            Process::Pull => {
                self.generate();
                let edges = self.pull(rows, workers)?;
                self.take_next_active();
                Ok(edges)
            }
            _ => {
                self.know_by_list();
                self.seek(rows, workers)
            }
        }
    }
}

/// Runs `work` on several threads, the calling one among them.
fn run_workers(threads: usize, work: &(impl Fn() + Sync)) {
    if threads <= 1 {
        return work();
    }
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| drop(scope.spawn(work)));
        work();
    });
}
/// Writes the messages of one range. Words without an active vertex, now or an iteration ago, hold
/// identities already. Cost: about 1 ns a vertex that is active.
fn generate_range<P: Program>(
    program: &P,
    first: usize,
    messages: &mut [Message<P>],
    states: &[P::State],
    degrees: &[u32],
    active: &[u64],
    before: &[u64],
) {
    for (index, messages) in messages.chunks_mut(64).enumerate() {
        let first = first + index * 64;
        let (now, before) = (active[first / 64], before[first / 64]);
        if now | before == 0 {
            continue;
        }
        let states = &states[first..first + messages.len()];
        for (bit, (message, state)) in messages.iter_mut().zip(states).enumerate() {
            let vertex = first + bit;
            let degree = if P::NEEDS_DEGREE { degrees[vertex] } else { 0 };
            let signal = if now >> bit & 1 == 1 {
                program.signal(VertexId(vertex as u32), state, degree)
            } else {
                None
            };
            *message = signal.unwrap_or_else(|| P::Reduction::IDENTITY);
        }
    }
}
