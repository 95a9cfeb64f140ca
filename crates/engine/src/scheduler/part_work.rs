//! The work on one part, for all jobs that share it.
//!
//! ```text
//!  part        stretch        stretch        stretch
//!  job 1     ---1------\    ---4------\    ---7---> leaves
//!  job 2        \---2---\      \---5---\      \---8---> leaves
//!  job 3         \---3---\      \---6---\      \---9---> leaves
//! ```
//!
//! The tiles of a stretch stay in the cache of the processor while one job after the other works
//! through them. The job that takes the least time for an edge comes first, so it leaves the part
//! first.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tegula_machine::threads::{guarded, lock};
use tegula_store::graph::CheckedTiles;
use tegula_store::{Error, Result};

use super::Scheduler;
use super::queue::Claim;
use super::slot::{SharedJob, Slot};
use super::stream::{Arrived, Stream};
use crate::job::{Job, PartStatistics, PartWork};

/// Processes the first part of a stream for all jobs for which it was claimed.
pub fn process_part(scheduler: &Scheduler<'_>, stream: &mut Stream<'_>) {
    let Some(claim) = stream.first() else { return };
    let spent = PartStatistics::default();
    let staying = claim.jobs.len();
    let mut shared = SharedPart { scheduler, claim: &claim, spent, staying, last: None };
    let mut works: Vec<JobPart<'_>> = Vec::with_capacity(claim.jobs.len());
    for slot in &claim.jobs {
        match JobPart::begin(scheduler, &claim, slot) {
            Some(work) => works.push(work),
            None => shared.leave(slot, false),
        }
    }
    // The costs change meanwhile, so each is looked up once.
    works.sort_by_cached_key(|work| work.slot.edge_cost());
    if let Err(error) = shared.process(stream, &mut works) {
        shared.give_up(works, error);
    }
    stream.done();
    shared.let_last_leave();
    lock(&scheduler.queue).release(claim.part, &shared.spent);
    scheduler.workers.ring();
    scheduler.ledger.note_room();
}

/// A part while one worker processes it for several jobs.
struct SharedPart<'p, 'g> {
    scheduler: &'p Scheduler<'g>,
    claim: &'p Claim,
    /// What the worker has spent on all jobs together.
    spent: PartStatistics,
    /// Jobs that have not left.
    staying: usize,
    /// The last job, and whether it comes again. It leaves after the worker has given the memory of
    /// the part back: the job after it may need all memory.
    last: Option<(&'p Arc<Slot>, bool)>,
}

impl<'p> SharedPart<'p, '_> {
    /// Processes the part stretch by stretch. Jobs that are done or must leave are taken out of `works`.
    ///
    /// # Errors
    /// Read errors. No job that is left in `works` has ended the part then.
    fn process(&mut self, stream: &mut Stream<'_>, works: &mut Vec<JobPart<'p>>) -> Result<()> {
        let mut stretch = Vec::new();
        while !works.is_empty() && !stream.is_at_end() {
            let size = match works.len() {
                // A single job shares the cache with nobody.
                1 => 0,
                _ => self.scheduler.stretch_size(works.iter().map(|work| work.job.vertex_bytes())),
            };
            let waiting_since = Instant::now();
            stream.take_stretch(&mut stretch, size)?;
            let waited = waiting_since.elapsed();
            self.spent.waiting += waited;
            let is_last = stream.is_at_end();
            for (index, mut work) in std::mem::take(works).into_iter().enumerate() {
                work.done.waiting += waited;
                for arrived in &stretch {
                    work.process_group(self.scheduler, arrived, self.claim, index);
                }
                if is_last || work.slot.is_leaving() {
                    self.end(work);
                } else {
                    works.push(work);
                }
                // Another job may wait for memory that this worker's reads hold.
                if stream.has_no_reads() {
                    self.scheduler.look_up();
                }
            }
        }
        // The part has no group, or none that a job needs.
        works.drain(..).for_each(|work| self.end(work));
        Ok(())
    }

    /// Ends the part for a job.
    fn end(&mut self, work: JobPart<'p>) {
        let slot = work.slot;
        self.spent.working += work.end();
        self.leave(slot, false);
    }

