//! The backend for Linux: one thread owns an io_uring and keeps many reads in flight in it.
//!
//! The thread sleeps in the ring. Tasks reach it through a channel. A byte in a pipe, which the
//! ring polls, wakes it; it is sent only while the thread sleeps.

use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use crossbeam_channel::{Receiver, Sender, TryRecvError, unbounded};
use io_uring::squeue::{Entry, Flags};
use io_uring::{IoUring, Probe, opcode, types};
use rustix::io::Errno;

use super::device::{Device, spawn};
use super::file::Source;
use super::task::Task;

/// Reads in flight at most.
const DEPTH: usize = 127;
/// One more than the reads, for the poll of the pipe.
const RING_ENTRIES: u32 = DEPTH as u32 + 1;
/// The `user_data` of the poll; reads have slot numbers.
const WAKE: u64 = u64::MAX;
/// Longer reads that the page cache may answer go to the kernel's worker threads: copying them on
/// the ring's own thread would delay all others.
const COPY_INLINE_MAX: usize = 64 << 10;

const POLLIN: u32 = 1;

/// The callers' side.
pub(super) struct Uring {
    // Dropped before the pipe: the thread that the closed pipe wakes finds the channel closed.
    tasks: Sender<Task>,
    bell: PipeWriter,
    asleep: Arc<AtomicBool>,
}

impl Uring {
    /// Creates the ring and its thread. Fails where the kernel allows no ring.
    pub(super) fn start() -> io::Result<Uring> {
        let ring = IoUring::new(RING_ENTRIES)?;
        let mut probe = Probe::new();
        ring.submitter().register_probe(&mut probe)?;
        let needed = [opcode::Read::CODE, opcode::PollAdd::CODE];
        if !needed.iter().all(|&code| probe.is_supported(code)) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "this io_uring cannot read"));
        }
        let (tasks, queue) = unbounded();
        let (pipe, bell) = bell()?;
        let asleep = Arc::new(AtomicBool::new(false));
        let in_flight = InFlight::new();
        let worker = Worker { ring, queue, pipe, asleep: Arc::clone(&asleep), in_flight };
        spawn("tegula-uring", move || {
            if let Err(error) = worker.run() {
                tracing::error!(%error, "io_uring failed; its reads fail");
            }
        })?;
        Ok(Uring { tasks, bell, asleep })
    }
}

impl Device for Uring {
    fn submit(&self, task: Task) {
        // Fails only when the thread is gone. The dropped task then tells its waiter.
        drop(self.tasks.send(task));
        // Either this call sees the thread asleep, or the thread sees the task, because it looks
        // into the queue after it set the flag. The fences order the two writes before the two
        // reads.
        fence(Ordering::SeqCst);
        if self.asleep.swap(false, Ordering::SeqCst) {
            // If the pipe cannot be written to, it has no reader: the thread is gone, see above.
            let _ = (&self.bell).write(&[1]);
        }
    }
}

/// The thread's side. `in_flight` is dropped after the ring, in the order of the fields.
struct Worker {
    ring: IoUring,
    queue: Receiver<Task>,
    pipe: PipeReader,
    asleep: Arc<AtomicBool>,
    in_flight: InFlight,
}

impl Worker {
    /// Works until the callers' side is gone and all reads are done.
    fn run(mut self) -> io::Result<()> {
        self.watch_pipe()?;
        loop {
            let open = self.take_tasks()?;
            if !open && self.in_flight.count() == 0 {
                return Ok(());
            }
            self.sleep()?;
            self.reap()?;
        }
    }

