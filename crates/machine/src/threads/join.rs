//! Runs two different pieces of work side by side.

use std::sync::Mutex;

use super::locks::{lock, unlocked};
use super::{Cancel, Workers};
use crate::error::{Error, Result};

/// Does two pieces of work, in parallel where there are two workers.
///
/// # Errors
/// The first failure of the work; [`Error::Cancelled`];
/// [`Error::WorkerFailed`] after a panic.
pub fn join<A: Send, B: Send, E: From<Error> + Send>(
    workers: &Workers,
    cancel: &Cancel,
    first: &(dyn Fn() -> Result<A, E> + Sync),
    second: &(dyn Fn() -> Result<B, E> + Sync),
) -> Result<(A, B), E> {
    let (a, b) = (Mutex::new(None), Mutex::new(None));
    workers.for_each(2, cancel, &|index| {
        match index {
            0 => *lock(&a) = Some(first()?),
            _ => *lock(&b) = Some(second()?),
        }
        Ok::<_, E>(())
    })?;
    match (unlocked(a), unlocked(b)) {
        (Some(a), Some(b)) => Ok((a, b)),
        _ => unreachable!("both are done when no worker has failed"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn both_are_done_or_the_failure_is_returned() {
        for threads in [1, 2, 3] {
            Workers::scope(threads, |workers| {
                let cancel = Cancel::default();
                let both = join(workers, &cancel, &|| Ok(1), &|| Ok::<_, Error>("two")).unwrap();
                assert_eq!(both, (1, "two"));
                let limit = || Error::Limit { what: "the test", found: 2, limit: 1 };
                let failed = join(workers, &cancel, &|| Ok(1), &|| Err::<(), _>(limit()));
                assert!(matches!(failed, Err(Error::Limit { .. })));
                cancel.cancel();
                let cancelled = join(workers, &cancel, &|| Ok(1), &|| Ok::<_, Error>(2));
                assert!(matches!(cancelled, Err(Error::Cancelled)));
            });
        }
    }

    #[test]
    fn two_workers_run_in_parallel() {
        let both = Barrier::new(2);
        let meet = || {
            both.wait();
            Ok::<_, Error>(())
        };
        Workers::scope(2, |workers| join(workers, &Cancel::default(), &meet, &meet)).unwrap();
    }
}
