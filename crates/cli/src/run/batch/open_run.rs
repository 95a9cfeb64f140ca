//! Runs that like jobs join while they go on.
//!
//! A job joins if the run has a free lane and needs less time for it than the job would take by
//! itself. It brings the memory for its result. Its thread waits for the run, which another thread
//! drives, and writes its table. If the run fails, the job runs by itself.

use std::iter::once;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tegula_algorithms::algorithm::{Entrance, Left, Needs, Prepared};
use tegula_algorithms::side_table::TableRead;
use tegula_engine::RunOptions;
use tegula_machine::threads::{guarded, lock, start_in, start_workers, unlocked};

use super::group::{Group, Grouping, Member, Queue};
use super::jobs::BatchJob;
use super::{Batch, Ended, Planned};
use crate::errors::{self, Result};
use crate::progress::JobBar;

/// A run that like jobs may join.
pub struct OpenRun<'b> {
    entrance: Entrance,
    /// One of its jobs.
    job: &'b BatchJob,
    /// The predicted time of an iteration.
    iteration_seconds: f64,
    members: Mutex<Members<'b>>,
}

/// The jobs of an open run.
struct Members<'b> {
    /// The iterations after which all are expected to have left.
    end: f64,
    all: Vec<InRun<'b>>,
}

/// A job of an open run.
struct InRun<'b> {
    name: &'b str,
    fused_with: Vec<&'b str>,
    has_left: bool,
}

impl<'b> OpenRun<'b> {
    fn new(group: &Group<'b>, entrance: Entrance, grouping: &Grouping<'_>) -> OpenRun<'b> {
        let rounds = group.needs.work().rounds;
        let seconds = grouping.seconds(&group.needs).unwrap_or(f64::INFINITY);
        let run = OpenRun {
            entrance,
            job: group.members[0].job,
            iteration_seconds: seconds / rounds.max(1.0),
            members: Mutex::new(Members { end: rounds, all: Vec::new() }),
        };
        group.members.iter().for_each(|member| run.enter(&member.job.name));
        run
    }

    /// Returns whether a job should join. This makes the run longer. It pays if the time of these
    /// iterations is less than that of single runs of this job and of the like jobs that arrive
    /// meanwhile.
    fn is_worth_joining(
        &self,
        member: &Member<'_>,
        queue: &Queue<'_>,
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
    fn enter(&self, name: &'b str) {
        let mut members = lock(&self.members);
        let mut fused_with = Vec::new();
        for other in members.all.iter_mut().filter(|other| !other.has_left) {
            other.fused_with.push(name);
            fused_with.push(other.name);
        }
        members.all.push(InRun { name, fused_with, has_left: false });
    }

    /// Returns the names of the jobs that ran as one with a job that leaves.
    fn leave(&self, name: &str) -> Vec<&'b str> {
        let mut members = lock(&self.members);
        let Some(own) = members.all.iter_mut().find(|own| own.name == name) else {
            return Vec::new();
        };
        own.has_left = true;
        std::mem::take(&mut own.fused_with)
    }

    /// Removes a job that did not get its result from the run.
    fn withdraw(&self, name: &str) {
        let mut members = lock(&self.members);
        members.all.retain(|other| other.name != name);
        members.all.iter_mut().for_each(|it| it.fused_with.retain(|&other| other != name));
    }
}

/// Returns the expected iterations of a run.
fn rounds(needs: &Needs) -> f64 {
    needs.work().rounds
}

