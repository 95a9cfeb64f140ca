//! The jobs of a scheduler: which can advance, and which wait for parts.

use std::collections::VecDeque;
use std::sync::Arc;

use tegula_machine::Error as MachineError;
use tegula_machine::threads::guarded;
use tegula_store::Result;

use super::Scheduler;
use super::credit::Credit;
use super::order::{Asking, TaskKind, next_job, preference};
use super::part_policy::{PartOrder, PartPolicy, WantedParts};
use super::slot::Slot;
use crate::job::{PartStatistics, ScanDirection, TileDemand};
use crate::parts::Part;

/// Which jobs wait, and for what.
pub struct Queue {
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
    direction: ScanDirection,
    policy: Box<dyn PartPolicy>,
    credit: Credit,
    /// Whether no further job comes.
    pub is_over: bool,
}

/// A job that waits for parts.
pub struct Scanning {
    slot: Arc<Slot>,
    demand: TileDemand,
    /// Whether a part is needed and not yet claimed for this job.
    is_pending: Vec<bool>,
    pending_count: usize,
    /// Parts that workers have claimed for this job and that it has not left.
    claimed_count: usize,
}

/// A part that a worker has claimed, and the jobs that take it.
pub struct Claim {
    /// Its number.
    pub part: usize,
    pub jobs: Vec<Arc<Slot>>,
    /// Whether a job needs weights.
    pub has_weights: bool,
}

/// The next task of a worker.
pub enum Task {
    Advance(Arc<Slot>),
    Part(Claim),
}

impl Queue {
    pub fn new(part_count: usize, order: PartOrder) -> Queue {
        Queue {
            ready: VecDeque::new(),
            scanning: Vec::new(),
            is_claimed: vec![false; part_count],
            is_read_alone: vec![false; part_count],
            broken: None,
            direction: ScanDirection::FirstToLast,
            policy: order.policy(),
            credit: Credit::default(),
            is_over: false,
        }
    }

    /// Adds a job that can advance by itself.
    pub fn make_ready(&mut self, slot: &Arc<Slot>) {
        match &self.broken {
            Some(detail) => {
                // No worker is left to advance it.
                slot.end(Err(MachineError::WorkerFailed { detail: detail.clone() }.into()))
            }
            None => self.ready.push_back(Arc::clone(slot)),
        }
    }

    /// Adds a job that waits for parts.
    pub fn make_scanning(&mut self, job: Scanning) {
        if self.broken.is_some() {
            return self.make_ready(&job.slot);
        }
        if self.scanning.is_empty() {
            self.direction = job.demand.direction;
        }
        // A job that comes later gets no extra time for the time before it came.
        if let Some(least) = self.least_worked() {
            job.slot.catch_up(least);
        }
        self.scanning.push(job);
    }

    /// Ends all jobs, because the scheduler itself has failed.
    pub fn break_off(&mut self, detail: String) {
        self.is_over = true;
        let scanning = self.scanning.drain(..).map(|job| job.slot);
        for slot in self.ready.drain(..).chain(scanning) {
            slot.end(Err(MachineError::WorkerFailed { detail: detail.clone() }.into()));
        }
        self.broken = Some(detail);
    }

    /// Returns the slowest clock of the jobs that still need parts, in nanoseconds.
    fn least_worked(&self) -> Option<u64> {
        // A job whose parts are all claimed waits anyway, and would hold the others back.
        let needing = self.scanning.iter().filter(|job| job.pending_count > 0);
        needing.map(|job| job.slot.worked()).min()
    }

    /// Claims the next part, for all jobs that want it; for one of them if it is read alone.
    fn claim(&mut self, parts: &[Part]) -> Option<Claim> {
        let worked_max = self.credit.worked_max(self.least_worked()?);
        let Queue { scanning, is_claimed, is_read_alone, policy, direction, .. } = self;
        let mut wanted = Wanted { parts, scanning, is_claimed, direction: *direction, worked_max };
        let mut part = policy.next(&wanted);
        if part.is_none() && worked_max < u64::MAX {
            // No worker is idle only because of credit.
            wanted.worked_max = u64::MAX;
            part = policy.next(&wanted);
        }
        let (part, worked_max) = (part?, wanted.worked_max);
        let first = direction.first_of_batch(part, &parts[part]);
        is_claimed[part] = true;
        let mut claim = Claim { part, jobs: Vec::new(), has_weights: false };
        let at_once = if is_read_alone[part] { 1 } else { usize::MAX };
        let takers = scanning.iter_mut().filter(|job| job.wants(part, first, worked_max));
        for job in takers.take(at_once) {
            job.is_pending[part] = false;
            job.pending_count -= 1;
            job.claimed_count += 1;
            claim.jobs.push(Arc::clone(&job.slot));
            claim.has_weights |= job.demand.has_weights;
        }
        Some(claim)
    }

