//! Which jobs run as one.
//!
//! Jobs of one algorithm may be lanes of one run, which visits an edge for all of them at once.
//! They are fused if they have arrived, if the budget has room for their run, and if its predicted
//! work takes less time than that of several runs. Reading does not count, because jobs share
//! it in any case. A later job joins a run that goes on by the same measure (`open_run`).

use std::time::Duration;

use tegula_engine::{Graph, RunOptions};

use super::face::{Fault, Job, guarded};
use super::queue::{Queue, Tried, Waiting};
use crate::algorithm::{Needs, OpenFusing, Prepared};
use crate::error::Result;

/// A group reads no more tables once they take `1 / FILES_SHARE` of the budget. So they take at
/// most that and the tables of one job.
const FILES_SHARE: u64 = 16;

/// A job whose options have been read, and what it needs alone.
pub struct EstimatedJob<'b, J> {
    /// Its place in the order of arrival.
    pub place: usize,
    /// The job.
    pub job: &'b J,
    /// The job with the tables of its options.
    pub prepared: Prepared<'b>,
    /// What it needs alone.
    pub needs: Needs,
}

impl<'b, J> EstimatedJob<'b, J> {
    pub(super) fn back(self) -> Waiting<'b, J> {
        Waiting { place: self.place, job: self.job, tried: Tried::Read(Box::new(self.prepared)) }
    }
}

/// Whether a job fits in the budget.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub enum Fit<'b, J> {
    /// It does.
    Fits(EstimatedJob<'b, J>),
    /// It needs more alone.
    TooLarge(Box<Needs>),
}

/// Jobs that run as one, and what they need together.
pub struct Group<'b, J> {
    /// The jobs; there is at least one.
    pub members: Vec<EstimatedJob<'b, J>>,
    /// What their run needs.
    pub needs: Needs,
    /// How others join their run, if they can.
    pub open: Option<OpenFusing>,
}

/// How jobs become groups.
pub struct Grouping<'g> {
    /// The graph of all jobs.
    pub graph: &'g Graph,
    /// The workers of a run.
    pub threads: usize,
    /// Bytes for all jobs that run.
    pub budget: u64,
    /// Whether several jobs may run as one.
    pub may_fuse: bool,
}

