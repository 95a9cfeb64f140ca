//! The four phases of an iteration, for one program.
//!
//! ```text
//!  generate     messages[v] = signal(v) for active v, the identity for all others
//!  exchange     nothing on one machine: the array of messages is where it is needed
//!  process      per part: along and reduce into accumulators that the worker owns
//!  apply        per batch, by the worker that finished its last part
//! ```
//!
//! Memory per vertex: the state, a message, the degree where it is wanted, and two bits.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use tegula_store::graph::{Graph, TileEntry};
use tegula_store::tiles::{BATCH_LOG2_MAX, Batch, Tile, TileSummary, WINDOW_LOG2, WINDOW_SIZE};
use tegula_store::{Result, VertexId, huge};

use crate::active::ActiveSet;
use crate::instructions::Instructions;
use crate::job::{Job, RunningScan};
use crate::kernel::KernelInput;
use crate::program::{Activity, ApplyTo, Next, Program};
use crate::scan::{ScanJob, ScanWorker};
use crate::tile_cache::Part;

/// Vertices whose messages one worker writes at a time.
const RANGE_SIZE: usize = 1 << 16;
/// The most windows of a batch.
const BATCH_WINDOWS: usize = 1 << (BATCH_LOG2_MAX - WINDOW_LOG2);

/// A program on its way over a graph: states, messages, active vertices.
pub struct Supersteps<'g, P: Program> {
    graph: &'g Graph,
    program: P,
    instructions: Instructions,
    threads: usize,
    degrees: Vec<u32>,
    states: Vec<P::State>,
    messages: Vec<P::Message>,
    active: ActiveSet,
    /// Bits of the vertices that are active in the next iteration.
    next_active: Vec<u64>,
    /// How many vertices of each window are not settled.
    open_targets: Vec<u32>,
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
        let per_vertex = (size_of::<P::State>() + size_of::<P::Message>() + degree) as u64;
        let widest = graph.batches().iter().map(|batch| 1u64 << batch.log2).max().unwrap_or(0);
        let scratch = widest.max(WINDOW_SIZE as u64) * size_of::<P::Message>() as u64;
        // Parts of one batch wait for each other with their accumulators.
        let waiting = 4 * scratch * threads as u64;
        vertices * per_vertex + 2 * ActiveSet::size(vertices) + scratch * threads as u64 + waiting
    }

    /// Initialises the states.
    ///
    /// # Errors
    /// Those of reading the degrees.
    pub fn new(
        graph: &'g Graph,
        program: P,
        instructions: Instructions,
        threads: usize,
    ) -> Result<Supersteps<'g, P>> {
        let count = graph.vertex_count() as usize;
        let degrees = if P::NEEDS_DEGREE { graph.out_degrees()? } else { Vec::new() };
        let mut active = ActiveSet::new(count);
        let mut states = huge::with_capacity(count);
        let mut messages = huge::with_capacity(count + 1);
        messages.resize(count + 1, program.identity());
        let mut aggregate = P::Aggregate::default();
        let mut open_targets = vec![0; count.div_ceil(WINDOW_SIZE)];
        for vertex in 0..count {
            let degree = degrees.get(vertex).copied().unwrap_or(0);
            let (state, activity) = program.init(VertexId(vertex as u32), degree, &mut aggregate);
            open_targets[vertex >> WINDOW_LOG2] += u32::from(!program.is_settled(&state));
            states.push(state);
            if activity == Activity::Active {
                active.words_mut()[vertex / 64] |= 1 << (vertex % 64);
            }
        }
        active.summarise();
        Ok(Supersteps {
            graph,
            instructions,
            threads,
            degrees,
            states,
            messages,
            next_active: vec![0; active.words().len()],
            active,
            open_targets,
            aggregate,
            outcome: Mutex::default(),
            iteration: 0,
            is_over: false,
            program,
        })
    }

    /// The states by dense id, and the program.
    pub fn into_result(self) -> (Vec<P::State>, P) {
        (self.states, self.program)
    }
}

