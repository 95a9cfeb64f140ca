//! What the ranks of each scenario do.

use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, getpid, kill_process};
use rustix::time::{ClockId, clock_gettime};
use tegula_comm::{Comm, Error, MESSAGE_SIZE_MAX, Result, Tag};
use tegula_machine::threads::Cancel;
use tegula_mpi::{Mpi, Settings};

/// What each rank of a scenario does.
pub struct Scenario {
    pub name: &'static str,
    pub settings: fn() -> Settings,
    pub work: fn(&Mpi, &Cancel) -> Result<()>,
}

/// Every scenario, by the names that `expected` uses.
pub const SCENARIOS: &[Scenario] = &[
    patient("collectives", collectives),
    patient("messages_in_order", messages_in_order),
    patient("messages_longer_than_a_packet", messages_longer_than_a_packet),
    patient("messages_of_several_threads", messages_of_several_threads),
    patient("messages_that_cannot_be_sent", messages_that_cannot_be_sent),
    patient("idle_ranks", idle_ranks),
    patient("rank_that_aborts", rank_that_aborts),
    patient("rank_that_panics", rank_that_panics),
    patient("rank_that_leaves_early", rank_that_leaves_early),
    patient("rank_that_learns_of_an_abort_by_its_cancel", rank_that_learns_of_an_abort),
    impatient("rank_that_only_computes", rank_that_only_computes),
    impatient("rank_that_works_longer", rank_that_works_longer),
    impatient("rank_that_stands_still", |mpi, cancel| strike_one(mpi, cancel, Signal::STOP)),
    impatient("rank_that_is_killed", |mpi, cancel| strike_one(mpi, cancel, Signal::KILL)),
    impatient("rank_that_stands_still_when_others_are_done", |mpi, cancel| match mpi.rank() {
        1 => strike_one(mpi, cancel, Signal::STOP),
        _ => mpi.barrier(Tag(0), cancel),
    }),
    impatient("rank_that_never_returns", |mpi, cancel| never_return(mpi, cancel, 1)),
    impatient("ranks_that_never_return", |mpi, cancel| never_return(mpi, cancel, mpi.rank())),
];

const fn patient(name: &'static str, work: fn(&Mpi, &Cancel) -> Result<()>) -> Scenario {
    Scenario { name, settings: Settings::default, work }
}

const fn impatient(name: &'static str, work: fn(&Mpi, &Cancel) -> Result<()>) -> Scenario {
    Scenario { name, settings: impatient_settings, work }
}

fn impatient_settings() -> Settings {
    let second = Duration::from_secs(1);
    Settings { silence: second, farewell_max: second, exit_code: 9, ..Settings::default() }
}

/// Lets time pass, as work without messages does.
fn pass(time: Duration) {
    let (_open, nothing) = channel::<()>();
    assert!(nothing.recv_timeout(time).is_err(), "nobody sends");
}

/// Returns what a rank contributes, of a length that differs between ranks and rounds.
fn part(rank: usize, round: usize) -> Vec<u8> {
    vec![(rank * 16 + round) as u8; rank * 3000 + round * 1000]
}

fn collectives(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    let (rank, size) = (mpi.rank(), mpi.size());
    let tag = Tag(3);
    for round in 0..8 {
        let parts: Vec<_> = (0..size).map(|rank| part(rank, round)).collect();
        let root = round % size;
        let gathered = mpi.gather(root, part(rank, round), tag, cancel)?;
        assert_eq!(gathered.as_ref(), (rank == root).then_some(&parts));
        let given = (rank == root).then(|| part(root, round));
        assert_eq!(mpi.broadcast(root, given, tag, cancel)?, part(root, round));
        mpi.barrier(tag, cancel)?;
        assert_eq!(mpi.all_gather(part(rank, round), tag, cancel)?, parts);
    }
    let counts = [mpi.bytes_sent(), mpi.bytes_received()].map(u64::to_le_bytes).concat();
    let counts = mpi.all_gather(counts, tag, cancel)?.concat();
    let (counts, _) = counts.as_chunks::<16>();
    let sum: u128 = counts.iter().map(|count| u128::from_le_bytes(*count)).sum();
    let (sent, received) = (sum as u64, (sum >> 64) as u64);
    assert_eq!((sent, sent > 0), (received, size > 1));
    Ok(())
}

/// Long messages take another way through MPI than short ones, but must not be overtaken.
fn messages_in_order(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    let length = |number: usize| [10, 300_000, 3, 5000, 0][number % 5];
    for number in 0..200 {
        for to in 0..mpi.size() {
            mpi.send(to, Tag(number as u32 % 2), vec![number as u8; length(number)])?;
        }
    }
    for tag in [1, 0] {
        for from in 0..mpi.size() {
            for number in (tag..200).step_by(2) {
                let received = mpi.receive(from, Tag(tag as u32), cancel)?;
                assert_eq!(received, vec![number as u8; length(number)]);
            }
        }
    }
    mpi.barrier(Tag(0), cancel)
}