    /// Moves tasks from the queue to the ring. Returns false once the queue is closed and empty.
    fn take_tasks(&mut self) -> io::Result<bool> {
        while self.in_flight.count() < DEPTH {
            match self.queue.try_recv() {
                Ok(task) => self.begin(task)?,
                Err(TryRecvError::Empty) => return Ok(true),
                Err(TryRecvError::Disconnected) => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Submits the new reads and waits for an event.
    fn sleep(&mut self) -> io::Result<()> {
        self.asleep.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let busy = !self.queue.is_empty() && self.in_flight.count() < DEPTH;
        let submitted = self.ring.submit_and_wait(usize::from(!busy));
        self.asleep.store(false, Ordering::SeqCst);
        match submitted {
            Ok(_) => Ok(()),
            // Either completions must be reaped first (busy), or a signal came. The loop handles
            // both.
            Err(error) => match error.kind() {
                io::ErrorKind::Interrupted | io::ErrorKind::ResourceBusy => Ok(()),
                _ => Err(error),
            },
        }
    }

    /// Takes the kernel's answers.
    fn reap(&mut self) -> io::Result<()> {
        let answers: Vec<(u64, i32)> =
            self.ring.completion().map(|entry| (entry.user_data(), entry.result())).collect();
        for (user_data, result) in answers {
            if user_data == WAKE {
                self.woken(result)?;
                continue;
            }
            let Some(task) = self.in_flight.remove(user_data) else { continue };
            // The kernel got no thread of its own for this read, as under `ulimit -u`. So read it
            // here.
            if result == -Errno::CANCELED.raw_os_error() {
                task.run();
                continue;
            }
            let answer = match usize::try_from(result) {
                Ok(bytes) => Ok(bytes),
                Err(_) => Err(io::Error::from_raw_os_error(-result)),
            };
            if let Some(task) = task.advance(answer) {
                self.begin(task)?;
            }
        }
        Ok(())
    }

    /// Empties the pipe and polls it again. A pipe without a writer is not polled again.
    fn woken(&mut self, events: i32) -> io::Result<()> {
        if events < 0 || events.cast_unsigned() & POLLIN == 0 {
            return Ok(());
        }
        empty(&mut self.pipe)?;
        self.watch_pipe()
    }

    fn watch_pipe(&mut self) -> io::Result<()> {
        let poll = opcode::PollAdd::new(types::Fd(self.pipe.as_raw_fd()), POLLIN);
        // SAFETY: the poll refers to no memory, and the pipe lives as long as the ring.
        unsafe { self.push(&poll.build().user_data(WAKE)) }
    }

    /// Puts the next read of a task into the ring. There is room: a slot is free.
    fn begin(&mut self, mut task: Task) -> io::Result<()> {
        let Source::Disk(disk) = &task.file().source else {
            task.run();
            return Ok(());
        };
        let file = types::Fd(disk.file.as_raw_fd());
        let may_copy = !task.file().is_direct();
        let (out, offset) = task.next_read();
        // The length is at most 1 GiB.
        let read = opcode::Read::new(file, out.as_mut_ptr(), out.len() as u32).offset(offset);
        let punt = may_copy && out.len() > COPY_INLINE_MAX;
        let flags = if punt { Flags::ASYNC } else { Flags::empty() };
        let user_data = self.in_flight.insert(task);
        // SAFETY: the memory and the file belong to the task. `in_flight` keeps it until the
        // kernel has answered, and leaks it should this thread end before that.
        unsafe { self.push(&read.build().flags(flags).user_data(user_data)) }
    }

    /// # Safety
    ///
    /// What the entry refers to must stay valid until the kernel has answered it.
    unsafe fn push(&mut self, entry: &Entry) -> io::Result<()> {
        // SAFETY: passed on to the caller.
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)
    }
}

/// Makes a pipe whose reader never waits. The kernel first puts a byte into a pipe and then wakes
/// the poller. If the thread empties the pipe and polls it again in between, it is woken for a byte
/// that it has already taken.
fn bell() -> io::Result<(PipeReader, PipeWriter)> {
    let (pipe, bell) = io::pipe()?;
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Ok((pipe, bell))
}

/// Empties the pipe.
fn empty(pipe: &mut PipeReader) -> io::Result<()> {
    match pipe.read(&mut [0; 64]) {
        Err(error) if error.kind() != io::ErrorKind::WouldBlock => Err(error),
        _ => Ok(()),
    }
}

/// The tasks that the kernel is reading for. Leaks the remaining ones when it is dropped.
struct InFlight {
    slots: Vec<Option<Task>>,
    free: Vec<usize>,
}

impl InFlight {
    fn new() -> InFlight {
        InFlight { slots: (0..DEPTH).map(|_| None).collect(), free: (0..DEPTH).collect() }
    }

    fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Keeps a task, and returns the number of its slot.
    fn insert(&mut self, task: Task) -> u64 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(task);
        slot as u64
    }

    fn remove(&mut self, slot: u64) -> Option<Task> {
        let slot = usize::try_from(slot).ok()?;
        let task = self.slots.get_mut(slot)?.take()?;
        self.free.push(slot);
        Some(task)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.slots.drain(..).flatten().for_each(Task::leak);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::file::OpenFile;
    use crate::disk::pending::promise;
    use crate::disk::pool::Pool;
    use crate::disk::task::Extent;
    use crate::error::Error;

    #[test]
    fn waking_for_a_byte_already_taken_does_not_hang() {
        let (mut pipe, mut bell) = bell().expect("a pipe");
        bell.write_all(&[1, 1]).expect("room");
        empty(&mut pipe).expect("two bytes");
        empty(&mut pipe).expect("nothing");
    }

    #[test]
    fn reads_in_flight_fail_when_the_ring_dies_and_their_memory_is_never_reused() {
        let pool = Pool::new(64 * 1024);
        let file = Arc::new(OpenFile::in_memory("file".as_ref(), vec![0; 10]));
        let extent = Extent::new(0, 10).expect("a small range");
        let mut lent = pool.try_lend(&[4096]).expect("room");
        let buffer = lent.remove(0).expect("memory");
        let address = buffer.bytes().as_ptr();
        let (promise, pending) = promise(&pool);
        let mut in_flight = InFlight::new();
        in_flight.insert(Task::new(file, buffer, extent, Arc::default(), promise));
        drop(in_flight);
        assert!(matches!(pending.wait(), Err(Error::WorkerFailed { .. })));
        assert_eq!(pool.available(), pool.frames_max());
        let next = pool.try_lend(&[4096]).expect("room").remove(0).expect("memory");
        assert_ne!(address, next.bytes().as_ptr());
    }
}
