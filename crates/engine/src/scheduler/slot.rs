//! The place of one job in a scheduler.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, RwLock, RwLockReadGuard};

use tegula_machine::threads::{Cancel, guarded, lock};
use tegula_machine::{Error, Result};

use crate::job::context::JobContext;
use crate::job::{Advanced, Job};

/// A job that is lent to the scheduler by the call that waits for it.
type Lent = &'static mut dyn Job;

/// Where workers find a job, and leave what became of it.
pub struct Slot {
    /// Shared while parts are processed, exclusive while the job advances.
    job: RwLock<Option<Lent>>,
    cancel: Cancel,
    /// Why the job cannot go on.
    failure: Mutex<Option<Error>>,
    has_failed: AtomicBool,
    /// Whether the job comes back from [`Job::advance`] soon.
    pub is_resumable: bool,
    result: Mutex<Option<Result<()>>>,
    /// Rung when the job is over.
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
            result: Mutex::new(None),
            ended: Condvar::new(),
        }
    }

    /// Puts a job in.
    ///
    /// # Safety
    /// It is to be [taken](Slot::take) out again before its lifetime ends.
    pub unsafe fn put<'j>(&self, job: &'j mut (dyn Job + 'j)) {
        // SAFETY: the two types differ in a lifetime, which the caller guarantees.
        let lent = unsafe { std::mem::transmute::<&'j mut (dyn Job + 'j), Lent>(job) };
        *self.job.write().unwrap_or_else(|lock| lock.into_inner()) = Some(lent);
    }

    /// Takes the job out, as soon as no worker is at it.
    pub fn take(&self) {
        *self.job.write().unwrap_or_else(|lock| lock.into_inner()) = None;
    }

    /// The job, for several workers at a time.
    pub fn job(&self) -> SharedJob<'_> {
        SharedJob(self.job.read().unwrap_or_else(|lock| lock.into_inner()))
    }

    /// Lets the job go on.
    ///
    /// # Errors
    /// Those of the job; what a worker has found at its parts; cancellation; a panic.
    pub fn advance(&self, context: &JobContext<'_>) -> Result<Advanced> {
        if let Some(error) = lock(&self.failure).take() {
            return Err(error);
        }
        self.cancel.check()?;
        let mut job = self.job.write().unwrap_or_else(|lock| lock.into_inner());
        let Some(job) = &mut *job else { return Err(Error::Cancelled) };
        guarded(|| job.advance(context))
    }

    pub fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Whether the job does not go on, because it failed or is cancelled.
    pub fn is_leaving(&self) -> bool {
        self.cancel.is_cancelled() || self.has_failed.load(Ordering::Relaxed)
    }

    /// Notes why the job cannot go on; the first reason counts.
    pub fn fail(&self, error: Error) {
        lock(&self.failure).get_or_insert(error);
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// The job is over.
    pub fn end(&self, result: Result<()>) {
        *lock(&self.result) = Some(result);
        self.ended.notify_all();
    }

    /// Whether the job is over.
    pub fn is_over(&self) -> bool {
        lock(&self.result).is_some()
    }

    pub fn wait_until_over(&self) {
        let mut result = lock(&self.result);
        while result.is_none() {
            result = self.ended.wait(result).unwrap_or_else(|lock| lock.into_inner());
        }
    }

    /// What became of the job; once.
    pub fn result(&self) -> Result<()> {
        lock(&self.result).take().unwrap_or(Err(Error::Cancelled))
    }
}

/// A job that several workers are at.
pub struct SharedJob<'s>(RwLockReadGuard<'s, Option<Lent>>);

impl SharedJob<'_> {
    /// The job; none where it has left.
    pub fn get(&self) -> Option<&dyn Job> {
        self.0.as_ref().map(|job| &**job as _)
    }
}