    /// Returns the next task for a worker.
    pub fn next_task(&mut self, asking: Asking, parts: &[Part]) -> Option<Task> {
        let kinds = preference(asking, !self.ready.is_empty());
        kinds.iter().find_map(|kind| match kind {
            TaskKind::Part => self.claim(parts).map(Task::Part),
            TaskKind::Job => self.next_ready(asking).map(Task::Advance),
        })
    }

    /// Returns the next job that can advance by itself.
    pub fn next_ready(&mut self, asking: Asking) -> Option<Arc<Slot>> {
        let index = next_job(asking, self.ready.iter().map(|slot| slot.is_resumable))?;
        self.ready.remove(index)
    }

    /// Returns the next job that can advance by itself and returns soon.
    pub fn next_short(&mut self) -> Option<Arc<Slot>> {
        let index = self.ready.iter().position(|slot| slot.is_short())?;
        self.ready.remove(index)
    }

    /// Lets a job leave a claimed part. If it `comes_again`, it gets the part once more, alone.
    pub fn leave(&mut self, part: usize, slot: &Arc<Slot>, comes_again: bool) {
        self.is_read_alone[part] |= comes_again;
        if let Some(job) = self.scanning.iter_mut().find(|job| Arc::ptr_eq(slot, &job.slot)) {
            job.claimed_count -= 1;
            if comes_again {
                job.is_pending[part] = true;
                job.pending_count += 1;
            }
        }
        self.retire();
    }

    /// Releases a part that all jobs have left, on which a worker has spent this time.
    pub fn release(&mut self, part: usize, spent: &PartStatistics) {
        self.is_claimed[part] = false;
        self.credit.note(spent);
    }

    /// Makes jobs ready that have all their parts or must leave.
    pub fn retire(&mut self) {
        let Queue { ready, scanning, .. } = self;
        scanning.retain(|job| {
            // Workers at its parts use the job, so it waits for them even if it must leave.
            let is_leaving = job.slot.is_leaving();
            let is_done = job.claimed_count == 0 && (job.pending_count == 0 || is_leaving);
            if is_done {
                ready.push_back(Arc::clone(&job.slot));
            }
            !is_done
        });
    }
}

/// The parts that jobs with credit want.
struct Wanted<'q> {
    parts: &'q [Part],
    scanning: &'q [Scanning],
    is_claimed: &'q [bool],
    direction: ScanDirection,
    /// The greatest clock of a job that may begin a batch, in nanoseconds.
    worked_max: u64,
}

impl Wanted<'_> {
    /// Returns the jobs that want a part.
    fn jobs(&self, part: usize) -> impl Iterator<Item = &Scanning> {
        let first = self.direction.first_of_batch(part, &self.parts[part]);
        self.scanning.iter().filter(move |job| job.wants(part, first, self.worked_max))
    }
}

impl WantedParts for Wanted<'_> {
    fn count(&self) -> usize {
        self.parts.len()
    }

    fn direction(&self) -> ScanDirection {
        self.direction
    }

    fn is_wanted(&self, part: usize) -> bool {
        !self.is_claimed[part] && self.jobs(part).next().is_some()
    }

    fn goes_on(&self, part: usize) -> bool {
        self.direction.first_of_batch(part, &self.parts[part]) != part
    }

    fn for_each_job(&self, part: usize, visit: &mut dyn FnMut(usize)) {
        self.jobs(part).for_each(|job| visit(job.pending_count));
    }
}

