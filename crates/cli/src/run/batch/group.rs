//! Which jobs run as one.
//!
//! Jobs of one algorithm may be lanes of one run, which visits an edge for all of them at once.
//! They are fused if they have arrived, if the budget has room for their run, and if its predicted
//! work takes less time than that of their runs alone. Reading does not count, because jobs share
//! it in any case.

use std::collections::BTreeMap;
use std::time::Duration;

use tegula_algorithms::algorithm::{Needs, Prepared};
use tegula_algorithms::side_table::LocalPaths;
use tegula_engine::{Executor, Graph, RunOptions};

use super::jobs::BatchJob;
use crate::errors::{Result, guarded};
use crate::run::one::needs_rows;

/// The tables of jobs that may run as one take `1 / FILES_SHARE` of the budget, and those of one job
/// more.
const FILES_SHARE: u64 = 16;

/// The jobs that no thread has taken, by their place in the order of arrival.
pub struct Queue<'b>(BTreeMap<usize, Waiting<'b>>);

/// A job that no thread has taken.
pub struct Waiting<'b> {
    pub place: usize,
    pub job: &'b BatchJob,
    /// What was read for its options, if it was to run with another job. A table may be a pipe, so
    /// it is read only once.
    prepared: Option<Prepared<'b>>,
}

impl<'b> Queue<'b> {
    /// Makes a queue of jobs in the order of arrival.
    pub fn new(jobs: impl Iterator<Item = &'b BatchJob>) -> Queue<'b> {
        let waiting = |(place, job)| (place, Waiting { place, job, prepared: None });
        Queue(jobs.enumerate().map(waiting).collect())
    }

    /// Takes the job that arrives next.
    pub fn next(&mut self) -> Option<Waiting<'b>> {
        self.0.pop_first().map(|(_, waiting)| waiting)
    }

    /// Puts a job back that was taken.
    fn put_back(&mut self, waiting: Waiting<'b>) {
        self.0.insert(waiting.place, waiting);
    }

    /// Takes up to `most` jobs that have arrived by `now` and can be one run with `first`.
    fn take_like(
        &mut self,
        first: &BatchJob,
        most: usize,
        graph: &Graph,
        now: Duration,
    ) -> Vec<Waiting<'b>> {
        let arrived = self.0.values().take_while(|waiting| waiting.job.after <= now);
        let like = arrived
            .filter(|waiting| first.request.can_fuse_with(&waiting.job.request, graph))
            .take(most);
        let places: Vec<usize> = like.map(|waiting| waiting.place).collect();
        places.iter().filter_map(|place| self.0.remove(place)).collect()
    }
}

/// A job whose options have been read, and what it needs alone.
pub struct Member<'b> {
    pub place: usize,
    pub job: &'b BatchJob,
    pub prepared: Prepared<'b>,
    pub needs: Needs,
}

impl<'b> Member<'b> {
    fn back(self) -> Waiting<'b> {
        Waiting { place: self.place, job: self.job, prepared: Some(self.prepared) }
    }
}

/// Jobs that run as one, and what they need together.
pub struct Group<'b> {
    pub members: Vec<Member<'b>>,
    pub needs: Needs,
}

/// How jobs become groups.
pub struct Grouping<'g> {
    pub graph: &'g Graph,
    pub threads: usize,
    /// Bytes for all jobs that run.
    pub budget: u64,
    /// Whether several jobs may run as one.
    pub may_fuse: bool,
}

impl Grouping<'_> {
    /// Reads the tables of a job, unless they have been read, and checks that it can run. This may
    /// read the graph, for which there is room if the job fits in the budget.
    ///
    /// # Errors
    /// What is wrong with its options or its tables.
    pub fn member<'b>(&self, waiting: Waiting<'b>, options: &RunOptions<'_>) -> Result<Member<'b>> {
        let Waiting { place, job, prepared } = waiting;
        let (graph, request) = (self.graph, &job.request);
        let prepared = match prepared {
            Some(prepared) => prepared,
            None => request.prepare(graph, options, &LocalPaths)?,
        };
        let needs_rows = needs_rows(request, graph, Executor::Auto)?;
        let needs = Needs::of(&prepared, graph, self.threads, needs_rows)?;
        if needs.needed() <= self.budget {
            request.check_input(graph)?;
        }
        Ok(Member { place, job, prepared, needs })
    }

    /// Returns a job with all that have arrived by `now` and run as one with it. Each job that
    /// cannot run stays in the queue, until its own turn.
    pub fn group_of<'b>(
        &self,
        first: Member<'b>,
        queue: &mut Queue<'b>,
        now: Duration,
        options: &RunOptions<'_>,
    ) -> Group<'b> {
        let most = if self.may_fuse { first.job.request.fused_max() } else { 1 };
        let mut held = first.prepared.files_size();
        let mut like = queue.take_like(first.job, most - 1, self.graph, now).into_iter();
        let mut members = vec![first];
        for waiting in like.by_ref() {
            let (place, job) = (waiting.place, waiting.job);
            match guarded(|| self.member(waiting, options)) {
                Ok(member) if member.needs.needed() <= self.budget => {
                    held += member.prepared.files_size();
                    members.push(member);
                }
                Ok(member) => queue.put_back(member.back()),
                Err(_) => queue.put_back(Waiting { place, job, prepared: None }),
            }
            // No reserve counts what was read for jobs that have to wait after all.
            if held > self.budget / FILES_SHARE {
                break;
            }
        }
        like.for_each(|waiting| queue.put_back(waiting));
        self.worth_fusing(members, queue)
    }

    /// Makes a group of the first members, as many as take less time in one run than alone and fit
    /// in the budget. The others go back into the queue.
    fn worth_fusing<'b>(&self, mut members: Vec<Member<'b>>, queue: &mut Queue<'b>) -> Group<'b> {
        loop {
            if let Some(needs) = self.needs_of_fused(&members) {
                return Group { members, needs };
            }
            let fewer = members.len().next_power_of_two() / 2;
            members.drain(fewer.max(1)..).for_each(|member| queue.put_back(member.back()));
            if members.len() == 1 {
                let needs = members[0].needs.clone();
                return Group { members, needs };
            }
        }
    }

    /// Returns what jobs need as one run; `None` if there is only one, if they do not fit, and if
    /// they take no less time.
    fn needs_of_fused(&self, members: &[Member<'_>]) -> Option<Needs> {
        if members.len() == 1 {
            return None;
        }
        let prepared: Vec<&Prepared<'_>> = members.iter().map(|member| &member.prepared).collect();
        let needs = Needs::of_fused(&prepared, self.graph, self.threads).ok().flatten()?;
        let seconds = |needs: &Needs| needs.work().seconds(needs.edge_bytes, self.threads);
        let alone = members.iter().map(|member| seconds(&member.needs)).sum::<Option<f64>>()?;
        let is_worth_it = needs.needed() <= self.budget && seconds(&needs)? < alone;
        is_worth_it.then_some(needs)
    }
}
