//! How programs join a run of lanes while it goes on, and how lanes leave it.
//!
//! ```text
//!  iteration    i              i + 1           i + 2
//!  old lane     its last one   states copied   the caller has its outcome
//!  new lane                    states made     its first one
//! ```
//!
//! Both happen while the other lanes apply, so a new lane may take the place of an old one at once.
//! The copies go by way of the sums of an iteration: each batch of targets has its own, and the
//! engine merges them in the order of the vertices.
//!
//! The thread that joins makes the sums of the first states. The engine adds these up by unit, and
//! the sums of later states by batch. So an iteration could not give them the rounding of a single
//! run.

use std::collections::VecDeque;
use std::mem::{replace, take};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use tegula_machine::memory::huge;
use tegula_machine::threads::{Cancel, ProgressUnit, get_mut, lock};
use tegula_store::graph::Graph;
use tegula_store::{Result, VertexId};

use super::{LaneAggregate, LaneSum, Lanes};
use crate::job::program::Outcome;
use crate::options::RunOptions;
use crate::program::{Activity, Aggregate, ApplyTo, Next, Program};
use crate::states::States;
use crate::statistics::RunStatistics;
use crate::superstep::init::units_from;
use crate::traverse::Directions;

/// The entrance to a run of lanes, for programs that join it while it goes on. Several threads may
/// use it at a time.
pub struct OpenLanes<P: Program>(Arc<Mutex<JoinQueue<P>>>);

/// What the run and those who join share.
struct JoinQueue<P: Program> {
    waiting: VecDeque<Joiner<P>>,
    /// Lanes that nobody has, before those who wait take theirs.
    free: usize,
    /// Iterations that the run has begun.
    iterations: u64,
    /// The directions in which all programs follow edges.
    directions: Directions,
}

/// A program that waits for its lane.
struct Joiner<P: Program> {
    program: P,
    first: LaneSum<P::Aggregate>,
    cancel: Cancel,
    caller: Sender<LaneNews<P>>,
}

/// What a lane tells the thread that joined.
enum LaneNews<P: Program> {
    /// It has run an iteration.
    Iteration,
    /// It has left.
    Left(Box<LaneOutcome<P>>),
}

/// The outcome of a lane. Its states may lie among those of others that left with it.
pub struct LaneOutcome<P: Program> {
    program: P,
    statistics: RunStatistics,
    states: LaneStates<P::State>,
}

enum LaneStates<S> {
    Whole(States<S>),
    /// Copies by batch, each with the states of `stride` lanes side by side.
    Copies {
        copies: Arc<Vec<Vec<S>>>,
        place: usize,
        stride: usize,
    },
}

impl<P: Program> Default for OpenLanes<P> {
    fn default() -> OpenLanes<P> {
        let directions = Directions::Forward;
        let waiting = VecDeque::new();
        OpenLanes(Arc::new(Mutex::new(JoinQueue { waiting, free: 0, iterations: 0, directions })))
    }
}

impl<P: Program> OpenLanes<P> {
    /// Returns whether a program could join now.
    pub fn has_room(&self) -> bool {
        lock(&self.0).has_room()
    }

    /// Returns the number of iterations that the run has begun.
    pub fn iterations(&self) -> u64 {
        lock(&self.0).iterations
    }

    /// Joins the run as a lane between two iterations, and waits for the outcome, which is that of
    /// [`run_anywhere`](crate::run_anywhere) for this program. `None` if the run has no free lane, or
    /// if it ends before: then the program must run by itself.
    ///
    /// The caller provides the memory for the program and twice for its states; the run has that of
    /// the lane. Of the options, only the cancellation and the progress count.
    ///
    /// # Errors
    /// Failed reads of the degrees; cancellation.
    ///
    /// # Panics
    /// When the program follows edges in other directions than the run.
    pub fn join(
        &self,
        graph: &Graph,
        program: P,
        options: &RunOptions<'_>,
    ) -> Result<Option<Outcome<P, States<P::State>>>> {
        // Spares the sums if there is no room anyway. `enter` asks again, under its lock.
        if !self.has_room() {
            return Ok(None);
        }
        let first = first_sums(graph, &program, &options.cancel)?;
        let Some(lane) = self.enter(program, first, options.cancel.clone()) else {
            return Ok(None);
        };
        options.progress.begin("iterating", None, ProgressUnit::Iterations);
        let mut left = None;
        // A run that ends early drops the sender.
        for news in lane {
            match news {
                LaneNews::Iteration => options.progress.advance(1),
                LaneNews::Left(outcome) => left = Some(outcome.into_outcome()),
            }
        }
        options.progress.end();
        let Some(mut outcome) = left else {
            options.cancel.check()?;
            return Ok(None);
        };
        outcome.statistics.bytes_read += if P::NEEDS_DEGREE { 4 * graph.vertex_count() } else { 0 };
        Ok(Some(outcome))
    }

