//! Whatever happens to a rank, no other one hangs.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use tegula_comm::{AbortOnPanic, Comm, Error, Loss, Result, Sim, SimConfig, Tag, Threads};
use tegula_machine::threads::Cancel;

use super::harness::{Transport, disturbed, run_on};

fn aborted(rank: usize, reason: &str) -> Error {
    Error::Aborted { rank, reason: reason.to_owned() }
}

#[test]
fn an_abort_wakes_every_rank_with_the_first_reason() {
    for transport in Transport::all() {
        for aborting in 0..4 {
            let errors = transport.run(4, |comm, cancel| {
                if comm.rank() == aborting {
                    // The others wait by now, or find the abort when they come.
                    comm.poll((aborting + 1) % 4, Tag(9)).unwrap();
                    comm.abort("the disk is full");
                    comm.abort("a later reason");
                }
                let errors = [
                    comm.receive(aborting, Tag(0), cancel).unwrap_err(),
                    comm.send(aborting, Tag(0), vec![1]).unwrap_err(),
                    comm.poll(comm.rank(), Tag(0)).unwrap_err(),
                    comm.barrier(Tag(1), cancel).unwrap_err(),
                ];
                comm.abort("an even later reason");
                errors
            });
            let first = aborted(aborting, "the disk is full");
            assert!(errors.iter().flatten().all(|error| *error == first), "{transport:?}");
        }
    }
}

#[test]
fn ranks_that_abort_at_once_agree_on_the_first() {
    const SIZE: usize = 8;
    for transport in Transport::all() {
        for _ in 0..50 {
            let all = Barrier::new(SIZE);
            let errors = transport.run(SIZE, |comm, cancel| {
                all.wait();
                comm.abort("at once");
                comm.receive(0, Tag(0), cancel).unwrap_err()
            });
            assert!((0..SIZE).any(|rank| errors[0] == aborted(rank, "at once")), "{}", errors[0]);
            assert_eq!(errors, vec![errors[0].clone(); SIZE], "{transport:?}");
        }
    }
}

#[test]
fn a_cancelled_rank_stops_waiting_soon() {
    for transport in Transport::all() {
        let ranks = transport.ranks(2);
        let cancel = Cancel::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| ranks[0].receive(1, Tag(0), &cancel));
            std::thread::park_timeout(Duration::from_millis(20));
            assert!(!waiting.is_finished(), "{transport:?}");
            let began = Instant::now();
            cancel.cancel();
            // 100 ms are promised; the rest is for a machine with other work.
            while !waiting.is_finished() && began.elapsed() < Duration::from_secs(5) {
                std::thread::yield_now();
            }
            let is_in_time = waiting.is_finished();
            ranks[1].send(0, Tag(0), Vec::new()).unwrap();
            assert_eq!(waiting.join().unwrap(), Err(Error::Cancelled));
            assert!(is_in_time, "{transport:?}");
        });
        // The other rank is not cancelled.
        ranks[0].send(1, Tag(0), vec![1]).unwrap();
        assert_eq!(ranks[1].receive(0, Tag(0), &Cancel::default()), Ok(vec![1]));
    }
}

#[test]
fn a_message_of_a_rank_that_has_left_still_comes() {
    for transport in Transport::all() {
        let mut ranks = transport.ranks(2);
        let gone = ranks.pop().unwrap();
        gone.send(0, Tag(0), vec![5]).unwrap();
        drop(gone);
        let cancel = Cancel::default();
        assert_eq!(ranks[0].receive(1, Tag(0), &cancel), Ok(vec![5]), "{transport:?}");
        let left = Err(Error::Left { from: 1, to: 0 });
        assert_eq!(ranks[0].receive(1, Tag(0), &cancel), left, "{transport:?}");
        assert_eq!(ranks[0].poll(1, Tag(0)), Ok(None), "{transport:?}");
    }
}

