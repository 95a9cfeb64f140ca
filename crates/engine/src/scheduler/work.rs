//! The loop of the workers: each asks for its next task and does it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use tegula_machine::Error as MachineError;
use tegula_machine::threads::{guarded, lock};
use tegula_store::Error;
use tegula_store::graph::CheckedTiles;

use super::Scheduler;
use super::order::{Asking, PartOrder, TaskKind, next_job, preference};
use super::slot::{SharedJob, Slot};
use super::stream::{Arrived, Stream};
use crate::job::context::{JobContext, begin_stint};
use crate::job::{Advanced, Job, PartStatistics, PartWork, TileDemand};

/// Which jobs wait, and for what.
pub struct State {
    /// Jobs that can advance by themselves, in the order of arrival.
    ready: VecDeque<Arc<Slot>>,
    /// Jobs that wait for parts.
    scanning: Vec<Scanning>,
    /// Whether a worker has claimed a part, by its number.
    is_claimed: Vec<bool>,
    /// Whether a read of a part for several jobs has failed, by part. Then each job reads it alone,
    /// and fails only if its own read does.
    is_read_alone: Vec<bool>,
    /// Why the scheduler itself has failed, if it has.
    broken: Option<String>,
    order: PartOrder,
    /// Whether no further job comes.
    pub is_over: bool,
}

/// A job that waits for parts.
struct Scanning {
    slot: Arc<Slot>,
    demand: TileDemand,
    /// Whether a part is needed and not yet claimed for this job.
    is_pending: Vec<bool>,
    pending_count: usize,
    /// Parts that workers have claimed for this job.
    claimed_count: usize,
}

/// A part that a worker has claimed, for all jobs that had it pending.
pub struct Claim {
    /// Its number.
    pub part: usize,
    jobs: Vec<Arc<Slot>>,
    /// Whether a job needs weights.
    pub has_weights: bool,
}

/// The next task of a worker.
enum Task {
    Advance(Arc<Slot>),
    Part(Claim),
}

impl State {
    pub fn new(part_count: usize) -> State {
        State {
            ready: VecDeque::new(),
            scanning: Vec::new(),
            is_claimed: vec![false; part_count],
            is_read_alone: vec![false; part_count],
            broken: None,
            order: PartOrder::new(part_count),
            is_over: false,
        }
    }

    /// Adds a job that can advance by itself.
    pub fn make_ready(&mut self, slot: &Arc<Slot>) {
        match &self.broken {
            Some(detail) => {
                slot.end(Err(MachineError::WorkerFailed { detail: detail.clone() }.into()))
            }
            None => self.ready.push_back(Arc::clone(slot)),
        }
    }

    /// Ends all jobs, because the scheduler itself has failed.
    fn break_off(&mut self, detail: String) {
        self.is_over = true;
        let scanning = self.scanning.drain(..).map(|job| job.slot);
        for slot in self.ready.drain(..).chain(scanning) {
            slot.end(Err(MachineError::WorkerFailed { detail: detail.clone() }.into()));
        }
        self.broken = Some(detail);
    }

    /// Claims the next part, for all jobs that have it pending.
    fn claim(&mut self, scheduler: &Scheduler<'_>) -> Option<Claim> {
        let State { scanning, is_claimed, is_read_alone, order, .. } = self;
        let parts = &scheduler.parts().parts;
        let direction = order.direction();
        let first_of = |part: usize| direction.first_of_batch(part, &parts[part]);
        let part = order.next(|part| {
            !is_claimed[part] && scanning.iter().any(|job| job.wants(part, first_of(part)))
        })?;
        let first = first_of(part);
        is_claimed[part] = true;
        let mut claim = Claim { part, jobs: Vec::new(), has_weights: false };
        let at_once = if is_read_alone[part] { 1 } else { usize::MAX };
        for job in scanning.iter_mut().filter(|job| job.wants(part, first)).take(at_once) {
            job.is_pending[part] = false;
            job.pending_count -= 1;
            job.claimed_count += 1;
            claim.jobs.push(Arc::clone(&job.slot));
            claim.has_weights |= job.demand.has_weights;
        }
        Some(claim)
    }

