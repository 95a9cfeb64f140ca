//! Which jobs run as one.
//!
//! Jobs of one algorithm may be lanes of one run, which visits an edge for all of them at once.
//! They are fused if they have arrived, if the budget has room for their run, and if its predicted
//! work takes less time than that of their runs alone. Reading does not count, because jobs share
//! it in any case.

use std::collections::BTreeMap;
use std::time::Instant;

use tegula_algorithms::algorithm::{Needs, Prepared};
use tegula_engine::Graph;

use super::Planned;

/// The jobs that no thread has taken, by their place in the order of arrival.
pub struct Queue<'b>(BTreeMap<usize, Waiting<'b>>);

/// A job that no thread has taken.
pub struct Waiting<'b> {
    place: usize,
    pub planned: &'b Planned,
    /// What was read for its options, if it was to run with another job. A table may be a pipe, so
    /// it is read only once.
    pub prepared: Option<Prepared<'b>>,
}

impl<'b> Queue<'b> {
    /// Makes a queue of all jobs.
    pub fn new(planned: &'b [Planned]) -> Queue<'b> {
        let waiting = |(place, planned)| (place, Waiting { place, planned, prepared: None });
        Queue(planned.iter().enumerate().map(waiting).collect())
    }

    /// Puts a job back that was taken.
    pub fn put_back(&mut self, waiting: Waiting<'b>) {
        self.0.insert(waiting.place, waiting);
    }

    /// Takes the job that arrives next.
    pub fn next(&mut self) -> Option<Waiting<'b>> {
        self.0.pop_first().map(|(_, waiting)| waiting)
    }

    /// Takes up to `most` jobs that have arrived by now and can be one run with `first`.
    pub fn take_like(
        &mut self,
        first: &Planned,
        most: usize,
        graph: &Graph,
        begun: Instant,
    ) -> Vec<Waiting<'b>> {
        let now = begun.elapsed();
        let arrived = self.0.values().take_while(|waiting| waiting.planned.job.after <= now);
        let request = &first.job.request;
        let like = arrived
            .filter(|waiting| request.can_fuse_with(&waiting.planned.job.request, graph))
            .take(most);
        let places: Vec<usize> = like.map(|waiting| waiting.place).collect();
        places.iter().filter_map(|place| self.0.remove(place)).collect()
    }
}

/// A job of a group.
pub struct Member<'b> {
    place: usize,
    pub planned: &'b Planned,
    pub prepared: Prepared<'b>,
    /// What it needs alone.
    needs: Needs,
}

impl<'b> Member<'b> {
    /// Makes a member of a job whose options have been read.
    pub fn new(waiting: &Waiting<'b>, prepared: Prepared<'b>, needs: Needs) -> Member<'b> {
        let &Waiting { place, planned, .. } = waiting;
        Member { place, planned, prepared, needs }
    }
}

/// Jobs that run as one, and what they need together.
pub struct Group<'b> {
    pub members: Vec<Member<'b>>,
    pub needs: Needs,
}

impl<'b> Group<'b> {
    /// Makes a group of `first` and the others, if their one run takes less time than single runs,
    /// and at most `budget` bytes. If not, it tries fewer; the rest goes back into the queue.
    pub fn of(
        first: Member<'b>,
        others: Vec<Member<'b>>,
        queue: &mut Queue<'b>,
        graph: &Graph,
        budget: u64,
    ) -> Group<'b> {
        let mut needs = first.needs.clone();
        let mut members = vec![first];
        members.extend(others);
        while members.len() > 1 {
            if let Some(fused) = needs_of_fused(&members, graph, budget) {
                needs = fused;
                break;
            }
            let fewer = members.len().next_power_of_two() / 2;
            for Member { place, planned, prepared, .. } in members.drain(fewer..) {
                let prepared = Some(prepared);
                queue.put_back(Waiting { place, planned, prepared });
            }
        }
        Group { members, needs }
    }
}

/// Returns what jobs need as one run; `None` if it does not fit or takes no less time.
fn needs_of_fused(members: &[Member<'_>], graph: &Graph, budget: u64) -> Option<Needs> {
    let threads = members.first()?.planned.args.threads.count();
    let prepared: Vec<&Prepared<'_>> = members.iter().map(|member| &member.prepared).collect();
    let needs = Needs::of_fused(&prepared, graph, threads).ok().flatten()?;
    let seconds = |needs: &Needs| needs.work().seconds(needs.edge_bytes, threads);
    let alone: f64 = members.iter().map(|member| seconds(&member.needs)).sum::<Option<f64>>()?;
    let is_worth_it = needs.needed() <= budget && seconds(&needs)? < alone;
    is_worth_it.then_some(needs)
}
