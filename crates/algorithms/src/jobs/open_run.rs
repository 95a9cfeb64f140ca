//! Runs that like jobs join while they go on.
//!
//! A job joins if the run has a free lane and needs less time for it than the job would take by
//! itself. It brings the memory for its result. Its thread waits for the run, which another thread
//! drives, and delivers its result. If the run fails, the job runs by itself.

use std::ptr;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tegula_engine::RunOptions;
use tegula_machine::threads::{guarded as guarded_error, lock, start_in, start_workers, unlocked};

use super::face::{Ended, Face, Job, JobProgress, Wanted, guarded};
use super::group::{EstimatedJob, Group, Grouping};
use super::queue::Queue;
use super::runner::JobRunner;
use crate::algorithm::{AnyMember, Entrance, MemberOutcome, Needs, OpenFusing};
use crate::side_table::TableRead;

/// A run that like jobs may join.
pub(super) struct OpenRun<'b, J> {
    fusing: OpenFusing,
    entrance: Entrance,
    /// One of its jobs.
    job: &'b J,
    /// The predicted time of an iteration.
    iteration_seconds: f64,
    members: Mutex<Members<'b, J>>,
}

/// The jobs of an open run.
struct Members<'b, J> {
    /// The iterations after which all are expected to have left.
    end: f64,
    all: Vec<InRun<'b, J>>,
}

/// A job of an open run.
struct InRun<'b, J> {
    job: &'b J,
    fused_with: Vec<&'b J>,
    has_left: bool,
}

impl<'b, J: Job> OpenRun<'b, J> {
    fn new(group: &Group<'b, J>, fusing: OpenFusing, grouping: &Grouping<'_>) -> OpenRun<'b, J> {
        let rounds = group.needs.work().rounds;
        // Without a prediction, an iteration takes for ever, so no job joins.
        let seconds = grouping.seconds(&group.needs).unwrap_or(f64::INFINITY);
        let run = OpenRun {
            fusing,
            entrance: (fusing.entrance)(),
            job: group.members[0].job,
            iteration_seconds: seconds / rounds.max(1.0),
            members: Mutex::new(Members { end: rounds, all: Vec::new() }),
        };
        group.members.iter().for_each(|member| run.enter(member.job));
        run
    }

    /// Returns whether a job should join. This makes the run longer. It pays if the time of these
    /// iterations is less than that of single runs of this job and of the like jobs that arrive
    /// meanwhile.
    fn is_worth_joining(
        &self,
        member: &EstimatedJob<'_, J>,
        queue: &Queue<'_, J>,
        grouping: &Grouping<'_>,
        now: Duration,
    ) -> bool {
        let Some(alone) = grouping.seconds(&member.needs) else { return false };
        let begun = self.entrance.iterations() as f64;
        let end = lock(&self.members).end.max(begun);
        let besides = (begun + 1.0 + rounds(&member.needs) - end).max(0.0);
        let seconds = besides * self.iteration_seconds;
        let until = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        let others = queue.count_like(member.job, grouping.graph, now.saturating_add(until));
        seconds < alone * (1 + others) as f64
    }

    /// Adds a job, which runs as one with those that have not left.
    fn enter(&self, job: &'b J) {
        let mut members = lock(&self.members);
        let mut fused_with = Vec::new();
        for other in members.all.iter_mut().filter(|other| !other.has_left) {
            other.fused_with.push(job);
            fused_with.push(other.job);
        }
        members.all.push(InRun { job, fused_with, has_left: false });
    }

    /// Returns the jobs that ran as one with a job that leaves.
    fn leave(&self, job: &J) -> Vec<&'b J> {
        let mut members = lock(&self.members);
        let Some(own) = members.all.iter_mut().find(|own| ptr::eq(own.job, job)) else {
            return Vec::new();
        };
        own.has_left = true;
        std::mem::take(&mut own.fused_with)
    }

    /// Removes a job that did not get its result from the run.
    fn withdraw(&self, job: &J) {
        let mut members = lock(&self.members);
        members.all.retain(|other| !ptr::eq(other.job, job));
        members.all.iter_mut().for_each(|it| it.fused_with.retain(|&other| !ptr::eq(other, job)));
    }
}

/// Returns the expected iterations of a run.
fn rounds(needs: &Needs) -> f64 {
    needs.work().rounds
}

