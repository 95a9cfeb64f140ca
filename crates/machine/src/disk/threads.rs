//! The backend for every machine: threads that read one request each.

use std::io;
use std::num::NonZeroUsize;

use crossbeam_channel::{Sender, unbounded};

use super::device::{Device, spawn};
use super::task::Task;

/// Enough reads in flight to keep an SSD busy with large requests.
pub const THREADS_DEFAULT: NonZeroUsize = NonZeroUsize::new(8).unwrap();

/// Threads that share one queue of tasks. The queue holds only tasks that own a buffer, so the
/// pool's budget bounds it. It drops what is in it when the last thread is gone, and with that
/// tells the waiters.
pub(super) struct Threads {
    tasks: Sender<Task>,
}

impl Threads {
    pub(super) fn start(count: NonZeroUsize) -> io::Result<Threads> {
        let (tasks, queue) = unbounded::<Task>();
        for _ in 0..count.get() {
            let queue = queue.clone();
            spawn("tegula-read", move || queue.iter().for_each(Task::run))?;
        }
        Ok(Threads { tasks })
    }
}

impl Device for Threads {
    fn submit(&self, task: Task) {
        // Refused only when all threads are gone; the task is dropped and tells its waiter.
        drop(self.tasks.send(task));
    }
}