impl<P: Program> Job for Supersteps<'_, P> {
    fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Generate: asks the program whether it goes on and fills the array of messages. Returns false
    /// when the run is over.
    fn generate(&mut self) -> bool {
        self.is_over = self.is_over
            || self.program.begin_iteration(self.iteration, &self.aggregate) == Next::Stop
            || self.active.count() == 0;
        if self.is_over {
            return false;
        }
        self.iteration += 1;
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
        true
    }

    /// The process and apply phases, as a job of a scan.
    fn start_scan(&mut self) -> Box<dyn RunningScan + '_> {
        // From here on the bits of the next iteration are gathered.
        self.next_active.fill(0);
        let count = self.graph.vertex_count();
        let mut batches = Vec::with_capacity(self.graph.batches().len());
        let (mut states, mut words) = (&mut self.states[..], &mut self.next_active[..]);
        for batch in self.graph.batches() {
            let targets = batch.targets(count);
            let (own_states, rest_states) = states.split_at_mut(targets.len());
            let (own_words, rest_words) = words.split_at_mut(targets.len().div_ceil(64));
            (states, words) = (rest_states, rest_words);
            batches.push(Mutex::new(BatchWork {
                targets,
                states: own_states,
                active: own_words,
                parts: Vec::new(),
                aggregate: None,
                settled: [0; BATCH_WINDOWS],
            }));
        }
        Box::new(ProgramScan {
            program: &self.program,
            instructions: self.instructions,
            graph: self.graph,
            degrees: &self.degrees,
            messages: &self.messages,
            active: &self.active,
            open_targets: &self.open_targets,
            batches,
            outcome: &self.outcome,
        })
    }

    /// Takes over what a scan left: sums, active vertices, settled targets.
    fn finish_iteration(&mut self) {
        let outcome = self.outcome.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (window, settled) in outcome.settled.drain(..) {
            self.open_targets[window] -= settled;
        }
        for aggregate in outcome.aggregates.drain(..) {
            self.program.merge(&mut self.aggregate, aggregate);
        }
        // The bits of this iteration are kept: their messages are to be taken back.
        self.active.words_mut().swap_with_slice(&mut self.next_active);
        self.active.summarise();
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
    messages: &mut [P::Message],
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
            *message = signal.unwrap_or_else(|| program.identity());
        }
    }
}

/// A batch during a scan: what only the worker that finishes it touches.
struct BatchWork<'s, P: Program> {
    targets: Range<u32>,
    states: &'s mut [P::State],
    active: &'s mut [u64],
    /// Accumulators of the parts that are done, by number, until all are.
    parts: Vec<(usize, Vec<P::Message>)>,
    aggregate: Option<P::Aggregate>,
    /// How many targets of each window were settled in this iteration.
    settled: [u32; BATCH_WINDOWS],
}

/// The process and apply phases of one program.
struct ProgramScan<'s, P: Program> {
    program: &'s P,
    instructions: Instructions,
    graph: &'s Graph,
    degrees: &'s [u32],
    messages: &'s [P::Message],
    active: &'s ActiveSet,
    open_targets: &'s [u32],
    batches: Vec<Mutex<BatchWork<'s, P>>>,
    outcome: &'s Mutex<ScanOutcome<P>>,
}

/// What a scan leaves to its program.
struct ScanOutcome<P: Program> {
    /// By ascending batch.
    aggregates: Vec<P::Aggregate>,
    /// Window, and how many of its vertices were settled.
    settled: Vec<(usize, u32)>,
}

impl<P: Program> Default for ScanOutcome<P> {
    fn default() -> Self {
        ScanOutcome { aggregates: Vec::new(), settled: Vec::new() }
    }
}

impl<P: Program> RunningScan for ProgramScan<'_, P> {
    fn end(self: Box<Self>) {
        let mut outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        for batch in self.batches {
            let batch = batch.into_inner().unwrap_or_else(PoisonError::into_inner);
            outcome.aggregates.extend(batch.aggregate);
            let first = batch.targets.start as usize >> WINDOW_LOG2;
            let settled = batch.settled.iter().enumerate().filter(|&(_, &count)| count > 0);
            outcome.settled.extend(settled.map(|(window, &count)| (first + window, count)));
        }
    }
}

