//! Threads that work on one thing after the other, and stay awake between short phases.
//!
//! A phase is a *loop*: [`Workers::for_each`] calls a function with each of `0..count`. Whoever opens a loop
//! works on it, and every worker that has nothing else to do joins in. So a loop never waits for a worker to
//! come, only for those that came: a phase of a few microseconds costs a few microseconds, also where all
//! others are busy or asleep.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Cancel;
use super::locks::lock;
use super::start::{start_in, start_workers, workers_within_limit};
use crate::error::{Error, Result};

/// For how long a worker without work looks for some before it sleeps: longer than what lies between the
/// short phases of an iteration.
const AWAKE: Duration = Duration::from_micros(50);

/// The workers of a run. See the [module](self).
pub struct Workers {
    count: usize,
    open: Mutex<VecDeque<Arc<Loop>>>,
    bell: Bell,
    is_over: AtomicBool,
}

impl Workers {
    /// Workers whose threads are the caller's own: each is to call [`Workers::help`] where it has nothing
    /// else to do. `count` is at least 1.
    pub fn new(count: usize) -> Workers {
        let count = workers_within_limit(count);
        Workers {
            count,
            open: Mutex::default(),
            bell: Bell::default(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Calls `body` with `count` workers, the calling thread among them. The others end with the call. Where the
    /// system starts fewer threads, those that there are do all the work.
    pub fn scope<R>(count: usize, body: impl FnOnce(&Workers) -> R) -> R {
        let workers = Workers::new(count);
        std::thread::scope(|scope| {
            let _home = SendHome(&workers);
            start_workers(workers.count, 1, || {
                start_in(scope, "tegula-work", || workers.help_until_over()).map(drop)
            });
            body(&workers)
        })
    }

    /// How many there are at the most.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `work` with each of `0..count`, each worker with the next number. The first failure, a panic
    /// too, ends it.
    ///
    /// # Errors
    /// The first failure; [`Error::Cancelled`]; [`Error::WorkerFailed`] for a panic.
    pub fn for_each(
        &self,
        count: usize,
        cancel: &Cancel,
        work: &(dyn Fn(usize) -> Result<()> + Sync),
    ) -> Result<()> {
        // SAFETY: only workers that have joined use it, and `ClosingLoop` waits for them before this call ends,
        // by a panic too. Who has not joined by then finds the loop gone.
        let work = unsafe {
            std::mem::transmute::<
                &(dyn Fn(usize) -> Result<()> + Sync),
                &'static (dyn Fn(usize) -> Result<()> + Sync),
            >(work)
        };
        let opened = Arc::new(Loop {
            work,
            count,
            cancel: cancel.clone(),
            next: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            failure: Mutex::new(None),
        });
        if self.count == 1 || count <= 1 {
            opened.run();
        } else {
            lock(&self.open).push_back(Arc::clone(&opened));
            let closing = ClosingLoop { workers: self, opened: &opened };
            self.ring();
            opened.run();
            drop(closing);
        }
        lock(&opened.failure).take().map_or(Ok(()), Err)
    }

    /// Joins in the oldest loop that has work left. False where there is none.
    pub fn help(&self) -> bool {
        let joined = {
            let open = lock(&self.open);
            let Some(joined) = open.iter().find(|open| open.has_work()) else { return false };
            // Under the lock: whoever closes the loop takes it out first and then looks at its helpers.
            joined.helpers.fetch_add(1, Ordering::Relaxed);
            Arc::clone(joined)
        };
        joined.run();
        if joined.helpers.fetch_sub(1, Ordering::Release) == 1 {
            self.ring();
        }
        true
    }

    /// Whether a loop has work left for whoever joins in.
    pub fn has_open_loop(&self) -> bool {
        lock(&self.open).iter().any(|open| open.has_work())
    }

    /// Wakes all that [wait](Workers::wait): there may be something to do.
    pub fn ring(&self) {
        self.bell.ring();
    }

    /// How often it was rung, for [`Workers::wait`]. To be asked before looking for work.
    pub fn rings(&self) -> u64 {
        self.bell.rings.load(Ordering::SeqCst)
    }

    /// Waits until it was rung more often than `seen`.
    pub fn wait(&self, seen: u64) {
        self.bell.wait(seen);
    }

    fn help_until_over(&self) {
        loop {
            let seen = self.rings();
            if !self.help() {
                if self.is_over.load(Ordering::Acquire) {
                    return;
                }
                self.wait(seen);
            }
        }
    }
}

/// Sends the threads of a scope home.
struct SendHome<'w>(&'w Workers);

impl Drop for SendHome<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
        self.0.ring();
    }
}