impl<'b> Batch<'b> {
    /// Lets a job join a run that goes on, and writes its table. Returns the job if it must run by
    /// itself.
    ///
    /// # Errors
    /// What is wrong with the job.
    pub(super) fn join<'q>(
        &'q self,
        member: Member<'b>,
        queue: MutexGuard<'q, Queue<'b>>,
        (options, progress): (&RunOptions<'_>, &JobBar<'_>),
    ) -> Result<Option<(Member<'b>, MutexGuard<'q, Queue<'b>>)>> {
        let Some(run) = self.run_for(&member, &queue) else { return Ok(Some((member, queue))) };
        let graph = self.grouping.graph;
        let Member { place, job, ref prepared, .. } = member;
        let estimate = prepared.estimate_joining(graph);
        let Ok(reserve) = estimate.reserve(self.scheduler, &self.session.cancel) else {
            return Ok(Some((member, queue)));
        };
        // The run may have ended while this job waited for memory.
        if !run.entrance.has_room() {
            return Ok(Some((member, queue)));
        }
        {
            let mut members = lock(&run.members);
            let end = run.entrance.iterations() as f64 + 1.0 + rounds(&member.needs);
            members.end = members.end.max(end);
        }
        drop(queue);
        let (queued, started) = (self.begun.elapsed(), Instant::now());
        run.enter(&job.name);
        let found = prepared.join(graph, options, &run.entrance).transpose();
        let Some(found) = found else {
            run.withdraw(&job.name);
            drop(reserve);
            return Ok(Some((member, lock(&self.queue))));
        };
        let ended = Ended {
            planned: &self.planned[place],
            tables: prepared.tables.clone(),
            fused_with: run.leave(&job.name),
            queued: queued.saturating_sub(job.after),
            ran: started.elapsed(),
        };
        progress.wait_for("its turn to write");
        let _turn = self.turn_to_write(true);
        self.deliver_all(once((ended, found)));
        Ok(None)
    }

    /// Returns a run that a job should join.
    fn run_for(&self, member: &Member<'b>, queue: &Queue<'b>) -> Option<Arc<OpenRun<'b>>> {
        let (graph, now) = (self.grouping.graph, self.begun.elapsed());
        let is_for = |run: &&Arc<OpenRun<'b>>| {
            run.entrance.has_room()
                && run.job.request.can_fuse_with(&member.job.request, graph)
                && run.is_worth_joining(member, queue, &self.grouping, now)
        };
        lock(&self.open_runs).iter().find(is_for).cloned()
    }

    /// Runs a group that others may join, and writes the table of each member when it has left.
    /// Returns those that have not left because the run has failed: each must run by itself.
    pub(super) fn run_open(
        &self,
        group: Group<'b>,
        entrance: Entrance,
        options: &RunOptions<'_>,
        queued: Duration,
    ) -> Vec<Member<'b>> {
        let run = Arc::new(OpenRun::new(&group, entrance, &self.grouping));
        let (members, graph) = (group.members, self.grouping.graph);
        let jobs: Vec<(&'b Planned, Vec<TableRead>)> = members
            .iter()
            .map(|member| (&self.planned[member.place], member.prepared.tables.clone()))
            .collect();
        let started = Instant::now();
        let ended = |(number, left): (usize, Left)| {
            let (planned, ref tables) = jobs[number];
            let ended = Ended {
                planned,
                tables: tables.clone(),
                fused_with: run.leave(&planned.job.name),
                queued: queued.saturating_sub(planned.job.after),
                ran: started.elapsed(),
            };
            let found = guarded(|| left.into_found(graph, &self.session.cancel));
            (ended, found)
        };
        let (sender, receiver) = channel();
        let leaving = Leaving { receiver: Mutex::new(receiver), left: Mutex::default() };
        std::thread::scope(|scope| {
            // Tables that are written while the run goes on come one by one.
            let write = || {
                while let Some(left) = leaving.next() {
                    let ended = ended(left);
                    let _turn = self.turn_to_write(true);
                    self.deliver_all(once(ended));
                }
            };
            start_workers(1, 0, || start_in(scope, "tegula-write", write).map(drop));
            lock(&self.open_runs).push(Arc::clone(&run));
            let all: Vec<&Prepared<'_>> = members.iter().map(|member| &member.prepared).collect();
            let _ = errors::guarded(|| {
                Ok(Prepared::run_open(&all, graph, options, &run.entrance, sender)?)
            });
            lock(&self.open_runs).retain(|other| !Arc::ptr_eq(other, &run));
            let rest: Vec<_> = leaving.rest().into_iter().map(ended).collect();
            if !rest.is_empty() {
                let _turn = self.turn_to_write(true);
                self.deliver_all(rest.into_iter());
            }
        });
        let left = unlocked(leaving.left);
        let members = members.into_iter().enumerate();
        members.filter(|(number, _)| !left.contains(number)).map(|(_, member)| member).collect()
    }
}

/// What members of a run have left, until a thread takes it.
struct Leaving {
    receiver: Mutex<Receiver<(usize, Left)>>,
    /// The numbers of those whose results were taken.
    left: Mutex<Vec<usize>>,
}

impl Leaving {
    /// Waits for the next one; `None` if all have left.
    fn next(&self) -> Option<(usize, Left)> {
        let receiver = lock(&self.receiver);
        let next = receiver.recv().ok()?;
        lock(&self.left).push(next.0);
        Some(next)
    }

    /// Returns those that nobody has taken, after the run.
    fn rest(&self) -> Vec<(usize, Left)> {
        let rest: Vec<_> = lock(&self.receiver).try_iter().collect();
        lock(&self.left).extend(rest.iter().map(|(number, _)| number));
        rest
    }
}
