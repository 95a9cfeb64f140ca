//! Two different pieces of work side by side.

use std::sync::Mutex;

use super::locks::{lock, unlocked};
use super::{Cancel, Workers};
use crate::error::{Error, Result};

/// Does two pieces of work, side by side where there are two workers.
///
/// # Errors
/// Those of the work; [`Error::Cancelled`]; [`Error::WorkerFailed`] after a panic.
pub fn join<A: Send, B: Send>(
    workers: &Workers,
    cancel: &Cancel,
    first: &(dyn Fn() -> Result<A> + Sync),
    second: &(dyn Fn() -> Result<B> + Sync),
) -> Result<(A, B)> {
    let (a, b) = (Mutex::new(None), Mutex::new(None));
    workers.for_each(2, cancel, &|index| {
        match index {
            0 => *lock(&a) = Some(first()?),
            _ => *lock(&b) = Some(second()?),
        }
        Ok(())
    })?;
    unlocked(a).zip(unlocked(b)).ok_or(Error::Cancelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_done_or_the_failure_is_told() {
        for threads in [1, 2, 3] {
            Workers::scope(threads, |workers| {
                let cancel = Cancel::default();
                let both = join(workers, &cancel, &|| Ok(1), &|| Ok("two")).unwrap();
                assert_eq!(both, (1, "two"));
                let failed = join(workers, &cancel, &|| Ok(1), &|| Err::<(), _>(Error::Cancelled));
                assert!(failed.is_err());
                cancel.cancel();
                assert!(join(workers, &cancel, &|| Ok(1), &|| Ok(2)).is_err());
            });
        }
    }
}