/// A loop that is open.
struct Loop {
    work: &'static (dyn Fn(usize) -> Result<()> + Sync),
    count: usize,
    cancel: Cancel,
    next: AtomicUsize,
    /// Workers that joined and have not left.
    helpers: AtomicUsize,
    failure: Mutex<Option<Error>>,
}

impl Loop {
    fn has_work(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.count
    }

    /// Works until no number is left.
    fn run(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                return;
            }
            let done = self.cancel.check().and_then(|()| guarded(|| (self.work)(index)));
            if let Err(error) = done {
                self.next.store(self.count, Ordering::Relaxed);
                lock(&self.failure).get_or_insert(error);
                return;
            }
        }
    }
}

/// Takes a loop out of those that are open and waits until all helpers have left.
struct ClosingLoop<'w> {
    workers: &'w Workers,
    opened: &'w Arc<Loop>,
}

impl Drop for ClosingLoop<'_> {
    fn drop(&mut self) {
        lock(&self.workers.open).retain(|open| !Arc::ptr_eq(open, self.opened));
        loop {
            let seen = self.workers.rings();
            if self.opened.helpers.load(Ordering::Acquire) == 0 {
                return;
            }
            self.workers.wait(seen);
        }
    }
}

/// What wakes workers.
#[derive(Default)]
struct Bell {
    rings: AtomicU64,
    sleeping: AtomicUsize,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Bell {
    /// Costs no more than an atomic addition where nobody sleeps.
    fn ring(&self) {
        self.rings.fetch_add(1, Ordering::SeqCst);
        // Either this sees that somebody is about to sleep, or that one sees the ring.
        if self.sleeping.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.lock));
            self.rung.notify_all();
        }
    }

    fn wait(&self, seen: u64) {
        let began = Instant::now();
        while began.elapsed() < AWAKE {
            for _ in 0..32 {
                if self.rings.load(Ordering::SeqCst) != seen {
                    return;
                }
                std::hint::spin_loop();
            }
        }
        self.sleeping.fetch_add(1, Ordering::SeqCst);
        let mut guard = lock(&self.lock);
        while self.rings.load(Ordering::SeqCst) == seen {
            guard = self.rung.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        self.sleeping.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Turns a panic into an error.
///
/// # Errors
/// Those of the work; [`Error::WorkerFailed`] where it panicked.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::WorkerFailed { detail: panic_message(&*panic) }))
}

thread_local! {
    static IS_IN_FOREIGN_CODE: Cell<bool> = const { Cell::new(false) };
}

/// As [`guarded`], for a call of a library that may panic at a damaged file. That is no fault of this program, so the
/// hook for panics may pass over it: see [`is_in_foreign_code`].
///
/// # Errors
/// Those of [`guarded`].
pub fn guarded_foreign<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let was_in = IS_IN_FOREIGN_CODE.replace(true);
    let done = guarded(work);
    IS_IN_FOREIGN_CODE.set(was_in);
    done
}

/// Whether this thread is in a call of [`guarded_foreign`].
pub fn is_in_foreign_code() -> bool {
    IS_IN_FOREIGN_CODE.get()
}

/// The message of a panic that was caught.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_owned())
}

#[cfg(test)]
mod tests;
