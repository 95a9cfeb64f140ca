//! Which jobs are admitted, in which order, and what happens to the tiles meanwhile.

use std::sync::Mutex;
use std::thread::ScopedJoinHandle;

use tegula_machine::Error as MachineError;
use tegula_testkit::Scratch;

use super::*;
use crate::graph_for_tests::random_graph;
use crate::options::{RunOptions, Tuning};
use crate::program::{Activity, Min, Next, Program};
use crate::scheduler::Scheduler;
use crate::superstep::Superstep;
use crate::{Executor, VertexId, run};

const MEMORY: u64 = 64 << 20;

fn with_scheduler(body: impl FnOnce(&Scheduler<'_>, &RunOptions<'_>)) {
    let scratch = Scratch::new();
    let graph = random_graph(&scratch, MEMORY);
    let options = RunOptions {
        memory: MEMORY,
        threads: 2,
        executor: Executor::Scan,
        tuning: Tuning { part_edges: 1 << 18, ..Tuning::default() },
        ..Default::default()
    };
    let available = graph.reader().pool().available();
    Scheduler::scope(&graph, &options.resources(), |scheduler| {
        body(scheduler, &RunOptions { scheduler: Some(scheduler), ..options.clone() });
    });
    assert_eq!(graph.reader().pool().available(), available, "all memory has come back");
}

/// Returns the bytes for jobs that scan.
fn room(scheduler: &Scheduler<'_>) -> u64 {
    MEMORY - overhead(scheduler.graph) - scheduler.ledger.stream_min(TilesRead::Unweighted)
}

/// Waits until `waiting` jobs wait, including the one of `thread`, which must not have ended.
fn wait_for(scheduler: &Scheduler<'_>, waiting: usize, thread: &ScopedJoinHandle<'_, ()>) {
    while lock(&scheduler.ledger.members).waiting.len() < waiting {
        assert!(!thread.is_finished(), "it was not to get in");
        std::thread::yield_now();
    }
}

#[test]
fn a_job_that_fits_alone_waits_until_there_is_room() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), Cancel::default());
        let happened = Mutex::new(Vec::new());
        let first =
            scheduler.ledger().admit(&[MemoryDemand::scan("first", room / 2 + 1, false)], &cancel);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let demand = MemoryDemand::scan("second", room / 2, false);
                let _second = scheduler.ledger().admit(&[demand], &cancel).unwrap();
                lock(&happened).push("the second gets in");
            });
            wait_for(scheduler, 1, &second);
            lock(&happened).push("the first leaves");
            drop(first);
        });
        assert_eq!(*lock(&happened), ["the first leaves", "the second gets in"]);
    });
}

#[test]
fn jobs_are_admitted_in_the_order_of_arrival() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), Cancel::default());
        let happened = Mutex::new(Vec::new());
        let first = scheduler
            .ledger()
            .admit(&[MemoryDemand::scan("first", room / 2, false)], &cancel)
            .unwrap();
        let come = |name: &'static str, held: u64| {
            let _admitted = scheduler
                .ledger()
                .admit(&[MemoryDemand::scan(name, held, false)], &cancel)
                .unwrap();
            lock(&happened).push(name);
        };
        std::thread::scope(|scope| {
            let large = scope.spawn(|| come("large", room));
            wait_for(scheduler, 1, &large);
            // It would fit at once, but then the large one might wait forever.
            let small = scope.spawn(|| come("small", room / 4));
            wait_for(scheduler, 2, &small);
            drop(first);
        });
        assert_eq!(*lock(&happened), ["large", "small"]);
    });
}

#[test]
fn a_job_cancelled_while_it_waits_makes_way() {
    with_scheduler(|scheduler, _| {
        let (room, cancel, other) = (room(scheduler), Cancel::default(), Cancel::default());
        let first = scheduler
            .ledger()
            .admit(&[MemoryDemand::scan("first", room / 2, false)], &cancel)
            .unwrap();
        std::thread::scope(|scope| {
            let large = scope.spawn(|| {
                let large =
                    scheduler.ledger().admit(&[MemoryDemand::scan("large", room, false)], &other);
                assert!(matches!(large.map(drop), Err(Error::Machine(MachineError::Cancelled))));
            });
            wait_for(scheduler, 1, &large);
            let small = scope.spawn(|| {
                drop(
                    scheduler
                        .ledger()
                        .admit(&[MemoryDemand::scan("small", room / 4, false)], &cancel)
                        .unwrap(),
                );
            });
            wait_for(scheduler, 2, &small);
            other.cancel();
            large.join().unwrap();
            small.join().unwrap();
            drop(first);
        });
    });
}