fn messages_longer_than_a_packet(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    let length = MESSAGE_SIZE_MAX + 12_345;
    let message = || (0..length).map(|at| (at % 251) as u8).collect::<Vec<u8>>();
    let other = 1 - mpi.rank();
    // Both send at once.
    mpi.send_long(other, Tag(0), &message())?;
    let received = mpi.receive_long(other, Tag(0), cancel)?;
    assert!(received == message(), "{} bytes", received.len());
    Ok(())
}

fn messages_of_several_threads(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    thread::scope(|scope| {
        let work = |job: u8| {
            (0..50_u8).try_for_each(|round| {
                let own = vec![job, round, mpi.rank() as u8];
                let all = mpi.all_gather(own, Tag(job.into()), cancel)?;
                let expected = |rank| vec![job, round, rank as u8];
                assert_eq!(all, (0..mpi.size()).map(expected).collect::<Vec<_>>());
                Ok(())
            })
        };
        let running: Vec<_> = (0..4).map(|job| scope.spawn(move || work(job))).collect();
        running.into_iter().try_for_each(|job| job.join().unwrap())
    })
}

fn messages_that_cannot_be_sent(mpi: &Mpi, _: &Cancel) -> Result<()> {
    let error = mpi.send(1, Tag(u32::MAX), Vec::new()).unwrap_err();
    assert!(error.to_string().contains("no tag for a message with tag 4294967295"), "{error}");
    let error = mpi.send(1, Tag(0), vec![0; MESSAGE_SIZE_MAX + 1]).unwrap_err();
    assert!(matches!(error, Error::TooLong { to: 1, .. }), "{error}");
    Ok(())
}

/// A pump must leave the core to others.
fn idle_ranks(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    let process_time = || {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
    };
    mpi.barrier(Tag(0), cancel)?;
    let (before, began) = (process_time(), Instant::now());
    pass(Duration::from_secs(1));
    let share = (process_time() - before).as_secs_f64() / began.elapsed().as_secs_f64();
    assert!(share < 0.2, "an idle rank takes {share} of a core");
    mpi.barrier(Tag(0), cancel)
}

/// Its pump gives signs of life.
fn rank_that_only_computes(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    if mpi.rank() == 1 {
        pass(Duration::from_secs(3));
    }
    mpi.barrier(Tag(0), cancel)
}

/// Ranks that are done wait for the others.
fn rank_that_works_longer(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    match mpi.rank() {
        0 => return mpi.send(1, Tag(0), vec![5]),
        1 => pass(Duration::from_secs(3)),
        _ => return Ok(()),
    }
    assert_eq!(mpi.receive(0, Tag(0), cancel)?, [5]);
    Ok(())
}

fn rank_that_aborts(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    if mpi.rank() == 0 {
        mpi.abort("the disk is full");
        mpi.abort("a later reason");
    }
    mpi.receive(0, Tag(0), cancel).map(drop)
}

fn rank_that_learns_of_an_abort(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    match mpi.rank() {
        0 => mpi.abort("the disk is full"),
        _ => {
            while !cancel.is_cancelled() {
                pass(Duration::from_millis(1));
            }
        }
    }
    Ok(())
}

fn rank_that_panics(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    assert_ne!(mpi.rank(), 1, "this one panics");
    mpi.receive(1, Tag(0), cancel).map(drop)
}

fn rank_that_leaves_early(mpi: &Mpi, cancel: &Cancel) -> Result<()> {
    match mpi.rank() {
        0 => mpi.receive(1, Tag(0), cancel).map(drop),
        _ => Ok(()),
    }
}

/// Strikes rank 1 with a signal, while the others wait for it.
fn strike_one(mpi: &Mpi, cancel: &Cancel, signal: Signal) -> Result<()> {
    mpi.barrier(Tag(0), cancel)?;
    if mpi.rank() == 1 {
        kill_process(getpid(), signal).unwrap();
    }
    mpi.receive(1, Tag(1), cancel).map(drop)
}

/// Lets a rank work on after an abort.
fn never_return(mpi: &Mpi, cancel: &Cancel, rank: usize) -> Result<()> {
    // The abort may come before the others have met.
    let met = mpi.barrier(Tag(0), cancel);
    if mpi.rank() == 0 {
        mpi.abort("the disk is full");
    }
    if mpi.rank() == rank {
        pass(Duration::from_secs(1000));
    }
    met
}