    /// Returns the number of programs that wait for their lanes.
    #[cfg(test)]
    pub(super) fn waiting_count(&self) -> usize {
        lock(&self.0).waiting.len()
    }

    /// Waits for a lane, if one is free.
    fn enter(
        &self,
        program: P,
        first: LaneSum<P::Aggregate>,
        cancel: Cancel,
    ) -> Option<Receiver<LaneNews<P>>> {
        let mut queue = lock(&self.0);
        let (caller, news) = channel();
        queue.has_room().then(|| {
            let directions = program.directions();
            assert!(directions == queue.directions, "lanes follow edges in different directions");
            queue.waiting.push_back(Joiner { program, first, cancel, caller });
            news
        })
    }

    /// Refuses all who wait or come later.
    pub(super) fn close(&self) {
        lock(&self.0).close();
    }
}

impl<P: Program> JoinQueue<P> {
    fn has_room(&self) -> bool {
        self.waiting.len() < self.free
    }

    fn close(&mut self) {
        self.free = 0;
        self.waiting.clear();
    }
}

impl<P: Program> LaneOutcome<P> {
    /// Returns the outcome. Copies of states become one array, which takes their memory a second
    /// time.
    pub fn into_outcome(self) -> Outcome<P, States<P::State>> {
        let LaneOutcome { program, statistics, states } = self;
        let states = match states {
            LaneStates::Whole(states) => states,
            LaneStates::Copies { copies, place, stride } => {
                let count = copies.iter().map(Vec::len).sum::<usize>() / stride;
                let mut states = huge::with_capacity(count);
                let mut add = |copy: &[P::State]| {
                    states.extend(copy.iter().skip(place).step_by(stride).copied());
                };
                match Arc::try_unwrap(copies) {
                    // The last one frees them on the way.
                    Ok(copies) => copies.into_iter().for_each(|copy| add(&copy)),
                    Err(copies) => copies.iter().for_each(|copy| add(copy)),
                }
                States::from(states)
            }
        };
        Outcome { states, program, statistics }
    }
}

/// Returns the sums of the first states, as the engine makes them for a run alone.
fn first_sums<P: Program>(
    graph: &Graph,
    program: &P,
    cancel: &Cancel,
) -> Result<LaneSum<P::Aggregate>> {
    let degrees = if P::NEEDS_DEGREE { Some(graph.degree_reader()?) } else { None };
    let mut all = LaneSum::<P::Aggregate>::default();
    for unit in units_from(graph, 0) {
        cancel.check()?;
        let degrees = degrees.as_ref().map(|degrees| degrees.read(unit.clone())).transpose()?;
        let mut sums = P::Aggregate::default();
        for (local, vertex) in unit.enumerate() {
            let degree = degrees.as_ref().map_or(0, |degrees| degrees[local]);
            let (_, activity) = program.init(VertexId(vertex as u64), degree, &mut sums);
            all.has_active |= activity == Activity::Active;
        }
        all.sums.merge(sums);
    }
    Ok(all)
}

/// Takes the outcomes of the programs with which a run began, each with its number.
type LaneEnd<P> = dyn Fn(usize, LaneOutcome<P>) + Send + Sync;

/// The program in a lane, for its caller.
pub(super) struct Member<P: Program> {
    caller: Caller<P>,
    /// The sums of its first states, until its first iteration. For a lane that began with the run,
    /// these are among the sums of the run.
    first: Option<LaneSum<P::Aggregate>>,
    /// The statistics of the run before its first iteration.
    before: RunStatistics,
    /// Bytes that were read while it was the first lane.
    bytes_read: u64,
}

enum Caller<P: Program> {
    /// That of the run, with the number of one of the programs with which it began.
    OfRun(usize, Arc<LaneEnd<P>>),
    /// One that joined.
    Joined(Sender<LaneNews<P>>, Cancel),
}