impl<P: Program> ScanJob for ProgramScan<'_, P> {
    fn needs(&self, tile: &TileSummary) -> bool {
        self.open_targets[(tile.target_first >> WINDOW_LOG2) as usize] > 0
            && self.active.may_meet(tile)
    }

    fn finishes_every_batch(&self) -> bool {
        P::APPLY_TO == ApplyTo::All
    }

    fn worker(&self) -> Box<dyn ScanWorker + '_> {
        Box::new(ProgramWorker { scan: self, accumulators: Vec::new(), batch: None })
    }
}

/// One worker of a program: its accumulators cover the windows of a batch.
struct ProgramWorker<'w, 's, P: Program> {
    scan: &'w ProgramScan<'s, P>,
    accumulators: Vec<P::Message>,
    batch: Option<Batch>,
}

impl<P: Program> ProgramWorker<'_, '_, P> {
    /// The batch's targets as indices of the accumulators, which begin with its first window.
    fn range(&self, batch: &Batch) -> Range<usize> {
        let targets = batch.targets(self.scan.graph.vertex_count());
        let first = targets.start as usize & (WINDOW_SIZE - 1);
        first..first + targets.len()
    }
}

impl<P: Program> ScanWorker for ProgramWorker<'_, '_, P> {
    fn begin_part(&mut self, part: &Part) {
        let batch = self.scan.graph.batches()[part.batch];
        let range = self.range(&batch);
        let size = range.end.next_multiple_of(WINDOW_SIZE);
        let identity = self.scan.program.identity();
        if self.accumulators.len() < size {
            self.accumulators.resize(size, identity);
        }
        self.accumulators[range].fill(identity);
        self.batch = Some(batch);
    }

    fn process(
        &mut self,
        tile: Tile<'_>,
        entry: &TileEntry,
        weights: &[f32],
    ) -> Result<(), String> {
        let first = self.batch.map_or(0, |batch| batch.target_first >> WINDOW_LOG2);
        let window = ((entry.summary.target_first >> WINDOW_LOG2) - first) as usize;
        let (windows, _) = self.accumulators.as_chunks_mut::<WINDOW_SIZE>();
        self.scan.instructions.run(KernelInput {
            program: self.scan.program,
            tile,
            weights,
            messages: self.scan.messages,
            accumulators: &mut windows[window],
        })
    }

    fn end_part(&mut self, part: &Part) {
        let Some(batch) = self.batch.take() else { return };
        let range = self.range(&batch);
        let accumulators = &mut self.accumulators[range];
        let work = &self.scan.batches[part.batch];
        let mut work = work.lock().unwrap_or_else(PoisonError::into_inner);
        if part.count > 1 {
            work.parts.push((part.number, accumulators.to_vec()));
            if work.parts.len() < part.count {
                return;
            }
            // The last one to come merges all, always in the same order.
            let mut parts = std::mem::take(&mut work.parts);
            parts.sort_unstable_by_key(|(number, _)| *number);
            accumulators.copy_from_slice(&parts[0].1);
            for (_, other) in &parts[1..] {
                for (into, from) in accumulators.iter_mut().zip(other) {
                    *into = self.scan.program.reduce(*into, *from);
                }
            }
        }
        apply(self.scan, &mut work, accumulators);
    }
}

/// Applies what was reduced to every vertex of a batch.
fn apply<P: Program>(
    scan: &ProgramScan<'_, P>,
    work: &mut BatchWork<'_, P>,
    accumulators: &[P::Message],
) {
    let first = work.targets.start as usize;
    let mut aggregate = P::Aggregate::default();
    for (index, (state, &reduced)) in work.states.iter_mut().zip(accumulators).enumerate() {
        let vertex = first + index;
        let degree = if P::NEEDS_DEGREE { scan.degrees[vertex] } else { 0 };
        let id = VertexId(vertex as u32);
        let was_open = !scan.program.is_settled(state);
        let activity = scan.program.apply(id, degree, state, reduced, &mut aggregate);
        if was_open && scan.program.is_settled(state) {
            work.settled[(first % WINDOW_SIZE + index) >> WINDOW_LOG2] += 1;
        }
        work.active[index / 64] |= u64::from(activity == Activity::Active) << (index % 64);
    }
    work.aggregate = Some(aggregate);
}