    /// Returns the next task for a worker.
    fn next_task(&mut self, asking: Asking, scheduler: &Scheduler<'_>) -> Option<Task> {
        let kinds = preference(asking, !self.ready.is_empty());
        kinds.iter().find_map(|kind| match kind {
            TaskKind::Part => self.claim(scheduler).map(Task::Part),
            TaskKind::Job => {
                let index = next_job(asking, self.ready.iter().map(|slot| slot.is_resumable))?;
                self.ready.remove(index).map(Task::Advance)
            }
        })
    }

    /// Releases a part that was processed or given up. The jobs in `again` get it again.
    fn release(&mut self, claim: &Claim, again: &[Arc<Slot>]) {
        self.is_claimed[claim.part] = false;
        self.is_read_alone[claim.part] |= !again.is_empty();
        for job in &mut self.scanning {
            let is_of = |slots: &[Arc<Slot>]| slots.iter().any(|slot| Arc::ptr_eq(slot, &job.slot));
            if !is_of(&claim.jobs) {
                continue;
            }
            job.claimed_count -= 1;
            if is_of(again) {
                job.is_pending[claim.part] = true;
                job.pending_count += 1;
            }
        }
        self.retire();
    }

    /// Makes jobs ready that have all their parts or must leave.
    fn retire(&mut self) {
        let State { ready, scanning, .. } = self;
        scanning.retain(|job| {
            let is_leaving = job.slot.is_leaving();
            let is_done = job.claimed_count == 0 && (job.pending_count == 0 || is_leaving);
            if is_done {
                ready.push_back(Arc::clone(&job.slot));
            }
            !is_done
        });
    }
}

impl Scanning {
    /// Returns whether the job takes this part, if its batch begins with part `first`.
    fn wants(&self, part: usize, first: usize) -> bool {
        self.is_pending[part] && (part == first || !self.is_pending[first])
    }
}

impl Claim {
    /// Returns whether a job needs a tile of a group.
    pub fn needs(&self, scheduler: &Scheduler<'_>, group: usize) -> bool {
        let tiles = scheduler.parts().groups[group].tiles.clone();
        let tiles = &scheduler.graph.tiles()[tiles];
        self.jobs.iter().filter(|slot| !slot.is_leaving()).any(|slot| {
            let shared = slot.job();
            let Some(job) = shared.get() else { return false };
            let needs = guarded(|| Ok(tiles.iter().any(|tile| job.needs(tile))));
            needs.unwrap_or_else(|error| {
                slot.fail(error);
                false
            })
        })
    }
}