impl<'b, F: Face<'b>> JobRunner<'b, F> {
    /// Lets a job join a run that goes on, and delivers its result. Returns the job if it must run by
    /// itself.
    pub(super) fn join<'q>(
        &'q self,
        member: EstimatedJob<'b, F::Job>,
        queue: MutexGuard<'q, Queue<'b, F::Job>>,
        (options, progress): (&RunOptions<'_>, &dyn JobProgress),
    ) -> Option<(EstimatedJob<'b, F::Job>, MutexGuard<'q, Queue<'b, F::Job>>)> {
        let Some(run) = self.run_for(&member, &queue) else { return Some((member, queue)) };
        let graph = self.grouping.graph;
        let EstimatedJob { job, ref prepared, .. } = member;
        let estimate = (run.fusing.estimate_joining)(prepared.member(), graph);
        let Ok(reserve) = estimate.reserve(self.scheduler, &options.cancel) else {
            return Some((member, queue));
        };
        // The run may have ended while this job waited for memory.
        if !run.entrance.has_room() {
            return Some((member, queue));
        }
        {
            // While the queue is held, so that the next job counts these iterations too.
            let mut members = lock(&run.members);
            let end = run.entrance.iterations() as f64 + 1.0 + rounds(&member.needs);
            members.end = members.end.max(end);
        }
        // The run may take long, and other jobs must not wait for its end.
        drop(queue);
        let (queued, started) = (self.begun.elapsed(), Instant::now());
        let options = RunOptions { cancel: self.face.begin(&[job]), ..options.clone() };
        run.enter(job);
        let found =
            (run.fusing.join)(prepared.member(), graph, &options, &run.entrance).transpose();
        let Some(found) = found else {
            run.withdraw(job);
            // The job that holds the queue may wait for this memory.
            drop(reserve);
            return Some((member, lock(&self.queue)));
        };
        let ended = Ended {
            job,
            tables: prepared.tables.clone(),
            fused_with: run.leave(job),
            queued: queued.saturating_sub(job.after()),
            ran: started.elapsed(),
        };
        progress.wait_for(Wanted::Delivery);
        self.face.deliver(vec![(ended, found)]);
        None
    }

    /// Returns a run that a job should join.
    fn run_for(
        &self,
        member: &EstimatedJob<'b, F::Job>,
        queue: &Queue<'b, F::Job>,
    ) -> Option<Arc<OpenRun<'b, F::Job>>> {
        let (graph, now) = (self.grouping.graph, self.begun.elapsed());
        let is_for = |run: &&Arc<OpenRun<'b, F::Job>>| {
            run.entrance.has_room()
                && run.job.request().can_fuse_with(member.job.request(), graph)
                && run.is_worth_joining(member, queue, &self.grouping, now)
        };
        lock(&self.open_runs).iter().find(is_for).cloned()
    }

    /// Runs a group that others may join, and delivers the result of each member when it has left.
    /// Returns those that have not left because the run has failed: each must run by itself.
    pub(super) fn run_open(
        &self,
        group: Group<'b, F::Job>,
        fusing: OpenFusing,
        options: &RunOptions<'_>,
        queued: Duration,
    ) -> Vec<EstimatedJob<'b, F::Job>> {
        let run = Arc::new(OpenRun::new(&group, fusing, &self.grouping));
        let (members, graph) = (group.members, self.grouping.graph);
        let jobs: Vec<(&'b F::Job, Vec<TableRead>)> =
            members.iter().map(|member| (member.job, member.prepared.tables.clone())).collect();
        let started = Instant::now();
        let ended = |(number, outcome): (usize, MemberOutcome)| {
            let (job, ref tables) = jobs[number];
            let ended = Ended {
                job,
                tables: tables.clone(),
                fused_with: run.leave(job),
                queued: queued.saturating_sub(job.after()),
                ran: started.elapsed(),
            };
            let found = guarded_error(|| outcome.into_found(graph, &options.cancel));
            (ended, found)
        };
        let (sender, receiver) = channel();
        let outcomes = OutcomeQueue { receiver: Mutex::new(receiver), taken: Mutex::default() };
        std::thread::scope(|scope| {
            // Results that are delivered while the run goes on come one by one.
            let deliver = || {
                while let Some(outcome) = outcomes.next() {
                    self.face.deliver(vec![ended(outcome)]);
                }
            };
            // If the system refuses the thread, `rest` takes all results after the run.
            start_workers(1, 0, || start_in(scope, "tegula-write", deliver).map(drop));
            lock(&self.open_runs).push(Arc::clone(&run));
            let all: Vec<AnyMember<'_>> =
                members.iter().map(|member| member.prepared.member()).collect();
            // The run takes the sender, so the thread ends with it. If the run fails, members that
            // have not left run again, and tell what is wrong with each.
            let _ = guarded(|| Ok((fusing.run)(&all, graph, options, &run.entrance, sender)?));
            lock(&self.open_runs).retain(|other| !Arc::ptr_eq(other, &run));
            let rest: Vec<_> = outcomes.rest().into_iter().map(ended).collect();
            if !rest.is_empty() {
                self.face.deliver(rest);
            }
        });
        let taken = unlocked(outcomes.taken);
        let members = members.into_iter().enumerate();
        members.filter(|(number, _)| !taken.contains(number)).map(|(_, member)| member).collect()
    }
}

/// The outcomes of members of a run, until a thread takes them.
struct OutcomeQueue {
    receiver: Mutex<Receiver<(usize, MemberOutcome)>>,
    /// The numbers of those whose results were taken.
    taken: Mutex<Vec<usize>>,
}

impl OutcomeQueue {
    /// Waits for the next one; `None` after the run.
    fn next(&self) -> Option<(usize, MemberOutcome)> {
        let receiver = lock(&self.receiver);
        let next = receiver.recv().ok()?;
        lock(&self.taken).push(next.0);
        Some(next)
    }

    /// Returns those that nobody has taken, after the run.
    fn rest(&self) -> Vec<(usize, MemberOutcome)> {
        let rest: Vec<_> = lock(&self.receiver).try_iter().collect();
        lock(&self.taken).extend(rest.iter().map(|(number, _)| number));
        rest
    }
}
