//! A loop ends exactly when its work has ended, also after failures and panics.

use std::sync::Barrier;
use std::thread::current;

use super::*;

/// How often a race is run.
const TIMES: usize = 300;

/// Counts the threads in a loop.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    ever: AtomicUsize,
}

struct Leaving<'i>(&'i Inside);

impl Inside {
    /// Counts the caller as in the loop until the result is dropped, also by a panic.
    fn enter(&self) -> Leaving<'_> {
        self.now.fetch_add(1, Ordering::SeqCst);
        self.ever.fetch_add(1, Ordering::SeqCst);
        Leaving(self)
    }

    /// Asserts that nobody is in the loop, and returns how many ever were.
    #[track_caller]
    fn left_by_all(&self) -> usize {
        assert_eq!(
            self.now.load(Ordering::SeqCst),
            0,
            "the loop has ended while somebody is in it"
        );
        self.ever.load(Ordering::SeqCst)
    }
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

#[test]
fn a_loop_of_any_size_visits_every_number_once() {
    for workers in [1, 2, 5] {
        Workers::scope(workers, |workers| {
            for count in (0..40).chain([1000; 20]) {
                let calls: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                let inside = Inside::default();
                let work = |index: usize| {
                    let _inside = inside.enter();
                    calls[index].fetch_add(1, Ordering::Relaxed);
                    Ok::<_, Error>(())
                };
                workers.for_each(count, &Cancel::default(), &work).unwrap();
                assert_eq!(inside.left_by_all(), count);
                assert!(calls.into_iter().all(|calls| calls.into_inner() == 1));
            }
        });
    }
}

#[test]
fn a_failure_ends_the_enclosing_loops_and_no_others() {
    Workers::scope(3, |workers| {
        let cancel = Cancel::default();
        for time in 0..TIMES {
            let (inside, undisturbed) = (Inside::default(), Inside::default());
            let inner = |outer: usize| {
                workers.for_each(6, &cancel, &|index| {
                    let _inside = inside.enter();
                    assert!((outer, index) != (2, time % 6), "on purpose");
                    Ok::<_, Error>(())
                })
            };
            let disturbed = || match workers.for_each(4, &cancel, &inner) {
                Err(Error::WorkerFailed { detail }) => assert_eq!(detail, "on purpose"),
                other => panic!("{other:?}"),
            };
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let work = |_| {
                        let _inside = undisturbed.enter();
                        Ok::<_, Error>(())
                    };
                    workers.for_each(50, &cancel, &work).unwrap();
                    assert_eq!(undisturbed.left_by_all(), 50);
                });
                disturbed();
                inside.left_by_all();
            });
        }
    });
}

#[test]
fn a_panic_in_a_helper_reaches_the_opener_of_the_loop() {
    Workers::scope(2, |workers| {
        for _ in 0..TIMES {
            let opener = current().id();
            // Neither call goes on before both have begun, so one of the two is a helper.
            let both = Barrier::new(2);
            let inside = Inside::default();
            let work = |_| {
                let _inside = inside.enter();
                both.wait();
                assert!(current().id() == opener, "in a helper");
                Ok::<_, Error>(())
            };
            match workers.for_each(2, &Cancel::default(), &work) {
                Err(Error::WorkerFailed { detail }) => assert_eq!(detail, "in a helper"),
                other => panic!("{other:?}"),
            }
            assert_eq!(inside.left_by_all(), 2);
        }
    });
}

#[test]
fn a_failure_ends_an_almost_endless_loop() {
    for count in [1, 4] {
        Workers::scope(count, |workers| {
            for _ in 0..TIMES {
                let inside = Inside::default();
                let work = |index| {
                    let _inside = inside.enter();
                    if index == 5 { Err(Error::Cancelled) } else { Ok(()) }
                };
                let failed = workers.for_each(usize::MAX / 2, &Cancel::default(), &work);
                assert!(matches!(failed, Err(Error::Cancelled)));
                assert!(inside.left_by_all() >= 6);
            }
        });
    }
}

#[test]
fn many_loops_run_at_the_same_time() {
    Workers::scope(3, |workers| {
        let cancel = Cancel::default();
        std::thread::scope(|scope| {
            for opener in 0..6 {
                let cancel = &cancel;
                scope.spawn(move || {
                    for time in 0..TIMES {
                        let (inside, count) = (Inside::default(), (opener * time) % 17);
                        let work = |_| {
                            let _inside = inside.enter();
                            Ok::<_, Error>(())
                        };
                        workers.for_each(count, cancel, &work).unwrap();
                        assert_eq!(inside.left_by_all(), count);
                    }
                });
            }
        });
    });
}

#[test]
fn the_opener_finishes_a_loop_while_all_helpers_are_busy() {
    Workers::scope(3, |workers| {
        let cancel = Cancel::default();
        // The two other workers wait in a loop until the inner one is done.
        let (all, inner_is_done) = (Barrier::new(3), Barrier::new(3));
        let outer = |_| {
            if all.wait().is_leader() {
                let done = AtomicUsize::new(0);
                let count = |_| {
                    done.fetch_add(1, Ordering::Relaxed);
                    Ok::<_, Error>(())
                };
                workers.for_each(100, &cancel, &count)?;
                assert_eq!(done.into_inner(), 100);
            }
            inner_is_done.wait();
            Ok::<_, Error>(())
        };
        workers.for_each(3, &cancel, &outer).unwrap();
    });
}

#[test]
fn workers_end_when_their_body_panics() {
    let panicked = std::panic::catch_unwind(|| Workers::scope(3, |_| panic!("on purpose")));
    let Err(panic) = panicked;
    assert_eq!(panic_message(&*panic), "on purpose");
}
