//! The jobs that no thread has taken, in the order of arrival.

use std::collections::BTreeMap;
use std::time::Duration;

use tegula_engine::Graph;

use super::face::{Fault, Job};
use crate::algorithm::{Needs, Prepared};

/// The jobs that no thread has taken, by their place in the order of arrival.
pub struct Queue<'b, J> {
    waiting: BTreeMap<usize, Waiting<'b, J>>,
    /// The place of the next job that comes.
    place: usize,
}

/// A job that no thread has taken.
pub struct Waiting<'b, J> {
    /// Its place in the order of arrival.
    pub place: usize,
    /// The job.
    pub job: &'b J,
    pub(super) tried: Tried<'b>,
}

/// What is known of a job in the queue. A table may be a pipe, so it is read only once.
pub(super) enum Tried<'b> {
    /// Nothing.
    Not,
    /// What was read for its options, when a group was tried with it.
    Read(Box<Prepared<'b>>),
    /// It needs more than the budget. Its tables are no longer held.
    TooLarge(Box<Needs>),
    /// It cannot run.
    Failed(Fault),
}

impl<J> Default for Queue<'_, J> {
    fn default() -> Self {
        Queue { waiting: BTreeMap::new(), place: 0 }
    }
}

impl<'b, J: Job> Queue<'b, J> {
    /// Adds jobs in the order of arrival, behind all others.
    pub fn extend(&mut self, jobs: impl IntoIterator<Item = &'b J>) {
        for job in jobs {
            let place = self.place;
            self.waiting.insert(place, Waiting { place, job, tried: Tried::Not });
            self.place += 1;
        }
    }

    /// Takes the job that arrives next.
    pub fn take_first(&mut self) -> Option<Waiting<'b, J>> {
        self.waiting.pop_first().map(|(_, waiting)| waiting)
    }

    /// Returns when the next job arrives, after the start. Forgets those that nobody wants.
    pub(super) fn arrival(&mut self) -> Option<Duration> {
        self.waiting.retain(|_, waiting| !waiting.job.is_withdrawn());
        self.waiting.values().next().map(|waiting| waiting.job.after())
    }

    /// Returns how many jobs arrive by `now` and can be one run with `first`.
    pub(super) fn count_like(&self, first: &J, graph: &Graph, now: Duration) -> usize {
        self.like(first, graph, now).count()
    }

    /// Puts a job back that was taken.
    pub(super) fn put_back(&mut self, waiting: Waiting<'b, J>) {
        self.waiting.insert(waiting.place, waiting);
    }

    /// Takes up to `most` jobs that have arrived by `now` and can be one run with `first`.
    pub(super) fn take_like(
        &mut self,
        first: &J,
        most: usize,
        graph: &Graph,
        now: Duration,
    ) -> Vec<Waiting<'b, J>> {
        let like = self.like(first, graph, now).take(most);
        let places: Vec<usize> = like.map(|waiting| waiting.place).collect();
        places.iter().filter_map(|place| self.waiting.remove(place)).collect()
    }

    /// Returns the jobs that arrive by `now` and can be one run with `first`.
    fn like<'q>(
        &'q self,
        first: &'q J,
        graph: &'q Graph,
        now: Duration,
    ) -> impl Iterator<Item = &'q Waiting<'b, J>> {
        let arrived = self.waiting.values().take_while(move |waiting| waiting.job.after() <= now);
        arrived.filter(move |waiting| {
            first.request().can_fuse_with(waiting.job.request(), graph)
                && !waiting.job.is_withdrawn()
        })
    }
}
