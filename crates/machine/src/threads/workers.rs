//! A pool of threads that stay awake between short phases.
//!
//! A phase is a *loop*: [`Workers::for_each`] calls a function with each of `0..count`. The thread
//! that opens a loop works on it, and every idle worker joins in. A loop never waits for a worker
//! to come, only for those that joined. So a phase of a few microseconds costs a few microseconds,
//! even where all other workers are busy or asleep.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use super::Cancel;
use super::locks::{lock, unlocked};
use super::start::{start_in, start_workers, workers_within_limit};
use crate::error::{Error, Result};

/// How long an idle worker looks for work before it sleeps. This is longer than the gaps between
/// the short phases of an iteration.
const AWAKE: Duration = Duration::from_micros(50);

/// The workers of a run. See the [module](self).
pub struct Workers {
    count: usize,
    open: Mutex<VecDeque<Arc<Loop>>>,
    bell: Bell,
    is_over: AtomicBool,
}

impl Workers {
    /// Makes workers whose threads are the caller's own. Each thread calls [`Workers::help`] when
    /// it has nothing else to do. `count` is at least 1.
    pub fn new(count: usize) -> Workers {
        let count = workers_within_limit(count);
        Workers {
            count,
            open: Mutex::default(),
            bell: Bell::default(),
            is_over: AtomicBool::new(false),
        }
    }

    /// Calls `body` with `count` workers, one of them the calling thread. The others end with the
    /// call. Where the system starts fewer threads, the existing ones do all the work.
    pub fn scope<R>(count: usize, body: impl FnOnce(&Workers) -> R) -> R {
        let workers = Workers::new(count);
        std::thread::scope(|scope| {
            let _home = SendHome(&workers);
            workers.start_helpers_in(scope);
            body(&workers)
        })
    }

    fn start_helpers_in<'w>(&'w self, scope: &'w Scope<'w, '_>) {
        start_workers(self.count, 1, || {
            start_in(scope, "tegula-work", || self.help_until_over()).map(drop)
        });
    }

    /// Returns the greatest number of workers.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Calls `work` with each of `0..count`. Each worker takes the next number. The first failure
    /// or panic ends the loop.
    ///
    /// # Errors
    /// The first failure; [`Error::Cancelled`]; [`Error::WorkerFailed`] for a panic.
    pub fn for_each<E: From<Error> + Send>(
        &self,
        count: usize,
        cancel: &Cancel,
        work: &(impl Fn(usize) -> Result<(), E> + Sync + ?Sized),
    ) -> Result<(), E> {
        let failure = Mutex::new(None);
        self.run_loop(count, &|index| {
            let done = cancel.check().map_err(E::from).and_then(|()| guarded(|| work(index)));
            done.map_err(|error| _ = lock(&failure).get_or_insert(error)).is_ok()
        });
        unlocked(failure).map_or(Ok(()), Err)
    }

    /// Calls `work` with each of `0..count` until it returns false.
    fn run_loop(&self, count: usize, work: &(dyn Fn(usize) -> bool + Sync)) {
        // SAFETY: only workers that have joined use it, and `ClosingLoop` waits for them before
        // this call ends, even by a panic. A worker that has not joined by then no longer finds the
        // loop.
        let work = unsafe {
            std::mem::transmute::<
                &(dyn Fn(usize) -> bool + Sync),
                &'static (dyn Fn(usize) -> bool + Sync),
            >(work)
        };
        let opened =
            Arc::new(Loop { work, count, next: AtomicUsize::new(0), helpers: AtomicUsize::new(0) });
        if self.count == 1 || count <= 1 {
            opened.run();
        } else {
            lock(&self.open).push_back(Arc::clone(&opened));
            let closing = ClosingLoop { workers: self, opened: &opened };
            self.ring();
            opened.run();
            drop(closing);
        }
    }

    /// Joins the oldest loop that has work left. Returns false where there is none.
    pub fn help(&self) -> bool {
        let joined = {
            let open = lock(&self.open);
            let Some(joined) = open.iter().find(|open| open.has_work()) else { return false };
            // Under the lock: the closing thread first removes the loop and then reads its helpers.
            joined.helpers.fetch_add(1, Ordering::Relaxed);
            Arc::clone(joined)
        };
        joined.run();
        if joined.helpers.fetch_sub(1, Ordering::Release) == 1 {
            self.ring();
        }
        true
    }

    /// Returns whether a loop has work left for another worker.
    pub fn has_open_loop(&self) -> bool {
        lock(&self.open).iter().any(|open| open.has_work())
    }

    /// Wakes all threads in [`wait`](Workers::wait): there may be work.
    pub fn ring(&self) {
        self.bell.ring();
    }

    /// Returns the number of rings so far, for [`Workers::wait`]. Read it before you look for work.
    pub fn rings(&self) -> u64 {
        self.bell.rings.load(Ordering::SeqCst)
    }

    /// Waits until there were more rings than `seen`.
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

/// Ends the threads of a scope when dropped.
struct SendHome<'w>(&'w Workers);

impl Drop for SendHome<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
        self.0.ring();
    }
}

/// An open loop.
struct Loop {
    work: &'static (dyn Fn(usize) -> bool + Sync),
    count: usize,
    next: AtomicUsize,
    /// Workers that joined and have not left.
    helpers: AtomicUsize,
}

impl Loop {
    fn has_work(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.count
    }

    /// Works until no number is left, or the work fails.
    fn run(&self) {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            if index >= self.count {
                return;
            }
            if !(self.work)(index) {
                self.next.store(self.count, Ordering::Relaxed);
                return;
            }
        }
    }
}

/// Removes a loop from the open ones and waits until all helpers have left.
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

/// Wakes workers that wait.
#[derive(Default)]
struct Bell {
    rings: AtomicU64,
    sleeping: AtomicUsize,
    lock: Mutex<()>,
    rung: Condvar,
}

impl Bell {
    /// Costs one atomic addition and one load where nobody sleeps.
    fn ring(&self) {
        self.rings.fetch_add(1, Ordering::SeqCst);
        // Either this thread sees the other about to sleep, or the other sees the ring.
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

/// Calls `work`, and turns a panic into an error.
///
/// # Errors
/// The failure of the work; [`Error::WorkerFailed`] where it panicked.
pub fn guarded<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::WorkerFailed { detail: panic_message(&*panic) }.into()))
}

thread_local! {
    static IS_IN_FOREIGN_CODE: Cell<bool> = const { Cell::new(false) };
}

/// Like [`guarded`], for a call into a library that may panic on a damaged file. Such a panic is
/// not a fault of this program, so the panic hook may ignore it: see [`is_in_foreign_code`].
pub fn guarded_foreign<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let was_in = IS_IN_FOREIGN_CODE.replace(true);
    let done = guarded(work);
    IS_IN_FOREIGN_CODE.set(was_in);
    done
}

/// Returns whether this thread is in a call of [`guarded_foreign`].
pub fn is_in_foreign_code() -> bool {
    IS_IN_FOREIGN_CODE.get()
}

/// Returns the message of a caught panic.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_owned())
}

#[cfg(test)]
mod tests;
