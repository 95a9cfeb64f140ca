//! Loops end when their work has ended, whoever works on them and whatever becomes of it.

use std::sync::Barrier;
use std::thread::current;

use super::*;

/// How often a race is run.
const TIMES: usize = 300;

/// Counts who is in a loop.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    ever: AtomicUsize,
}

struct Leaving<'i>(&'i Inside);

impl Inside {
    /// Somebody is in the loop until what this returns is dropped, by a panic too.
    fn enter(&self) -> Leaving<'_> {
        self.now.fetch_add(1, Ordering::SeqCst);
        self.ever.fetch_add(1, Ordering::SeqCst);
        Leaving(self)
    }

    /// How many ever were, now that there is nobody any more.
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
fn every_number_is_worked_on_once_in_loops_of_any_size() {
    for workers in [1, 2, 5] {
        Workers::scope(workers, |workers| {
            for count in (0..40).chain([1000; 20]) {
                let calls: Vec<_> = (0..count).map(|_| AtomicUsize::new(0)).collect();
                let inside = Inside::default();
                let work = |index: usize| {
                    let _inside = inside.enter();
                    calls[index].fetch_add(1, Ordering::Relaxed);
                    Ok(())
                };
                workers.for_each(count, &Cancel::default(), &work).unwrap();
                assert_eq!(inside.left_by_all(), count);
                assert!(calls.into_iter().all(|calls| calls.into_inner() == 1));
            }
        });
    }
}

#[test]
fn a_failure_in_a_loop_within_loops_ends_those_around_it_and_no_other() {
    Workers::scope(3, |workers| {
        let cancel = Cancel::default();
        for time in 0..TIMES {
            let (inside, undisturbed) = (Inside::default(), Inside::default());
            let inner = |outer: usize| {
                workers.for_each(6, &cancel, &|index| {
                    let _inside = inside.enter();
                    assert!((outer, index) != (2, time % 6), "on purpose");
                    Ok(())
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
                        Ok(())
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
fn a_panic_in_a_helper_reaches_whoever_opened_the_loop() {
    Workers::scope(2, |workers| {
        for _ in 0..TIMES {
            let opener = current().id();
            // Neither goes on before both have begun, so one of the two is a helper.
            let both = Barrier::new(2);
            let inside = Inside::default();
            let work = |_| {
                let _inside = inside.enter();
                both.wait();
                assert!(current().id() == opener, "in a helper");
                Ok(())
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
fn a_failure_ends_a_loop_that_would_never_end() {
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
fn many_loops_at_a_time() {
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
                            Ok(())
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
fn a_loop_whose_helpers_are_all_busy_is_done_by_its_opener() {
    Workers::scope(3, |workers| {
        let cancel = Cancel::default();
        // The two others wait in a loop for the one that is opened meanwhile.
        let (all, inner_is_done) = (Barrier::new(3), Barrier::new(3));
        let outer = |_| {
            if all.wait().is_leader() {
                let done = AtomicUsize::new(0);
                let count = |_| {
                    done.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                };
                workers.for_each(100, &cancel, &count)?;
                assert_eq!(done.into_inner(), 100);
            }
            inner_is_done.wait();
            Ok(())
        };
        workers.for_each(3, &cancel, &outer).unwrap();
    });
}

#[test]
fn workers_go_home_when_their_body_panics() {
    let panicked = std::panic::catch_unwind(|| Workers::scope(3, |_| panic!("on purpose")));
    let Err(panic) = panicked;
    assert_eq!(panic_message(&*panic), "on purpose");
}