impl Scheduler<'_> {
    /// Runs a worker, or a caller that works until its own job is over. A fault in a job ends only
    /// this job; a panic elsewhere ends all jobs.
    pub(super) fn work(&self, own: Option<&Slot>) {
        let worked = guarded(|| {
            self.work_until_over(own);
            Ok::<_, Error>(())
        });
        if let Err(error) = worked {
            lock(&self.state).break_off(error.to_string());
            self.workers.ring();
        }
    }

    fn work_until_over(&self, own: Option<&Slot>) {
        let mut stream = Stream::new(self, true);
        let mut last = TaskKind::Part;
        loop {
            let seen = self.workers.rings();
            begin_stint();
            // Claimed parts come first: a worker that holds memory for reads must not wait for more
            // of it in a loop.
            if stream.first().is_some() {
                self.process_part(&mut stream);
                last = TaskKind::Part;
                continue;
            }
            if self.workers.help() {
                continue;
            }
            let next = {
                let mut state = lock(&self.state);
                if state.is_over || own.is_some_and(Slot::is_over) {
                    return;
                }
                state.retire();
                state.next_task(Asking::After(last), self)
            };
            match next {
                Some(Task::Part(claim)) => stream.push(claim),
                Some(Task::Advance(slot)) => {
                    self.advance(&slot);
                    last = TaskKind::Job;
                }
                None => self.workers.wait(seen),
            }
        }
    }

    /// Works on another job for a while, in the middle of a job that cannot return.
    pub(super) fn work_on_another(&self) {
        let next = lock(&self.state).next_task(Asking::InJob, self);
        match next {
            Some(Task::Part(claim)) => {
                let mut stream = Stream::new(self, false);
                stream.push(claim);
                self.process_part(&mut stream);
            }
            Some(Task::Advance(slot)) => self.advance(&slot),
            None => {}
        }
    }

    /// Claims a further part for a worker that is at one, unless a short task waits.
    pub(super) fn claim_ahead(&self) -> Option<Claim> {
        if self.workers.has_open_loop() {
            return None;
        }
        match lock(&self.state).next_task(Asking::AtPart, self) {
            Some(Task::Part(claim)) => Some(claim),
            Some(Task::Advance(_)) => unreachable!("a worker at a part gets only parts"),
            None => None,
        }
    }

    /// Advances a job as far as it can go by itself.
    fn advance(&self, slot: &Arc<Slot>) {
        let context = JobContext::new(&self.workers, slot.cancel(), self);
        let advanced = slot.advance(&context).and_then(|advanced| match advanced {
            Advanced::Done => Ok(None),
            Advanced::Further => Ok(Some(None)),
            Advanced::NeedsTiles(demand) => self.plan(slot, demand).map(Some),
        });
        match advanced {
            Ok(None) => slot.end(Ok(())),
            Ok(Some(None)) => lock(&self.state).make_ready(slot),
            Ok(Some(Some(scanning))) => {
                let mut state = lock(&self.state);
                if state.scanning.is_empty() {
                    state.order.turn(scanning.demand.direction);
                }
                if state.broken.is_some() {
                    state.make_ready(slot);
                } else {
                    state.scanning.push(scanning);
                }
            }
            Err(error) => slot.end(Err(error)),
        }
        self.workers.ring();
    }

    /// Returns which parts a job needs; `None` if it needs none and can advance at once.
    fn plan(&self, slot: &Arc<Slot>, demand: TileDemand) -> tegula_store::Result<Option<Scanning>> {
        let job = slot.job();
        let Some(job) = job.get() else { return Err(Error::cancelled()) };
        let tiles = self.graph.tiles();
        let needs_group = |group: usize| {
            tiles[self.parts.groups[group].tiles.clone()].iter().any(|tile| job.needs(tile))
        };
        let parts = &self.parts.parts;
        let mut is_pending = vec![false; parts.len()];
        guarded(|| {
            for index in job.parts(&self.parts) {
                let part = &parts[index];
                is_pending[index] = demand.has_every_batch || part.groups.clone().any(needs_group);
                // A batch is finished when all its parts are, so either all of them take part or
                // none.
                if part.number + 1 == part.count {
                    let batch = index + 1 - part.count..index + 1;
                    let is_needed = is_pending[batch.clone()].contains(&true);
                    is_pending[batch].fill(is_needed);
                }
            }
            Ok::<_, Error>(())
        })?;
        let pending_count = is_pending.iter().filter(|&&is_pending| is_pending).count();
        let slot = Arc::clone(slot);
        let scanning = Scanning { slot, demand, is_pending, pending_count, claimed_count: 0 };
        Ok(Some(scanning).filter(|_| pending_count > 0))
    }

    /// Processes the first part of a stream for all jobs for which it was claimed.
    fn process_part(&self, stream: &mut Stream<'_>) {
        let Some(claim) = stream.first() else { return };
        let again = {
            let shared: Vec<SharedJob<'_>> = claim.jobs.iter().map(|slot| slot.job()).collect();
            let mut works: Vec<Work<'_>> = Vec::new();
            for (slot, shared) in claim.jobs.iter().zip(&shared) {
                works.extend(Work::begin(self, &claim, slot, shared));
            }
            self.process_groups(stream, &claim, works)
        };
        stream.done();
        lock(&self.state).release(&claim, &again);
        self.workers.ring();
        self.ledger.note_room();
    }

    /// Processes the groups of a part; returns the jobs that must have the part again.
    fn process_groups(
        &self,
        stream: &mut Stream<'_>,
        claim: &Claim,
        mut works: Vec<Work<'_>>,
    ) -> Vec<Arc<Slot>> {
        for group in self.parts.parts[claim.part].groups.clone() {
            if works.is_empty() {
                break;
            }
            let waiting_since = Instant::now();
            let arrived = match stream.take() {
                Ok(Some(arrived)) => arrived,
                Ok(None) => continue,
                Err(error) => {
                    // Each of several jobs reads the part again alone, and sees whether its own
                    // read fails.
                    if let [work] = &works[..] {
                        work.slot.fail(error);
                        return Vec::new();
                    }
                    let (again, lost): (Vec<_>, Vec<_>) =
                        works.into_iter().partition(|work| work.work.is_restartable());
                    for work in lost {
                        let detail = error.to_string();
                        work.slot.fail(MachineError::WorkerFailed { detail }.into());
                    }
                    return again.iter().map(|work| Arc::clone(work.slot)).collect();
                }
            };
            let waited = waiting_since.elapsed();
            let size = self.parts.groups[group].size(claim.has_weights);
            let groups = self.parts.groups.len();
            for (index, work) in works.iter_mut().enumerate() {
                let is_first = work.slot.touch(group, groups);
                // One job pays for a read. Tiles in memory are read anew by a run that begins.
                let is_shared = if arrived.bytes_read > 0 { index > 0 } else { is_first };
                if is_shared {
                    work.done.bytes_shared += size;
                }
                work.done.time += waited;
                work.process_group(self, &arrived);
            }
            works.retain(|work| !work.slot.is_leaving());
        }
        works.into_iter().for_each(Work::end);
        Vec::new()
    }
}

