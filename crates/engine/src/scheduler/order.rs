//! What a worker does next: a part, or a job that can advance. No result depends on it.

/// The situation of a worker that asks for its next task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    /// It is free, and its last task was of this kind.
    After(TaskKind),
    /// It processes a part, and asks for a further one to keep reads in flight.
    AtPart,
    /// It is in the middle of a part, or of a job that cannot return, while others have their turn.
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
        // No part is claimed early: a waiting job gets the worker when the current part is done, or
        // before.
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
}