impl Grouping<'_> {
    /// Reads the tables of a job, unless they are read already, and estimates what it needs. If it
    /// fits in the budget, also checks its input, which may read the graph.
    ///
    /// # Errors
    /// What is wrong with its options or its tables.
    pub fn fit<'b, J: Job>(
        &self,
        waiting: Waiting<'b, J>,
        options: &RunOptions<'_>,
    ) -> Result<Fit<'b, J>, Fault> {
        let Waiting { place, job, tried } = waiting;
        let (graph, request) = (self.graph, job.request());
        let prepared = match tried {
            Tried::Not => request.prepare(graph, options, job.table_sources())?,
            Tried::Read(prepared) => *prepared,
            Tried::TooLarge(needs) => return Ok(Fit::TooLarge(needs)),
            Tried::Failed(fault) => return Err(fault),
        };
        let needs = Needs::of(&prepared, graph, self.threads, request.needs_rows(graph))?;
        if needs.needed() > self.budget {
            return Ok(Fit::TooLarge(Box::new(needs)));
        }
        request.check_input(graph)?;
        Ok(Fit::Fits(EstimatedJob { place, job, prepared, needs }))
    }

    /// Returns the group of `first`: jobs that have arrived by `now` and run as one with it. A job
    /// that cannot run stays in the queue until its own turn.
    pub fn group_of<'b, J: Job>(
        &self,
        first: EstimatedJob<'b, J>,
        queue: &mut Queue<'b, J>,
        now: Duration,
        options: &RunOptions<'_>,
    ) -> Group<'b, J> {
        let most = if self.may_fuse { first.job.request().fused_max() } else { 1 };
        let mut held = first.prepared.files_size();
        let mut like = queue.take_like(first.job, most - 1, self.graph, now).into_iter();
        let mut members = vec![first];
        for waiting in like.by_ref() {
            let (place, job) = (waiting.place, waiting.job);
            let tried = match guarded(|| self.fit(waiting, options)) {
                Ok(Fit::Fits(member)) => {
                    held += member.prepared.files_size();
                    members.push(member);
                    None
                }
                Ok(Fit::TooLarge(needs)) => Some(Tried::TooLarge(needs)),
                // This ends the first job alone.
                Err(_) if options.cancel.is_cancelled() => Some(Tried::Not),
                Err(fault) => Some(Tried::Failed(fault)),
            };
            if let Some(tried) = tried {
                queue.put_back(Waiting { place, job, tried });
            }
            // Tables of jobs that go back into the queue are in no reserve.
            if held > self.budget / FILES_SHARE {
                break;
            }
        }
        like.for_each(|waiting| queue.put_back(waiting));
        self.worth_fusing(members, queue, now)
    }

    /// Tries all members, then the first half (a power of two), until one run takes less time than
    /// several and fits in the budget. The others go back into the queue.
    fn worth_fusing<'b, J: Job>(
        &self,
        mut members: Vec<EstimatedJob<'b, J>>,
        queue: &mut Queue<'b, J>,
        now: Duration,
    ) -> Group<'b, J> {
        while members.len() > 1 {
            if let Some(needs) = self.needs_of_fused(&members) {
                return self.opened(members, needs, queue, now);
            }
            let fewer = half(&members).len();
            members.drain(fewer..).for_each(|member| queue.put_back(member.back()));
        }
        let needs = members[0].needs.clone();
        Group { members, needs, open: None }
    }

    /// Makes a group. Others can join its run if like jobs arrive after `now`, and if the budget
    /// also has room for the results of members that leave before the others.
    fn opened<'b, J: Job>(
        &self,
        members: Vec<EstimatedJob<'b, J>>,
        needs: Needs,
        queue: &Queue<'b, J>,
        now: Duration,
    ) -> Group<'b, J> {
        let EstimatedJob { job, prepared, .. } = &members[0];
        let like = |until| queue.count_like(job, self.graph, until);
        let is_wanted = like(Duration::MAX) > like(now);
        let open = prepared.request.fusing.and_then(|fusing| fusing.open);
        if is_wanted && let Some(open) = open {
            let mut enlarged = needs.clone();
            // What lanes leave together stays until the last of them is taken, so joiners count
            // too.
            let most = job.request().fused_max();
            enlarged.estimate.vertex_bytes += (open.early_results_size)(most, self.graph);
            if enlarged.needed() <= self.budget {
                return Group { members, needs: enlarged, open: Some(open) };
            }
        }
        Group { members, needs, open: None }
    }

    /// Returns what jobs need as one run; `None` if they do not fit, or if they take no less time
    /// than single runs or than the two runs of each half.
    fn needs_of_fused<J>(&self, members: &[EstimatedJob<'_, J>]) -> Option<Needs> {
        let needs = self.fused(members)?;
        let (first, rest) = members.split_at(half(members).len());
        // Jobs whose time is unknown are not fused.
        let apart = self.least_seconds(first)? + self.least_seconds(rest)?;
        let is_worth_it = self.seconds(&needs)? < apart.min(self.seconds_alone(members)?);
        is_worth_it.then_some(needs)
    }

    /// Returns the time of jobs as one run or as single runs, whichever is less.
    fn least_seconds<J>(&self, members: &[EstimatedJob<'_, J>]) -> Option<f64> {
        let alone = self.seconds_alone(members)?;
        let fused = self.fused(members).and_then(|needs| self.seconds(&needs));
        Some(fused.map_or(alone, |fused| fused.min(alone)))
    }

    fn seconds_alone<J>(&self, members: &[EstimatedJob<'_, J>]) -> Option<f64> {
        members.iter().map(|member| self.seconds(&member.needs)).sum()
    }

    /// Returns the predicted time of a run.
    pub fn seconds(&self, needs: &Needs) -> Option<f64> {
        needs.work().seconds(needs.edge_bytes, self.threads)
    }

    /// Returns what several jobs need as one run that fits in the budget.
    fn fused<J>(&self, members: &[EstimatedJob<'_, J>]) -> Option<Needs> {
        if members.len() < 2 {
            return None;
        }
        let prepared: Vec<&Prepared<'_>> = members.iter().map(|member| &member.prepared).collect();
        let needs = Needs::of_fused(&prepared, self.graph, self.threads).ok().flatten()?;
        Some(needs).filter(|needs| needs.needed() <= self.budget)
    }
}

/// Returns the first half of several members: the greatest power of two below their number.
fn half<T>(members: &[T]) -> &[T] {
    &members[..members.len().next_power_of_two() / 2]
}