/// The work of one worker on one part, for one job.
struct Work<'w> {
    slot: &'w Arc<Slot>,
    job: &'w dyn Job,
    work: Box<dyn PartWork + 'w>,
    done: PartStatistics,
}

impl<'w> Work<'w> {
    fn begin(
        scheduler: &Scheduler<'_>,
        claim: &Claim,
        slot: &'w Arc<Slot>,
        shared: &'w SharedJob<'_>,
    ) -> Option<Work<'w>> {
        let part = &scheduler.parts.parts[claim.part];
        let job = shared.get()?;
        match guarded(|| Ok(job.begin_part(part))) {
            Ok(work) => Some(Work { slot, job, work, done: PartStatistics::default() }),
            Err(error) => {
                slot.fail(error);
                None
            }
        }
    }

    fn process_group(&mut self, scheduler: &Scheduler<'_>, arrived: &Arrived) {
        let started = Instant::now();
        let processed = guarded(|| self.process_tiles(scheduler, &arrived.tiles));
        if let Err(error) = processed {
            self.slot.fail(error);
        }
        self.done.bytes_read += arrived.bytes_read;
        self.done.time += started.elapsed();
    }

    fn process_tiles(
        &mut self,
        scheduler: &Scheduler<'_>,
        tiles: &CheckedTiles,
    ) -> tegula_store::Result<()> {
        let graph = scheduler.graph;
        for index in tiles.range() {
            // The job may have failed at another part.
            if self.slot.is_leaving() {
                break;
            }
            let entry = &graph.tiles()[index];
            if !self.job.needs(entry) {
                continue;
            }
            let (tile, weights) = tiles.get(graph, index);
            let processed = self.work.process(tile, entry, weights);
            processed.map_err(|detail| graph.damaged_tile(index, detail))?;
            self.done.edges += u64::from(entry.summary.edge_count);
            self.done.tiles += 1;
        }
        Ok(())
    }

    /// Ends the part.
    fn end(self) {
        let Work { slot, job, work, mut done } = self;
        let started = Instant::now();
        if let Err(error) = guarded(|| {
            work.end();
            Ok(())
        }) {
            slot.fail(error);
        }
        done.time += started.elapsed();
        job.note_part(&done);
    }
}
