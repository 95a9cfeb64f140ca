//! Makes results in parallel and takes them in order.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::locks::{lock, unlocked};
use super::{Cancel, Workers};
use crate::error::{Error, Result};

/// Calls `make` for each of `0..count`, `at_once` of them at a time, and `take` with the results in
/// order.
///
/// # Errors
/// The first failure of `make` or `take`; [`Error::Cancelled`];
/// [`Error::WorkerFailed`] after a panic.
pub fn map_in_order<T: Send, E: From<Error> + Send>(
    workers: &Workers,
    at_once: usize,
    count: usize,
    cancel: &Cancel,
    make: &(dyn Fn(usize) -> Result<T, E> + Sync),
    take: &mut dyn FnMut(usize, T) -> Result<(), E>,
) -> Result<(), E> {
    for first in (0..count).step_by(at_once.max(1)) {
        let group = at_once.max(1).min(count - first);
        let made: Vec<Mutex<Option<T>>> = (0..group).map(|_| Mutex::new(None)).collect();
        workers.for_each(group, cancel, &|index| {
            *lock(&made[index]) = Some(make(first + index)?);
            Ok::<_, E>(())
        })?;
        for (index, slot) in made.into_iter().enumerate() {
            let made = unlocked(slot);
            made.map_or(Ok(()), |made| take(first + index, made))?;
        }
    }
    Ok(())
}

/// Like [`map_in_order`], but does not wait between groups: a result that comes early is kept until
/// its turn. Any of the workers may run `take`.
///
/// # Errors
/// The first failure of `make` or `take`; [`Error::Cancelled`];
/// [`Error::WorkerFailed`] after a panic.
pub fn make_in_order<T: Send, E: From<Error> + Send>(
    workers: &Workers,
    count: usize,
    cancel: &Cancel,
    make: &(dyn Fn(usize) -> Result<T, E> + Sync),
    take: &mut (dyn FnMut(usize, T) -> Result<(), E> + Send),
) -> Result<(), E> {
    struct Turn<'a, T, E> {
        next: usize,
        early: BTreeMap<usize, T>,
        take: &'a mut (dyn FnMut(usize, T) -> Result<(), E> + Send),
    }
    let turn = Mutex::new(Turn { next: 0, early: BTreeMap::new(), take });
    workers.for_each(count, cancel, &|index| {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_taken_in_order() {
        for threads in [1, 2, 5] {
            let mut taken = Vec::new();
            let (cancel, square) = (Cancel::default(), |index| Ok::<_, Error>(index * index));
            let mut take = |index, square| {
                taken.push((index, square));
                Ok(())
            };
            Workers::scope(threads, |workers| {
                map_in_order(workers, threads, 23, &cancel, &square, &mut take).unwrap();
                make_in_order(workers, 23, &cancel, &square, &mut take).unwrap();
            });
            let expected = (0..23).chain(0..23).map(|index| (index, index * index));
            assert_eq!(taken, expected.collect::<Vec<_>>());
        }
    }
}
