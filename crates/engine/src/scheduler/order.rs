//! What is next: whether a part or a job that goes on by itself, and which part.
//!
//! This is the plain order. Policies that weigh jobs take its place: no result depends on what is here.

use crate::job::ScanDirection;

/// Where the scan is: it goes round and round, and jobs join wherever that may be.
#[derive(Debug)]
pub struct PartOrder {
    direction: ScanDirection,
    /// Where the search for the next part begins.
    cursor: usize,
    count: usize,
}

impl PartOrder {
    /// A scan of `count` parts, from the first to the last.
    pub fn new(count: usize) -> PartOrder {
        PartOrder { direction: ScanDirection::FirstToLast, cursor: 0, count }
    }

    /// Takes the direction that a job would have. To be asked while no other is scanning.
    pub fn turn(&mut self, direction: ScanDirection) {
        if self.direction != direction {
            self.direction = direction;
            self.cursor = match direction {
                ScanDirection::FirstToLast => 0,
                ScanDirection::LastToFirst => self.count.saturating_sub(1),
            };
        }
    }

    /// The next part that is wanted, round the whole file; the search goes on behind it.
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

    /// Which way it goes.
    pub fn direction(&self) -> ScanDirection {
        self.direction
    }
}

/// A worker that asks what is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// It is free, and its last task was of this kind.
    After(TaskKind),
    /// It is at a part, and would claim a further one for reads to stay on their way; it can take no job.
    AtPart,
    /// It is in the middle of a job that cannot return, and others have their turn.
    InJob,
}

/// A kind of task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// A part, for all jobs that need it.
    Part,
    /// A [job](next_job) that can go on by itself.
    Job,
}

/// Which of the jobs that can go on does, of those in the order in which they came: the first one, or the first
/// one that is resumable where the worker has to return to another soon.
pub fn next_job(asking: Asking, are_resumable: impl IntoIterator<Item = bool>) -> Option<usize> {
    let may_go_on = |is_resumable| is_resumable || asking != Asking::InJob;
    are_resumable.into_iter().position(may_go_on)
}

/// What a worker may be given, the one that is tried first coming first. Parts and jobs take turns.
pub fn preference(asking: Asking, is_job_ready: bool) -> &'static [TaskKind] {
    match asking {
        Asking::After(TaskKind::Job) => &[TaskKind::Part, TaskKind::Job],
        Asking::After(TaskKind::Part) | Asking::InJob => &[TaskKind::Job, TaskKind::Part],
        // A job that waits gets the worker as soon as the part at hand is done.
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
    fn the_scan_goes_round_and_finds_what_is_wanted() {
        let mut order = PartOrder::new(5);
        let found: Vec<_> = (0..7).map(|_| order.next(|part| part != 3)).collect();
        assert_eq!(found, [0, 1, 2, 4, 0, 1, 2].map(Some));
        assert_eq!(order.next(|_| false), None);
        order.turn(ScanDirection::LastToFirst);
        let found: Vec<_> = (0..3).map(|_| order.next(|_| true)).collect();
        assert_eq!(found, [4, 3, 2].map(Some));
    }
}