impl<P: Program> Member<P> {
    fn of_run(number: usize, end: &Arc<LaneEnd<P>>) -> Member<P> {
        let caller = Caller::OfRun(number, Arc::clone(end));
        Member { caller, first: None, before: RunStatistics::default(), bytes_read: 0 }
    }

    fn is_cancelled(&self) -> bool {
        matches!(&self.caller, Caller::Joined(_, cancel) if cancel.is_cancelled())
    }

    fn tell_iteration(&self) {
        if let Caller::Joined(sender, _) = &self.caller {
            // A caller that has gone needs nothing.
            drop(sender.send(LaneNews::Iteration));
        }
    }

    /// Returns what the run has done for it, given the statistics of the run so far.
    fn statistics(&self, of_run: &RunStatistics, iterations: u64) -> RunStatistics {
        of_run.since(&self.before, iterations, self.bytes_read)
    }

    /// Gives the outcome to the caller.
    fn leave(self, outcome: LaneOutcome<P>) {
        match self.caller {
            Caller::OfRun(number, end) => end(number, outcome),
            // A caller that has gone needs nothing.
            Caller::Joined(sender, _) => drop(sender.send(LaneNews::Left(Box::new(outcome)))),
        }
    }
}

/// A lane that leaves.
struct Leaving<P: Program> {
    lane: usize,
    member: Member<P>,
    program: P,
    iterations: u64,
    statistics: RunStatistics,
}

/// How the lanes of a run come and go.
pub(super) struct Changes<P: Program, const K: usize> {
    queue: Arc<Mutex<JoinQueue<P>>>,
    members: [Option<Member<P>>; K],
    /// Lanes whose states are copied in this iteration.
    leaving: Vec<Leaving<P>>,
    /// Lanes whose first states are made in this iteration.
    joining: Vec<usize>,
    /// Bytes that the run had read before this iteration.
    bytes_read: u64,
    /// The program of a lane that nobody has.
    idle: P,
}

/// A lane at the end of an open run.
pub(super) struct Remaining<P: Program> {
    pub lane: usize,
    member: Member<P>,
    program: P,
    iterations: u64,
}

impl<P: Program> Remaining<P> {
    /// Gives the outcome to the caller.
    pub fn leave(self, states: States<P::State>, of_run: &RunStatistics) {
        let Remaining { member, program, iterations, .. } = self;
        let statistics = member.statistics(of_run, iterations);
        member.leave(LaneOutcome { program, statistics, states: LaneStates::Whole(states) });
    }
}

impl<P: Program + Clone, const K: usize> Lanes<P, K> {
    /// Lets others join by `open`. `end` takes the outcome of each program with its number.
    pub(super) fn open(self, open: &OpenLanes<P>, end: &Arc<LaneEnd<P>>) -> Lanes<P, K> {
        const { assert!(matches!(P::APPLY_TO, ApplyTo::All), "apply must visit all vertices") };
        let directions = self.directions();
        let free = K - self.used;
        *lock(&open.0) = JoinQueue { waiting: VecDeque::new(), free, iterations: 0, directions };
        let of_run = |lane| (lane < self.used).then(|| Member::of_run(lane, end));
        let changes = Changes {
            queue: Arc::clone(&open.0),
            members: std::array::from_fn(of_run),
            leaving: Vec::new(),
            joining: Vec::new(),
            bytes_read: 0,
            idle: self.programs[0].clone(),
        };
        Lanes { changes: Some(Box::new(changes)), ..self }
    }

    /// Returns the lanes that have not left, given the statistics of the whole run.
    pub(super) fn into_remaining(self, of_run: &RunStatistics) -> Vec<Remaining<P>> {
        let Some(mut changes) = self.changes else { return Vec::new() };
        changes.count_reading(of_run, 0..K);
        let lanes = self.programs.into_iter().zip(self.iterations).zip(changes.members).enumerate();
        let remaining = |(lane, ((program, iterations), member))| {
            Some(Remaining { lane, member: member?, program, iterations })
        };
        lanes.filter_map(remaining).collect()
    }

