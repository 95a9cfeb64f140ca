//! Which jobs are admitted, in which order, and what happens to the tiles meanwhile.

use std::sync::Mutex;
use std::thread::ScopedJoinHandle;

use tegula_machine::Error as MachineError;
use tegula_testkit::{Scratch, XorShift};

use super::members::Member;
use super::*;
use crate::graph_for_tests::random_graph;
use crate::memory::{RESULT_OVERHEAD, arrays_size};
use crate::options::{RunOptions, Tuning};
use crate::program::{Activity, Min, Next, Program};
use crate::scheduler::Scheduler;
use crate::scheduler::shared::Share;
use crate::{Executor, VertexId, run};

const MEMORY: u64 = 64 << 20;

fn with_scheduler(body: impl FnOnce(&Scheduler<'_>, &RunOptions<'_>)) {
    let scratch = Scratch::new();
    let graph = random_graph(&scratch, MEMORY);
    let options = RunOptions {
        memory: MEMORY,
        threads: 2,
        executor: Executor::Scan,
        tuning: Tuning { part_edges: Some(1 << 18), ..Tuning::default() },
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
        let first = scheduler.ledger().admit(
            &[MemoryDemand::scan("first", room / 2 + 1, false)],
            None,
            &cancel,
        );
        std::thread::scope(|scope| {
            let second = scope.spawn(|| {
                let demand = MemoryDemand::scan("second", room / 2, false);
                let _second = scheduler.ledger().admit(&[demand], None, &cancel).unwrap();
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
            .admit(&[MemoryDemand::scan("first", room / 2, false)], None, &cancel)
            .unwrap();
        let come = |name: &'static str, held: u64| {
            let _admitted = scheduler
                .ledger()
                .admit(&[MemoryDemand::scan(name, held, false)], None, &cancel)
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
            .admit(&[MemoryDemand::scan("first", room / 2, false)], None, &cancel)
            .unwrap();
        std::thread::scope(|scope| {
            let large = scope.spawn(|| {
                let large = scheduler.ledger().admit(
                    &[MemoryDemand::scan("large", room, false)],
                    None,
                    &other,
                );
                assert!(matches!(large.map(drop), Err(Error::Machine(MachineError::Cancelled))));
            });
            wait_for(scheduler, 1, &large);
            let small = scope.spawn(|| {
                drop(
                    scheduler
                        .ledger()
                        .admit(&[MemoryDemand::scan("small", room / 4, false)], None, &cancel)
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
        let all = scheduler
            .ledger()
            .admit(&[MemoryDemand::scan("all", room, false)], None, &cancel)
            .unwrap();
        let refused = scheduler.ledger().admit(
            &[MemoryDemand::scan("too much", room + 1, false)],
            None,
            &cancel,
        );
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
        let rich = scheduler.ledger().admit(&ways(), None, &cancel).unwrap();
        assert_eq!((rich.choice, rich.taken), (1, (room - half) / 2));
        let poor = scheduler.ledger().admit(&ways(), None, &cancel).unwrap();
        assert_eq!((poor.choice, poor.taken), (2, 0));
        drop(rich);
        drop(poor);
    });
}

/// Reserves `own` bytes and those for a scan.
fn reserve<'s>(scheduler: &'s Scheduler<'_>, own: u64, cancel: &Cancel) -> Reserve<'s> {
    let stream = scheduler.ledger.stream_min(TilesRead::Unweighted);
    scheduler.ledger().reserve(own + stream, cancel).unwrap()
}

#[test]
fn a_reserve_holds_its_memory_between_runs_until_it_is_dropped() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), Cancel::default());
        let happened = Mutex::new(Vec::new());
        let half = room / 2;
        let reserve = reserve(scheduler, half, &cancel);
        let run = |reserve: &Reserve<'_>, held| {
            let demand = MemoryDemand::scan("a run", held, false);
            drop(scheduler.ledger().admit(&[demand], Some(reserve), &cancel).unwrap());
        };
        std::thread::scope(|scope| {
            run(&reserve, half);
            let other = scope.spawn(|| {
                let demand = MemoryDemand::scan("other", half + 1, false);
                let _other = scheduler.ledger().admit(&[demand], None, &cancel).unwrap();
                lock(&happened).push("the other gets in");
            });
            wait_for(scheduler, 1, &other);
            // It came later, but its memory is reserved: waiting would block both.
            run(&reserve, half / 2);
            wait_for(scheduler, 1, &other);
            lock(&happened).push("the reserve is dropped");
            drop(reserve);
        });
        assert_eq!(*lock(&happened), ["the reserve is dropped", "the other gets in"]);
    });
}

#[test]
fn a_run_takes_more_than_is_reserved_while_nobody_waits_and_its_result_stays() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), Cancel::default());
        let reserve = reserve(scheduler, room / 4, &cancel);
        let ways = || {
            let all = MemoryDemand::both("all", room / 2, false, |free| free);
            [all, MemoryDemand::scan("least", room / 4, false)]
        };
        let run = |reserve: &Reserve<'_>| {
            scheduler.ledger().admit(&ways(), Some(reserve), &cancel).unwrap()
        };
        let held = || lock(&scheduler.ledger.members).held(|_| 0);
        let rich = run(&reserve);
        assert_eq!((rich.choice, rich.taken, held()), (0, room - room / 2, room));
        drop(rich);
        assert_eq!(held(), room / 2, "its least bytes may be the result");
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let demand = MemoryDemand::scan("other", room / 2 + 1, false);
                let _other = scheduler.ledger().admit(&[demand], None, &cancel).unwrap();
            });
            wait_for(scheduler, 1, &other);
            let poor = run(&reserve);
            assert_eq!((poor.choice, poor.taken), (1, 0), "it gets no more than was held");
            drop(poor);
            drop(reserve);
        });
    });
}

