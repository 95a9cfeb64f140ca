//! The backend for every machine: threads that read one request each.

use std::num::NonZeroUsize;

use crossbeam_channel::{Sender, unbounded};

use super::device::{Device, spawn};
use super::task::Task;

/// Enough reads in flight to keep an SSD busy with large requests.
pub const THREADS_DEFAULT: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// Threads that share one queue of tasks. The queue holds only tasks with a buffer, so the pool's
/// budget bounds it. When the last thread is gone, the queue drops its tasks, and so their waiters
/// hear of it.
pub(super) struct Threads {
    /// `None` where the system started no thread: then the calling threads read.
    tasks: Option<Sender<Task>>,
}

impl Threads {
    /// Starts `count` threads, or as many as the system allows.
    pub(super) fn start(count: NonZeroUsize) -> Threads {
        let (tasks, queue) = unbounded::<Task>();
        let begin = |_: &usize| {
            let queue = queue.clone();
            spawn("tegula-read", move || queue.iter().for_each(Task::run)).is_ok()
        };
        let started = (0..count.get()).take_while(begin).count();
        Threads { tasks: (started > 0).then_some(tasks) }
    }
}

impl Device for Threads {
    fn submit(&self, task: Task) {
        match &self.tasks {
            // Fails only when all threads are gone. The dropped task then tells its waiter.
            Some(tasks) => drop(tasks.send(task)),
            None => task.run(),
        }
    }
}
