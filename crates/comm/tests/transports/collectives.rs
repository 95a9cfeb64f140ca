//! Exchanges in which all ranks take part.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use tegula_comm::{Comm, Error, Result, SimConfig, Tag};
use tegula_machine::threads::Cancel;

use super::harness::{Transport, disturbed};

/// Returns what a rank contributes, of a length that differs between ranks and rounds.
fn part(rank: usize, round: usize) -> Vec<u8> {
    vec![(rank * 16 + round) as u8; (rank * 37 + round * 11) % 90]
}

fn parts(size: usize, round: usize) -> Vec<Vec<u8>> {
    (0..size).map(|rank| part(rank, round)).collect()
}

/// Calls all collectives several times with one tag, and checks what they return.
fn check_collectives(comm: &dyn Comm, cancel: &Cancel) -> Result<()> {
    let (rank, size) = (comm.rank(), comm.size());
    let tag = Tag(3);
    for round in 0..4 {
        let root = (round * 5 + 2) % size;
        let gathered = comm.gather(root, part(rank, round), tag, cancel)?;
        assert_eq!(gathered, (rank == root).then(|| parts(size, round)));
        let given = (rank == root).then(|| part(root, round));
        assert_eq!(comm.broadcast(root, given, tag, cancel)?, part(root, round));
        comm.barrier(tag, cancel)?;
        let all = comm.all_gather(part(rank, round), tag, cancel)?;
        assert_eq!(all, parts(size, round));
    }
    assert_eq!((0..size).find_map(|from| comm.poll(from, tag).unwrap()), None, "a message is left");
    Ok(())
}

#[test]
fn collectives_agree_on_every_transport_and_size() {
    for transport in Transport::all() {
        for size in 1..=7 {
            let done = transport.run(size, check_collectives);
            assert_eq!(done, vec![Ok(()); size], "{transport:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..Default::default() })]

    #[test]
    fn collectives_agree_with_any_disturbance(
        size in 1..=7_usize,
        seed: u64,
        message_size_max in 16..100_usize,
        stall_share in 0.0..1.0,
        bytes_per_second in 1e3..1e10,
    ) {
        let sim = SimConfig { message_size_max, stall_share, bytes_per_second, ..disturbed(seed) };
        for transport in [Transport::Threads { message_size_max }, Transport::Sim(sim)] {
            prop_assert_eq!(transport.run(size, check_collectives), vec![Ok(()); size]);
        }
    }
}

#[test]
fn nobody_passes_a_barrier_before_all_have_come() {
    for transport in Transport::all() {
        for size in 1..=7 {
            let come = AtomicUsize::new(0);
            transport.run(size, |comm, cancel| {
                for round in 1..=5 {
                    come.fetch_add(1, Ordering::SeqCst);
                    comm.barrier(Tag(0), cancel).unwrap();
                    assert!(come.load(Ordering::SeqCst) >= round * size, "{transport:?}");
                    comm.barrier(Tag(0), cancel).unwrap();
                }
            });
        }
    }
}

#[test]
fn collectives_with_different_tags_run_side_by_side() {
    for transport in Transport::all() {
        transport.run(4, |comm, cancel| {
            std::thread::scope(|scope| {
                for job in 0..3_u8 {
                    scope.spawn(move || {
                        for round in 0..20 {
                            let own = vec![job, round, comm.rank() as u8];
                            let all = comm.all_gather(own, Tag(job.into()), cancel).unwrap();
                            let expected = |rank| vec![job, round, rank];
                            assert_eq!(all, (0..4).map(expected).collect::<Vec<_>>());
                        }
                    });
                }
            });
        });
    }
}

#[test]
fn a_rank_that_leaves_during_a_collective_fails_it() {
    for transport in Transport::all() {
        let done = transport.run(3, |comm, cancel| match comm.rank() {
            1 => Ok(Vec::new()),
            _ => comm.all_gather(vec![1], Tag(0), cancel),
        });
        assert_eq!(done[0], Err(Error::Left { from: 1, to: 0 }), "{transport:?}");
        assert_eq!(done[2], Err(Error::Left { from: 1, to: 2 }), "{transport:?}");
    }
}
