//! The loop of the workers: each asks for its next task and does it.

use std::sync::Arc;
use std::time::Instant;

use tegula_machine::threads::{guarded, lock};
use tegula_store::Error;

use super::Scheduler;
use super::order::{Asking, TaskKind};
use super::part_work::process_part;
use super::queue::{Claim, Scanning, Task};
use super::slot::Slot;
use super::stream::Stream;
use crate::job::Advanced;
use crate::job::context::{JobContext, begin_stint, stand_in};

impl Scheduler<'_> {
    /// Runs a worker, or a caller that works until its own job is over. A fault in a job ends only
    /// this job; a panic elsewhere ends all jobs.
    pub(super) fn work(&self, own: Option<&Slot>) {
        let worked = guarded(|| {
            self.work_until_over(own);
            Ok::<_, Error>(())
        });
        if let Err(error) = worked {
            lock(&self.queue).break_off(error.to_string());
            self.workers.ring();
        }
    }

    fn work_until_over(&self, own: Option<&Slot>) {
        let mut stream = Stream::new(self, true);
        let mut last = TaskKind::Part;
        loop {
            // Before the search for a task, so that a ring in between ends the wait below.
            let seen = self.workers.rings();
            begin_stint();
            // Claimed parts come first: a worker that holds memory for reads must not wait for more
            // of it in a loop.
            if stream.first().is_some() {
                process_part(self, &mut stream);
                last = TaskKind::Part;
                continue;
            }
            if self.workers.help() {
                continue;
            }
            let next = {
                let mut queue = lock(&self.queue);
                if queue.is_over || own.is_some_and(Slot::is_over) {
                    return;
                }
                // Nothing announces a job that was cancelled while no worker was at its parts.
                queue.retire();
                queue.next_task(Asking::After(last), &self.parts.parts)
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
        // A statement of its own, so that the lock is free while the task is done.
        let next = lock(&self.queue).next_task(Asking::InJob, &self.parts.parts);
        match next {
            Some(Task::Part(claim)) => {
                // Without claims ahead, because the job that this worker left is waiting for it.
                let mut stream = Stream::new(self, false);
                stream.push(claim);
                process_part(self, &mut stream);
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
        match lock(&self.queue).next_task(Asking::AtPart, &self.parts.parts) {
            Some(Task::Part(claim)) => Some(claim),
            Some(Task::Advance(_)) => unreachable!("a worker at a part gets only parts"),
            None => None,
        }
    }

    /// Advances a job that can return soon, if this worker has been at its part for a quantum. So
    /// such a job waits for about a quantum, however many jobs share the part.
    pub(super) fn look_up(&self) {
        stand_in(|| {
            let next = lock(&self.queue).next_short();
            if let Some(slot) = next {
                self.advance(&slot);
            }
        });
    }

    /// Advances a job as far as it can go by itself.
    fn advance(&self, slot: &Arc<Slot>) {
        let context = JobContext::new(&self.workers, slot.cancel(), self);
        let started = Instant::now();
        let advanced = slot.advance(&context).and_then(|advanced| match advanced {
            Advanced::Done => Ok(None),
            Advanced::Further => Ok(Some(None)),
            Advanced::NeedsTiles(demand) => Scanning::plan(self, slot, demand).map(Some),
        });
        slot.charge(started.elapsed());
        match advanced {
            Ok(None) => slot.end(Ok(())),
            Ok(Some(None)) => lock(&self.queue).make_ready(slot),
            Ok(Some(Some(scanning))) => lock(&self.queue).make_scanning(scanning),
            Err(error) => slot.end(Err(error)),
        }
        self.workers.ring();
    }
}
