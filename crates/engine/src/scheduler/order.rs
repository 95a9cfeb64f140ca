//! The order of work: a part or a job that can advance, and which part.
//!
//! This is the plain order. A policy that weighs jobs could replace it: no result depends on this
//! module.

use crate::job::ScanDirection;

/// The position of the scan. It goes round and round, and jobs join at any position.
#[derive(Debug)]
pub struct PartOrder {
    direction: ScanDirection,
    /// The part where the next search begins.
    cursor: usize,
    count: usize,
}

impl PartOrder {
    /// Makes a scan of `count` parts, from the first to the last.
    pub fn new(count: usize) -> PartOrder {
        PartOrder { direction: ScanDirection::FirstToLast, cursor: 0, count }
    }

    /// Takes the direction that a job prefers. Call it only while no other job is scanning.
    pub fn turn(&mut self, direction: ScanDirection) {
        if self.direction != direction {
            self.direction = direction;
            self.cursor = match direction {
                ScanDirection::FirstToLast => 0,
                ScanDirection::LastToFirst => self.count.saturating_sub(1),
            };
        }
    }

    /// Returns the next wanted part, in a full round at most. The next search begins after it.
    pub fn next(&mut self, is_wanted: impl Fn(usize) -> bool) -> Option<usize> {
        for _ in 0..self.count {
            let part = self.cursor;
            self.cursor = match self.direction {
                ScanDirection::FirstToLast if part + 1 == self.count => 0,
                ScanDirection::FirstToLast => part + 1,
                ScanDirection::LastToFirst if part == 0 => self.count - 1,
                ScanDirection::LastToFirst => part - 1,
            };
            if is_wanted(part) {
                return Some(part);
            }
        }
        None
    }

    /// Returns the direction of the scan.
    pub fn direction(&self) -> ScanDirection {
        self.direction
    }
}

/// The situation of a worker that asks for its next task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// It is free, and its last task was of this kind.
    After(TaskKind),
    /// It processes a part and would claim a further one to keep reads in flight. It cannot take a
    /// job.
    AtPart,
    /// It is in the middle of a job that cannot return, while others have their turn.
    InJob,
}

/// A kind of task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// A part, for all jobs that need it.
    Part,
    /// A [job](next_job) that can advance by itself.
    Job,
}

/// Returns the index of the job to advance, given all that can, in the order of arrival. It is the
/// first one, or the first resumable one if the worker must soon return to another job.
pub fn next_job(asking: Asking, are_resumable: impl IntoIterator<Item = bool>) -> Option<usize> {
    let may_go_on = |is_resumable| is_resumable || asking != Asking::InJob;
    are_resumable.into_iter().position(may_go_on)
}

/// Returns the kinds of tasks for a worker, the preferred one first. Parts and jobs take turns.
pub fn preference(asking: Asking, is_job_ready: bool) -> &'static [TaskKind] {
    match asking {
        Asking::After(TaskKind::Job) => &[TaskKind::Part, TaskKind::Job],
        Asking::After(TaskKind::Part) | Asking::InJob => &[TaskKind::Job, TaskKind::Part],
        // A waiting job gets the worker as soon as the current part is done.
        Asking::AtPart if is_job_ready => &[],
        Asking::AtPart => &[TaskKind::Part],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_and_jobs_take_turns() {
        use TaskKind::{Job, Part};
        for is_job_ready in [false, true] {
            assert_eq!(preference(Asking::After(Job), is_job_ready), [Part, Job]);
            assert_eq!(preference(Asking::After(Part), is_job_ready), [Job, Part]);
            assert_eq!(preference(Asking::InJob, is_job_ready), [Job, Part]);
        }
        assert_eq!(preference(Asking::AtPart, false), [Part]);
        assert_eq!(preference(Asking::AtPart, true), [], "nothing is claimed early then");
        assert_eq!(next_job(Asking::After(Part), [false, true]), Some(0));
        assert_eq!(next_job(Asking::InJob, [false, true]), Some(1));
        assert_eq!(next_job(Asking::InJob, [false]), None);
    }

    #[test]
    fn the_scan_goes_round_and_finds_wanted_parts() {
        let mut order = PartOrder::new(5);
        let found: Vec<_> = (0..7).map(|_| order.next(|part| part != 3)).collect();
        assert_eq!(found, [0, 1, 2, 4, 0, 1, 2].map(Some));
        assert_eq!(order.next(|_| false), None);
        order.turn(ScanDirection::LastToFirst);
        let found: Vec<_> = (0..3).map(|_| order.next(|_| true)).collect();
        assert_eq!(found, [4, 3, 2].map(Some));
    }
}