#[test]
fn a_job_that_can_never_fit_is_refused_at_once() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), Cancel::default());
        let all =
            scheduler.ledger().admit(&[MemoryDemand::scan("all", room, false)], &cancel).unwrap();
        let refused =
            scheduler.ledger().admit(&[MemoryDemand::scan("too much", room + 1, false)], &cancel);
        match refused.map(drop) {
            Err(Error::Machine(MachineError::OverBudget { what, needed, budget })) => {
                assert_eq!((what.as_str(), needed, budget), ("too much", MEMORY + 1, MEMORY));
            }
            other => panic!("{other:?}"),
        }
        drop(all);
    });
}

#[test]
fn a_job_is_admitted_by_the_first_demand_that_fits_now() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), Cancel::default());
        let half = room / 2;
        let ways = || {
            let rich = MemoryDemand::both("rich", half, false, |free| free / 2);
            [
                MemoryDemand::scan("never", room + 1, false),
                rich,
                MemoryDemand::scan("poor", half / 2, false),
            ]
        };
        let rich = scheduler.ledger().admit(&ways(), &cancel).unwrap();
        assert_eq!((rich.choice, rich.taken), (1, (room - half) / 2));
        let poor = scheduler.ledger().admit(&ways(), &cancel).unwrap();
        assert_eq!((poor.choice, poor.taken), (2, 0));
        drop(rich);
        drop(poor);
    });
}

/// Scans again and again; `at` is called before each iteration.
struct Scans<F>(F);

const ITERATIONS: u64 = 9;

impl<F: Fn(u64) + Send + Sync> Program for Scans<F> {
    type State = u32;
    type Reduction = Min<u32>;
    type Weight = ();
    type Aggregate = ();

    fn init(&self, vertex: VertexId, _: u32, (): &mut ()) -> (u32, Activity) {
        (vertex.0 as u32, Activity::Active)
    }
    fn begin_iteration(&mut self, iteration: u64, (): &()) -> Next {
        (self.0)(iteration);
        if iteration < ITERATIONS { Next::Continue } else { Next::Stop }
    }
    fn signal(&self, _: VertexId, id: &u32, _: u32) -> Option<u32> {
        Some(*id)
    }
    fn apply(&self, _: VertexId, _: u32, id: &mut u32, reduced: u32, (): &mut ()) -> Activity {
        *id = reduced.min(*id);
        Activity::Active
    }
}

/// Returns the bytes that a program holds on a scheduler.
fn held_by<P: Program>(_: &P, scheduler: &Scheduler<'_>) -> u64 {
    Superstep::<P>::size(scheduler.graph, scheduler.parts(), scheduler.threads())
}

#[test]
fn tiles_make_room_for_a_job_that_arrives_and_come_back_when_it_leaves() {
    with_scheduler(|scheduler, options| {
        let cancel = Cancel::default();
        let (other, read_before) = (Mutex::new(None), Mutex::new(Vec::new()));
        let idle = Scans(|_| {});
        let left = room(scheduler) - held_by(&idle, scheduler);
        let at = |iteration| {
            let read = scheduler.graph.reader().statistics().bytes_read;
            lock(&read_before).push(read);
            match iteration {
                // This job leaves only what a scan needs.
                3 => {
                    let demand = MemoryDemand::rows("other", left);
                    *lock(&other) = Some(scheduler.ledger().admit(&[demand], &cancel).unwrap());
                }
                6 => drop(lock(&other).take()),
                _ => {}
            }
        };
        let program = Scans(at);
        assert_eq!(held_by(&program, scheduler), held_by(&idle, scheduler));
        let states = run(scheduler.graph, program, options).unwrap().states;
        let read = lock(&read_before).windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
        let all = scheduler.graph.tile_bytes();
        let is_all: Vec<_> = read.iter().map(|&read| read >= all).collect();
        let is_none: Vec<_> = read.iter().map(|&read| read == 0).collect();
        let expected = [true, false, false, true, true, true, true, false, false];
        assert_eq!(is_all, expected, "{read:?} of {all}");
        assert_eq!(is_none, expected.map(|is_all| !is_all), "{read:?} of {all}");
        assert!(run(scheduler.graph, idle, options).unwrap().states == states);
    });
}