    /// Ends the changes of an iteration: lanes have left, others have their first states. Returns the
    /// sums of these states.
    pub(super) fn end_changes(
        &mut self,
        aggregate: &LaneAggregate<P::Aggregate, P::State, K>,
    ) -> [Option<LaneSum<P::Aggregate>>; K] {
        let mut first = [const { None }; K];
        let Some(changes) = &mut self.changes else { return first };
        let copies = Arc::new(take(&mut *lock(&aggregate.copies)));
        let stride = changes.leaving.len();
        for (place, leaving) in changes.leaving.drain(..).enumerate() {
            let Leaving { member, program, statistics, .. } = leaving;
            let states = LaneStates::Copies { copies: Arc::clone(&copies), place, stride };
            member.leave(LaneOutcome { program, statistics, states });
        }
        for lane in changes.joining.drain(..) {
            (self.is_over[lane], self.iterations[lane]) = (false, 0);
            first[lane] = changes.members[lane].as_mut().and_then(|member| member.first.take());
        }
        for (lane, member) in changes.members.iter_mut().enumerate() {
            if member.take_if(|member| member.is_cancelled()).is_some() {
                self.is_over[lane] = true;
                self.programs[lane] = changes.idle.clone();
            }
        }
        self.is_changing = false;
        first
    }

    /// Begins the changes of an iteration: lanes that are over leave, and those who wait get lanes
    /// that are free. If the run ends, they are refused.
    pub(super) fn begin_changes(&mut self, next: Next) {
        let Some(changes) = &mut self.changes else { return };
        let mut queue = lock(&changes.queue);
        if next == Next::Stop {
            return queue.close();
        }
        queue.free = 0;
        queue.iterations += 1;
        for lane in (0..K).filter(|&lane| self.is_over[lane]) {
            if let Some(member) = changes.members[lane].take() {
                let program = replace(&mut self.programs[lane], changes.idle.clone());
                let (iterations, statistics) = (self.iterations[lane], RunStatistics::default());
                changes.leaving.push(Leaving { lane, member, program, iterations, statistics });
            }
            match queue.waiting.pop_front() {
                Some(joiner) => {
                    self.programs[lane] = joiner.program;
                    changes.members[lane] = Some(Member {
                        caller: Caller::Joined(joiner.caller, joiner.cancel),
                        first: Some(joiner.first),
                        before: RunStatistics::default(),
                        bytes_read: 0,
                    });
                    changes.joining.push(lane);
                }
                None => queue.free += 1,
            }
        }
        self.is_changing = !changes.leaving.is_empty() || !changes.joining.is_empty();
    }

    /// Copies the states of one vertex in lanes that leave, and makes its states in lanes that
    /// join. Returns whether it is active in a lane that joins.
    #[cold]
    #[inline(never)]
    pub(super) fn change(
        &self,
        vertex: VertexId,
        degree: u32,
        states: &mut [P::State; K],
        aggregate: &mut LaneAggregate<P::Aggregate, P::State, K>,
    ) -> bool {
        let Some(changes) = &self.changes else { return false };
        if !changes.leaving.is_empty() {
            let copies = get_mut(&mut aggregate.copies);
            if copies.is_empty() {
                copies.push(Vec::new());
            }
            copies[0].extend(changes.leaving.iter().map(|leaving| states[leaving.lane]));
        }
        let mut is_active = false;
        for &lane in &changes.joining {
            // The sums of all first states are known already.
            let mut sums = P::Aggregate::default();
            let (state, activity) = self.programs[lane].init(vertex, degree, &mut sums);
            states[lane] = state;
            is_active |= activity == Activity::Active;
        }
        is_active
    }

    /// Notes what the run has done so far, at the end of an iteration.
    pub(super) fn note(&mut self, of_run: &RunStatistics) {
        let Some(changes) = &mut self.changes else { return };
        let is_over = self.is_over;
        changes.count_reading(of_run, (0..K).filter(|&lane| !is_over[lane]));
        for member in changes.members.iter().zip(is_over).filter(|(_, is_over)| !is_over) {
            member.0.iter().for_each(Member::tell_iteration);
        }
        for Leaving { member, iterations, statistics, .. } in &mut changes.leaving {
            *statistics = member.statistics(of_run, *iterations);
        }
        for &lane in &changes.joining {
            if let Some(member) = &mut changes.members[lane] {
                member.before = of_run.clone();
            }
        }
    }
}

impl<P: Program, const K: usize> Changes<P, K> {
    /// Counts what was read since the last call for the first of some lanes that has a member.
    fn count_reading(&mut self, of_run: &RunStatistics, mut lanes: impl Iterator<Item = usize>) {
        let read = of_run.bytes_read - replace(&mut self.bytes_read, of_run.bytes_read);
        if let Some(lane) = lanes.find(|&lane| self.members[lane].is_some())
            && let Some(member) = &mut self.members[lane]
        {
            member.bytes_read += read;
        }
    }
}