    /// Gives the part up, because a read failed. Each of several jobs reads the part again alone,
    /// and sees whether its own read fails. A job that cannot begin the part anew fails at once.
    fn give_up(&mut self, works: Vec<JobPart<'p>>, error: Error) {
        if let [work] = &works[..] {
            let slot = work.slot;
            slot.fail(error);
            drop(works);
            return self.leave(slot, false);
        }
        for work in works {
            let (slot, comes_again) = (work.slot, work.work.is_restartable());
            if !comes_again {
                slot.fail(error.clone());
            }
            drop(work);
            self.leave(slot, comes_again);
        }
    }

    /// Lets a job leave the part. The guard of the job must be gone: it may advance at once.
    fn leave(&mut self, slot: &'p Arc<Slot>, comes_again: bool) {
        self.staying -= 1;
        if self.staying == 0 {
            self.last = Some((slot, comes_again));
        } else {
            lock(&self.scheduler.queue).leave(self.claim.part, slot, comes_again);
            self.scheduler.workers.ring();
        }
    }

    /// Lets the last job leave, which the caller announces.
    fn let_last_leave(&mut self) {
        if let Some((slot, comes_again)) = self.last.take() {
            lock(&self.scheduler.queue).leave(self.claim.part, slot, comes_again);
        }
    }
}

/// The work of one worker on one part, for one job.
struct JobPart<'w> {
    // The fields are dropped in this order. What uses the job comes before the guard.
    work: Box<dyn PartWork + 'w>,
    job: &'w dyn Job,
    guard: SharedJob<'w>,
    slot: &'w Arc<Slot>,
    done: PartStatistics,
}

impl<'w> JobPart<'w> {
    /// Begins the part; returns `None` if the job has left, is being taken out or fails.
    fn begin(scheduler: &Scheduler<'_>, claim: &Claim, slot: &'w Arc<Slot>) -> Option<JobPart<'w>> {
        let part = &scheduler.parts.parts[claim.part];
        // This worker may stand in for another while it is at a part of the same job.
        let Some(guard) = slot.try_job() else {
            slot.fail(Error::cancelled());
            return None;
        };
        // SAFETY: the guard goes last, both here and in the struct.
        let job = unsafe { guard.detached() }?;
        match guarded(|| Ok(job.begin_part(part))) {
            Ok(work) => Some(JobPart { work, job, guard, slot, done: PartStatistics::default() }),
            Err(error) => {
                slot.fail(error);
                None
            }
        }
    }

    /// Processes a group of tiles, as job number `index` of those that share the part.
    fn process_group(
        &mut self,
        scheduler: &Scheduler<'_>,
        arrived: &Arrived,
        claim: &Claim,
        index: usize,
    ) {
        if self.slot.is_leaving() {
            return;
        }
        let is_first = self.slot.touch(arrived.group, scheduler.parts.groups.len());
        // One job pays for a read. Tiles in memory are read anew by a run that begins.
        let is_shared = if arrived.bytes_read > 0 { index > 0 } else { is_first };
        if is_shared {
            self.done.bytes_shared += scheduler.parts.groups[arrived.group].size(claim.has_weights);
        }
        let started = Instant::now();
        let processed = guarded(|| self.process_tiles(scheduler, &arrived.tiles));
        if let Err(error) = processed {
            self.slot.fail(error);
        }
        self.done.bytes_read += arrived.bytes_read;
        self.done.working += started.elapsed();
    }

    fn process_tiles(&mut self, scheduler: &Scheduler<'_>, tiles: &CheckedTiles) -> Result<()> {
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

    /// Ends the part, unless the job must leave; returns the time that the job has taken.
    fn end(self) -> Duration {
        let JobPart { work, job, guard, slot, mut done } = self;
        if slot.is_leaving() {
            drop(work);
        } else {
            let started = Instant::now();
            if let Err(error) = guarded(|| {
                work.end();
                Ok(())
            }) {
                slot.fail(error);
            }
            done.working += started.elapsed();
            job.note_part(&done);
        }
        slot.learn(&done);
        drop(guard);
        done.working
    }
}