#[test]
fn a_panic_in_a_rank_ends_the_others() {
    fn panic_in_one<C: Comm>(ranks: Vec<C>) {
        let done = run_on(ranks, |comm, cancel| {
            let _guard = AbortOnPanic::new(comm);
            assert_ne!(comm.rank(), 1, "this rank panics");
            comm.receive(1, Tag(0), cancel)
        });
        for (rank, done) in done.into_iter().enumerate() {
            let expected = (rank != 1).then(|| Err(aborted(1, "rank 1 panicked")));
            assert_eq!(done.ok(), expected, "rank {rank}");
        }
    }
    panic_in_one(Threads::ranks(3));
    panic_in_one(Sim::ranks(3, &disturbed(1)));
}

#[test]
fn work_without_a_panic_ends_nothing() {
    let ranks = Threads::ranks(1);
    drop(AbortOnPanic::new(&ranks[0]));
    ranks[0].send(0, Tag(0), Vec::new()).unwrap();
}

/// An exchange with every kind of call. The last collective needs all ranks.
fn exchange(comm: &dyn Comm, cancel: &Cancel) -> Result<Vec<Vec<u8>>> {
    let root = comm.size() - 1;
    comm.barrier(Tag(0), cancel)?;
    let given = (comm.rank() == root).then(|| vec![7; 100]);
    comm.broadcast(root, given, Tag(1), cancel)?;
    comm.gather(0, vec![comm.rank() as u8; 30], Tag(2), cancel)?;
    comm.all_gather(vec![comm.rank() as u8], Tag(3), cancel)
}

#[test]
fn a_lost_rank_is_noticed_whenever_it_is_lost() {
    const SIZE: usize = 4;
    let all: Vec<Vec<u8>> = (0..SIZE as u8).map(|rank| vec![rank]).collect();
    for lost in 0..SIZE {
        let run = |step| {
            let loss = Some(Loss { rank: lost, step });
            let silence = Duration::from_secs(3);
            let sim = SimConfig { loss, silence, message_size_max: 24, ..disturbed(step) };
            Transport::Sim(sim).run(SIZE, exchange)
        };
        let is_lost = |done: &Vec<Result<_>>| done[lost] == Err(Error::Lost { rank: lost });
        let runs: Vec<_> = (0..).map(run).take_while(is_lost).collect();
        assert!(runs.len() > 10, "rank {lost} makes only {} calls", runs.len());
        // The last collective is SIZE - 1 sends, and SIZE - 1 receives, without which the others
        // complete their work.
        let [last_sends, last_receives] = [2, 1].map(|parts| runs.len() - parts * (SIZE - 1));
        for (step, mut done) in runs.into_iter().enumerate() {
            drop(done.remove(lost));
            let silent = Err(Error::Silent { rank: lost, seconds: 3 });
            let completed = done.iter().filter(|done| done.as_ref() == Ok(&all)).count();
            let noticed = done.iter().filter(|done| **done == silent).count();
            assert_eq!(completed + noticed, SIZE - 1, "rank {lost}, step {step}: {done:?}");
            match step {
                _ if step < last_sends => assert_eq!(completed, 0, "rank {lost}, step {step}"),
                _ if step < last_receives => assert!(noticed > 0, "rank {lost}, step {step}"),
                _ => assert_eq!(noticed, 0, "rank {lost}, step {step}"),
            }
        }
    }
}

#[test]
fn ranks_that_only_poll_notice_a_lost_rank() {
    let silence = Duration::from_millis(2);
    let loss = Some(Loss { rank: 2, step: 5 });
    let sim = SimConfig { loss, silence, ..disturbed(3) };
    let done = Transport::Sim(sim).run(3, |comm, _| {
        let polls = (0..3).cycle().take(100_000).map(|from| comm.poll(from, Tag(0)));
        polls.into_iter().find_map(Result::err)
    });
    let silent = Error::Silent { rank: 2, seconds: 1 };
    assert_eq!(done, [Some(silent.clone()), Some(silent), Some(Error::Lost { rank: 2 })]);
}

#[test]
fn simulated_ranks_that_wait_for_each_other_fail() {
    let sim = SimConfig { stuck_after: Duration::from_millis(100), ..disturbed(0) };
    let done = Transport::Sim(sim)
        .run(3, |comm, cancel| comm.receive((comm.rank() + 1) % 3, Tag(0), cancel).unwrap_err());
    assert!(matches!(done[0], Error::Stuck { .. }), "{}", done[0]);
    assert_eq!(done, vec![done[0].clone(); 3]);
}
