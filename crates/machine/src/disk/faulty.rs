//! Injected faults, for tests: a disk that fails, reads short, flips bits, is late or dies, and an
//! output that fails from its n-th step on.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_channel::{Sender, unbounded};

use crate::error::Result;
use crate::mix::mix;

use super::block_writer::OutputFile;
use super::device::{Device, spawn};
use super::file::{Caching, Location, OpenFile};
use super::task::{Interference, Task};

/// One way for a read to go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The kernel answers with this error number, once.
    Errno(i32),
    /// The kernel at first reads at most this number of bytes, and at least one.
    Short(usize),
    /// This bit of the frame is flipped, modulo its length in bits.
    FlipBit(u64),
    /// The read starts later by this time; later reads overtake it.
    Delay(Duration),
    /// The thread that has the read dies.
    Lose,
}

#[derive(Debug, Clone, Copy)]
enum When {
    Nth(u64),
    Every(u64),
    OneIn { n: u64, seed: u64 },
}

/// Which reads fail, and how. Clones share their counts. Reads are counted from 1, in the order in
/// which they get memory.
#[derive(Debug, Clone, Default)]
pub struct FaultPlan {
    rules: Vec<(When, Fault)>,
    /// The number of the write that fails, and its error number.
    failing_write: Option<(u64, i32)>,
    counts: Arc<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    reads: AtomicU64,
    writes: AtomicU64,
    struck: AtomicU64,
}

impl FaultPlan {
    /// Makes a plan without faults.
    pub fn new() -> FaultPlan {
        FaultPlan::default()
    }

    /// Makes the `n`-th read go wrong.
    #[must_use]
    pub fn nth(self, n: u64, fault: Fault) -> FaultPlan {
        self.rule(When::Nth(n), fault)
    }

    /// Makes every `n`-th read go wrong.
    #[must_use]
    pub fn every(self, n: u64, fault: Fault) -> FaultPlan {
        self.rule(When::Every(n.max(1)), fault)
    }

    /// Makes one read in `n` go wrong, the same ones for the same seed.
    #[must_use]
    pub fn one_in(self, n: u64, seed: u64, fault: Fault) -> FaultPlan {
        self.rule(When::OneIn { n: n.max(1), seed }, fault)
    }

    /// Makes the `n`-th write of a block, counted from 1, fail with this error number.
    #[must_use]
    pub fn nth_write(self, n: u64, errno: i32) -> FaultPlan {
        FaultPlan { failing_write: Some((n, errno)), ..self }
    }

    /// Returns the number of reads so far.
    pub fn reads(&self) -> u64 {
        self.counts.reads.load(Ordering::Relaxed)
    }

    /// Returns the number of faults so far.
    pub fn struck(&self) -> u64 {
        self.counts.struck.load(Ordering::Relaxed)
    }

    fn rule(mut self, when: When, fault: Fault) -> FaultPlan {
        self.rules.push((when, fault));
        self
    }

    /// Counts the next write, and fails if it is the one to fail.
    fn next_write(&self) -> io::Result<()> {
        let write = self.counts.writes.fetch_add(1, Ordering::Relaxed) + 1;
        match self.failing_write.filter(|&(n, _)| n == write) {
            Some((_, errno)) => {
                self.counts.struck.fetch_add(1, Ordering::Relaxed);
                Err(io::Error::from_raw_os_error(errno))
            }
            None => Ok(()),
        }
    }

    /// Counts the next read, and returns its faults.
    fn next(&self) -> Vec<Fault> {
        let read = self.counts.reads.fetch_add(1, Ordering::Relaxed) + 1;
        let rules = self.rules.iter().filter(|(when, _)| when.strikes(read));
        let faults: Vec<Fault> = rules.map(|&(_, fault)| fault).collect();
        self.counts.struck.fetch_add(faults.len() as u64, Ordering::Relaxed);
        faults
    }
}

impl When {
    fn strikes(self, read: u64) -> bool {
        match self {
            When::Nth(n) => read == n,
            When::Every(n) => read.is_multiple_of(n),
            When::OneIn { n, seed } => mix(seed ^ mix(read)).is_multiple_of(n),
        }
    }
}

/// A device that passes tasks to another one, some of them with faults.
pub(super) struct Faulty {
    inner: Arc<dyn Device>,
    plan: FaultPlan,
    late: Sender<(Task, Duration)>,
}

impl Faulty {
    pub(super) fn start(inner: Arc<dyn Device>, plan: FaultPlan) -> io::Result<Faulty> {
        let (late, queue) = unbounded::<(Task, Duration)>();
        let device = Arc::clone(&inner);
        spawn("tegula-late", move || {
            for (task, delay) in queue {
                std::thread::sleep(delay);
                device.submit(task);
            }
        })?;
        Ok(Faulty { inner, plan, late })
    }
}

impl Device for Faulty {
    fn open(&self, location: &Location<'_>, caching: Caching) -> Result<OpenFile> {
        self.inner.open(location, caching)
    }

    fn write(&self, file: &OpenFile, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.plan.next_write()?;
        self.inner.write(file, bytes, offset)
    }

    fn submit(&self, mut task: Task) {
        let mut interference = Interference::default();
        let mut delay = None;
        for fault in self.plan.next() {
            match fault {
                Fault::Errno(errno) => interference.errno = Some(errno),
                Fault::Short(bytes) => interference.short = Some(bytes.max(1)),
                Fault::FlipBit(bit) => interference.flip_bit = Some(bit),
                Fault::Delay(time) => delay = Some(time),
                Fault::Lose => return drop(task),
            }
        }
        task.interfere(interference);
        match delay {
            Some(delay) => drop(self.late.send((task, delay))),
            None => self.inner.submit(task),
        }
    }
}

/// An output that fails from its `n`-th step on, counted from 1. Every write, flush and sync is a
/// step. Earlier writes stay written.
#[derive(Debug)]
pub struct FaultyOutput<W> {
    inner: W,
    steps_left: u64,
}

impl<W> FaultyOutput<W> {
    /// Makes an output that lets `n - 1` steps pass and then fails, like a full disk.
    pub fn new(inner: W, n: u64) -> FaultyOutput<W> {
        FaultyOutput { inner, steps_left: n.saturating_sub(1) }
    }

    fn step(&mut self) -> io::Result<&mut W> {
        match self.steps_left.checked_sub(1) {
            Some(left) => self.steps_left = left,
            None => return Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
        Ok(&mut self.inner)
    }
}

impl<W: OutputFile> Write for FaultyOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.step()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.step()?.flush()
    }
}

impl<W: OutputFile> OutputFile for FaultyOutput<W> {
    fn sync(&mut self) -> io::Result<()> {
        self.step()?.sync()
    }
}