#[test]
fn a_second_writer_gets_memory_only_if_it_is_free_and_nobody_waits() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), Cancel::default());
        let held = || lock(&scheduler.ledger.members).held(|_| 0);
        let writer = scheduler.writer_memory().unwrap();
        assert_eq!(held(), RESULT_OVERHEAD);
        drop(writer);
        assert_eq!(held(), 0);
        let most = reserve(scheduler, room - RESULT_OVERHEAD + 1, &cancel);
        assert!(scheduler.writer_memory().is_none(), "there is no room");
        drop(most);
        let half = reserve(scheduler, room / 2, &cancel);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| drop(reserve(scheduler, room / 2 + 1, &cancel)));
            wait_for(scheduler, 1, &other);
            assert!(scheduler.writer_memory().is_none(), "another one waits");
            drop(half);
        });
    });
}

#[test]
fn a_run_that_needs_more_than_its_reserve_is_refused_if_no_run_will_leave() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), Cancel::default());
        let small = reserve(scheduler, room / 4, &cancel);
        let _other = scheduler.ledger().reserve(room / 2, &cancel).unwrap();
        let demand = MemoryDemand::scan("a run", room / 2 + 2, false);
        let refused = scheduler.ledger().admit(&[demand], Some(&small), &cancel).map(drop);
        let is_refused = matches!(
            refused,
            Err(Error::Machine(MachineError::OverBudget { needed, budget, .. })) if needed > budget
        );
        assert!(is_refused, "{refused:?}");
    });
}

#[test]
fn jobs_within_reserves_never_block_each_other_and_stay_within_the_budget() {
    with_scheduler(|scheduler, _| {
        let (room, cancel) = (room(scheduler), &Cancel::default());
        let share = Share { key: SharedKey::OutDegrees, least: room / 16 };
        let check = &|| {
            let members = lock(&scheduler.ledger.members);
            let is_running = |reserve: u64| {
                let run = Role::Run { within: Some(reserve) };
                members.admitted.iter().any(|member| member.role == run)
            };
            let used = |member: &Member| match member.role {
                Role::Run { .. } => member.held + member.taken,
                Role::Reserve { .. } if is_running(member.number) => 0,
                // The answer is made and written.
                Role::Reserve { kept } => member.held.max(kept),
            };
            let used: u64 = members.admitted.iter().map(used).sum();
            let shared: u64 = members.shared.iter().map(|shared| shared.held).sum();
            let tiles = scheduler.ledger.stream_min(members.tiles());
            let room = MEMORY - overhead(scheduler.graph);
            assert!(used + shared + tiles <= room, "{used}, {shared} and {tiles} of {room}");
        };
        std::thread::scope(|scope| {
            for seed in 1..=8 {
                scope.spawn(move || {
                    let mut random = XorShift::new(seed);
                    for _ in 0..20 {
                        let own = share.least + random.below(room / 2);
                        let reserve = reserve(scheduler, own, cancel);
                        for _ in 0..random.below(4) {
                            let least = own - share.least;
                            let rich =
                                MemoryDemand::both("rich", least * 2, false, |free| free / 2);
                            let poor = MemoryDemand::scan("poor", least, false);
                            let ways = [rich, poor].map(|way| way.with_share(Some(share)));
                            let ledger = scheduler.ledger();
                            let _run = ledger.admit(&ways, Some(&reserve), cancel).unwrap();
                            check();
                            std::thread::yield_now();
                        }
                        check();
                    }
                });
            }
        });
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
    arrays_size::<P>(scheduler.graph, scheduler.parts(), scheduler.threads())
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
                    *lock(&other) =
                        Some(scheduler.ledger().admit(&[demand], None, &cancel).unwrap());
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
