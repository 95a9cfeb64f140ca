//! The place of one job in a scheduler.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, RwLock, RwLockReadGuard, TryLockError};
use std::time::Duration;

use tegula_machine::threads::{Cancel, guarded, lock};
use tegula_store::{Error, Result};

use crate::job::context::JobContext;
use crate::job::{Advanced, Job, PartStatistics};

/// A job that the waiting call lends to the scheduler.
type Lent = &'static mut dyn Job;

/// Where workers find a job, and leave its result.
pub struct Slot {
    /// Shared while parts are processed, exclusive while the job advances.
    job: RwLock<Option<Lent>>,
    cancel: Cancel,
    /// Why the job cannot go on.
    failure: Mutex<Option<Error>>,
    has_failed: AtomicBool,
    /// Whether [`Job::advance`] returns soon.
    pub is_resumable: bool,
    /// Whether the job has advanced before. The first time may take long.
    has_begun: AtomicBool,
    /// Whether the job has been given a group of tiles, by group.
    is_touched: OnceLock<Box<[AtomicBool]>>,
    /// The clock of the job: nanoseconds that workers have spent on it, and those that it was
    /// advanced by when it joined others.
    worked: AtomicU64,
    /// Nanoseconds of scans, and the edges that they have taken.
    scan_time: AtomicU64,
    scanned_edges: AtomicU64,
    result: Mutex<Option<Result<()>>>,
    /// Notified when the job is over.
    ended: Condvar,
}

impl Slot {
    pub fn new(cancel: Cancel, is_resumable: bool) -> Slot {
        Slot {
            job: RwLock::new(None),
            cancel,
            failure: Mutex::new(None),
            has_failed: AtomicBool::new(false),
            is_resumable,
            has_begun: AtomicBool::new(false),
            is_touched: OnceLock::new(),
            worked: AtomicU64::new(0),
            scan_time: AtomicU64::new(0),
            scanned_edges: AtomicU64::new(0),
            result: Mutex::new(None),
            ended: Condvar::new(),
        }
    }

    /// Puts a job in.
    ///
    /// # Safety
    /// The job must be [taken](Slot::take) out again before its lifetime ends.
    pub unsafe fn put<'j>(&self, job: &'j mut (dyn Job + 'j)) {
        // SAFETY: the two types differ in a lifetime, which the caller guarantees.
        let lent = unsafe { std::mem::transmute::<&'j mut (dyn Job + 'j), Lent>(job) };
        *self.job.write().unwrap_or_else(|lock| lock.into_inner()) = Some(lent);
    }

    /// Takes the job out once no worker uses it.
    pub fn take(&self) {
        *self.job.write().unwrap_or_else(|lock| lock.into_inner()) = None;
    }

    /// Returns the job, for several workers at a time. The calling worker must not use the job
    /// already: while another thread waits to take the job out, this would wait for that thread,
    /// and that thread for this worker.
    pub fn job(&self) -> SharedJob<'_> {
        SharedJob(self.job.read().unwrap_or_else(|lock| lock.into_inner()))
    }

    /// Returns the job, for a worker that may use it already; `None` if another thread has the
    /// job for itself, or waits for that.
    pub fn try_job(&self) -> Option<SharedJob<'_>> {
        match self.job.try_read() {
            Ok(job) => Some(SharedJob(job)),
            Err(TryLockError::Poisoned(lock)) => Some(SharedJob(lock.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Advances the job.
    ///
    /// # Errors
    /// A failure of the job, perhaps an earlier one at a part of it; cancellation; a panic.
    pub fn advance(&self, context: &JobContext<'_>) -> Result<Advanced> {
        if let Some(error) = lock(&self.failure).take() {
            return Err(error);
        }
        self.cancel.check()?;
        let mut job = self.job.write().unwrap_or_else(|lock| lock.into_inner());
        let Some(job) = &mut *job else { return Err(Error::cancelled()) };
        self.has_begun.store(true, Ordering::Relaxed);
        guarded(|| job.advance(context))
    }

    /// Returns whether the next advance returns soon.
    pub fn is_short(&self) -> bool {
        self.is_resumable && self.has_begun.load(Ordering::Relaxed)
    }

    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Returns whether the job stops, because it failed or is cancelled.
    pub fn is_leaving(&self) -> bool {
        self.cancel.is_cancelled() || self.has_failed.load(Ordering::Relaxed)
    }

    /// Notes why the job cannot advance; the first reason counts.
    pub fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Notes that the job is given one of `count` groups of tiles. Returns whether it is the first
    /// time.
    pub fn touch(&self, group: usize, count: usize) -> bool {
        let is_touched =
            self.is_touched.get_or_init(|| (0..count).map(|_| AtomicBool::default()).collect());
        !is_touched[group].swap(true, Ordering::Relaxed)
    }

    /// Returns the clock of the job in nanoseconds.
    pub fn worked(&self) -> u64 {
        self.worked.load(Ordering::Relaxed)
    }

    /// Adds the time that a worker has spent on the job.
    pub fn charge(&self, spent: Duration) {
        self.worked.fetch_add(spent.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Advances the clock of the job to `worked`, unless it is beyond that.
    pub fn catch_up(&self, worked: u64) {
        self.worked.fetch_max(worked, Ordering::Relaxed);
    }

    /// Learns from a part that was done for the job.
    pub fn learn(&self, done: &PartStatistics) {
        self.charge(done.working);
        self.scan_time.fetch_add(done.working.as_nanos() as u64, Ordering::Relaxed);
        self.scanned_edges.fetch_add(done.edges, Ordering::Relaxed);
    }

    /// Returns the picoseconds that the job has taken for an edge so far; 0 before its first part.
    pub fn edge_cost(&self) -> u64 {
        let edges = self.scanned_edges.load(Ordering::Relaxed).max(1);
        self.scan_time.load(Ordering::Relaxed).saturating_mul(1000) / edges
    }

    /// Ends the job with a result.
    pub fn end(&self, result: Result<()>) {
        *lock(&self.result) = Some(result);
        self.ended.notify_all();
    }

    /// Returns whether the job is over.
    pub fn is_over(&self) -> bool {
        lock(&self.result).is_some()
    }

    pub fn wait_until_over(&self) {
        let mut result = lock(&self.result);
        while result.is_none() {
            result = self.ended.wait(result).unwrap_or_else(|lock| lock.into_inner());
        }
    }

    /// Returns the result of the job, once.
    pub fn result(&self) -> Result<()> {
        lock(&self.result).take().unwrap_or(Err(Error::cancelled()))
    }
}

/// A job that several workers use.
pub struct SharedJob<'s>(RwLockReadGuard<'s, Option<Lent>>);

impl<'s> SharedJob<'s> {
    /// Returns the job; `None` if it has left.
    pub fn get(&self) -> Option<&dyn Job> {
        self.0.as_ref().map(|job| &**job as _)
    }

    /// Returns the job apart from this guard, for a struct that holds both.
    ///
    /// # Safety
    /// The guard must be dropped after the last use of the job.
    pub unsafe fn detached(&self) -> Option<&'s dyn Job> {
        let job: *const dyn Job = &**self.0.as_ref()?;
        // SAFETY: the guard keeps the job in its slot, and the slot lives for `'s`.
        Some(unsafe { &*job })
    }
}