impl Scanning {
    /// Finds the parts that a job needs; `None` if it needs none and can advance at once.
    ///
    /// # Errors
    /// Cancellation; a panic of the job.
    pub fn plan(
        scheduler: &Scheduler<'_>,
        slot: &Arc<Slot>,
        demand: TileDemand,
    ) -> Result<Option<Scanning>> {
        let job = slot.job();
        let Some(job) = job.get() else { return Err(tegula_store::Error::cancelled()) };
        let tiles = scheduler.graph().tiles();
        let needs_group = |group: usize| {
            tiles[scheduler.parts().groups[group].tiles.clone()].iter().any(|tile| job.needs(tile))
        };
        let parts = &scheduler.parts().parts;
        let mut is_pending = vec![false; parts.len()];
        guarded(|| {
            for index in job.parts(scheduler.parts()) {
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
            Ok::<_, tegula_store::Error>(())
        })?;
        let pending_count = is_pending.iter().filter(|&&is_pending| is_pending).count();
        let slot = Arc::clone(slot);
        let scanning = Scanning { slot, demand, is_pending, pending_count, claimed_count: 0 };
        Ok(Some(scanning).filter(|_| pending_count > 0))
    }

    /// Returns whether the job takes this part, if its batch begins with part `first`. It begins a
    /// batch only if its clock shows at most `worked_max`, and then takes all parts of the batch.
    fn wants(&self, part: usize, first: usize, worked_max: u64) -> bool {
        let may_take = match part == first {
            true => self.slot.worked() <= worked_max,
            false => !self.is_pending[first],
        };
        self.is_pending[part] && may_take
    }
}

impl Claim {
    /// Returns whether a job needs a tile of a group.
    pub fn needs(&self, scheduler: &Scheduler<'_>, group: usize) -> bool {
        let tiles = scheduler.parts().groups[group].tiles.clone();
        let tiles = &scheduler.graph().tiles()[tiles];
        self.jobs.iter().filter(|slot| !slot.is_leaving()).any(|slot| {
            // This worker may be at a part of the job. If the job is being taken out, its tiles may
            // be read in vain, but none is left out that it needs.
            let Some(shared) = slot.try_job() else { return true };
            let Some(job) = shared.get() else { return false };
            let needs = guarded(|| Ok(tiles.iter().any(|tile| job.needs(tile))));
            needs.unwrap_or_else(|error| {
                slot.fail(error);
                false
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tegula_machine::disk::Backend;
    use tegula_machine::threads::Cancel;
    use tegula_store::graph::TileEntry;
    use tegula_store::rows::{ChunkCut, RowEncoding};
    use tegula_testkit::{EdgeList, Scratch};

    use super::*;
    use crate::graph_for_tests::graph_with_rows;
    use crate::job::context::JobContext;
    use crate::job::{Advanced, Job, PartWork};
    use crate::open::open_graph;
    use crate::options::RunOptions;

    /// Two batches of one part, then one of three parts.
    fn parts() -> Vec<Part> {
        let part = |batch, number, count| Part { batch, number, count, groups: 0..0 };
        vec![part(0, 0, 1), part(1, 0, 1), part(2, 0, 3), part(2, 1, 3), part(2, 2, 3)]
    }

    /// Adds a job that needs all parts.
    fn add(queue: &mut Queue) -> Arc<Slot> {
        let slot = Arc::new(Slot::new(Cancel::default(), true));
        let direction = ScanDirection::FirstToLast;
        let demand = TileDemand { has_weights: false, has_every_batch: true, direction };
        queue.make_scanning(Scanning {
            slot: Arc::clone(&slot),
            demand,
            is_pending: vec![true; 5],
            pending_count: 5,
            claimed_count: 0,
        });
        slot
    }

    /// Claims a part; returns it with whether each of two jobs takes it.
    fn claim(queue: &mut Queue, jobs: [&Arc<Slot>; 2]) -> Option<(usize, [bool; 2])> {
        let claim = queue.claim(&parts())?;
        let takes = |job| claim.jobs.iter().any(|slot| Arc::ptr_eq(slot, job));
        Some((claim.part, jobs.map(takes)))
    }

    /// Ends a claimed part for these jobs.
    fn end(queue: &mut Queue, part: usize, jobs: &[&Arc<Slot>]) {
        jobs.iter().for_each(|slot| queue.leave(part, slot, false));
        queue.release(part, &PartStatistics::default());
    }

    #[test]
    fn a_job_far_ahead_leaves_batches_out_until_the_others_have_caught_up() {
        let mut queue = Queue::new(5, PartOrder::RoundRobin);
        let (quick, slow) = (add(&mut queue), add(&mut queue));
        let jobs = [&quick, &slow];
        assert_eq!(claim(&mut queue, jobs), Some((0, [true, true])));
        quick.charge(Duration::from_millis(10));
        slow.charge(Duration::from_secs(1));
        end(&mut queue, 0, &jobs);
        assert_eq!(claim(&mut queue, jobs), Some((1, [true, false])));
        end(&mut queue, 1, &[&quick]);
        quick.charge(Duration::from_secs(1));
        for part in 2..5 {
            assert_eq!(claim(&mut queue, jobs), Some((part, [true, true])));
            // A batch that has begun goes on, however far a job is ahead.
            slow.charge(Duration::from_secs(9));
            end(&mut queue, part, &jobs);
        }
        // The quick job has all its parts, and the slow one comes back for the one left out.
        assert!(queue.next_ready(Asking::InJob).is_some_and(|ready| Arc::ptr_eq(&ready, &quick)));
        assert_eq!(claim(&mut queue, jobs), Some((1, [false, true])));
        end(&mut queue, 1, &[&slow]);
        assert!(queue.next_ready(Asking::InJob).is_some_and(|ready| Arc::ptr_eq(&ready, &slow)));
    }

    #[test]
    fn no_worker_is_idle_because_a_job_is_far_ahead() {
        let mut queue = Queue::new(5, PartOrder::RoundRobin);
        let (quick, slow) = (add(&mut queue), add(&mut queue));
        slow.charge(Duration::from_secs(9));
        for part in [0, 1] {
            assert_eq!(claim(&mut queue, [&quick, &slow]), Some((part, [true, false])));
        }
        // Parts 0 and 1 are claimed, so the quick job begins the last batch.
        assert_eq!(claim(&mut queue, [&quick, &slow]), Some((2, [true, false])));
        end(&mut queue, 0, &[&quick]);
        // The quick job goes on with its batch. Then only the slow job has a part left.
        let next: Vec<_> = (0..3).map(|_| claim(&mut queue, [&quick, &slow])).collect();
        assert_eq!(
            next,
            [Some((3, [true, false])), Some((4, [true, false])), Some((0, [false, true])),]
        );
    }

    #[test]
    fn a_job_leaves_a_part_while_another_works_on_it() {
        let mut queue = Queue::new(5, PartOrder::RoundRobin);
        let (first, second) = (add(&mut queue), add(&mut queue));
        let parts: Vec<usize> =
            std::iter::from_fn(|| queue.claim(&parts()).map(|claim| claim.part)).collect();
        assert_eq!(parts, [0, 1, 2, 3, 4]);
        parts.iter().for_each(|&part| queue.leave(part, &first, false));
        assert!(queue.next_ready(Asking::InJob).is_some_and(|ready| Arc::ptr_eq(&ready, &first)));
        assert!(queue.next_ready(Asking::InJob).is_none());
        // The read of its last part failed, so the second job gets that part again.
        parts.iter().for_each(|&part| queue.leave(part, &second, part == 4));
        parts.iter().for_each(|&part| queue.release(part, &PartStatistics::default()));
        assert_eq!(claim(&mut queue, [&first, &second]), Some((4, [false, true])));
    }

    #[test]
    fn a_job_that_comes_later_gets_no_time_for_before() {
        let mut queue = Queue::new(5, PartOrder::RoundRobin);
        let first = add(&mut queue);
        first.charge(Duration::from_secs(100));
        let second = add(&mut queue);
        assert_eq!(second.worked(), first.worked());
        assert_eq!(claim(&mut queue, [&first, &second]), Some((0, [true, true])));
    }

    /// A job that needs no tile.
    struct Idle;

    impl Job for Idle {
        fn advance(&mut self, _: &JobContext<'_>) -> Result<Advanced> {
            Ok(Advanced::Done)
        }
        fn needs(&self, _: &TileEntry) -> bool {
            false
        }
        fn begin_part(&self, _: &Part) -> Box<dyn PartWork + '_> {
            unreachable!("it needs no tile")
        }
        fn note_part(&self, _: &PartStatistics) {}
    }

    #[test]
    fn a_worker_at_a_part_does_not_wait_for_the_thread_that_takes_the_job_out() {
        let scratch = Scratch::new();
        let edges = EdgeList::new(vec![(0, 1), (1, 2)]);
        let (encoding, cut) = (RowEncoding::default(), ChunkCut::STANDARD);
        let directory = graph_with_rows(&scratch, &edges, encoding, cut);
        let graph = open_graph(&directory, 1 << 30, Backend::Auto).unwrap();
        let (mut job, slot) = (Idle, Arc::new(Slot::new(Cancel::default(), true)));
        // SAFETY: the thread below takes the job out before this function ends.
        unsafe { slot.put(&mut job) };
        Scheduler::scope(&graph, &RunOptions::default().resources(), |scheduler| {
            let at_part = slot.job();
            let claim = Claim { part: 0, jobs: vec![Arc::clone(&slot)], has_weights: false };
            std::thread::scope(|scope| {
                scope.spawn(|| slot.take());
                // Until the thread waits for this one.
                while slot.try_job().is_some() {
                    std::thread::yield_now();
                }
                let needs = claim.needs(scheduler, 0);
                drop(at_part);
                assert!(needs, "no tile is left out on a guess");
            });
        });
        assert!(slot.job().get().is_none());
    }
}
