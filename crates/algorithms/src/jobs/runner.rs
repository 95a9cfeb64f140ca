//! The threads that take jobs, one after the other.

use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tegula_engine::{RunOptions, Scheduler};
use tegula_machine::threads::{guarded as guarded_error, lock, start_in, start_workers};

use super::face::{Ended, Face, Fault, Job, JobProgress, Wanted, guarded};
use super::group::{EstimatedJob, Fit, Grouping};
use super::open_run::OpenRun;
use super::queue::{Queue, Waiting};
use crate::algorithm::{Found, Prepared};
use crate::error::Result;

/// Time after which a thread that waits for a job looks for a cancellation.
const LOOK: Duration = Duration::from_millis(50);

/// Runs the jobs of a face on a scheduler. See the [module](super).
pub struct JobRunner<'b, F: Face<'b>> {
    pub(super) face: &'b F,
    pub(super) grouping: Grouping<'b>,
    pub(super) scheduler: &'b Scheduler<'b>,
    pub(super) begun: Instant,
    /// Held by the job that is next to get memory. So jobs get it in the order of arrival, and only
    /// this one and jobs of groups that were tried hold the tables of their options.
    pub(super) queue: Mutex<Queue<'b, F::Job>>,
    /// The runs that others may join.
    pub(super) open_runs: Mutex<Vec<Arc<OpenRun<'b, F::Job>>>>,
}

impl<'b, F: Face<'b>> JobRunner<'b, F> {
    /// Makes the runner of jobs that arrive from now on.
    pub fn new(face: &'b F, grouping: Grouping<'b>, scheduler: &'b Scheduler<'b>) -> Self {
        JobRunner {
            face,
            grouping,
            scheduler,
            begun: Instant::now(),
            queue: Mutex::default(),
            open_runs: Mutex::default(),
        }
    }

    /// Runs all jobs, up to `concurrent` at a time, until none is left and no further one may come.
    pub fn run_all(&self, concurrent: usize) {
        std::thread::scope(|scope| {
            // This thread is one of them.
            start_workers(concurrent, 1, || {
                start_in(scope, "tegula-job", || self.follow()).map(drop)
            });
            self.follow();
        });
    }

    /// Takes one job after the other.
    fn follow(&self) {
        while !self.face.is_cancelled() {
            // Asked before `come`: a last job that arrived between the two would be missed
            // otherwise.
            let may_come = self.face.may_come();
            let mut queue = lock(&self.queue);
            queue.extend(self.face.come());
            let wait = match queue.arrival() {
                None if !may_come => return,
                None => Some(LOOK),
                // A job that could not join a run goes before one that has not arrived.
                Some(arrival) => (self.begun + arrival).checked_duration_since(Instant::now()),
            };
            if let Some(wait) = wait.filter(|wait| !wait.is_zero()) {
                drop(queue);
                self.face.wait(wait.min(LOOK));
                continue;
            }
            let Some(waiting) = queue.take_first() else { continue };
            let mut together = vec![waiting.job];
            if let Err(fault) = guarded(|| self.run(waiting, queue, &mut together)) {
                self.face.fail(&together, fault);
            }
        }
    }

    /// Runs a job, as one with others where that takes less time, and delivers the results. Puts all
    /// jobs whose end is not told yet into `together`.
    ///
    /// # Errors
    /// What is wrong with all of them.
    fn run(
        &self,
        first: Waiting<'b, F::Job>,
        queue: MutexGuard<'_, Queue<'b, F::Job>>,
        together: &mut Vec<&'b F::Job>,
    ) -> Result<(), Fault> {
        let budget = self.grouping.budget;
        let progress = self.face.progress(first.job);
        progress.wait_for(Wanted::Memory);
        let options = RunOptions {
            memory: budget,
            scheduler: Some(self.scheduler),
            ..self.face.options(first.job, &*progress)
        };
        let first = match self.grouping.fit(first, &options)? {
            Fit::Fits(first) => first,
            Fit::TooLarge(needs) => return Ok(needs.check("the job", budget)?),
        };
        let joined = self.join(first, queue, (&options, &*progress));
        let Some((first, mut queue)) = joined else { return Ok(()) };
        let now = self.begun.elapsed();
        let mut group = self.grouping.group_of(first, &mut queue, now, &options);
        *together = jobs_of(&group.members);
        let reserve = group.needs.estimate.reserve(self.scheduler, &options.cancel);
        if options.cancel.is_cancelled() {
            // The others have not been cancelled.
            group.members.drain(1..).for_each(|member| queue.put_back(member.back()));
            together.truncate(1);
        }
        let reserve = reserve?;
        // Held until now, so that jobs get their memory in the order of arrival.
        drop(queue);
        let cancel = self.face.begin(together);
        let options = RunOptions { reserve: Some(&reserve), cancel, ..options };
        let queued = self.begun.elapsed();
        let open = group.open.take();
        let fuses = open.is_none() && group.members.len() > 1;
        let members = match open {
            None => group.members,
            Some(fusing) => {
                // `run_open` tells the ends of those that leave, and returns the others.
                together.clear();
                self.run_open(group, fusing, &options, queued)
            }
        };
        *together = jobs_of(&members);
        if !members.is_empty() {
            self.run_together(members, &options, (fuses, queued), &*progress, together);
        }
        Ok(())
    }

    /// Runs the members of a group, as one if `fuses`, and delivers the results.
    fn run_together(
        &self,
        members: Vec<EstimatedJob<'b, F::Job>>,
        options: &RunOptions<'_>,
        (fuses, queued): (bool, Duration),
        progress: &dyn JobProgress,
        together: &mut Vec<&'b F::Job>,
    ) {
        let prepared: Vec<_> = members.into_iter().map(|member| member.prepared).collect();
        // Copies, because the runs consume what is prepared.
        let tables: Vec<_> = prepared.iter().map(|prepared| prepared.tables.clone()).collect();
        let started = Instant::now();
        let (found, is_fused) = self.found(prepared, options, fuses);
        let ran = started.elapsed();
        // From here on, `deliver` tells their ends.
        let all = std::mem::take(together);
        let ended = |(&job, tables): (&&'b F::Job, _)| {
            let others = all.iter().filter(|&&other| is_fused && !ptr::eq(other, job));
            let queued = queued.saturating_sub(job.after());
            Ended { job, tables, fused_with: others.copied().collect(), queued, ran }
        };
        let ended: Vec<_> = all.iter().zip(tables).map(ended).collect();
        progress.wait_for(Wanted::Delivery);
        self.face.deliver(ended.into_iter().zip(found).collect());
    }

    /// Runs what is prepared, as one if `fuses`; returns what each finds, or what is wrong with it
    /// alone, and whether they ran as one.
    fn found(
        &self,
        prepared: Vec<Prepared<'_>>,
        options: &RunOptions<'_>,
        fuses: bool,
    ) -> (Vec<Result<Found>>, bool) {
        let graph = self.grouping.graph;
        let fusing = prepared.first().and_then(|first| first.request.fusing);
        if let Some(fusing) = fusing.filter(|_| fuses) {
            let all: Vec<_> = prepared.iter().map(Prepared::member).collect();
            let found = guarded_error(|| (fusing.run)(&all, graph, options));
            if let Ok(found) = found {
                return (found, true);
            }
            // One of them may be at fault. By itself, each has its own result, or its own fault.
        }
        (prepared.into_iter().map(|one| one.run(graph, options)).collect(), false)
    }
}

fn jobs_of<'b, J>(members: &[EstimatedJob<'b, J>]) -> Vec<&'b J> {
    members.iter().map(|member| member.job).collect()
}
