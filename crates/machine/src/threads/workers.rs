//! Several threads at one piece of work, and what they keep between calls.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::error::{Error, Result};
use crate::threads::Cancel;

/// Calls `work` with each of `0..count`, on up to `threads` threads, each the next number. The first
/// failure, or the cancellation, ends it.
///
/// # Errors
/// The first failure; [`Error::Cancelled`]; [`Error::WorkerFailed`] for a panic.
pub fn for_each_index(
    threads: usize,
    count: usize,
    cancel: &Cancel,
    work: &(dyn Fn(usize) -> Result<()> + Sync),
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let failure = Mutex::new(None);
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return;
            }
            if let Err(error) = cancel.check().and_then(|()| guarded(|| work(index))) {
                next.store(count, Ordering::Relaxed);
                lock(&failure).get_or_insert(error);
                return;
            }
        }
    };
    match threads.min(count) {
        0 => {}
        1 => worker(),
        workers => std::thread::scope(|scope| {
            for _ in 1..workers {
                scope.spawn(worker);
            }
            worker();
        }),
    }
    failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()).map_or(Ok(()), Err)
}

/// Makes something of each of `0..count` on several threads, a group of as many as there are threads
/// at a time, and takes the results in order.
///
/// # Errors
/// The first of `make` and `take`; [`Error::Cancelled`]; [`Error::WorkerFailed`] after a panic.
pub fn map_in_order<T: Send>(
    threads: usize,
    count: usize,
    cancel: &Cancel,
    make: &(dyn Fn(usize) -> Result<T> + Sync),
    take: &mut dyn FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    for first in (0..count).step_by(threads.max(1)) {
        let group = threads.max(1).min(count - first);
        let made: Vec<Mutex<Option<T>>> = (0..group).map(|_| Mutex::new(None)).collect();
        for_each_index(threads, group, cancel, &|index| {
            *lock(&made[index]) = Some(make(first + index)?);
            Ok(())
        })?;
        for (index, slot) in made.into_iter().enumerate() {
            let made = slot.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
            made.map_or(Ok(()), |made| take(first + index, made))?;
        }
    }
    Ok(())
}

/// As [`map_in_order`], without a wait between groups: what is made too early is kept until its turn.
/// `take` runs on whichever thread comes by.
///
/// # Errors
/// The first of `make` and `take`; [`Error::Cancelled`]; [`Error::WorkerFailed`] after a panic.
pub fn make_in_order<T: Send>(
    threads: usize,
    count: usize,
    cancel: &Cancel,
    make: &(dyn Fn(usize) -> Result<T> + Sync),
    take: &mut (dyn FnMut(usize, T) -> Result<()> + Send),
) -> Result<()> {
    struct Turn<'a, T> {
        next: usize,
        early: BTreeMap<usize, T>,
        take: &'a mut (dyn FnMut(usize, T) -> Result<()> + Send),
    }
    let turn = Mutex::new(Turn { next: 0, early: BTreeMap::new(), take });
    for_each_index(threads, count, cancel, &|index| {
        let made = make(index)?;
        let turn = &mut *lock(&turn);
        turn.early.insert(index, made);
        while let Some(made) = turn.early.remove(&turn.next) {
            (turn.take)(turn.next, made)?;
            turn.next += 1;
        }
        Ok(())
    })
}

/// Turns a panic into an error.
fn guarded(work: impl FnOnce() -> Result<()>) -> Result<()> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|panic| Err(Error::WorkerFailed { detail: panic_message(&*panic) }))
}

/// The message of a panic that was caught.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "it panicked".to_owned())
}

/// Locks; a panic that poisoned the lock is reported where it happened.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Buffers of workers that do not know which worker they are: whoever calls takes one and gives it
/// back. There are never more than calls at one time.
pub struct Stash<T>(Mutex<Vec<T>>);

impl<T> Default for Stash<T> {
    fn default() -> Stash<T> {
        Stash(Mutex::new(Vec::new()))
    }
}

impl<T> Stash<T> {
    /// Lends a buffer, a new one where all are in use.
    pub fn with<R>(&self, new: impl FnOnce() -> T, work: impl FnOnce(&mut T) -> R) -> R {
        let kept = lock(&self.0).pop();
        let mut item = kept.unwrap_or_else(new);
        let result = work(&mut item);
        lock(&self.0).push(item);
        result
    }

    /// All buffers, once nobody uses them any more.
    pub fn into_items(self) -> Vec<T> {
        self.0.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn every_index_is_worked_on_once() {
        for threads in [0, 1, 2, 7] {
            let sum = AtomicU64::new(0);
            let add = |index| {
                sum.fetch_add(1u64 << index, Ordering::Relaxed);
                Ok(())
            };
            for_each_index(threads.max(1), 40, &Cancel::default(), &add).unwrap();
            assert_eq!(sum.into_inner(), (1 << 40) - 1);
        }
    }

    #[test]
    fn results_are_taken_in_order() {
        for threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let mut take = |index, square| {
                taken.push((index, square));
                Ok(())
            };
            map_in_order(threads, 23, &Cancel::default(), &|index| Ok(index * index), &mut take)
                .unwrap();
            make_in_order(
                threads,
                23,
                &Cancel::default(),
                &|index| Ok(index * index),
                &mut |index, square| {
                    taken.push((index, square));
                    Ok(())
                },
            )
            .unwrap();
            let expected = (0..23).chain(0..23).map(|index| (index, index * index));
            assert_eq!(taken, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_failure_a_panic_and_a_cancellation_end_the_work() {
        let cancel = Cancel::default();
        let fail = |index| if index == 3 { Err(Error::Cancelled) } else { Ok(()) };
        assert!(matches!(for_each_index(2, 100, &cancel, &fail), Err(Error::Cancelled)));
        let panic = |index: usize| if index == 3 { panic!("at three") } else { Ok(()) };
        match for_each_index(2, 100, &cancel, &panic) {
            Err(Error::WorkerFailed { detail }) => assert_eq!(detail, "at three"),
            other => panic!("{other:?}"),
        }
        cancel.cancel();
        assert!(for_each_index(2, 100, &cancel, &|_| Ok(())).is_err());
    }
}
